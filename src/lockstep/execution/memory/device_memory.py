"""Device memory: a reserved range of this process's addresses, given out in allocations.

Pages take real memory when they are first touched. The memories of several devices lie in one range
one behind the other, so that an address says whose it is.
"""

import bisect
import ctypes
import functools
import sys
from collections import deque

import numpy as np

from lockstep.execution.checks.kinds import Check
from lockstep.execution.checks.shadow import ARENA_BYTES, Shadow
from lockstep.execution.memory.address_range import AddressRange, DeviceMemoryError
from lockstep.execution.memory.touched import TouchedLines
from lockstep.execution.state import ALLOCATION, WORD_BYTES

ALIGNMENT = 256  # bytes, as cudaMalloc gives
RED_ZONE = 1024  # bytes behind each allocation, where accesses are checked
QUARANTINE = 256 << 20  # bytes of freed allocations that are not given out again, likewise


class DeviceMemory:
    """``capacity`` bytes of memory of one device.

    ``table`` holds the allocations in ascending order, in its first ``len(self)`` rows.
    """

    def __init__(
        self,
        capacity: int,
        shared: bool = False,
        checks: Check = Check.NOTHING,
        place: tuple[AddressRange, int] | None = None,
    ):
        """``shared``: ``file`` is the descriptor of a file in memory that holds the content.

        ``place``: the range that it shares with others, and where in it it lies; else its own.
        With ``Check.MEMORY`` allocations do not touch each other, and freed ones stay so for a
        while. With ``Check.INIT``, ``shadow`` says which bytes were written.
        """
        self.shadow: Shadow | None = None
        self.range, offset = place or (AddressRange(capacity, shared), 0)
        self.range.join()
        self.capacity = min(capacity, self.range.size - offset) if place else self.range.size
        self.base = self.range.base + offset
        self.peers: list[DeviceMemory] = []  # memories of others that kernels may access
        self.joined: list[DeviceMemory] = []  # and those of which they may what is for all
        self._for_all: set[int] = set()
        self._starts: list[int] = []
        self._sizes: dict[int, int] = {}
        self._hidden: set[int] = set()
        self._numbers: dict[int, int] = {}  # of allocations, in the order in which they were made
        self._allocated = 0
        self._free: list[tuple[int, int]] = [(self.base, self.capacity)]  # (address, bytes)
        self.table = np.zeros(64, ALLOCATION)
        self.used = 0
        self._apart = RED_ZONE if Check.MEMORY in checks else 0
        self._freed: deque[tuple[int, int]] = deque()  # (address, bytes), not given out again yet
        self._freed_bytes = 0
        if Check.INIT in checks:
            self.shadow = Shadow(self.base, self.capacity, self.range.behind(ARENA_BYTES))
        self.end = self.base  # addresses from here on were never given out

    def __len__(self) -> int:
        return len(self._starts)

    @property
    def file(self) -> int:
        """The descriptor of the file that holds the content, of all that share the range; or -1."""
        return self.range.file

    @property
    def accessible(self) -> tuple[np.ndarray, int]:
        """A table of the allocations that kernels may access, and how many rows of it count."""
        if not self.reaches_others:
            return self.table, len(self)
        whole = [self, *self.peers]
        tables = [memory.table[: len(memory)] for memory in whole]
        tables += [memory.rows_for_all() for memory in self.joined if memory not in whole]
        rows = np.sort(np.concatenate(tables), order="address")
        return np.concatenate([rows, np.zeros(64, ALLOCATION)]), len(rows)

    @property
    def reaches_others(self) -> bool:
        """Whether kernels may access memory of another device."""
        return bool(self.peers) or any(memory._for_all for memory in self.joined)

    def open_to_all(self, address: int) -> None:
        """Let kernels of all devices that are joined with this one access an allocation."""
        self._for_all.add(address)

    def rows_for_all(self) -> np.ndarray:
        """The rows of the table that kernels of all these devices may access."""
        rows = self.table[: len(self)]
        return rows[np.isin(rows["address"], list(self._for_all))]

    def allocate(
        self, size: int, alignment: int = ALIGNMENT, hidden: bool = False, unwritten: bool = False
    ) -> int:
        """Address of ``size`` bytes whose content is undefined (zero when first used).

        ``hidden``: nobody asked for it, so that nothing tells of it: see :meth:`nearest`.
        ``unwritten``: reading it before it is written is a mistake.
        """
        if size < 0:
            raise DeviceMemoryError(f"cannot allocate {size} bytes")
        address = self._place(size, alignment)
        while address is None and self._freed:
            self._release()
            address = self._place(size, alignment)
        if address is None:
            raise DeviceMemoryError(
                f"device memory exhausted: {size} bytes asked for, {self.used} of {self.capacity} "
                f"in use by {len(self)} allocations"
            )
        self._numbers[address] = self._allocated
        self._allocated += 1
        if hidden:
            self._hidden.add(address)
        if self.shadow:
            (self.shadow.forget if unwritten else self.shadow.mark)(address, size)
            self.shadow.mark(address + size, -size % WORD_BYTES)  # swapped with the last bytes
        return address

    def _room(self, size: int) -> int:
        """Bytes that an allocation takes."""
        return max(-(-size // ALIGNMENT) * ALIGNMENT, ALIGNMENT) + self._apart

    def _place(self, size: int, alignment: int) -> int | None:
        """Where there is room, now taken."""
        need = self._room(size)
        for k, (start, length) in enumerate(self._free):
            address = -(-start // alignment) * alignment
            if address + need <= start + length:
                self._take(k, address, need)
                self._insert(address, size)
                return address
        return None

    def _take(self, k: int, address: int, need: int) -> None:
        start, length = self._free.pop(k)
        pieces = [(start, address - start), (address + need, start + length - address - need)]
        self._free[k:k] = [p for p in pieces if p[1] > 0]

    @functools.cached_property
    def touched(self) -> TouchedLines:
        """Which lines were touched, by launches that note it."""
        return TouchedLines(self.base, self.capacity)

    def _insert(self, address: int, size: int) -> None:
        place = bisect.bisect(self._starts, address)
        self._starts.insert(place, address)
        self._sizes[address] = size
        self.used += size
        self.end = max(self.end, address + size)
        if len(self) > len(self.table):
            self.table = np.concatenate([self.table, np.zeros_like(self.table)])
        rows = self._rows()
        rows[place + 1 : len(self)] = rows[place : len(self) - 1]
        self.table[place] = (address, size)

    def _rows(self) -> np.ndarray:
        """The table as words: NumPy moves records one by one, which takes ten times as long."""
        return self.table.view(np.int64).reshape(len(self.table), -1)

    def free(self, address: int) -> None:
        """Give an allocation back.

        Its pages stay with the process until that ends: the next allocation takes them, and need
        not wait for new ones, which cost more than what is done with them.
        """
        size = self._sizes.pop(address, None)
        if size is None:
            raise DeviceMemoryError(f"{address:#x} was not allocated, or has been freed")
        self._hidden.discard(address)
        self._for_all.discard(address)
        del self._numbers[address]
        place = bisect.bisect_left(self._starts, address)
        del self._starts[place]
        self.used -= size
        rows = self._rows()
        rows[place : len(self)] = rows[place + 1 : len(self) + 1]
        self._freed.append((address, size))
        self._freed_bytes += size
        while self._freed and (self._freed_bytes > QUARANTINE or not self._apart):
            self._release()

    def _release(self) -> None:
        """Let the allocation that was freed first be given out again."""
        address, size = self._freed.popleft()
        self._freed_bytes -= size
        self._give_back(address, self._room(size))

    def freed(self, address: int) -> tuple[int, int] | None:
        """The allocation (address, bytes) that contained an address and was freed."""
        return next((f for f in self._freed if f[0] <= address < sum(f)), None)

    def _give_back(self, address: int, length: int) -> None:
        place = bisect.bisect(self._free, (address, length))
        if place < len(self._free) and self._free[place][0] == address + length:
            length += self._free.pop(place)[1]
        if place and sum(self._free[place - 1]) == address:
            address, before = self._free.pop(place - 1)
            length += before
            place -= 1
        self._free.insert(place, (address, length))

    def find(self, address: int) -> tuple[int, int] | None:
        """The allocation (address, bytes) that contains an address."""
        place = bisect.bisect(self._starts, address) - 1
        if place < 0:
            return None
        start = self._starts[place]
        return (start, self._sizes[start]) if address < start + self._sizes[start] else None

    def number(self, address: int) -> int:
        """How many allocations were made before the one at an address, freed ones included."""
        return self._numbers[address]

    def allocations(self) -> list[tuple[int, int]]:
        """Address and bytes of each, in ascending order; without the hidden ones."""
        return [(s, self._sizes[s]) for s in self._starts if s not in self._hidden]

    def nearest(self, address: int) -> tuple[int, int] | None:
        """The allocation (address, bytes) with the smallest distance to an address.

        Hidden ones are passed over.
        """
        places = self.allocations()
        place = bisect.bisect(places, address, key=lambda a: a[0])
        near = places[max(place - 1, 0) : place + 1]
        return min(near, key=lambda a: max(a[0] - address, address - a[0] - a[1] + 1), default=None)

    def distance(self, address: int, size: int) -> str:
        """Where an access that is not inside an allocation lies."""
        freed = self.freed(address)
        if freed is not None:
            return f"in a freed allocation of {freed[1]} bytes at {freed[0]:#x}"
        for memory in self.joined:
            if (of_other := memory.find(address)) is not None:
                whole = f"allocation of {of_other[1]} bytes at {of_other[0]:#x}"
                return f"in an {whole} of another GPU, to which this one was given no access"
        nearest = self.nearest(address)
        if nearest is None:
            return "where nothing is allocated"
        start, length = nearest
        whole = f"allocation of {length} bytes at {start:#x}"
        if address < start:
            return f"{start - address} bytes before the nearest {whole}"
        if address >= start + length:
            return f"{address - start - length} bytes behind the end of the nearest {whole}"
        return f"of which {address + size - start - length} bytes are behind the end of the {whole}"

    def written(self, address: int, size: int) -> None:
        """Note that bytes, inside one allocation, have been written by the host."""
        if self.shadow and size:
            self.shadow.mark(address, size)

    def view(self, address: int, size: int) -> np.ndarray:
        """Bytes of device memory as a NumPy array that shares them.

        Raises :class:`DeviceMemoryError` if they are not inside one allocation.
        """
        if not self.base:
            raise DeviceMemoryError("the device is closed")
        found = self.find(address) if size else (address, 0)
        if found is None or address + size > found[0] + found[1]:
            raise DeviceMemoryError(f"{size} bytes at {address:#x} are not inside an allocation")
        return np.frombuffer((ctypes.c_char * size).from_address(address), np.uint8)

    def close(self) -> None:
        """Return the range to the system; every pointer into it becomes invalid."""
        if self.base:
            self.range.leave()
            self.base = 0
            if self.shadow:
                self.shadow.close()

    def __del__(self):
        if getattr(self, "base", 0) and not sys.is_finalizing():
            self.close()
