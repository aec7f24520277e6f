"""The only file that imports Numba: how the model is compiled, and where the result is cached.

Two private facts of Numba are used here and nowhere else, and ``tests/test_jit.py`` pins both:
``_nrt=False`` (no reference counts: 9 to 54 times faster calls, and any allocation inside the
model becomes a compile error), and cache locators (Numba's own disk cache looks only at the file
of the function itself, so an edit of a callee elsewhere would silently run the old code; ours is
keyed by a hash over the file and everything it imports).
"""

import functools
import hashlib
import os
import re
import shutil
import time
from pathlib import Path

import numba
from numba.core import caching
from platformdirs import user_cache_dir

PACKAGE = Path(__file__).parent
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
    closure, todo = set(), [path, PACKAGE / "_jit.py"]
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
    for folder in root.iterdir():
        if folder.is_dir() and folder.stat().st_mtime < time.time() - _KEEP_DAYS * 86400:
            shutil.rmtree(folder, ignore_errors=True)
    return root


class _PackageCacheLocator(caching._CacheLocator):
    """Places the machine code of this package's functions under :func:`cache_directory`."""

    def __init__(self, py_func, py_file):
        self._line = py_func.__code__.co_firstlineno
        path = PACKAGE / Path(py_file).resolve().relative_to(PACKAGE.resolve())
        self._key = source_key(path)
        name = ".".join(path.relative_to(PACKAGE).with_suffix("").parts)
        self._path = cache_root() / f"{name}-{self._key}"

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


caching.CacheImpl._locator_classes.insert(0, _PackageCacheLocator)


def jit(function):
    """Compile a function of the model: no reference counts, no GIL, cached on disk."""
    return numba.njit(cache=True, **OPTIONS)(function)


def inline(function):
    """As :func:`jit`, for small functions of the inner loops: LLVM is told to inline them."""
    return numba.njit(forceinline=True, **OPTIONS)(function)


_entries: dict = {}


def call(function, *arguments):
    """Call a jitted function that is always called with the same types.

    From the second call on this goes past Numba's dispatcher, which types every argument at each
    call: a millisecond for some fifty record arrays, against ten microseconds without.
    """
    compiled = _entries.get(function)
    if compiled is not None:
        return compiled(*arguments)
    result = function(*arguments)
    if not DISABLED:
        (overload,) = function.overloads.values()
        _entries[function] = overload.entry_point
    return result


def record_array(dtype, ndim: int = 1):
    """The Numba type of a C-contiguous array of ``dtype``, for signatures of policies."""
    return numba.types.Array(numba.from_dtype(dtype), ndim, "C")


def policy(function, result, *arguments):
    """Compile a user's plain function alone (about 0.3 s) for a call through its address.

    The calling loop is not compiled again. ``result`` and ``arguments`` are Numba types, from
    :func:`record_array` or "int64". Without JIT the function itself comes back.
    """
    if DISABLED:
        return function
    kinds = [getattr(numba.types, a) if isinstance(a, str) else a for a in (result, *arguments)]
    ours = Path(function.__code__.co_filename).is_relative_to(PACKAGE)
    return numba.cfunc(kinds[0](*kinds[1:]), cache=ours, **_POLICY_OPTIONS)(function)


_POLICY_OPTIONS = {"nopython": True, "error_model": "numpy", "_nrt": False}


def is_compiled(function) -> bool:
    """Whether a jitted function has machine code in memory or on disk for this version."""
    if DISABLED or function.signatures:
        return True
    return any(Path(function._cache._cache_path).glob(f"*{function.__name__}*.nbi"))
