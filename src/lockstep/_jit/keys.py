"""What machine code depends on, told without compiling anything.

A function's code depends on its file and on everything that this imports: an edit of a callee
elsewhere must not silently run the old code.
"""

import functools
import hashlib
import importlib.util
import os
import re
from pathlib import Path
from types import FunctionType

from lockstep._jit.settings import CALLBACK_OPTIONS, OPTIONS, environment

PACKAGE = Path(__file__).parents[1]
_ROOT = f"{PACKAGE}{os.sep}"
_IMPORT = re.compile(r"\nfrom lockstep\.?([\w.]*) import (\([^)]*\)|.*)")
_NAME = re.compile(r"\w+")

# Files of the package are told by their paths below it, which are texts: as Path objects they took
# more time than all else that a warm start does to find its machine code.


@functools.cache
def _read(file: str) -> tuple[bytes, tuple[str, ...]]:
    """Digest of a file of the package, and the files of the package that it imports from."""
    with open(_ROOT + file, "rb") as opened:
        content = opened.read()
    files = []
    for module, names in _IMPORT.findall("\n" + content.decode()):
        inside = module.replace(".", os.sep)
        files += [f"{inside}.py", os.path.join(inside, "__init__.py")]
        files += [os.path.join(inside, f"{name}.py") for name in _NAME.findall(names)]
    digest = hashlib.sha256(file.encode() + b"\0" + content).digest()
    return digest, tuple([f for f in files if _is_file(f)])


@functools.cache
def _is_file(file: str) -> bool:
    return os.path.isfile(_ROOT + file)


@functools.cache
def _compiler() -> bytes:
    """Digest of what compiles: our files, Numba's version and the settings of both."""
    digest = hashlib.sha256(repr((sorted(OPTIONS.items()), environment())).encode())
    digest.update(repr(sorted(CALLBACK_OPTIONS.items())).encode())
    numba = importlib.util.find_spec("numba")
    if numba is None or numba.origin is None:
        raise ModuleNotFoundError("there is no Numba")
    digest.update((Path(numba.origin).parent / "_version.py").read_bytes())
    for file in sorted((PACKAGE / "_jit").rglob("*.py")):
        digest.update(_read(str(file.relative_to(PACKAGE)))[0])
    return digest.digest()


@functools.cache
def source_key(path: Path) -> str:
    """Hash of a file, of all files it imports from, and of what else changes machine code.

    Machine code depends on nothing else: callees, record types and constants are imported.
    """
    closure, todo = set(), [str(path.relative_to(PACKAGE))]
    while todo:
        file = todo.pop()
        if file not in closure and not file.startswith(f"_jit{os.sep}"):
            closure.add(file)
            todo += _read(file)[1]
    digest = hashlib.sha256(_compiler())
    for file in sorted(closure):
        digest.update(_read(file)[0])
    return digest.hexdigest()[:20]


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
