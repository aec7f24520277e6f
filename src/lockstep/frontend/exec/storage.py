"""Memory for the large part of a launch's state, which the kernels of a device use in turn.

A launch that fills an H100 has some 100 MiB of registers, local and shared memory. If each kernel
kept its own, a program of a hundred kernels would take 10 GiB of addresses, and of memory all that
its largest grids touched.
"""

import math
import mmap

import numpy as np

from lockstep.frontend.exec.memory import NORESERVE

ALIGNMENT = 64  # bytes, of each array: a register slot is a vector of lanes


class Storage:
    """Ranges of memory, each lent to one launch at a time.

    What an earlier launch left is still there: who borrows writes before reading. Pages take memory
    when they are first touched.
    """

    def __init__(self):
        self._idle: list[np.ndarray] = []

    def borrow(self, size: int) -> np.ndarray:
        """At least ``size`` bytes (uint8): those of the last launch, if they suffice.

        Raises MemoryError if the system has no such range.
        """
        region = self._idle.pop() if self._idle else np.empty(0, np.uint8)
        if len(region) >= size:
            return region
        flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | NORESERVE  # deep stacks are seldom used
        try:
            return np.frombuffer(mmap.mmap(-1, 1 << (size - 1).bit_length(), flags), np.uint8)
        except (OSError, OverflowError) as error:
            raise MemoryError(f"{size} bytes for the CTAs of a launch: {error}") from None

    def give_back(self, region: np.ndarray) -> None:
        """The launch has ended."""
        self._idle.append(region)


class Layout:
    """Arrays that lie one after the other in one range of memory."""

    def __init__(self, **arrays: tuple[np.dtype | type, *tuple[int, ...]]):
        """``arrays``: type and shape of each."""
        self.bytes = 0
        self._places = {}
        for name, (kind, *shape) in arrays.items():
            self._places[name] = self.bytes, kind, shape
            size = math.prod(shape) * np.dtype(kind).itemsize
            self.bytes += -(-size // ALIGNMENT) * ALIGNMENT

    def arrays(self, region: np.ndarray) -> dict[str, np.ndarray]:
        """The arrays, as views of a region."""
        return {
            name: np.ndarray(shape, kind, buffer=region, offset=start)
            for name, (start, kind, shape) in self._places.items()
        }

    def zeros(self) -> dict[str, np.ndarray]:
        """The arrays, in memory of their own that holds zeros."""
        memory = np.zeros(self.bytes + ALIGNMENT, np.uint8)
        return self.arrays(memory[-memory.ctypes.data % ALIGNMENT :])
