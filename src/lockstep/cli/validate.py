"""``lockstep validate``: the published validation, in one command."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from lockstep.cli.console import console_of
from lockstep.cli.options import THREADS
from lockstep.cli.parameters import OUTPUT, check_writable
from lockstep.errors import LockstepError

if TYPE_CHECKING:
    from lockstep.validation.comparison import Comparison

PIPE_WIDTH = 160
KINDS = ("latencies", "throughputs", "hardware", "grids", "counters")
FOLDER = click.Path(path_type=Path, exists=True, file_okay=False)


@click.command()
@click.argument("kinds", nargs=-1, type=click.Choice(KINDS))
@click.option(
    "--data",
    type=FOLDER,
    metavar="DIR",
    help="Recorded traces and measurements: folders traces and hardware.",
)
@click.option("--generated", type=FOLDER, metavar="DIR", help="Made traces that a peer ran, too.")
@click.option(
    "--programs",
    "builds",
    type=FOLDER,
    metavar="DIR",
    help="Run these builds of the programs of Accel-Sim's Table VIII, as SUITE/NAME.",
)
@click.option(
    "--builtins",
    type=FOLDER,
    metavar="DIR",
    help="Run these builds of the built-in programs, for sm_90, on H100_SXM.",
)
@click.option(
    "--triton",
    type=FOLDER,
    metavar="DIR",
    help="Run these Triton kernels, compiled and measured, on H100_SXM.",
)
@THREADS
@click.option("--json", "json_file", type=OUTPUT, help="Write all rows as JSON.")
@click.option("--document", type=OUTPUT, help="Renew the tables of this Markdown file.")
def command(kinds, data, generated, builds, builtins, triton, threads, json_file, document) -> None:
    """Compare lockstep with what was measured on GPUs, and with a peer: all, or some KINDS.

    Latencies and throughputs need nothing else; what the others lack is said. With --programs,
    --builtins or --triton and no KIND, these alone are run.
    """
    from lockstep.metrics import output
    from lockstep.validation import document as tables

    check_writable(json_file)
    if document:
        tables.read(document)
        check_writable(document)
    done: list[Comparison] = []
    console = console_of(json_file, pipe_width=PIPE_WIDTH)
    for comparison in _comparisons(kinds, (data, generated), (builds, builtins, triton), threads):
        done.append(comparison)
        if comparison.figures:
            console.print(comparison.table(console.width))
        else:
            console.print(comparison.title)
        console.print(f"{comparison.summary()}\n")
        for line in comparison.skipped:
            click.echo(f"lockstep: not compared: {line}", err=True)
    if json_file:
        output.write_json(json_file, [comparison.to_dict() for comparison in done])
    if document:
        tables.renew(document, [comparison for comparison in done if comparison.figures])
    if not any(comparison.figures for comparison in done):
        raise LockstepError("nothing could be compared")


def _comparisons(
    kinds: tuple[str, ...],
    places: tuple[Path | None, Path | None],
    builds: tuple[Path | None, Path | None, Path | None],
    threads: int,
) -> "Iterator[Comparison]":
    """``places`` have recorded and made data; ``builds`` published, built-in and Triton's code."""
    from lockstep.validation import builtins, runs, sections, table8, triton

    sources = sections.Sources(*places)
    for kind in kinds or (() if any(builds) else KINDS):
        yield from sections.KINDS[kind](sources)
    published, own, compiled = builds
    if published:
        yield table8.programs(published, runs.simulated(threads), _say)
    if own:
        yield from builtins.programs(own, partial(runs.simulated, threads), _say)
    if compiled:
        yield from triton.kernels(compiled, _say, threads)


def _say(text: str) -> None:
    click.echo(f"lockstep: {text}", err=True)
