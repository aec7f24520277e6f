"""``lockstep info``: what is in a trace."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from lockstep.cli.console import console_of
from lockstep.cli.convert import bytes_of

if TYPE_CHECKING:
    from rich.table import Table

    from lockstep.report.census import Census
    from lockstep.workload import Workload

OPCODES_SHOWN = 20
PIPE_WIDTH = 120


@click.command()
@click.argument("path", type=click.Path(path_type=Path))
def command(path: Path) -> None:
    """Say what is in the trace at PATH: kernels, grids, instructions, opcode mix, size.

    Reads all of the trace.
    """
    from lockstep import api
    from lockstep.report.census import Census, census
    from lockstep.report.figures import clean, count, scaled

    workload = api.load(path)
    each = [census(kernel) for kernel in workload.kernels]
    total = Census()
    for one in each:
        total.add(one)
    console = console_of(PIPE_WIDTH)
    copies = len(workload.commands) - len(each)
    console.print(
        f"{clean(workload.name)}: {len(each)} kernels, {copies} copies to the device, "
        f"{scaled(bytes_of(path), 'B')}\n"
        f"{count(total.warp_instructions)} warp instructions, "
        f"{count(total.thread_instructions)} thread instructions"
    )
    console.print(_kernels(workload, each))
    console.print(_opcodes(total))
    for opcode, times in total.unknown.most_common():
        console.print(f"unknown opcode {clean(opcode)}: {count(times)} times, classed by family")


def _kernels(workload: "Workload", each: list["Census"]) -> "Table":
    from rich.table import Table
    from rich.text import Text

    from lockstep.report import figures

    table = Table("kernel", box=None, pad_edge=False)
    headings = "grid block registers shared stream sm CTAs"
    for heading in [*headings.split(), "warp inst.", "threads/inst."]:
        table.add_column(heading, justify="right", no_wrap=True)
    for kernel, counts in zip(workload.kernels, each):
        table.add_row(
            Text(f"{kernel.id} {figures.clean(kernel.name)}", overflow="ellipsis", no_wrap=True),
            figures.size(kernel.grid),
            figures.size(kernel.block),
            str(kernel.registers),
            figures.count(kernel.shared_bytes),
            str(kernel.stream),
            str(kernel.architecture or figures.NONE),
            figures.count(counts.ctas),
            figures.count(counts.warp_instructions),
            figures.decimal(counts.thread_instructions / max(1, counts.warp_instructions)),
        )
    return table


def _opcodes(total: "Census") -> "Table":
    from rich.table import Table

    from lockstep.report.figures import bar, clean, count, percent

    table = Table("opcode", box=None, pad_edge=False)
    for heading in ("warp inst.", "share"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("", no_wrap=True)
    for opcode, times in total.opcodes.most_common(OPCODES_SHOWN):
        share = 100 * times / max(1, total.warp_instructions)
        table.add_row(clean(opcode), count(times), percent(share), bar(share, 30))
    hidden = len(total.opcodes) - OPCODES_SHOWN
    if hidden > 0:
        table.add_row(f"and {hidden} more", "", "", "")
    return table
