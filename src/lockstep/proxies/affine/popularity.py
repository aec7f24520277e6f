"""How popular the lines are that accesses to no regular place touch."""

from collections.abc import Iterable

import numpy as np

from lockstep.caches.accesses import LINE_SHIFT, PRIVATE
from lockstep.caches.coalescer import Coalescer
from lockstep.proxies.regions import Regions
from lockstep.workload import Cta, Kernel

SEGMENTS = 256  # of a range of lines that are about as popular
FEWEST_LINES = 8  # of a segment
HOTTEST = 64  # lines that stand for themselves
HOT = 8  # times as popular as its segment
FAR = 32  # lines between two ranges, or so many times the usual distance
Row = tuple[int, int, int]
"""Lines in a row of a region: its number, how many, and the number of their circle."""


def circles(kernel: Kernel, ctas: Iterable[Cta], moving: set[int], regions: Regions) -> list[Row]:
    """The lines that CTAs touch at some sites, by circles of equal popularity; 0: none."""
    lines, counts = _touched(kernel, ctas, moving)
    region = regions.of(lines << LINE_SHIFT)
    rows: list[Row] = []
    number = 1
    for each in np.unique(region[region >= 0]).tolist():
        own = region == each
        first = int(regions.base[each]) >> LINE_SHIFT
        ranks = _ranks(lines[own] - first, counts[own])
        at = 0
        named: dict[tuple[int, int], int] = {}
        for begin, length, key in ranks:
            if begin > at:
                rows.append((each, begin - at, 0))
            if key not in named:
                named[key] = number
                number += 1
            rows.append((each, length, named[key]))
            at = begin + length
    return rows


def _touched(kernel: Kernel, ctas: Iterable[Cta], moving: set[int]):
    """The lines, sorted, and how often each one was accessed."""
    coalescer, parts = Coalescer(kernel), []
    for cta in ctas:
        found = coalescer(cta)
        steps = found.steps
        counts = np.where(
            np.isin(steps["site"], list(moving)) & (steps["flags"] & PRIVATE == 0),
            steps["lines"],
            0,
        )
        keep = np.repeat(counts > 0, steps["lines"])
        parts.append(found.lines["line"][keep])
    return np.unique(np.concatenate([*parts, np.zeros(0, np.int64)]), return_counts=True)


def _ranks(lines: np.ndarray, counts: np.ndarray) -> list[tuple[int, int, tuple[int, int]]]:
    """First line, lines and rank of each segment, in order; a rank is of one range."""
    distance = np.diff(lines)
    usual = int(np.median(distance)) if len(distance) else 1
    breaks = np.flatnonzero(distance > FAR * max(usual, 1)) + 1
    found = []
    for n, at in enumerate(np.split(np.arange(len(lines)), breaks)):
        first, last = int(lines[at[0]]), int(lines[at[-1]])
        size = max(FEWEST_LINES, -(-(last - first + 1) // SEGMENTS))
        segment = (lines[at] - first) // size
        mean = np.bincount(segment, counts[at]) / size
        hot = np.argsort(counts[at])[::-1][:HOTTEST]
        hot = np.sort(hot[counts[at][hot] > HOT * mean[segment[hot]]])
        for s, value in enumerate(mean.tolist()):
            begin = first + s * size
            end = min(begin + size, last + 1)
            rank = (n, round(2 * np.log2(value))) if value else (n, -(1 << 20))
            for line in (lines[at][hot][segment[hot] == s]).tolist():
                if line > begin:
                    found.append((begin, line - begin, rank))
                found.append((line, 1, (n, (1 << 20) + line)))
                begin = line + 1
            if end > begin:
                found.append((begin, end - begin, rank))
    return found
