"""Other lines for a CTA than those of the CTA that stands for it, no less popular ones.

A region's lines have ranks: about how often CTAs access them, as a power of two. All lines of a
rank lie in one circle, and a CTA's turn by a distance of its own. So what a CTA's accesses share
with each other stays as it was, also between neighbouring lines.
"""

import numpy as np

from lockstep.frontend.proxy.affine.tables import Tables

LINE_SHIFT = 7


def mix(value: int) -> int:
    """A hash of 64 bits (finaliser of SplitMix64: Steele, Lea and Flood, OOPSLA 2014)."""
    value = (value + 0x9E3779B97F4A7C15) & (1 << 64) - 1
    value = (value ^ value >> 30) * 0xBF58476D1CE4E5B9 & (1 << 64) - 1
    value = (value ^ value >> 27) * 0x94D049BB133111EB & (1 << 64) - 1
    return value ^ value >> 31


class Lines:
    """The lines of the regions of a model, by their ranks."""

    def __init__(self, tables: Tables, regions: int):
        self._regions: list[_Region | None] = [None] * regions
        for region in np.unique(tables.lines_region).tolist():
            rows = tables.lines_region == region
            self._regions[region] = _Region(tables.lines_count[rows], tables.lines_rank[rows])

    def move(self, offsets: np.ndarray, region: np.ndarray, turn: int) -> np.ndarray:
        """Byte offsets in regions, moved; ``turn`` tells CTAs apart."""
        moved = offsets.copy()
        for number in np.unique(region).tolist():
            if number >= 0 and self._regions[number] is not None:
                rows = region == number
                moved[rows] = self._regions[number].move(offsets[rows], mix(turn) ^ number)
        return moved


class _Region:
    def __init__(self, counts: np.ndarray, ranks: np.ndarray):
        self._ends = np.cumsum(counts)
        self._begins, self._ranks = self._ends - counts, ranks
        self._circles = {}
        self._before = np.zeros(len(counts), np.int64)  # lines of the rank in runs before each run
        for rank in np.unique(ranks).tolist():
            runs = np.flatnonzero(ranks == rank)
            sums = np.cumsum(counts[runs])
            self._before[runs] = sums - counts[runs]
            self._circles[rank] = runs, sums

    def move(self, offsets: np.ndarray, turn: int) -> np.ndarray:
        line = offsets >> LINE_SHIFT
        run = np.searchsorted(self._ends, line, side="right")
        known = (run < len(self._ends)) & (line >= 0)
        moved = offsets.copy()
        ranks = self._ranks[np.minimum(run, len(self._ranks) - 1)]
        for rank, (runs, sums) in self._circles.items():
            rows = np.flatnonzero(known & (ranks == rank))
            if not len(rows):
                continue
            place = self._before[run[rows]] + line[rows] - self._begins[run[rows]]
            place = (place + mix(turn + rank) % int(sums[-1])) % sums[-1]
            at = np.searchsorted(sums, place, side="right")
            target = self._begins[runs[at]] + place - self._before[runs[at]]
            moved[rows] += (target - line[rows]) << LINE_SHIFT
        return moved
