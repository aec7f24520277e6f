"""``lockstep tune``: a GPU file from measurements."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from lockstep.cli.console import console_of
from lockstep.cli.parameters import FILE, OUTPUT, check_writable
from lockstep.cli.simulate import take_all
from lockstep.report.columns import Column, Kind, table

if TYPE_CHECKING:
    from lockstep.tuning import Tuned

PIPE_WIDTH = 160


@click.command()
@click.argument("measured", type=FILE)
@click.option(
    "-o", "--output", type=OUTPUT, required=True, help="The GPU file to write; - is stdout."
)
@click.option("--base", metavar="GPU", help="Has what no row tells. Default: the device's like.")
@click.option(
    "--facts", "facts_file", type=FILE, help="Data sheets and counters: TOML, as a GPU file."
)
@click.option("--report", type=OUTPUT, help="Write what became of every parameter: .csv or .json.")
def command(measured, output, base, facts_file, report) -> None:
    """Make a GPU file of MEASURED, the table of the microbenchmarks.

    Each number names the rows that it came from; what no row tells is the base's.
    """
    from lockstep.gpus.fields import flatten
    from lockstep.gpus.library import gpu
    from lockstep.tuning import infer, read_rows
    from lockstep.tuning.document import to_toml
    from lockstep.tuning.facts import NONE, read_facts
    from lockstep.tuning.report import write_report
    from lockstep.tuning.tuner import base_of

    check_writable(output)
    check_writable(report)
    rows = read_rows(measured)
    facts = read_facts(facts_file, flatten(gpu("QV100"))) if facts_file else NONE
    tuned = infer(rows, base_of(base, rows, facts), facts)
    text = to_toml(tuned, _said(measured, base, facts_file))
    steps = [lambda: _write(output, text), lambda: _show(tuned, output, report)]
    if report:
        steps.insert(1, lambda: write_report(tuned, report))
    take_all(steps)
    for remark in rows.remarks:
        click.echo(f"lockstep: {remark}", err=True)


def _said(measured: Path, base: str | None, facts: Path | None) -> str:
    """The command without the places of its files, which are another reader's business."""
    words = ["lockstep tune", measured.name]
    words += ["--base", base] if base else []
    words += ["--facts", facts.name] if facts else []
    return " ".join(words)


def _write(path: Path, text: str) -> None:
    from lockstep.files import replacing

    with replacing(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def _show(tuned: "Tuned", *files: Path | None) -> None:
    from lockstep.tuning.report import outcomes

    console = console_of(*files, pipe_width=PIPE_WIDTH)
    rows = [[o.parameter, o.kind, o.text, o.base, o.why] for o in outcomes(tuned)]
    console.print(table(_OUTCOMES, rows, console.width))


_OUTCOMES = (
    Column("parameter", Kind.WORD),
    Column("from", Kind.WORD),
    Column("value"),
    Column("base", rank=1),
    Column("rows", Kind.PROSE, 0),
)
