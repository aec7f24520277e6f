"""A range of this process's addresses, reserved for device memory: of one device, or of several.

It lies at a fixed address, so that addresses, and with them cache sets and cycles, are the same in
every run. It may be the content of a file in memory, which other processes map at the same address.
"""

import gc
import mmap
import os

from lockstep.errors import LockstepError
from lockstep.execution.memory.mapping import map_at, unmap

BASE = 0x7000_0000_0000  # below where Linux places a process's own mappings
LONGEST = 1 << 40  # bytes reserved at most


class DeviceMemoryError(LockstepError):
    """Device memory is exhausted, or a pointer is none that was given out."""


class AddressRange:
    """``size`` bytes, whole pages; ``shared``: as the content of ``file``, a descriptor."""

    def __init__(self, size: int, shared: bool = False):
        self.size = min(-(-size // mmap.PAGESIZE) * mmap.PAGESIZE, LONGEST)
        self.file = _file(self.size) if shared else -1
        self.base = _reserve(self.size, self.file)
        self._end = self.base + self.size
        self._users = 0

    def behind(self, size: int) -> int:
        """Where so many bytes lie behind the range, and behind what was asked for before."""
        start, self._end = self._end, self._end + size
        return start

    def join(self) -> None:
        """Somebody has a part of it."""
        self._users += 1

    def leave(self) -> None:
        """He needs it no more; after the last one it goes back to the system."""
        self._users -= 1
        if self._users == 0:
            unmap(self.base, self.size)
            if self.file >= 0:
                os.close(self.file)


def _file(size: int) -> int:
    """A file that has no name and takes memory where it was written."""
    file = os.memfd_create("lockstep", os.MFD_CLOEXEC)
    try:
        os.ftruncate(file, size)
    except OSError as error:
        os.close(file)
        raise _no_room(size) from error
    return file


def _reserve(capacity: int, file: int) -> int:
    """The first free range at BASE, BASE + 1 TiB ...: the same in every run.

    Ranges of memory that nobody uses are freed first, or cycles would depend on when Python does.
    """
    for k in range(9):
        wanted = BASE + max(0, k - 1) * LONGEST
        if k == 1:
            gc.collect()
        if map_at(wanted, capacity, file):
            return wanted
    raise _no_room(capacity)


def _no_room(capacity: int) -> DeviceMemoryError:
    return DeviceMemoryError(
        f"cannot reserve {capacity} bytes of address space for device memory (is there a limit, as "
        "by `ulimit -v` or `ulimit -f`?): ask for less by --memory or memory_bytes="
    )
