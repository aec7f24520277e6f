"""``lockstep trace``: a program in, its trace out."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from lockstep.cli.application import APPLICATION, ExecutableCommand, choose, is_executable
from lockstep.cli.convert import bytes_of
from lockstep.cli.options import MEMORY
from lockstep.cli.parameters import FILE, MemorySize, check_writable
from lockstep.cli.programs import (
    DEFAULT_GPU,
    PROGRAM_GPU,
    PTX,
    GivenProgram,
    program_options,
    verify,
)

if TYPE_CHECKING:
    from lockstep.device import Device
    from lockstep.device.recording import Recorder
    from lockstep.gpus.spec import GPU
    from lockstep.runtime import ProgramEnd

OUTPUT = ("--output", "-o")


class Tracer(ExecutableCommand):
    """As :class:`ExecutableCommand`; the output may also come last, behind the program's."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Move an output that comes last to where options are."""
        place = self.first_positional(ctx, args)
        given = any(word.startswith(OUTPUT) for word in args[:place])
        last = args[max(place + 1, len(args) - 2) :]
        if not given and last[0:1] and last[0] in OUTPUT and is_executable(args[place]):
            args = last + args[: -len(last)]
        return super().parse_args(ctx, args)


@click.command(cls=Tracer)
@program_options
@PROGRAM_GPU
@click.option(
    "--output",
    "-o",
    type=FILE,
    required=True,
    help="FILE.lst or a directory; may also come last.",
)
@click.option(
    "--tracer",
    type=click.Choice(["5", "6"]),
    help="Of a directory: version of Accel-Sim's tracer. 5, for CUDA programs, leaves predicates "
    "and uniform registers out; 6, for PTX, has them where they occur.",
)
@MEMORY
@PTX
@click.option("--at-issue", is_flag=True, help="Simulate, for the path that locks and clocks take.")
@click.option(
    "--plan",
    "plan_file",
    type=FILE,
    metavar="FILE",
    help="Write only the launches that this plan chooses; to a file with what is in the caches "
    "before them, to a directory with weights.csv.",
)
@click.option(
    "--l2",
    "l2_bytes",
    type=MemorySize(),
    metavar="SIZE",
    help="With --plan: the largest L2 that is to be simulated; default: the GPU's.",
)
@click.option("--quiet", "-q", is_flag=True, help="Print nothing.")
@click.pass_context
def command(
    context, gpu, output, tracer, memory_bytes, ptx, at_issue, plan_file, l2_bytes, quiet, **program
) -> None:
    """Execute PROGRAM and write what it did as a trace.

    PROGRAM is a built-in one (`lockstep kernels` lists them), a PTX file, or an executable that
    uses CUDA; what follows an executable are its own arguments, and its exit code is passed on.
    The trace is one file of lockstep's own format if its name ends in .lst, else a directory that
    Accel-Sim reads. Nothing is simulated, unless --at-issue asks for the path that the program
    takes on that GPU. With --plan a file is one of live points: `lockstep simulate` simulates them,
    and estimates all launches. A directory then has the launches of the plan, and their weights.
    """
    from lockstep import api
    from lockstep.device import Device

    check_writable(output, directory=not api.is_tracefile_name(output))
    record = recording(output, tracer, at_issue, plan_file, l2_bytes)
    if arguments := context.meta.get(APPLICATION):
        spec, version = choose(arguments[0], gpu, (), quiet), int(tracer or (6 if ptx else 5))
        options = {"memory_bytes": memory_bytes, "ptx": ptx, "at_issue": at_issue}
        outcome = trace_application(arguments, spec, partial(record, tracer=version), options)
        tell(output, quiet)
        if outcome.interrupted:
            click.echo("lockstep: interrupted; the trace ends there", err=True)
        raise SystemExit(outcome.code)
    if ptx:
        raise click.UsageError("--ptx is for CUDA programs; built-in ones are PTX")
    chosen = GivenProgram(**program)
    options = {"name": chosen.name, "timing": at_issue, "at_issue": at_issue}
    options["memory_bytes"] = memory_bytes
    with Device(DEFAULT_GPU if gpu is None else gpu, **options) as device:
        with record(device, tracer=int(tracer or 6)):
            checks = chosen.run(device)
        verify(checks, quiet)
    tell(output, quiet)


def recording(
    output: Path, tracer: str | None, at_issue: bool, plan_file: Path | None, l2_bytes: int | None
) -> "Callable[..., Recorder]":
    """What makes the recorder that was asked for, of a device and a version of Accel-Sim's tracer.

    A plan is read here.
    """
    if plan_file is None:
        if l2_bytes is not None:
            raise click.UsageError("--l2 is of live points: with --plan")
        return lambda device, tracer: device.record(output, tracer)
    from lockstep.api import is_tracefile_name
    from lockstep.sampling import Plan, PointRecorder
    from lockstep.sampling.accelsim import ListRecorder

    points = is_tracefile_name(output)
    if at_issue or (points and tracer):
        raise click.UsageError(
            "--plan executes, and --tracer is of directories: without "
            + ("--at-issue" if at_issue else "--tracer")
        )
    if not points and l2_bytes is not None:
        raise click.UsageError("--l2 is of live points: -o FILE.lst")
    plan = Plan.read(plan_file)

    def record(device: "Device", tracer: int) -> "Recorder":
        if points:
            return device.attach(lambda: PointRecorder(device, output, plan, l2_bytes))
        return device.attach(lambda: ListRecorder(device, output, plan, tracer))

    return record


def trace_application(
    command: list[str], gpu: "GPU", record: "Callable[[Device], Recorder]", options: dict
) -> "ProgramEnd":
    """Run a CUDA program; the trace has the launches that came to their end."""
    from lockstep.runtime import Simulator, run_program

    name = Path(command[0]).name
    simulator = Simulator(gpu, options["at_issue"], name=name, **options)
    try:
        with record(simulator.device):
            return run_program(simulator, command)
    finally:
        simulator.close()


def tell(output: Path, quiet: bool) -> None:
    """Say on stderr what was written."""
    from lockstep import api
    from lockstep.report.figures import scaled

    if not quiet:
        workload = api.load(output)
        what = "live points" if workload.points else "kernels"
        size = scaled(bytes_of(output), "B")
        click.echo(f"{output}: {len(workload.kernels)} {what}, {size}", err=True)
