"""Machine code on disk, keyed by all the source that it depends on.

Numba's own disk cache looks only at the file of the function itself, so an edit of a callee
elsewhere would silently run the old code. Its cache locators are private; ours has a hash over the
file and everything that it imports.
"""

import functools
import hashlib
import os
import re
import shutil
import time
from contextlib import suppress
from pathlib import Path
from typing import ClassVar

import numba
from numba.core import caching
from platformdirs import user_cache_dir

PACKAGE = Path(__file__).parents[1]
OPTIONS = {"error_model": "numpy", "nogil": True, "_nrt": False}
DISABLED = bool(numba.config.DISABLE_JIT)
_KEEP_DAYS = 14
_IMPORT = re.compile(r"^from (lockstep[\w.]*) import (\([^)]*\)|.*)$", re.MULTILINE)


@functools.cache
def _imports(path: Path) -> tuple[Path, ...]:
    """The files of the package that a file imports from, itself not included."""
    files = []
    for module, names in _IMPORT.findall(path.read_text()):
        inside = PACKAGE.joinpath(*module.split(".")[1:])
        files += [inside.with_suffix(".py"), inside / "__init__.py"]
        files += [inside / f"{name}.py" for name in re.findall(r"\w+", names)]
    return tuple(f for f in files if f.exists())


@functools.cache
def source_key(path: Path) -> str:
    """Hash of a file, of all files it imports from, and of what else changes machine code.

    Machine code depends on nothing else: callees, record types and constants are imported.
    """
    closure, todo = set(), [path, PACKAGE / "_jit" / "__init__.py"]
    while todo:
        file = todo.pop()
        if file not in closure:
            closure.add(file)
            todo += _imports(file)
    digest = hashlib.sha256()
    for file in sorted(closure):
        digest.update(str(file.relative_to(PACKAGE)).encode() + b"\0" + file.read_bytes() + b"\0")
    digest.update(repr((sorted(OPTIONS.items()), numba.__version__)).encode())
    digest.update(repr((numba.config.BOUNDSCHECK, numba.config.OPT)).encode())
    return digest.hexdigest()[:20]


@functools.cache
def cache_root() -> Path:
    """Where machine code is kept between runs; what no run used for two weeks is removed."""
    root = Path(os.environ.get("LOCKSTEP_CACHE_DIR") or user_cache_dir("lockstep", False)) / "jit"
    root.mkdir(parents=True, exist_ok=True)
    for kept in root.iterdir():
        if kept.is_dir() and kept.stat().st_mtime < time.time() - _KEEP_DAYS * 86400:
            shutil.rmtree(kept, ignore_errors=True)
    return root


def folder(file: Path) -> Path:
    """Where the machine code of a file of the package lies."""
    path = PACKAGE / file.resolve().relative_to(PACKAGE.resolve())
    name = ".".join(path.relative_to(PACKAGE).with_suffix("").parts)
    return cache_root() / f"{name}-{source_key(path)}"


class _PackageCacheLocator(caching._CacheLocator):
    """Places the machine code of this package's functions in its :func:`folder`."""

    def __init__(self, py_func, py_file):
        self._line = py_func.__code__.co_firstlineno
        self._path = folder(Path(py_file))
        self._key = self._path.name.rsplit("-", 1)[1]

    def get_cache_path(self):
        return str(self._path)

    def get_source_stamp(self):
        return self._key

    def get_disambiguator(self):
        return str(self._line)

    @classmethod
    def from_function(cls, py_func, py_file):
        path = Path(py_file)
        if not path.exists() or not path.resolve().is_relative_to(PACKAGE.resolve()):
            return None
        try:
            locator = cls(py_func, py_file)
            locator.ensure_cache_path()
            os.utime(locator.get_cache_path())
        except OSError:  # a read-only home: Numba's own locators decide
            return None
        return locator


class _Stored(caching.CompileResultCacheImpl):
    """What is kept of a function, and where."""

    _locator_classes: ClassVar = [_PackageCacheLocator, *caching.CacheImpl._locator_classes]

    def check_cachable(self, result):
        """Not what holds addresses of this process: with NUMBA_OPT=0 all functions do."""
        return not result.library.has_dynamic_globals


class Cache(caching.FunctionCache):
    """The machine code of one function; if it cannot be read or written, only time is lost."""

    _impl_class = _Stored

    def _guard_against_spurious_io_errors(self):
        return suppress(OSError)  # a full disk, or a limit on the size of files


def is_compiled(function) -> bool:
    """Whether the machine code of a jitted function lies on disk for this version."""
    if DISABLED:
        return True
    name = f"{function.py_func.__name__}-*.nbc"  # an index may be there alone
    try:
        place = folder(Path(function.py_func.__code__.co_filename))
    except OSError:  # nowhere to keep it
        return False
    return any(place.glob(f"*{name}"))
