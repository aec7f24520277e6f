"""The regions of memory that a program uses: its allocations, or what looks like them."""

import numpy as np

PAGE_SHIFT = 12
FAR = 256  # pages between two regions, at least


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


def regions_of(pages: np.ndarray) -> Regions:
    """Regions of pages that are touched, sorted: those near each other are one."""
    if not len(pages):
        return Regions(np.zeros(0, np.int64), np.zeros(0, np.int64))
    breaks = np.flatnonzero(np.diff(pages) > FAR)
    first = pages[np.concatenate(([0], breaks + 1))]
    last = pages[np.append(breaks, len(pages) - 1)]
    return Regions(first << PAGE_SHIFT, (last - first + 1) << PAGE_SHIFT)
