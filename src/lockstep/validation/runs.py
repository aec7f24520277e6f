"""Programs that are simulated for a comparison, each in a process of its own."""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from lockstep.correlation.results import Ours, read_result
from lockstep.errors import LockstepError
from lockstep.report.benchmark import environment

SIGNAL = 128  # exit codes from here on: a signal ended the program

Runner = Callable[[Path, tuple[str, ...], str], Ours]
"""From a program, its arguments and the name of a GPU to the launches that were simulated.

Raises :class:`LockstepError` where a program ends early or launches no kernel.
"""


def _stopped(result: Path) -> str:
    """Why a run ended early; "" if it did not. What a program's own exit code means is unknown."""
    return json.loads(result.read_text(encoding="utf-8")).get("stopped", "")


def executable(*places: Path) -> Path | None:
    """The first of these files that can be executed; None where there is none."""
    for path in places:
        if path.is_file() and os.access(path, os.X_OK):
            return path.absolute()
    return None


def simulated(threads: int, changes: tuple[str, ...] = ()) -> Runner:
    """Runs programs with ``lockstep run``, each in its own folder.

    ``changes``: of parameters of the GPU, by what the measurement did.
    """

    def run(program: Path, arguments: tuple[str, ...], gpu: str) -> Ours:
        with tempfile.TemporaryDirectory() as folder:
            target = Path(folder) / "result.json"
            command = [sys.executable, "-m", "lockstep", "run", "--gpu", gpu, "--quiet"]
            command += [word for change in changes for word in ("--set", change)]
            command += ["--threads", str(threads), "--json", str(target), str(program), *arguments]
            done = subprocess.run(
                command,
                cwd=program.parent,
                env=environment(),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                errors="replace",
            )
            if done.returncode < SIGNAL and target.exists() and not _stopped(target):
                return read_result(target, program.name)
        last = done.stderr.strip().splitlines()[-1:] or [f"exit code {done.returncode}"]
        raise LockstepError(last[0].removeprefix("lockstep: "))

    return run
