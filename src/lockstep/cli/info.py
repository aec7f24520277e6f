"""``lockstep info``: what is in a trace or a kernel binary."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from lockstep.cli.console import console_of
from lockstep.cli.convert import bytes_of
from lockstep.report.columns import Column, Kind, table

if TYPE_CHECKING:
    from rich.table import Table

    from lockstep.report.census import Census
    from lockstep.workload import Workload

OPCODES_SHOWN = 20


@click.command()
@click.argument("path", type=click.Path(path_type=Path))
def command(path: Path) -> None:
    """Say what is in the trace at PATH: kernels, grids, instructions, opcode mix, size.

    Reads all of the trace. PATH may also be a kernel binary of AMD's OpenCL compiler for Southern
    Islands: kernels, their arguments, registers and LDS, and what user registers hold.
    """
    from lockstep.cli.amd import is_binary_of_amd

    if is_binary_of_amd(path):
        _of_amd(path)
    else:
        _of_trace(path)


def _of_amd(path: Path) -> None:
    from lockstep.isa.gcn.container import read_file
    from lockstep.isa.gcn.listing import summary
    from lockstep.report.figures import clean, scaled

    binary = read_file(path)
    size = scaled(path.stat().st_size, "B")
    kernels = "1 kernel" if len(binary.kernels) == 1 else f"{len(binary.kernels)} kernels"
    click.echo(f"{clean(path.name)}: {kernels} for Southern Islands, {size}")
    for line in summary(binary):
        click.echo(line)


def _of_trace(path: Path) -> None:
    from lockstep import api
    from lockstep.report.census import Census, census
    from lockstep.report.figures import clean, count, scaled
    from lockstep.workload import MemoryCopy

    workload = api.load(path)
    each = [census(kernel) for kernel in workload.kernels]
    total = Census()
    for one in each:
        total.add(one)
    console = console_of()
    copies = sum(isinstance(command, MemoryCopy) for command in workload.commands)
    console.print(
        f"{clean(workload.name)}: {len(each)} kernels, {copies} copies to the device, "
        f"{scaled(bytes_of(path), 'B')}\n"
        f"{count(total.warp_instructions)} warp instructions, "
        f"{count(total.thread_instructions)} thread instructions"
    )
    if workload.points:
        console.print(_points(workload))
    console.print(_kernels(workload, each, console.width))
    console.print(_opcodes(total, console.width))
    for opcode, times in total.unknown.most_common():
        console.print(f"unknown opcode {clean(opcode)}: {count(times)} times, classed by family")


def _points(workload: "Workload") -> str:
    """What live points stand for."""
    from lockstep.report.figures import count, scaled
    from lockstep.sampling import LivePoints
    from lockstep.workload.warm import WarmSet

    points = LivePoints.of(workload)
    lines = [c.runs["lines"].sum() for c in workload.commands if isinstance(c, WarmSet)]
    return (
        f"Live points: {count(len(points.plan.chosen))} of {count(len(points.plan))} launches, "
        f"chosen by {points.plan.sampler}; before them {count(int(min(lines)))} to "
        f"{count(int(max(lines)))} lines in an L2 of {scaled(points.l2_bytes, 'B')}"
    )


def _kernels(workload: "Workload", each: list["Census"], width: int) -> "Table":
    from lockstep.report import figures

    rows = [
        [
            f"{kernel.id} {figures.kernel_name(kernel.name)}",
            figures.size(kernel.grid),
            figures.size(kernel.block),
            str(kernel.registers),
            figures.count(kernel.shared_bytes),
            str(kernel.stream),
            str(kernel.architecture or figures.NONE),
            figures.count(counts.ctas),
            figures.count(counts.warp_instructions),
            figures.decimal(counts.thread_instructions / max(1, counts.warp_instructions)),
        ]
        for kernel, counts in zip(workload.kernels, each)
    ]
    headings = "grid block registers shared stream sm CTAs"
    ranks = (6, 5, 3, 2, 0, 1, 4)
    shown = [Column(heading, rank=rank) for heading, rank in zip(headings.split(), ranks)]
    shown += [Column("warp inst."), Column("threads/inst.", rank=7)]
    return table([Column("kernel", Kind.NAME), *shown], rows, width)


def _opcodes(total: "Census", width: int) -> "Table":
    from lockstep.report.figures import bar, clean, count, percent

    rows = []
    for opcode, times in total.opcodes.most_common(OPCODES_SHOWN):
        share = 100 * times / max(1, total.warp_instructions)
        rows.append([clean(opcode), count(times), percent(share), bar(share, 30)])
    hidden = len(total.opcodes) - OPCODES_SHOWN
    if hidden > 0:
        rows.append([f"and {hidden} more", "", "", ""])
    shown = [Column("warp inst."), Column("share"), Column("", Kind.WORD, rank=0)]
    return table([Column("opcode", Kind.NAME), *shown], rows, width)
