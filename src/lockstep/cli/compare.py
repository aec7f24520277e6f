"""``lockstep compare``: results of two or more runs beside each other."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from lockstep.cli.console import console_of
from lockstep.cli.options import REPORT
from lockstep.cli.parameters import FILE, check_writable

if TYPE_CHECKING:
    from lockstep.report.compare import ChangedMetric


@click.command()
@click.argument("paths", metavar="FILE FILE...", nargs=-1, type=FILE, required=True)
@click.option(
    "--metric", "metrics", multiple=True, metavar="NAME", help="This metric; repeat for more."
)
@click.option("--output", "-o", type=FILE, metavar="FILE", help="Write the table: .csv, .parquet.")
@REPORT
def command(paths: tuple[Path, ...], metrics: tuple[str, ...], output, report) -> None:
    """Compare the results in FILEs, which --json of run and simulate wrote, with the first one.

    Kernels are matched by name. Cycles are sums, other metrics means of a kernel's launches.
    """
    from lockstep.cli.parameters import check_table
    from lockstep.metrics.output import write_table
    from lockstep.report.compare import DEFAULT, compare
    from lockstep.report.page.write import write_comparison

    check_table(output)
    check_writable(report)
    found = compare(*paths, metrics=metrics or DEFAULT)
    if output:
        write_table(output, found.frame)
    if report:
        write_comparison(found.to_dict(), report)
    show(found.runs, found.rows, console_of(report))
    for remark in found.remarks:
        click.echo(f"lockstep: {remark}", err=True)


def show(runs: list[str], rows: "list[ChangedMetric]", console) -> None:
    """Print a row a kernel and metric."""
    from lockstep.report.columns import Column, Kind, table
    from lockstep.report.figures import clean, kernel_name

    columns = [Column("kernel", Kind.NAME), Column("metric", Kind.NAME)]
    columns += [Column(clean(label)) for label in runs]
    for _ in runs[1:]:
        columns += [Column("change"), Column("significant", Kind.WORD, rank=1)]
    cells = []
    for row in rows:
        line = [kernel_name(row.kernel), row.metric, *map(_number, row.values)]
        for change, sure in zip(row.changes, row.significant):
            line += [_change(change), {True: "yes", False: "no", None: "–"}[sure]]
        cells.append(line)
    console.print(table(columns, cells, console.width))


def _number(value: float) -> str:
    from lockstep.report.figures import count, decimal

    return count(value) if value == value and value == int(value) else decimal(value)


def _change(value: float) -> str:
    return "–" if value != value else f"{value:+.1f} %"
