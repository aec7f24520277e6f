"""Which lines the kernels of a trace touched last, wherever in memory these are."""

from collections.abc import Sequence

import numpy as np

from lockstep.errors import LockstepError
from lockstep.execution.memory.touched import LINE_SHIFT, SECTOR_SHIFT, TouchedLines
from lockstep.execution.streams.accesses import reads_and_writes, requests_of
from lockstep.workload import Cta, Kernel, MemoryCopy

CHUNK_SHIFT = 21  # log2 of the bytes that get records together
MOST_BYTES = 1 << 37  # that a trace may touch, in whole chunks; of them records are reserved
_SECTORS, _LINES = CHUNK_SHIFT - SECTOR_SHIFT, CHUNK_SHIFT - LINE_SHIFT


class TracedLines:
    """The lines of memory that a trace touches; nothing was touched yet.

    A trace says nothing of where memory was allocated. Chunks of it get records, one after the
    other, as they are first touched. ``most``: as of :class:`.TouchedLines`.
    """

    def __init__(self, most: int):
        self._touched = TouchedLines(0, MOST_BYTES)
        self._touched.most = most
        self._slots: dict[int, int] = {}  # of chunks, by number: where their records are

    def read(self, kernel: Kernel, ctas: Sequence[Cta]) -> None:
        """CTAs of a kernel were executed."""
        if not any(len(cta.addresses) for cta in ctas):
            return
        requests = requests_of(kernel, ctas)
        _, writes = reads_and_writes(requests, kernel.code.instructions)
        chunks, of = np.unique(requests.touched >> _SECTORS, return_inverse=True)
        slots = np.array([self._slot(chunk) for chunk in chunks.tolist()], np.int64)
        inside = requests.touched & (1 << _SECTORS) - 1
        self._touched.touch((slots[of] << _SECTORS) + inside, writes[requests.owner])

    def copy(self, copy: MemoryCopy) -> None:
        """The host writes memory."""
        address, end = copy.address, copy.address + copy.bytes
        while address < end:
            chunk, inside = address >> CHUNK_SHIFT, address & (1 << CHUNK_SHIFT) - 1
            size = min(end - address, (1 << CHUNK_SHIFT) - inside)
            self._touched.copy(MemoryCopy((self._slot(chunk) << CHUNK_SHIFT) + inside, size))
            address += size

    def begin(self) -> None:
        """Forget all that was touched so far."""
        self._touched.begin()

    def runs(self, most: int) -> np.ndarray:
        """What was touched, the ``most`` lines that were last: see :class:`.WarmSet`."""
        found = self._touched.runs(len(self._slots) << CHUNK_SHIFT, most)
        first, end = found["first"], found["first"] + found["lines"]
        pieces = ((end - 1) >> _LINES) - (first >> _LINES) + 1  # chunks that a run is in
        runs = np.repeat(found, pieces)
        number = np.arange(len(runs)) - np.repeat(np.cumsum(pieces) - pieces, pieces)
        slot = np.repeat(first >> _LINES, pieces) + number
        begin = np.maximum(np.repeat(first, pieces), slot << _LINES)
        runs["lines"] = np.minimum(np.repeat(end, pieces), slot + 1 << _LINES) - begin
        chunks = np.array(list(self._slots), np.int64)  # in the order of their slots
        runs["first"] = (chunks[slot] << _LINES) + (begin & (1 << _LINES) - 1)
        return runs

    def constants(self) -> np.ndarray:
        """None: a trace does not say where constants are."""
        return np.zeros(0, np.int64)

    def _slot(self, chunk: int) -> int:
        """Where the records of a chunk are."""
        found = self._slots.setdefault(chunk, len(self._slots))
        if found >= MOST_BYTES >> CHUNK_SHIFT:
            raise LockstepError(f"the trace touches more than {MOST_BYTES >> 30} GiB of memory")
        return found
