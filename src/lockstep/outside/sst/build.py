"""Compiling the element library against the sst-core that is installed."""

import shlex
import subprocess
from pathlib import Path

from lockstep.errors import LockstepError

LIBRARY = "liblockstep.so"  # SST finds a library of elements by this name


def build(folder: Path, tool: str = "sst-config") -> Path:
    """Compile the library into a folder; ``tool``: SST's ``sst-config``.

    Raises :class:`LockstepError` where SST is not installed, or its compiler refuses.
    """
    compiler = _asked(tool, "--CXX")
    flags = _asked(tool, "--ELEMENT_CXXFLAGS") + _asked(tool, "--ELEMENT_LDFLAGS")
    folder.mkdir(parents=True, exist_ok=True)
    library = folder / LIBRARY
    source = Path(__file__).with_name("lockstep.cc")
    _run([*compiler, *flags, "-shared", "-fPIC", "-O2", "-o", str(library), str(source)])
    return library


def _asked(tool: str, option: str) -> list[str]:
    return shlex.split(_run([tool, option]))


def _run(command: list[str]) -> str:
    try:
        done = subprocess.run(command, capture_output=True, text=True)
    except OSError as error:
        raise LockstepError(
            f"{command[0]}: {error.strerror}; SST is looked for on the path: install sst-core, or "
            "name its sst-config by --sst-config"
        ) from None
    if done.returncode:
        said = (done.stderr or done.stdout).strip().splitlines()
        errors = [line for line in said if "error" in line] or said or ["nothing was said"]
        raise LockstepError(f"{command[0]} ended with exit code {done.returncode}: {errors[0]}")
    return done.stdout
