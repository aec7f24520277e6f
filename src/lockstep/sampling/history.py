"""Which sectors launches touch, and which of them an L2 would still hold from the launches before.

The L2 is taken for one of least recently used sectors, fully associative. Time is cut into
*epochs*: a launch begins one, and so does a sixteenth of the L2 that was touched. A sector is held
if all sectors whose last touch was in its epoch or later fit into the L2 together. So the answer is
that of exact LRU but for the order within an epoch; a launch of more than the L2 holds leaves its
end.
"""

from typing import NamedTuple

import numpy as np

from lockstep.execution.streams.accesses import SECTOR_SHIFT

PARTS = 16  # of the L2, at least so many epochs fill it
_PAGE_SHIFT = 19  # sectors of a page: 16 MiB of memory
_PAGE = 1 << _PAGE_SHIFT
_PAGES = 1 << 23  # of 47 bits of address; what is beyond is taken for what has the same low bits


class Touched(NamedTuple):
    """Different sectors of a launch, of 32 bytes; atomic operations read and write."""

    read: int
    written: int
    new: int  # that no launch before brought, or that the L2 has lost since


class SectorHistory:
    """The sectors that launches have touched, for an L2 of ``l2_bytes``.

    ``begin`` a launch, say what it touches in its order, ``end`` it. Memory follows what was
    touched: 12 bytes a sector.
    """

    def __init__(self, l2_bytes: int):
        self._capacity = max(l2_bytes >> SECTOR_SHIFT, PARTS)
        self._places = np.full(_PAGES, -1, np.int32)  # of pages, in the arrays below
        self._pages = 0
        self._touched = np.zeros(0, np.int32)  # epoch of the last touch; 0 = there was none
        self._read, self._written = np.zeros(0, np.int32), np.zeros(0, np.int32)  # last launch
        self._alive = np.zeros(1024, np.int64)  # sectors whose last touch was in each epoch
        self._epoch, self._launch = 0, 0
        self._oldest, self._held = 1, 0  # oldest epoch that is held, and sectors from it on
        self._first = 0  # epoch of the launch
        self._counts = [0, 0, 0]  # as Touched

    def begin(self) -> None:
        """A launch begins."""
        self._launch += 1
        self._next_epoch()
        self._first, self._counts = self._epoch, [0, 0, 0]

    def touch(self, sectors: np.ndarray, reads: np.ndarray, writes: np.ndarray) -> None:
        """Numbers of sectors in the order of time (int64), and what is done to each (bool)."""
        most = max(self._capacity // PARTS, 1)
        for start in range(0, len(sectors), most):
            part = slice(start, start + most)
            places = self._find(sectors[part])
            self._counts[0] += self._mark(self._read, places[reads[part]])
            self._counts[1] += self._mark(self._written, places[writes[part]])
            self._stamp(np.unique(places[self._touched[places] != self._epoch]))
            if self._alive[self._epoch] >= most:
                self._next_epoch()

    def end(self) -> Touched:
        """What the launch has touched."""
        return Touched(*self._counts)

    def _mark(self, marks: np.ndarray, places: np.ndarray) -> int:
        """Note that this launch did something to sectors; how many had not been noted."""
        fresh = np.unique(places[marks[places] != self._launch])
        marks[fresh] = self._launch
        return len(fresh)

    def _stamp(self, places: np.ndarray) -> None:
        """Different sectors are touched in this epoch, for the first time in it."""
        before = self._touched[places]
        lost = before < self._oldest
        self._counts[2] += int((lost & (before < self._first)).sum())
        np.subtract.at(self._alive, before[before > 0], 1)
        self._alive[self._epoch] += len(places)
        self._touched[places] = self._epoch
        self._held += int(lost.sum())
        while self._held > self._capacity and self._oldest < self._epoch:
            self._held -= int(self._alive[self._oldest])
            self._oldest += 1

    def _next_epoch(self) -> None:
        self._epoch += 1
        if self._epoch == len(self._alive):
            self._alive = np.concatenate([self._alive, np.zeros_like(self._alive)])

    def _find(self, sectors: np.ndarray) -> np.ndarray:
        """Where the sectors are in the arrays; pages that nobody has touched get a place."""
        pages = sectors >> _PAGE_SHIFT & _PAGES - 1
        found = self._places[pages]
        if (unknown := found < 0).any():
            for page in np.unique(pages[unknown]).tolist():
                self._places[page] = self._pages
                self._pages += 1
            found = self._places[pages]
            self._grow(self._pages * _PAGE)
        return (found.astype(np.int64) << _PAGE_SHIFT) + (sectors & _PAGE - 1)

    def _grow(self, size: int) -> None:
        if size > len(self._touched):
            size = max(size, 2 * len(self._touched))
            kept = self._touched, self._read, self._written
            self._touched, self._read, self._written = (_longer(old, size) for old in kept)


def _longer(old: np.ndarray, size: int) -> np.ndarray:
    """The same with zeros behind it: they take no memory until they are written."""
    out = np.zeros(size, old.dtype)
    out[: len(old)] = old
    return out
