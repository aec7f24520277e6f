"""``lockstep profile``: a program, recorded calls or a trace in; a launch table out."""

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from lockstep.cli.application import ExecutableCommand
from lockstep.cli.console import console_of
from lockstep.cli.options import MEMORY, QUIET, SET
from lockstep.cli.parameters import FILE, MemorySize, check_table, condition
from lockstep.cli.programs import PROGRAM_GPU, PTX, program_options
from lockstep.cli.watched import PROGRAM, WatchedProgram, load
from lockstep.errors import LockstepError

if TYPE_CHECKING:
    from rich.table import Table

    from lockstep.cli.watched import Told
    from lockstep.device import Device
    from lockstep.sampling import LaunchTable, Profiler, TraceProfiler


@click.command(cls=ExecutableCommand)
@partial(program_options, required=False)
@PROGRAM_GPU
@SET
@click.option(
    "--level",
    type=click.IntRange(0, 3),
    help="0: what is launched; 1: with counters; 2: with basic blocks; 3: with sectors of memory. "
    "Default: 2, of a trace 1.",
)
@click.option(
    "--l2",
    "l2_bytes",
    type=MemorySize(),
    metavar="SIZE",
    help="The L2 of level 3; default: the GPU's.",
)
@click.option(
    "--output", "-o", type=FILE, metavar="FILE", help="Write the table: .parquet, or .csv."
)
@click.option(
    "--import",
    "imported",
    type=FILE,
    metavar="CSV",
    help="Times of Nsight Systems, Nsight Compute or nvprof: of PROGRAM's launches, or alone.",
)
@click.option(
    "--where",
    "conditions",
    multiple=True,
    metavar="COLUMN=VALUE",
    help="Only rows of CSV with this value.",
)
@MEMORY
@PTX
@QUIET
@click.pass_context
def command(
    context, gpu, overrides, output, imported, conditions, memory_bytes, ptx, quiet, **options
) -> None:
    """Execute PROGRAM without simulating it, and say what each of its launches did.

    PROGRAM is a built-in one (`lockstep kernels` lists them), a PTX file, an executable that uses
    CUDA, whose exit code is passed on, calls that `lockstep run --record` recorded, or a trace,
    which is read. What it launched until a signal, or until it failed, is written, too. With
    --import and without PROGRAM the table is that of the measurements.
    """
    program = {name: options.pop(name) for name in PROGRAM}
    check_table(output)
    if conditions and not imported:
        raise click.UsageError("--where needs --import")
    measured = times_of(imported, conditions) if imported else None
    if program["name"] is None:
        if measured is None:
            raise click.UsageError("Missing argument 'PROGRAM'")
        tell(measured, output, quiet)
        return
    look = ProfileLook(output, quiet, options, measured)
    WatchedProgram(look, quiet, memory_bytes, ptx).run(context, program, gpu, overrides)


def times_of(path: Path, conditions: tuple[str, ...]) -> "LaunchTable":
    """The table of measurements."""
    from lockstep.sampling import imports

    return imports.read(path, dict(map(condition, conditions)))


class ProfileLook:
    """Makes a launch table, which is written, and a summary.

    ``options``: level, None for the usual one, and size of the L2. ``measured``: a table with
    times for it.
    """

    def __init__(
        self,
        output: Path | None,
        quiet: bool,
        options: dict[str, Any],
        measured: "LaunchTable | None",
    ):
        self._output, self._quiet, self._measured = output, quiet, measured
        self._level, self._l2_bytes = options["level"], options["l2_bytes"]
        self._profiler: Profiler | TraceProfiler | None = None

    @property
    def counts(self) -> bool:
        """Level 0 needs no counters."""
        return self._level != 0

    @property
    def launches(self) -> int:
        """Rows so far."""
        return len(self._profiler) if self._profiler is not None else 0

    def begin(self, device: "Device", told: "Told | None") -> None:
        """Watch a device."""
        from lockstep.sampling import Profiler

        level = 2 if self._level is None else self._level
        self._profiler = Profiler(device, level, l2_bytes=self._l2_bytes, told=told)

    def read(self, path: Path, gpu: str | None, overrides: tuple[str, ...], told: "Told") -> None:
        """A trace: nothing is executed."""
        from lockstep.cli.simulate import choose
        from lockstep.gpus.library import totals
        from lockstep.sampling import TraceProfiler

        if self._level == 2:
            raise click.UsageError("a trace has no basic blocks: --level is 0, 1 or 3")
        workload, size = load(path), self._l2_bytes or 0
        level = 1 if self._level is None else self._level
        if level == 3 and not size:
            size = totals(choose(workload, gpu, overrides, self._quiet)).l2_bytes
        self._profiler = TraceProfiler(workload, level, l2_bytes=size, told=told)
        self._profiler.read()

    def save(self) -> None:
        """The rows so far, without times."""
        assert self._profiler is not None, "there are rows"
        tell(self._profiler.table(), self._output, self._quiet)

    def finish(self, stderr: bool) -> None:
        """All rows, with times where there are some."""
        if self._profiler is None or not len(self._profiler):
            raise LockstepError("no launch has come to its end: there is no table")
        table = self._profiler.table()
        if self._measured is not None:
            table = self._with_times(table, self._measured)
        tell(table, self._output, self._quiet, stderr)

    def _with_times(self, table: "LaunchTable", measured: "LaunchTable") -> "LaunchTable":
        """A table with the measured times; if they do not fit it is written without them."""
        from lockstep.sampling.imports import merge

        try:
            return merge(table, measured)
        except LockstepError:
            if self._output:
                table.write(self._output)
            raise


def tell(table: "LaunchTable", output: Path | None, quiet: bool, stderr: bool = False) -> None:
    """Write a table, and print its kernels."""
    if output:
        table.write(output)
    if quiet:
        return
    console = console_of(stderr=stderr)
    console.print(_kernels(table, console.width))
    known = f"level {table.level}" + f", times in {table.unit}" * table.has_times
    what = f"{len(table)} launches of {len(set(table.codes()))} kernels, {known}"
    click.echo(f"{output}: {what}" if output else what, err=True)


def _kernels(table: "LaunchTable", width: int) -> "Table":
    """Launches, shapes and instructions of each kernel, in the order of their first launches."""
    from lockstep.report.columns import Column, Kind
    from lockstep.report.columns import table as view
    from lockstep.report.figures import count, kernel_name, percent
    from lockstep.sampling.features import INSTRUCTIONS

    sums = [(INSTRUCTIONS, "warp inst."), ("new_sectors", "new sectors"), ("time", table.unit)]
    sums = [(name, heading) for name, heading in sums if name in table.frame]
    frame = table.frame.assign(shape=table.shapes())
    totals = {name: frame[name].sum() for name, _ in sums}
    rows = []
    for _, group in frame.groupby("code", sort=False):
        cells = [kernel_name(group["name"].iloc[0]), count(len(group))]
        cells.append(count(group["shape"].nunique()))
        for name, _ in sums:
            value = group[name].sum()
            cells += [count(round(value)), percent(100 * value / (totals[name] or 1))]
        rows.append(cells)
    shown = [Column("launches"), Column("different", rank=1)]
    for rank, (_, heading) in enumerate(sums):
        shown += [Column(heading, rank=4 + rank), Column("share", rank=2)]
    return view([Column("kernel", Kind.NAME), *shown], rows, width)
