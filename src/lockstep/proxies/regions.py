"""The regions of memory that a program uses: its allocations, or what looks like them."""

from collections.abc import Iterable

import numpy as np

from lockstep.workload import Cta, MemoryCopy

PAGE_SHIFT = 12
FAR = 256  # pages between two regions, at least
TOGETHER = 1 << 20  # addresses that are looked at together


class Regions:
    """Allocations by address, in the order of addresses.

    ``base`` and ``bytes``: int64. Addresses that lie in none belong to the one before them.
    """

    def __init__(self, base: np.ndarray, size: np.ndarray):
        order = np.argsort(base, kind="stable")
        self.base, self.bytes = base[order], size[order]

    def __len__(self) -> int:
        return len(self.base)

    def of(self, address: np.ndarray) -> np.ndarray:
        """The region of each address; -1 before the first one."""
        return np.searchsorted(self.base, address, side="right") - 1

    def end(self, region: int) -> int:
        """The address behind a region."""
        return int(self.base[region] + self.bytes[region])


class PageCollector:
    """Collects the pages that CTAs touch, and so the regions of a trace."""

    def __init__(self) -> None:
        self._parts: list[np.ndarray] = []
        self._waiting = 0
        self._pages = np.zeros(0, np.int64)

    def add(self, cta: Cta) -> None:
        """Take the addresses of a CTA."""
        self._parts += [cta.addresses["first"] >> PAGE_SHIFT, cta.pool >> PAGE_SHIFT]
        self._waiting += len(cta.addresses) + len(cta.pool)
        if self._waiting > TOGETHER:
            self._flush()

    def regions(self, copies: Iterable[MemoryCopy]) -> Regions:
        """Pages near each other are a region, with those that copies fill."""
        self._flush()
        known = self._pages[self._pages > 0]
        first, last = known, known
        if moved := [(c.address, c.address + max(c.bytes, 1) - 1) for c in copies]:
            ends = np.array(moved, np.int64) >> PAGE_SHIFT
            first, last = np.append(first, ends[:, 0]), np.append(last, ends[:, 1])
        if not len(first):
            return Regions(np.zeros(0, np.int64), np.zeros(0, np.int64))
        order = np.argsort(first, kind="stable")
        first, reach = first[order], np.maximum.accumulate(last[order])
        breaks = np.flatnonzero(first[1:] - reach[:-1] > FAR) + 1
        begins = first[np.concatenate(([0], breaks))]
        ends = reach[np.append(breaks - 1, len(reach) - 1)]
        return Regions(begins << PAGE_SHIFT, (ends - begins + 1) << PAGE_SHIFT)

    def _flush(self) -> None:
        self._pages = np.unique(np.concatenate([self._pages, *self._parts]))
        self._parts, self._waiting = [], 0
