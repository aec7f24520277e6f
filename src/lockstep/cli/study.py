"""``lockstep study``: case studies of the memory system, beside what the paper says of them."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from lockstep.cli.console import console_of
from lockstep.cli.known import GPU_NAME, STUDY_NAME
from lockstep.cli.options import QUIET, SET
from lockstep.cli.outputs import take_all
from lockstep.cli.parameters import FILE, OUTPUT, POSITIVE, check_writable
from lockstep.errors import LockstepError

if TYPE_CHECKING:
    from lockstep.studies import Outcome

ALL = "all"
PIPE_WIDTH = 160


@click.command()
@click.argument("names", type=STUDY_NAME, nargs=-1, metavar="STUDY...")
@click.option("--list", "listing", is_flag=True, help="Say what there is; run nothing.")
@click.option(
    "--size",
    type=click.Choice(["small", "large"]),
    default="large",
    show_default=True,
    help="Of the programs: small ones are for a first look.",
)
@click.option("--gpu", type=GPU_NAME, metavar="NAME", help="The new GPU; default: the study's own.")
@SET
@click.option(
    "-o",
    "--out",
    type=FILE,
    metavar="DIR",
    help="Write runs as CSV, what follows as JSON, and plots; runs that it has are not repeated.",
)
@click.option("--plots/--no-plots", default=True, help="Draw plots into DIR, by matplotlib.")
@click.option(
    "-j", "--jobs", type=POSITIVE, default=1, show_default=True, help="Processes that run programs."
)
@click.option(
    "--binaries",
    type=FILE,
    metavar="DIR",
    help="Has *_Kernels.bin of AMD's APP SDK 2.5, for its programs.",
)
@click.option("--document", type=OUTPUT, help="Renew the tables of this Markdown file.")
@QUIET
def command(
    names, listing, size, gpu, overrides, out, plots, jobs, binaries, document, quiet
) -> None:
    """Run case studies, or `all`, and compare them with what the papers found.

    A study runs programs on variants of GPUs. --gpu replaces the new one, --set changes all of
    them. Those of OpenCL programs need --binaries; `all` leaves them out without it.
    """
    from lockstep import studies
    from lockstep.report.pictures import check_matplotlib
    from lockstep.studies import report
    from lockstep.validation import document as tables

    console = console_of(pipe_width=PIPE_WIDTH)
    if listing:
        console.print(report.listed(console.width))
        return
    chosen = _chosen(names, binaries)
    check_writable(out, directory=True)
    if out and plots:
        check_matplotlib()
    if document:
        tables.read(document)
        check_writable(document)
    for name in chosen:
        outcome = studies.study(
            name,
            size=size,
            gpu=gpu,
            overrides=overrides,
            jobs=jobs,
            table=out / f"{name}.csv" if out else None,
            say=None if quiet else _say,
            binaries=binaries,
        )
        take_all(_steps(outcome, out, plots, document))


def _chosen(names: tuple[str, ...], binaries: Path | None) -> list[str]:
    """The names, each once; for ALL all that there are, and that have what they need."""
    from lockstep.studies import find
    from lockstep.studies import names as known

    if not names:
        raise LockstepError(f"no study is named: {', '.join(known())} or {ALL}")
    able = [name for name in known() if binaries or not find(name).opencl]
    found = [each for name in names for each in (able if name == ALL else (find(name).name,))]
    return list(dict.fromkeys(found))


def _steps(
    outcome: "Outcome", out: Path | None, plots: bool, document: Path | None
) -> list[Callable[[], object]]:
    """What is done with an outcome: shown, and written where that is asked for."""
    from lockstep.metrics import output
    from lockstep.studies.report import DocumentedOutcome
    from lockstep.validation import document as tables

    steps: list[Callable[[], object]] = [lambda: _show(outcome)]
    if out:
        file = out / f"{outcome.study.name}.json"
        steps.append(lambda: output.write_json(file, outcome.to_dict()))
    if out and plots:
        steps.append(lambda: outcome.plots(out))
    if document:
        steps.append(lambda: tables.renew(document, [DocumentedOutcome(outcome)]))
    return steps


def _show(outcome: "Outcome") -> None:
    from lockstep.studies.report import views

    console = console_of(pipe_width=PIPE_WIDTH)
    for view in views(outcome, console.width):
        console.print(view)


def _say(text: str) -> None:
    click.echo(f"lockstep: {text}", err=True)
