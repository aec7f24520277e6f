"""``lockstep sweep``: many points, evaluated in many processes, into one table."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from lockstep.cli.console import is_taken
from lockstep.cli.options import QUIET
from lockstep.cli.parameters import FILE, OUTPUT, POSITIVE, check_table
from lockstep.cli.progress import PointProgress
from lockstep.report.figures import count

if TYPE_CHECKING:
    import pandas

    from lockstep.campaigns import Campaign, SweepPoint

JOURNAL = ".journal"  # behind the table's name
_SHOWN = 3  # errors that are told


@click.command()
@click.argument("points", type=FILE)
@click.option(
    "-o", "--out", type=OUTPUT, required=True, help="The table, a row a point: .parquet or .csv."
)
@click.option(
    "-j", "--jobs", type=POSITIVE, help="Processes; default: the cores.", show_default=False
)
@click.option(
    "--executor",
    "executor_name",
    type=click.Choice(["local", "dask", "ray"]),
    default="local",
    show_default=True,
    help="Where points are evaluated.",
)
@click.option("--address", metavar="ADDRESS", help="Of a running Dask scheduler or Ray cluster.")
@click.option("--retry", is_flag=True, help="Try points again that failed before.")
@click.option(
    "--plot",
    "plots",
    nargs=2,
    multiple=True,
    metavar="PARAMETER METRIC",
    help="Draw a metric over a parameter, beside the table: .png and .svg.",
)
@QUIET
def command(points, out, jobs, executor_name, address, retry, plots, quiet) -> None:
    """Simulate each point of the TOML file POINTS: workloads by GPUs, changes of them and seeds.

    What came of each point is kept at once, in OUT.journal: the same command goes on after it was
    ended, and evaluates nothing twice. Exit code 1: points failed; the table has their errors.
    """
    from lockstep.campaigns import Campaign, evaluate, executor, read_points

    check_table(out)
    chosen = read_points(points)
    _check_plots(chosen, plots)
    with Campaign(chosen, evaluate, out.with_name(out.name + JOURNAL)) as work:
        interrupted = None
        try:
            with PointProgress(quiet) as progress:
                work.run(
                    lambda run: executor(executor_name, run, jobs, address),
                    retry,
                    progress.update,
                )
        except KeyboardInterrupt as error:
            interrupted = error
        table = _written(work, out)
    if not quiet:
        _tell(table, len(chosen), out)
    if interrupted:
        raise interrupted
    for drawn in _draw(table, plots, out):
        if not quiet:
            click.echo(drawn, err=is_taken(out))
    if (table["error"] != "").any():
        raise SystemExit(1)


def _written(work: "Campaign", out: Path) -> "pandas.DataFrame":
    from lockstep.metrics import output

    table = work.table()
    output.write_table(out, table)
    return table


def _check_plots(points: "list[SweepPoint]", plots: tuple[tuple[str, str], ...]) -> None:
    """Raise before a long run if a plot could not be drawn after it."""
    if not plots:
        return
    from lockstep.errors import LockstepError, unknown
    from lockstep.report.pictures import check_matplotlib

    check_matplotlib()
    known = list(dict.fromkeys(name for point in points for name in point.facts))
    for parameter, _ in plots:
        if parameter not in known:
            raise LockstepError(unknown("parameter of these points", parameter, known))


def _draw(
    table: "pandas.DataFrame", plots: tuple[tuple[str, str], ...], out: Path
) -> Iterator[str]:
    """Each plot as ``TABLE-PARAMETER-METRIC.png`` and ``.svg``; what was drawn, and where."""
    for parameter, metric in plots:
        from lockstep import plot
        from lockstep.report.pictures import write_figure

        name = f"{out.stem}-{parameter}-{metric}"
        write_figure(plot.sweep(table, parameter, metric), out.parent, name)
        yield f"{metric} by {parameter}: {out.parent / name}.png and .svg"


def _tell(table: "pandas.DataFrame", points: int, out: Path) -> None:
    """How many points there are, and the first errors."""
    errors = [(n, error) for n, error in enumerate(table["error"], 1) if error]
    said = f"{count(len(table))} of {count(points)} points, {count(len(errors))} failed: {out}"
    click.echo(said, err=is_taken(out))
    for number, error in errors[:_SHOWN]:
        click.echo(f"lockstep: row {number}: {error}", err=True)
    if len(errors) > _SHOWN:
        more = count(len(errors) - _SHOWN)
        click.echo(f"lockstep: {more} more failed: the table has their errors", err=True)
