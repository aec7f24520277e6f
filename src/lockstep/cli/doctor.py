"""``lockstep doctor``: whether everything is there for it to work, and what more could be had."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from lockstep.cli.console import console_of, is_taken
from lockstep.cli.parameters import OUTPUT
from lockstep.files import STANDARD_OUTPUT

if TYPE_CHECKING:
    from lockstep.cli.diagnosis import Symptom

PIPE_WIDTH = 120


@click.command()
@click.option(
    "--json",
    "json_file",
    type=OUTPUT,
    is_flag=False,
    flag_value=str(STANDARD_OUTPUT),
    metavar="[FILE]",
    help="Write it as JSON, into FILE or else to standard output.",
)
def command(json_file: Path | None) -> None:
    """Look at versions, processor, tools, the cache and extras; nothing is changed.

    Exit code 0: nothing hinders; notes say what could be had. 1: something does, see "problem".
    """
    from lockstep.cli.diagnosis import SECTIONS, Severity, look

    found = {section: look(section) for section in SECTIONS}
    problems = [s for each in found.values() for s in each if s.severity is Severity.PROBLEM]
    if json_file is not None:
        from lockstep.metrics.output import write_json

        write_json(json_file, document(found, healthy=not problems))
    if not is_taken(json_file):
        _print(found, len(problems))
    raise SystemExit(1 if problems else 0)


def document(found: "dict[str, list[Symptom]]", healthy: bool) -> dict[str, Any]:
    """The document of ``--json``: ``healthy``, and a list for each section."""
    sections = {name: [s.to_dict() for s in symptoms] for name, symptoms in found.items()}
    return {"healthy": healthy, **sections}


def _print(found: "dict[str, list[Symptom]]", problems: int) -> None:
    from lockstep.report.columns import Column, Kind, table

    columns = Column("", Kind.WORD), Column("", Kind.WORD), Column("", Kind.PROSE)
    console = console_of(pipe_width=PIPE_WIDTH)
    for name, symptoms in found.items():
        console.print(name)
        console.print(table(columns, [_row(s) for s in symptoms], console.width))
        console.print()
    state = f"problems: {problems}, see above" if problems else "nothing hinders"
    console.print(state)


def _row(symptom: "Symptom") -> list[str]:
    advice = f" -> {symptom.advice}" if symptom.advice else ""
    return [f"  {symptom.severity}", symptom.name, symptom.found + advice]
