"""Starting a program so that its CUDA calls come here, and ending it."""

import ctypes
import os
import shutil
import signal
import subprocess
from collections.abc import Sequence
from pathlib import Path

import msgspec

from lockstep.errors import LockstepError
from lockstep.frontend.cuda.build import STATIC, libraries, replaces_static
from lockstep.frontend.cuda.record import RecordWriter
from lockstep.runtime.linkage import USUAL_ROOM, check_program, hidden_libraries, thread_bytes
from lockstep.runtime.server import ProgramKilled, Server
from lockstep.runtime.simulator import Simulator

_SET_DEATH_SIGNAL = 1  # PR_SET_PDEATHSIG of prctl(2)
_libc = ctypes.CDLL(None)
_ROOM = "glibc.rtld.optional_static_tls"  # bytes
GRACE = 2.0  # seconds that an interrupted program has to end by itself


class ProgramEnd(msgspec.Struct, frozen=True):
    """How a program ended: its exit status, negative = minus the signal that killed it."""

    status: int
    interrupted: bool = False  # by Ctrl-C, or another signal to the simulator

    @property
    def code(self) -> int:
        """The exit code that a shell has; never 0 for a program that was interrupted."""
        status = self.status or (-signal.SIGINT if self.interrupted else 0)
        return status if status >= 0 else 128 - status

    @property
    def signal(self) -> str:
        """The name of the signal that killed the program, or ""."""
        return signal.Signals(-self.status).name if self.status < 0 else ""


def find_program(name: str) -> Path:
    """The executable that a shell would start.

    Raises :class:`LockstepError` if there is none.
    """
    found = shutil.which(name)
    if found is None:
        raise LockstepError(f"{name}: no such program, or it is not executable")
    return Path(found).absolute()


def run_program(
    simulator: Simulator,
    command: Sequence[str],
    record: RecordWriter | None = None,
    output: int | None = None,
) -> ProgramEnd:
    """Run a command; the CUDA calls of it and of its children are executed by the simulator.

    ``output``: where its standard output goes, as of ``subprocess.Popen``; default: to ours.
    Raises :class:`LockstepError` if it cannot be started, or cannot be intercepted.
    """
    path = find_program(command[0])
    check_program(path)
    folder = libraries()
    server = Server(simulator, record)
    try:
        program = _start(path, command, environment(folder, server.name, path), output)
        try:
            server.serve(program)
        except ProgramKilled:
            return ProgramEnd(program.wait())
        except KeyboardInterrupt:
            server.close()
            return ProgramEnd(_end(program), interrupted=True)
        except BaseException:
            _end(program)
            raise
        return ProgramEnd(program.wait())
    finally:
        server.close()


def environment(folder: Path, name: str, path: Path) -> dict[str, str]:
    """The environment in which libcudart and libcuda are the replacements."""
    places = [str(folder), os.environ.get("LD_LIBRARY_PATH", "")]
    hidden = [str(folder / library) for library in hidden_libraries(path)]
    audit = [str(folder / STATIC)] if replaces_static() else []
    return {
        **os.environ,
        **_before("LD_PRELOAD", hidden),
        **_before("LD_AUDIT", audit),
        **(_tunables(thread_bytes(path)) if audit else {}),
        "LD_LIBRARY_PATH": ":".join(place for place in places if place),
        "LOCKSTEP_SOCKET": name,
    }


def _tunables(needed: int) -> dict[str, str]:
    """Room for libraries' memory of threads, which LD_AUDIT has the loader fix before it sees them.

    No more than they need: it is taken from the stack of each thread.
    """
    had = os.environ.get("GLIBC_TUNABLES", "")
    if not needed or _ROOM in had:
        return {}
    ours = f"{_ROOM}={USUAL_ROOM + needed}"
    return {"GLIBC_TUNABLES": ":".join(filter(None, (had, ours)))}


def _before(variable: str, libraries: list[str]) -> dict[str, str]:
    """An environment variable with libraries before those that it has."""
    had = [os.environ[variable]] if variable in os.environ else []
    return {variable: ":".join([*libraries, *had])} if libraries else {}


def _start(
    path: Path, command: Sequence[str], variables: dict[str, str], output: int | None
) -> subprocess.Popen:
    simulator = os.getpid()
    try:
        return subprocess.Popen(
            list(command),
            executable=path,
            env=variables,
            stdout=output,
            preexec_fn=lambda: _end_with(simulator),  # between fork and exec: one system call
        )
    except OSError as error:
        raise LockstepError(f"{path}: cannot start: {error.strerror}") from error


def _end_with(simulator: int) -> None:
    """Let the kernel end this process when the simulator has gone: nobody else would."""
    _libc.prctl(_SET_DEATH_SIGNAL, signal.SIGKILL)
    if os.getppid() != simulator:
        os._exit(1)


def _end(program: subprocess.Popen) -> int:
    """Wait a little, then end the program; its exit status."""
    for signal_number in (None, signal.SIGTERM, signal.SIGKILL):
        if signal_number is not None:
            program.send_signal(signal_number)
        try:
            return program.wait(GRACE)
        except subprocess.TimeoutExpired:
            continue
        except KeyboardInterrupt:
            program.kill()
    return program.wait()
