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

from lockstep._jit import sources
from lockstep._jit.settings import CALLBACK_OPTIONS, OPTIONS, environment
from lockstep._jit.sources import PACKAGE


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
    path = Path(os.path.realpath(function.__code__.co_filename))
    package = Path(os.path.realpath(PACKAGE))
    if "<" in function.__qualname__ or not path.is_relative_to(package):
        return None
    path = PACKAGE / path.relative_to(package)
    name = f"{function.__module__}.{function.__qualname__}"
    return " ".join([name, source_key(path), form, *map(str, kinds)])
