"""``lockstep run ./program``: a CUDA program with its arguments, and the summary at its end."""

import contextlib
import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from lockstep.cli.checks import MOST_LINES, tell
from lockstep.cli.console import console_of
from lockstep.cli.outputs import OutputFiles, take_all, writes
from lockstep.cli.parameters import find_gpu
from lockstep.cli.programs import PROGRAM_INPUT
from lockstep.cli.progress import Progress
from lockstep.cli.sampled import show_estimate
from lockstep.cli.timing import ChosenTiming

if TYPE_CHECKING:
    from lockstep.gpus.spec import GPU
    from lockstep.gpus.system import GpuSystem
    from lockstep.metrics.result import Result
    from lockstep.metrics.system import SystemResult
    from lockstep.runtime import Simulator
    from lockstep.sampling.running import Chooser

APPLICATION = "lockstep.application"  # in the context: the program and its arguments


class ExecutableCommand(click.Command):
    """Leaves everything after the name of an executable to the executable."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Split the arguments at an executable's name."""
        place = self.first_positional(ctx, args)
        if place >= len(args) or not is_executable(args[place]):
            return super().parse_args(ctx, args)
        ctx.meta[APPLICATION] = args[place:]
        rest = super().parse_args(ctx, args[: place + 1])
        if "--" not in args[:place] and not ctx.params.get("quiet"):
            self.hint(ctx, args[place:])
        return rest

    def hint(self, ctx: click.Context, command: list[str]) -> None:
        """Say which of the program's arguments look as if they were meant for us."""
        ours = {o for p in self.get_params(ctx) if p.name not in PROGRAM_INPUT for o in p.opts}
        words = (word.partition("=")[0] for word in command[1:])
        if meant := [word for word in dict.fromkeys(words) if len(word) > 2 and word in ours]:
            name, goes = Path(command[0]).name, "goes" if len(meant) == 1 else "go"
            click.echo(
                f"lockstep: {', '.join(meant)} {goes} to {name}, as all that follows its name; "
                "options of lockstep stand before the name",
                err=True,
            )

    def first_positional(self, ctx: click.Context, args: list[str]) -> int:
        """Place of the first argument that is no option nor its value."""
        options = [p for p in self.get_params(ctx) if isinstance(p, click.Option)]
        with_value = {name for p in options if not p.is_flag for name in p.opts}
        place = 0
        while place < len(args) and args[place].startswith("-") and args[place] != "--":
            place += 1 + (args[place] in with_value)
        return place + (args[place : place + 1] == ["--"])


def is_executable(name: str) -> bool:
    """Whether a name is that of an executable file, or of a command that is no built-in program."""
    if name.endswith(".ptx") and not _is_elf(Path(name)):
        return False
    if "/" in name:
        return shutil.which(name) is not None
    from lockstep import kernels

    return name not in kernels.names() and shutil.which(name) is not None


def _is_elf(path: Path) -> bool:
    """Whether a file is machine code, whatever its name says."""
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(4) == b"\x7fELF"


def choose(name: str, gpu: str | None, overrides: tuple[str, ...], quiet: bool) -> "GPU":
    """The GPU that was asked for, else the one that suits the program, said on stderr."""
    from lockstep import api
    from lockstep.runtime.choice import gpu_for_program
    from lockstep.runtime.linkage import check_program
    from lockstep.runtime.program import find_program

    program = find_program(name)
    check_program(program)
    if gpu is not None:
        return find_gpu(gpu, overrides, quiet)
    chosen = api.gpu(gpu_for_program(program).name, overrides)
    if not quiet:
        click.echo(f"lockstep: GPU {chosen.name} (--gpu chooses)", err=True)
    return chosen


def run_application(
    command: list[str],
    spec: "GPU | GpuSystem",
    timing: ChosenTiming,
    record: Path | None,
    files: OutputFiles,
    detail: str,
    check_limit: int = MOST_LINES,
    advised: bool = False,
    **simulation,
) -> int:
    """Run a program; the exit code to end with. ``detail``: as of :func:`report`."""
    from lockstep import api
    from lockstep.errors import LockstepError
    from lockstep.frontend.cuda.record import RecordWriter
    from lockstep.runtime import Simulator, run_program

    name = Path(command[0]).name
    if record and api.is_tracefile_name(record):
        words = f"`lockstep trace -o {record}` writes a trace of it"
        raise LockstepError(f"--record {record}: a program's calls are a directory; {words}")
    progress = Progress(not detail)
    simulation |= {"timeline": files.timeline is not None, "notice": progress.notice}
    simulator = Simulator(spec, timing.simulates, name=name, choose=timing.chooser, **simulation)
    writer = RecordWriter(record) if record else None
    with contextlib.ExitStack() as ends:
        ends.callback(simulator.close)
        if writer:
            ends.callback(writer.close)
        outcome = run_program(simulator, command, writer)
        if outcome.interrupted:
            simulator.interrupt()
        chooser = None if outcome.interrupted else timing.chooser
        report(simulator, files, detail, chooser, advised)
        found = max(tell(device, check_limit) for device in simulator.devices)
    if outcome.interrupted:
        return outcome.code
    if outcome.signal:
        click.echo(f"lockstep: {name} was killed by {outcome.signal}", err=True)
    return found or outcome.code or int(simulator.stuck)


def report(
    simulator: "Simulator",
    files: OutputFiles,
    detail: str,
    chooser: "Chooser | None" = None,
    advised: bool = False,
) -> None:
    """Write the files that were asked for; the summary goes to stderr.

    ``detail``: "full", with the tables of what was simulated, "short", or "" for no summary.
    ``chooser``: what chose the launches that were simulated, and has an estimate of all.
    ``advised``: with advice.
    """
    from lockstep.metrics import output
    from lockstep.runtime.summary import document, summary

    steps, result = [], None
    outcome = chooser.outcome() if chooser else None
    if simulator.timed and simulator.system is not None:
        together = simulator.system.partial_result()
        steps += system_writes(together, files)
        if detail == "full":
            steps.append(lambda: show_system(together))
    elif simulator.timed:
        result = simulator.device.partial_result()
        result.estimate = outcome.document() if outcome else {}
        if advised:
            from lockstep.advice.advise import advise

            advise(result)
        steps += writes(result, files, outcome)
    elif files.json_file:
        steps.append(partial(output.write_json, files.json_file, document(simulator)))
    if detail:
        steps.append(lambda: click.echo(summary(simulator), err=True))
    if detail and outcome:
        steps.append(lambda: show_estimate(outcome, detail, err=True))
    if detail == "full" and result is not None and result.run.kernels:
        steps.append(lambda: explain(result))
    if detail and result is not None and result.counts_instructions:
        steps.append(lambda: show_source(result))
    if detail and result is not None and result.advice:
        steps.append(lambda: show_advice(result))
    take_all(steps)


def system_writes(result: "SystemResult", files: OutputFiles) -> list[Callable[[], object]]:
    """A step for each file that was asked for of a system."""
    steps: list[Callable[[], object]] = []
    if files.json_file:
        steps.append(partial(result.to_json, files.json_file))
    if files.timeline:
        from lockstep.report.system import write_system_timeline

        steps.append(partial(write_system_timeline, result, files.timeline))
    if files.report:
        from lockstep.report.page.write import write_report

        steps.append(partial(write_report, result, files.report))
    return steps


def show_system(result: "SystemResult") -> None:
    """Print the tables of GPUs and links to stderr."""
    from lockstep.report.system import tables

    console = console_of(stderr=True)
    for each in tables(result, console.width):
        console.print(each)


def show_source(result: "Result") -> None:
    """Print the source lines that cost most to stderr."""
    from lockstep.report.source import print_source

    print_source(result, console_of(stderr=True))


def show_advice(result: "Result") -> None:
    """Print why the program is slow to stderr."""
    from lockstep.report.advice import print_advice

    print_advice(result, console_of(stderr=True))


def explain(result: "Result") -> None:
    """Print the tables of the kernels that took most time to stderr."""
    from lockstep.report.summary import print_kernels

    print_kernels(result, console_of(stderr=True))
