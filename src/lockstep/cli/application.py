"""``lockstep run ./program``: a CUDA program with its arguments, and the summary at its end."""

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import click

from lockstep.cli.progress import Progress
from lockstep.cli.simulate import take_all, writes

if TYPE_CHECKING:
    from lockstep.gpus.spec import GPU
    from lockstep.runtime import Simulator

APPLICATION = "lockstep.application"  # in the context: the program and its arguments


class Launcher(click.Command):
    """Leaves everything after the name of an executable to the executable."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Split the arguments at an executable's name."""
        place = self.first_positional(ctx, args)
        if place < len(args) and is_executable(args[place]):
            ctx.meta[APPLICATION] = args[place:]
            args = args[: place + 1]
        return super().parse_args(ctx, args)

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
    if name.endswith(".ptx"):
        return False
    if "/" in name:
        return shutil.which(name) is not None
    from lockstep import kernels

    return name not in kernels.names() and shutil.which(name) is not None


def choose(name: str, gpu: str | None, overrides: tuple[str, ...], quiet: bool) -> "GPU":
    """The GPU that was asked for, else the one that suits the program, said on stderr."""
    from lockstep import api
    from lockstep.runtime.choice import gpu_for_program
    from lockstep.runtime.program import find_program

    if gpu is not None:
        return api.gpu(gpu, overrides)
    chosen = gpu_for_program(find_program(name)).name
    if not quiet:
        click.echo(f"lockstep: GPU {chosen} (--gpu chooses)", err=True)
    return api.gpu(chosen, overrides)


def run_application(
    command: list[str],
    spec: "GPU",
    every: int,
    record: Path | None,
    files: dict,
    quiet: bool,
    **simulation,
) -> int:
    """Run a program; the exit code to end with."""
    from lockstep.frontend.cuda.record import RecordWriter
    from lockstep.runtime import Simulator, run_program

    name = Path(command[0]).name
    progress = Progress(quiet)
    simulation |= {"timeline": files["timeline"] is not None, "notice": progress.notice}
    simulator = Simulator(spec, every, name=name, **simulation)
    writer = RecordWriter(record) if record else None
    try:
        outcome = run_program(simulator, command, writer)
        report(simulator, files, quiet)
    finally:
        if writer:
            writer.close()
        simulator.close()
    if outcome.interrupted:
        click.echo("lockstep: interrupted; the figures are partial", err=True)
    elif outcome.signal:
        click.echo(f"lockstep: {name} was killed by {outcome.signal}", err=True)
    return outcome.code or int(simulator.stuck)


def report(simulator: "Simulator", files: dict, quiet: bool) -> None:
    """Write the files that were asked for; the summary goes to stderr."""
    from lockstep.metrics import output
    from lockstep.runtime.summary import document, summary

    steps = []
    if simulator.every:
        steps += writes(simulator.device.partial_result(), **files)
    elif files["json_file"]:
        steps.append(lambda: output.write_json(files["json_file"], document(simulator)))
    if not quiet:
        steps.append(lambda: click.echo(summary(simulator), err=True))
    take_all(steps)
