"""``lockstep profile``: a program, recorded calls or a trace in; a launch table out."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from lockstep.cli.application import APPLICATION, ExecutableCommand, choose
from lockstep.cli.console import console_of
from lockstep.cli.options import MEMORY, QUIET, SET
from lockstep.cli.parameters import FILE, MemorySize, check_writable, condition, find_gpu
from lockstep.cli.programs import GivenProgram, program_options
from lockstep.cli.progress import LaunchProgress
from lockstep.cli.run import verify
from lockstep.errors import InputError, LockstepError

if TYPE_CHECKING:
    from rich.table import Table

    from lockstep.device import Device
    from lockstep.gpus.spec import GPU
    from lockstep.sampling import LaunchTable, Profiler, TraceProfiler

_TRACES = (".lst", ".g", ".traceg", ".trace", ".tracez", ".gz", ".xz", ".zst")


@click.command(cls=ExecutableCommand)
@partial(program_options, required=False)
@click.option("--gpu", metavar="NAME", help="The GPU; default: QV100, or by a program's code.")
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
@click.option("--ptx", is_flag=True, help="Of a CUDA program, execute PTX, no machine code.")
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
    program = {name: options.pop(name) for name in _PROGRAM}
    check_output(output)
    if conditions and not imported:
        raise click.UsageError("--where needs --import")
    measured = times_of(imported, conditions) if imported else None
    task = ProfiledProgram(output, quiet, options, measured)
    if arguments := context.meta.get(APPLICATION):
        spec = choose(arguments[0], gpu, overrides, quiet)
        code = task.application(arguments, spec, ptx=ptx, memory_bytes=memory_bytes)
        raise SystemExit(code)
    if ptx:
        raise click.UsageError("--ptx is for CUDA programs; built-in ones are PTX")
    if program["name"] is None:
        if measured is None:
            raise click.UsageError("Missing argument 'PROGRAM'")
        tell(measured, output, quiet)
        return
    name = Path(program["name"])
    if is_record(name):
        if gpu is None:
            raise click.UsageError("recorded calls need --gpu")
        if not task.replay(name, find_gpu(gpu, overrides, quiet), memory_bytes=memory_bytes):
            raise SystemExit(1)
    elif is_trace(name):
        task.trace(name, gpu, overrides)
    else:
        spec = find_gpu("QV100" if gpu is None else gpu, overrides, quiet)
        task.program(GivenProgram(**program), spec, memory_bytes)


_PROGRAM = ("name", "size", "seed", "entry", "grid", "block", "shared", "arguments")


def times_of(path: Path, conditions: tuple[str, ...]) -> "LaunchTable":
    """The table of measurements."""
    from lockstep.sampling import imports

    return imports.read(path, dict(map(condition, conditions)))


def check_output(output: Path | None) -> None:
    """Raise before a long run if its table could not be written after it."""
    from lockstep.metrics.output import NO_PARQUET, has_parquet

    check_writable(output)
    if output is None or output.suffix == ".csv":
        return
    if output.suffix != ".parquet":
        raise InputError(output, "", "names no kind of table; expected .parquet or .csv")
    if not has_parquet():
        raise InputError(output, "", f"{NO_PARQUET}, or name a .csv")


def is_record(path: Path) -> bool:
    """Whether these are recorded calls: the file, or the folder that it is in."""
    from lockstep.frontend.cuda.record import FILE as NAME

    return (path / NAME).is_file() or (path.name == NAME and path.is_file())


def is_trace(path: Path) -> bool:
    """Whether this may be a trace: a folder, or a file that is named as one."""
    return path.is_dir() or (path.suffix in _TRACES and path.is_file())


class ProfiledProgram:
    """What is made of a program: its table, which is written, and a summary.

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

    def program(self, program: GivenProgram, spec: "GPU", memory_bytes: int | None) -> None:
        """A built-in program or a PTX file; its results are compared."""
        from lockstep.device import Device

        with LaunchProgress(self._quiet) as progress:
            options: dict[str, Any] = {"profile": self._counts, "memory_bytes": memory_bytes}
            device = Device(spec, name=program.name, notice=progress.notice, **options)
            with device:
                profiler = self._profiler(device, progress.launched)
                checks = self._all_of(profiler, lambda: program.run(device))
                progress.clear()
                self._finish(profiler)
                verify(checks, self._quiet)

    def application(self, command: list[str], spec: "GPU", **options: Any) -> int:
        """An executable; the exit code to end with."""
        from lockstep.runtime import Simulator, run_program

        name = Path(command[0]).name
        progress = LaunchProgress(self._quiet, hidden=True)  # the terminal is the program's
        options |= {"profile": self._counts, "notice": progress.notice}
        simulator = Simulator(spec, name=name, **options)
        try:
            profiler = self._profiler(simulator.device)
            outcome = run_program(simulator, command)
            if outcome.interrupted:
                simulator.interrupt()
        finally:
            simulator.close()
        if not self._quiet:
            for call, times in simulator.unsupported.most_common():
                click.echo(f"lockstep: not supported: {call} ({times} calls)", err=True)
        if outcome.signal and not outcome.interrupted:
            click.echo(f"lockstep: {name} was killed by {outcome.signal}", err=True)
        code = outcome.code or int(simulator.stuck)
        if len(profiler) or not code:
            self._finish(profiler, stderr=True)
        return code

    def replay(self, folder: Path, spec: "GPU", **options: Any) -> bool:
        """Recorded calls; false if one failed or a signal came."""
        from lockstep.runtime import Simulator
        from lockstep.runtime.replay import replay

        with LaunchProgress(self._quiet) as progress:
            options |= {"profile": self._counts, "notice": progress.notice}
            simulator = Simulator(spec, name=folder.name, **options)
            try:
                profiler = self._profiler(simulator.device, progress.launched)
                complete = replay(simulator, folder)
            finally:
                simulator.close()
        if len(profiler) or complete:
            self._finish(profiler)
        return complete

    def trace(self, path: Path, gpu: str | None, overrides: tuple[str, ...]) -> None:
        """A trace: nothing is executed."""
        from lockstep import api
        from lockstep.cli.simulate import choose as choose_by_trace
        from lockstep.gpus.library import totals
        from lockstep.sampling import TraceProfiler

        if self._level == 2:
            raise click.UsageError("a trace has no basic blocks: --level is 0, 1 or 3")
        workload, size = api.load(path), self._l2_bytes or 0
        level = 1 if self._level is None else self._level
        if level == 3 and not size:
            spec = choose_by_trace(workload, gpu, overrides, self._quiet)
            size = totals(spec).l2_bytes
        with LaunchProgress(self._quiet) as progress:
            profiler = TraceProfiler(workload, level, l2_bytes=size, told=progress.launched)
            self._all_of(profiler, profiler.read)
        self._finish(profiler)

    @property
    def _counts(self) -> bool:
        return self._level != 0

    def _profiler(self, device: "Device", told: Callable | None = None) -> "Profiler":
        from lockstep.sampling import Profiler

        level = 2 if self._level is None else self._level
        return Profiler(device, level, l2_bytes=self._l2_bytes, told=told)

    def _all_of(self, profiler: "Profiler | TraceProfiler", run: Callable) -> Any:
        """What ``run`` returns; if it ends early, what is known by then is written."""
        try:
            return run()
        except (KeyboardInterrupt, LockstepError):
            if len(profiler):
                tell(profiler.table(), self._output, self._quiet)
            raise

    def _finish(self, profiler: "Profiler | TraceProfiler", stderr: bool = False) -> None:
        if not len(profiler):
            raise LockstepError("no launch has come to its end: there is no table")
        table = profiler.table()
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
