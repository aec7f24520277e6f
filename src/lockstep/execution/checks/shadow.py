"""Which bytes were written: a byte for each, at a fixed distance, for device and shared memory."""

import ctypes

import numpy as np

from lockstep.errors import LockstepError
from lockstep.execution.memory.mapping import map_at, unmap
from lockstep.execution.state import SHADOW, WRITTEN

ARENA_BYTES = 64 << 30  # of address space: memory of CTAs, behind device memory


class Shadow:
    """What tells of ``capacity`` bytes of device memory at ``base``, and of an arena.

    Both take memory where they are touched.
    """

    def __init__(self, base: int, capacity: int, arena: int):
        """``arena``: where it lies, behind the memory of all devices that share a range."""
        self._pieces = [(arena, ARENA_BYTES), (base + SHADOW, capacity),
                        (arena + SHADOW, ARENA_BYTES)]  # fmt: skip
        for k, (address, size) in enumerate(self._pieces):
            if not map_at(address, size):
                self._pieces = self._pieces[:k]
                self.close()
                raise LockstepError(f"cannot reserve {size} bytes at {address:#x} for --check init")
        self._used, self._end = arena, arena + ARENA_BYTES

    def array(self, count: int, alignment: int = 64) -> np.ndarray:
        """Zeroed bytes (uint8) in the arena, for as long as the device lives; none is written."""
        start = -(-self._used // alignment) * alignment
        self._used = start + count
        if self._used > self._end:
            raise LockstepError("--check init: launches of too many shapes")
        return _bytes(start, count)

    def mark(self, address: int, size: int) -> None:
        """Bytes were written."""
        self.of(address, size)[:] = WRITTEN

    def forget(self, address: int, size: int) -> None:
        """Nobody has written these bytes."""
        self.of(address, size)[:] = 0

    def of(self, address: int, size: int) -> np.ndarray:
        """What tells of some bytes: WRITTEN or 0 for each (uint8)."""
        return _bytes(address + SHADOW, size)

    def close(self) -> None:
        """Give the memory back."""
        for address, size in self._pieces:
            unmap(address, size)
        self._pieces = []


def _bytes(address: int, size: int) -> np.ndarray:
    return np.frombuffer((ctypes.c_char * size).from_address(address), np.uint8)
