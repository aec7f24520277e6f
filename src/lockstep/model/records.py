"""Arrays of the model's state: zeroed, on a cache line of the host, all of a machine in one piece.

A machine has a hundred arrays, 30 to 80 MB together, of which a small kernel touches a few hundred
kilobytes. Taken one by one from NumPy they are memory that is used again and has to be cleared,
which cost as much as all else that building a machine does. In a space they are pages that the
system gives, zeroed, when they are touched. A run that takes long asks for large ones in their
place: each window goes through the state of all SMs, more small pages than a processor has
translations for.
"""

import contextlib
import ctypes
import errno
import functools
import math
import mmap
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import numpy as np

from lockstep._jit import Records, array_type

_LINE = 64
_CHUNK = 64 << 20  # bytes of address space taken at a time
_SMALL, _SMALL_TOGETHER = 2 << 10, 64 << 10  # bytes of what shares pages, and of those at a time
_LARGE_PAGE = 2 << 20  # bytes, on x86-64 and on ARM with pages of 4 KiB
_LEAST_TOUCHED = 1 / 3  # of the pages that a large one takes the place of
_COLLAPSE = 25  # MADV_COLLAPSE of Linux 6.1 and later, which Python has no name for
_now = threading.local()
_Built = TypeVar("_Built")


class StateMemory:
    """Zeroed memory that is handed out from front to back."""

    def __init__(self) -> None:
        self._memory, self._used = np.zeros(0, np.uint8), 0
        self._small = (self._memory, 0, 0)  # where little things lie, from where to where
        self._maps: list[tuple[mmap.mmap, int]] = []  # and where each begins

    def take(self, size: int) -> tuple[np.ndarray, int]:
        """Bytes that hold ``size`` of them, and where those begin."""
        if size > _SMALL:
            return self._take(size)
        memory, start, end = self._small
        if start + size > end:
            memory, start = self._take(_SMALL_TOGETHER)
            end = start + _SMALL_TOGETHER
        self._small = memory, start + -(-size // _LINE) * _LINE, end
        return memory, start

    def _take(self, size: int) -> tuple[np.ndarray, int]:
        start = -(-self._used // _LINE) * _LINE
        if start + size > len(self._memory):
            pages = _pages(max(size, _CHUNK))
            self._memory, start = np.frombuffer(pages, np.uint8), 0
            self._maps.append((pages, self._memory.ctypes.data))
        self._used = start + size
        return self._memory, start

    def use_large_pages(self) -> int:
        """Move what is used much to large pages, where the system has some; how many.

        It takes a millisecond or more for each. Of a system that cannot, nothing is asked for. A
        part of which less than a third has been touched stays as it is: queues that are rarely
        full would take twice as much memory, of an H100 100 MB, and no time less.
        """
        if sys.platform != "linux":
            return 0
        return sum(_collapse(*pages) for pages in self._maps)


def _collapse(pages: mmap.mmap, address: int) -> int:
    """Large pages in the place of all that a map uses much; how many there are now."""
    count = 0
    for start in range(-address % _LARGE_PAGE, len(pages) - _LARGE_PAGE + 1, _LARGE_PAGE):
        if _touched(address + start) < _LEAST_TOUCHED:
            continue
        try:
            pages.madvise(_COLLAPSE, start, _LARGE_PAGE)
        except OSError as error:
            if error.errno != errno.EINVAL:  # of one that nobody has touched
                return count  # none is free
        else:
            count += 1
    return count


def _touched(address: int) -> float:
    """How much of the small pages of a large one are there."""
    there = (ctypes.c_ubyte * (_LARGE_PAGE // mmap.PAGESIZE))()
    if _libc().mincore(ctypes.c_void_p(address), ctypes.c_size_t(_LARGE_PAGE), there):
        return 1.0
    return float(np.mean(np.frombuffer(bytes(there), np.uint8) & 1))


@functools.cache
def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None)


def _pages(size: int) -> mmap.mmap:
    private = hasattr(mmap, "MAP_PRIVATE")
    flags = {"flags": mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS} if private else {}
    try:
        return mmap.mmap(-1, size, **flags)
    except OSError as error:
        raise MemoryError(f"no {size:,} bytes of address space for the state of a GPU") from error


@contextlib.contextmanager
def one_space() -> Iterator[StateMemory]:
    """What this thread builds inside lies side by side, and is freed together."""
    space = StateMemory()
    outer, _now.space = getattr(_now, "space", None), space
    try:
        yield space
    finally:
        _now.space = outer


def _of_nothing() -> StateMemory:
    """Where this thread builds what belongs to no machine."""
    if not hasattr(_now, "nothing"):
        _now.nothing = StateMemory()
    return _now.nothing


def nothing(build: Callable[[], _Built]) -> Callable[[], _Built]:
    """State of a unit that a GPU has not, which nobody writes: one for all machines of a process.

    All GPUs have the same arrays, so that they are of one kind. These are a third of them.
    """

    @functools.cache
    @functools.wraps(build)
    def built() -> _Built:
        outer, _now.space = getattr(_now, "space", None), _of_nothing()
        try:
            return build()
        finally:
            _now.space = outer

    return built


def zeros(shape: int | tuple[int, ...], dtype=np.int64) -> np.ndarray:
    """A zeroed array whose first element begins a cache line."""
    return _array(np.ndarray, shape, np.dtype(dtype))


def full(shape: int | tuple[int, ...], value) -> np.ndarray:
    """An array of int64 filled with a value, or with a row of them."""
    array = zeros(shape)
    array[...] = value
    return array


def words(*names: str) -> list[tuple]:
    """Fields of a record, each an int64."""
    return ints("i8", *names)


def ints(kind: str, *names: str | int) -> list[tuple]:
    """Fields of a record, integers of one kind; a number after a name: so many of them."""
    fields: list[tuple] = []
    for name in names:
        if isinstance(name, int):
            fields[-1] = (*fields[-1], (name,))
        else:
            fields.append((name, kind))
    return fields


def records(shape: int | tuple[int, ...], dtype: np.dtype) -> Records:
    """Zeroed records; those of 64 bytes lie in one cache line each."""
    kind, dtype = array_type(np.dtype(dtype))
    return _array(kind, shape, dtype)


def copy_fields(record: Any, *specifications: Any) -> None:
    """Set each number of a record that a specification has as a whole one, or a truth value.

    Names and units are the same then; what is converted has a name of its own, or is set after
    this. Raises ``ValueError`` for a name that two of the specifications have.
    """
    fields, taken = record.dtype.fields, set()
    for specification in specifications:
        for name in specification.__struct_fields__:
            value = getattr(specification, name)
            if isinstance(value, int) and name in fields and fields[name][0].kind == "i":
                if name in taken:
                    raise ValueError(f"{name} of {type(specification).__name__}: is set already")
                taken.add(name)
                record[name] = value


def _array(kind: type, shape, dtype: np.dtype):
    size = dtype.itemsize * (math.prod(shape) if isinstance(shape, tuple) else int(shape))
    space = getattr(_now, "space", None)
    if space is None:
        memory = np.zeros(size + _LINE, np.uint8)
        start = -memory.ctypes.data % _LINE
    else:
        memory, start = space.take(size)
    return np.ndarray.__new__(kind, shape, dtype, memory, start)
