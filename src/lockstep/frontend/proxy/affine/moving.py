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
                moved[rows] = self._regions[number].move(offsets[rows], mix(turn) ^ number)
        return moved


class _Region:
    def __init__(self, counts: np.ndarray, circles: np.ndarray):
        self._ends = np.cumsum(counts)
        self._begins, self._circles = self._ends - counts, circles
        self._before = np.zeros(len(counts), np.int64)  # lines of the circle in runs before each
        self._members: dict[int, tuple[np.ndarray, np.ndarray]] = {}
        for circle in np.unique(circles[circles > 0]).tolist():
            runs = np.flatnonzero(circles == circle)
            sums = np.cumsum(counts[runs])
            self._before[runs] = sums - counts[runs]
            self._members[circle] = runs, sums

    def move(self, offsets: np.ndarray, turn: int) -> np.ndarray:
        """Offsets with other lines; ``turn`` says how far circles turn."""
        line = offsets >> LINE_SHIFT
        run = np.searchsorted(self._ends, line, side="right")
        known = (run < len(self._ends)) & (line >= 0)
        circles = np.where(known, self._circles[np.minimum(run, len(self._circles) - 1)], 0)
        moved = offsets.copy()
        for circle in np.unique(circles[circles > 0]).tolist():
            rows = np.flatnonzero(circles == circle)
            runs, sums = self._members[circle]
            place = self._before[run[rows]] + line[rows] - self._begins[run[rows]]
            place = (place + mix(turn + circle) % int(sums[-1])) % sums[-1]
            at = np.searchsorted(sums, place, side="right")
            target = self._begins[runs[at]] + place - self._before[runs[at]]
            moved[rows] += (target - line[rows]) << LINE_SHIFT
        return moved
