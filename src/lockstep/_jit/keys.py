"""What machine code depends on, told without compiling anything.

A function's code depends on its file and on everything that this imports: an edit of a callee
elsewhere must not silently run the old code.
"""

import functools
import hashlib
import importlib.util
import os
from pathlib import Path
from types import FunctionType

from lockstep._jit.settings import CALLBACK_OPTIONS, OPTIONS, environment
from lockstep.store import sources
from lockstep.store.sources import PACKAGE


@functools.cache
def _compiler() -> bytes:
    """Digest of what compiles: our files, Numba's version and the settings of both."""
    digest = hashlib.sha256(repr((sorted(OPTIONS.items()), environment())).encode())
    digest.update(repr(sorted(CALLBACK_OPTIONS.items())).encode())
    numba = importlib.util.find_spec("numba")
    if numba is None or numba.origin is None:
        raise ModuleNotFoundError("there is no Numba")
    digest.update((Path(numba.origin).parent / "_version.py").read_bytes())
    digest.update(sources.digest(sources.files_in("_jit")).encode())
    return digest.digest()


@functools.cache
def source_key(path: Path) -> str:
    """Hash of a file, of all files it imports from, and of what else changes machine code.

    Machine code depends on nothing else: callees, record types and constants are imported.
    """
    files = sources.closure(str(path.relative_to(PACKAGE)))
    return hashlib.sha256(_compiler() + sources.digest(files).encode()).hexdigest()[:20]


def versions() -> str:
    """What compiles, for people."""
    from importlib import metadata

    return f"Numba {metadata.version('numba')}, llvmlite {metadata.version('llvmlite')}"


def entry_key(function: FunctionType, form: str, kinds: tuple) -> str | None:
    """Key of the machine code of a plain function for arguments of some kinds.

    None if it is not kept: what is defined inside another function, or outside this package, may
    depend on more than its file says.
    """
    path = _in_package(function.__code__.co_filename)
    if "<" in function.__qualname__ or path is None:
        return None
    name = f"{function.__module__}.{function.__qualname__}"
    return " ".join([name, source_key(path), form, *map(str, kinds)])


@functools.cache
def _in_package(file: str) -> Path | None:
    """A file of the package, whatever links lead to it; None for others."""
    path, package = Path(os.path.realpath(file)), Path(os.path.realpath(PACKAGE))
    return PACKAGE / path.relative_to(package) if path.is_relative_to(package) else None
