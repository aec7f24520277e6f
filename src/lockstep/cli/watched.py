"""Programs that are executed, or traces that are read, while somebody looks at their launches."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import click

from lockstep.cli.application import APPLICATION, choose
from lockstep.cli.known import TRACES
from lockstep.cli.parameters import find_gpu
from lockstep.cli.programs import DEFAULT_GPU, PROGRAM_INPUT, GivenProgram, verify
from lockstep.cli.progress import LaunchProgress
from lockstep.errors import LockstepError

if TYPE_CHECKING:
    from lockstep.device import Device
    from lockstep.gpus.spec import GPU
    from lockstep.workload import Workload

PROGRAM = ("name", *PROGRAM_INPUT)
"""The parameters of :func:`~lockstep.cli.programs.program_options`."""
Told = Callable[[int, str], None]


class Look(Protocol):
    """Somebody who looks at the launches of one program."""

    @property
    def counts(self) -> bool:
        """Whether the device profiles."""
        ...

    @property
    def launches(self) -> int:
        """How many he has seen the end of."""
        ...

    def begin(self, device: "Device", told: Told | None) -> None:
        """Watch a device; ``told`` is called for each launch."""
        ...

    def read(self, path: Path, gpu: str | None, overrides: tuple[str, ...], told: Told) -> None:
        """Read a trace; ``gpu`` and changes of it as they were given."""
        ...

    def finish(self, stderr: bool) -> None:
        """Write and show what was found; what is shown goes to stderr if that is asked for."""
        ...

    def save(self) -> None:
        """Write and show what was found, of a program that ends early."""
        ...


class WatchedProgram:
    """Runs whatever a command was given, and lets somebody look."""

    def __init__(self, look: Look, quiet: bool, memory_bytes: int | None, ptx: bool):
        self._look, self._quiet = look, quiet
        self._memory, self._ptx = memory_bytes, ptx

    def run(
        self,
        context: click.Context,
        program: dict[str, Any],
        gpu: str | None,
        overrides: tuple[str, ...],
    ) -> None:
        """An executable with its arguments, recorded calls, a trace, or a built-in program.

        Exits with the code of an executable, or with 1 if calls could not be repeated.
        """
        if arguments := context.meta.get(APPLICATION):
            spec = choose(arguments[0], gpu, overrides, self._quiet)
            raise SystemExit(self._application(arguments, spec))
        if self._ptx:
            raise click.UsageError("--ptx is for CUDA programs; built-in ones are PTX")
        path = Path(program["name"])
        if is_record(path):
            if gpu is None:
                raise click.UsageError("recorded calls need --gpu")
            if not self._replay(path, find_gpu(gpu, overrides, self._quiet)):
                raise SystemExit(1)
        elif is_trace(path):
            with LaunchProgress(self._quiet) as progress:
                self._all_of(lambda: self._look.read(path, gpu, overrides, progress.launched))
            self._look.finish(False)
        else:
            spec = find_gpu(DEFAULT_GPU if gpu is None else gpu, overrides, self._quiet)
            self._builtin(GivenProgram(**program), spec)

    def _builtin(self, program: GivenProgram, spec: "GPU") -> None:
        """A built-in program or a PTX file; its results are compared."""
        from lockstep.device import Device

        with LaunchProgress(self._quiet) as progress:
            options: dict[str, Any] = {"profile": self._look.counts, "memory_bytes": self._memory}
            device = Device(spec, name=program.name, notice=progress.notice, **options)
            with device:
                self._look.begin(device, progress.launched)
                checks = self._all_of(lambda: program.run(device))
                progress.clear()
                self._look.finish(False)
                verify(checks, self._quiet)

    def _application(self, command: list[str], spec: "GPU") -> int:
        """An executable; the exit code to end with."""
        from lockstep.runtime import Simulator, run_program

        name = Path(command[0]).name
        progress = LaunchProgress(self._quiet, hidden=True)  # the terminal is the program's
        options: dict[str, Any] = {"profile": self._look.counts, "notice": progress.notice}
        options |= {"memory_bytes": self._memory, "ptx": self._ptx}
        simulator = Simulator(spec, name=name, **options)
        try:
            self._look.begin(simulator.device, None)
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
        if self._look.launches or not code:
            self._look.finish(True)
        return code

    def _replay(self, folder: Path, spec: "GPU") -> bool:
        """Recorded calls; false if one failed or a signal came."""
        from lockstep.runtime import Simulator
        from lockstep.runtime.replay import replay

        with LaunchProgress(self._quiet) as progress:
            options: dict[str, Any] = {"profile": self._look.counts, "notice": progress.notice}
            options["memory_bytes"] = self._memory
            simulator = Simulator(spec, name=folder.name, **options)
            try:
                self._look.begin(simulator.device, progress.launched)
                complete = replay(simulator, folder)
            finally:
                simulator.close()
        if self._look.launches or complete:
            self._look.finish(False)
        return complete

    def _all_of(self, run: Callable[[], Any]) -> Any:
        """What ``run`` returns; if it ends early, what is known by then is written."""
        try:
            return run()
        except (KeyboardInterrupt, LockstepError):
            if self._look.launches:
                self._look.save()
            raise


def is_record(path: Path) -> bool:
    """Whether these are recorded calls: the file, or the folder that it is in."""
    from lockstep.frontend.cuda.record import FILE as NAME

    return (path / NAME).is_file() or (path.name == NAME and path.is_file())


def is_trace(path: Path) -> bool:
    """Whether this may be a trace: a folder, or a file that is named as one."""
    return path.is_dir() or (path.suffix in TRACES and path.is_file())


def load(path: Path) -> "Workload":
    """A trace whose launches are looked at one after the other."""
    from lockstep import api

    workload = api.load(path)
    if workload.points:
        click.echo(
            f"lockstep: {path} has live points: what other launches left in caches before them "
            "does not count here",
            err=True,
        )
    return workload
