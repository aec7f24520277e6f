"""Memory for the large part of a launch's state, which the kernels of a device use in turn.

A launch that fills an H100 has some 100 MiB of registers, local and shared memory. If each kernel
kept its own, a program of a hundred kernels would take 10 GiB of addresses, and of memory all that
its largest grids touched.
"""

import math
import mmap

import numpy as np

from lockstep.execution.memory.mapping import NORESERVE

ALIGNMENT = 64  # bytes, of each array: a register slot is a vector of lanes


class Region:
    """A range of memory (``bytes``: uint8) of which pages are taken when they are first touched.

    ``layout`` is that of the launch that had it last.
    """

    def __init__(self, size: int):
        flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | NORESERVE  # deep stacks are seldom used
        self._pages = mmap.mmap(-1, size, flags)
        self.bytes = np.frombuffer(self._pages, np.uint8)
        self.layout: StorageLayout | None = None

    def clear(self, count: int) -> None:
        """Make the first bytes zero, at least ``count``, by giving their pages back."""
        whole = min(-(-count // mmap.PAGESIZE) * mmap.PAGESIZE, len(self.bytes))
        self._pages.madvise(mmap.MADV_DONTNEED, 0, whole)


class Storage:
    """Ranges of memory, each lent to one launch at a time.

    What an earlier launch left is still there: who borrows writes before reading, or clears.
    """

    def __init__(self):
        self._idle: list[Region] = []

    def borrow(self, size: int) -> Region:
        """At least ``size`` bytes: those of the last launch, if they suffice.

        Raises MemoryError if the system has no such range.
        """
        if self._idle and len(self._idle[-1].bytes) >= size:
            return self._idle.pop()
        try:
            region = Region(1 << max(size - 1, mmap.PAGESIZE).bit_length())
        except (OSError, OverflowError) as error:
            raise MemoryError(f"{size} bytes for the CTAs of a launch: {error}") from None
        del self._idle[-1:]  # the smaller one
        return region

    def give_back(self, region: Region) -> None:
        """The launch has ended."""
        self._idle.append(region)


class StorageLayout:
    """Arrays that lie one after the other in one range of memory."""

    def __init__(self, **arrays: tuple[np.dtype | type, *tuple[int, ...]]):
        """``arrays``: type and shape of each."""
        self.bytes = 0
        self._places = {}
        for name, (kind, *shape) in arrays.items():
            self._places[name] = self.bytes, kind, shape
            size = math.prod(shape) * np.dtype(kind).itemsize
            self.bytes += -(-size // ALIGNMENT) * ALIGNMENT

    def arrays(self, memory: np.ndarray) -> dict[str, np.ndarray]:
        """The arrays, as views of memory (uint8)."""
        return {
            name: np.ndarray(shape, kind, buffer=memory, offset=start)
            for name, (start, kind, shape) in self._places.items()
        }

    def zeros(self) -> dict[str, np.ndarray]:
        """The arrays, in memory of their own that holds zeros."""
        memory = np.zeros(self.bytes + ALIGNMENT, np.uint8)
        return self.arrays(memory[-memory.ctypes.data % ALIGNMENT :])
