"""``lockstep correlate``: results beside measurements, counter by counter, kernel by kernel."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from lockstep.cli.console import console_of
from lockstep.cli.outputs import take_all
from lockstep.cli.parameters import FILE, OUTPUT, check_writable, condition

if TYPE_CHECKING:
    from lockstep.correlation import Correlation
    from lockstep.correlation.results import Ours

TOP = 10


@click.command()
@click.argument("hardware", type=FILE)
@click.argument("results", nargs=-1, required=True, metavar="[NAME=]RESULT...")
@click.option(
    "--metric",
    "metrics",
    multiple=True,
    metavar="NAME",
    help="A counter, may hold *; the first one ranks rows. Default: all, by cycles.",
)
@click.option(
    "--group-by", type=click.Choice(["kernel", "program"]), help="Join launches to one row."
)
@click.option(
    "--min-cycles",
    type=click.FloatRange(min=0),
    default=0,
    metavar="N",
    help="Leave out rows that took fewer cycles on hardware.",
)
@click.option(
    "--where",
    "conditions",
    multiple=True,
    metavar="COLUMN=VALUE",
    help="Only rows of HARDWARE with this value.",
)
@click.option(
    "--top",
    type=click.IntRange(min=0),
    default=TOP,
    show_default=True,
    metavar="N",
    help="Worst rows that are shown.",
)
@click.option("--json", "json_file", type=OUTPUT, help="Write statistics and all rows as JSON.")
@click.option("--html", "page", type=OUTPUT, help="Write one page with tables and plots.")
@click.option("--plots", "folder", type=FILE, metavar="DIR", help="Write plots as PNG and SVG.")
def command(
    hardware, results, metrics, group_by, min_cycles, conditions, top, json_file, page, folder
) -> None:
    """Compare each RESULT with what was measured.

    HARDWARE is a CSV file of Nsight Compute (ncu --csv), of nvprof (--csv), or a table with a
    column of programs or kernels and counters under Nsight's names, perhaps .xz or .gz. A RESULT
    is a file that --json wrote or a folder of --out; NAME= says which program of HARDWARE it is.
    """
    from lockstep.correlation import read_hardware
    from lockstep.correlation.comparison import correlate_read

    check_writable(json_file)
    check_writable(page)
    check_writable(folder, directory=True)
    if page or folder:
        from lockstep.report.pictures import check_matplotlib

        check_matplotlib()
    measured = read_hardware(hardware, dict(condition(text) for text in conditions))
    correlation = correlate_read(
        measured, [_result(text) for text in results], metrics, group_by or "launch", min_cycles
    )
    take_all(_steps(correlation, hardware, top, (json_file, page, folder)))


def _steps(correlation: "Correlation", hardware: Path, top: int, files: tuple) -> list:
    from lockstep.correlation.page import write_page
    from lockstep.correlation.plots import write_plots

    json_file, page, folder = files
    title = f"lockstep and {hardware.name}"
    writes = [
        (json_file, lambda: correlation.to_json(json_file)),
        (page, lambda: write_page(correlation, page, title, top)),
        (folder, lambda: write_plots(correlation, folder)),
    ]
    show = [lambda: _show(correlation, top, json_file, page)]
    return [step for file, step in writes if file] + show


def _show(correlation: "Correlation", top: int, *files: Path | None) -> None:
    from lockstep.correlation.report import views

    console = console_of(*files)
    for view in views(correlation, top, console.width):
        console.print(view)
    for remark in correlation.remarks:
        click.echo(f"lockstep: {remark}", err=True)


def _result(text: str) -> "Ours":
    """A result, after its name if it has one; a file may have a "=" in its own."""
    from lockstep.correlation.results import read_result

    name, equals, path = text.partition("=")
    if equals and not Path(text).exists():
        return read_result(path, name)
    return read_result(text)
