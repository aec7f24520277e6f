"""``lockstep tune``: a GPU file from measurements."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from lockstep.cli.console import console_of
from lockstep.cli.known import GPU_NAME
from lockstep.cli.outputs import take_all
from lockstep.cli.parameters import FILE, OUTPUT, check_writable
from lockstep.report.columns import Column, Kind, table

if TYPE_CHECKING:
    from lockstep.tuning import Rows, Tuned
    from lockstep.tuning.report import Residual

PIPE_WIDTH = 160
ROUNDS = 6


@click.command()
@click.argument("measured", type=FILE)
@click.option(
    "-o", "--output", type=OUTPUT, required=True, help="The GPU file to write; - is stdout."
)
@click.option(
    "--base",
    type=GPU_NAME,
    metavar="GPU",
    help="Has what no row tells. Default: the device's like.",
)
@click.option(
    "--facts", "facts_file", type=FILE, help="Data sheets and counters: TOML, as a GPU file."
)
@click.option(
    "--rounds",
    type=click.IntRange(min=0),
    default=ROUNDS,
    show_default=True,
    metavar="N",
    help="Simulations to fit by, at most; 0: only what rows tell by themselves.",
)
@click.option(
    "--report",
    type=OUTPUT,
    help="Simulate all rows and write how far each is off: .csv, or .json with the parameters.",
)
@click.option("-q", "--quiet", is_flag=True, help="Say nothing of what is being simulated.")
def command(measured, output, base, facts_file, rounds, report, quiet) -> None:
    """Make a GPU file of MEASURED: a table of the microbenchmarks, or h100-sxm, which is shipped.

    Each number names the rows that it came from; what no row tells is the base's.
    """
    from lockstep.gpus.fields import flatten
    from lockstep.gpus.library import gpu
    from lockstep.tuning import infer, read_rows
    from lockstep.tuning.base import base_of
    from lockstep.tuning.document import to_toml
    from lockstep.tuning.facts import NONE, read_facts
    from lockstep.tuning.report import check_name, summary, write_report

    check_name(report)
    check_writable(output)
    check_writable(report)
    say = _silent if quiet else _say
    rows = read_rows(_table(measured))
    for remark in rows.remarks:
        say(remark)
    facts = read_facts(facts_file, flatten(gpu("QV100"))) if facts_file else NONE
    tuned = infer(rows, base_of(base, rows, facts), facts)
    tuned.gpu(output.stem)  # else a long search would end in the refusal
    found = _simulate(tuned, rows, rounds, report, say)
    text = to_toml(tuned, _said(measured, base, facts_file, rounds))
    steps = [lambda: _write(output, text), lambda: _show(tuned, output, report)]
    if report:
        steps.insert(1, lambda: write_report(tuned, found, report))
        say(summary(found))
    take_all(steps)


def _table(measured: Path) -> Path:
    """The file, or the shipped table of that name."""
    from lockstep.microbench.against import SHIPPED
    from lockstep.microbench.code import package

    if str(measured) not in SHIPPED or measured.exists():
        return measured
    return Path(str(package().joinpath("data", f"{measured}.csv.xz")))


def _simulate(tuned: "Tuned", rows: "Rows", rounds: int, report, say) -> "list[Residual]":
    """Fit what is to be fitted; how far the rows are off, if a report is wanted."""
    from lockstep.tuning.fit import fit
    from lockstep.tuning.report import residuals

    fit(tuned, rows, _suite(say), rounds, say)
    if not report:
        return []
    if rounds:
        say("all rows of the suite, to be compared")
        return residuals(tuned, rows, _suite(say)(tuned.gpu(tuned.base.gpu.name), list(rows)))
    return residuals(tuned, rows, None)


def _suite(say):
    """What simulates rows; imported when it is needed, because that compiles."""

    def simulate(gpu, rows):
        from lockstep.tuning.simulation import simulated

        return simulated(gpu, rows, say)

    return simulate


def _said(measured: Path, base: str | None, facts: Path | None, rounds: int) -> str:
    """The command without the places of its files, which are another reader's business."""
    words = ["lockstep tune", measured.name]
    words += ["--base", base] if base else []
    words += ["--facts", facts.name] if facts else []
    words += ["--rounds", str(rounds)] if rounds != ROUNDS else []
    return " ".join(words)


def _say(text: str) -> None:
    click.echo(f"lockstep: {text}", err=True)


def _silent(text: str) -> None:
    pass


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
