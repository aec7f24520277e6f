"""Other lines for a CTA than those of the CTA that stands for it, no less popular ones.

Lines that are about as popular lie in a circle, which for each CTA turns by a distance of its own.
So what a CTA's accesses share with each other stays as it was, also between neighbouring lines.
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
    """The lines of the regions of a model, by their circles."""

    def __init__(self, tables: Tables, regions: int):
        self._regions: list[_Region | None] = [None] * regions
        for region in np.unique(tables.lines_region).tolist():
            rows = tables.lines_region == region
            self._regions[region] = _Region(tables.lines_count[rows], tables.lines_circle[rows])

    def move(self, offsets: np.ndarray, region: np.ndarray, turn: int) -> np.ndarray:
        """Byte offsets in regions, moved; ``turn`` tells CTAs apart."""
        moved = offsets.copy()
        for number in np.unique(region).tolist():
            if number >= 0 and self._regions[number] is not None:
                rows = region == number
                moved[rows] = self._regions[number].move(offsets[rows], mix(turn ^ number) >> 2)
        return moved


class _Region:
    """One region's lines; its runs also stand in the order of circles, one after the other."""

    def __init__(self, counts: np.ndarray, circles: np.ndarray):
        self._ends = np.cumsum(counts)
        self._begins = self._ends - counts
        self._order = np.argsort(circles, kind="stable")
        self._sums = np.cumsum(counts[self._order])  # ends of runs in that order
        place = np.empty_like(self._order)
        place[self._order] = self._sums - counts[self._order]
        self._numbers, self._circle = np.unique(circles, return_inverse=True)
        first = np.searchsorted(circles[self._order], self._numbers)
        bounds = np.append((self._sums - counts[self._order])[first], self._sums[-1:])
        self._start, self._size = bounds[:-1], np.diff(bounds)
        self._within = place - self._start[self._circle]  # lines of the circle before each run
        self._stay = self._numbers == 0

    def move(self, offsets: np.ndarray, turn: int) -> np.ndarray:
        """Offsets with other lines; ``turn`` says how far circles turn."""
        line = offsets >> LINE_SHIFT
        run = np.searchsorted(self._ends, line, side="right")
        rows = np.flatnonzero((run < len(self._ends)) & (line >= 0))
        run, line = run[rows], line[rows]
        circle = self._circle[run]
        steps = np.where(self._stay, 0, _hashes(self._numbers + turn) % self._size)
        place = (self._within[run] + line - self._begins[run] + steps[circle]) % self._size[circle]
        place += self._start[circle]
        at = np.searchsorted(self._sums, place, side="right")
        target = self._order[at]
        before = self._within[target] + self._start[self._circle[target]]
        moved = offsets.copy()
        moved[rows] += (self._begins[target] + place - before - line) << LINE_SHIFT
        return moved


def _hashes(values: np.ndarray) -> np.ndarray:
    """As :func:`mix`, without the sign."""
    value = values.astype(np.uint64) + np.uint64(0x9E3779B97F4A7C15)
    value = (value ^ (value >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    value = (value ^ (value >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return ((value ^ (value >> np.uint64(31))) >> np.uint64(1)).astype(np.int64)
