"""Fewer accesses, or more, of a kernel that is drawn from its distributions.

Fewer: turns of the longest loop of each path are left out, and what they cannot save is saved by
fewer CTAs. More: more CTAs, whose strides go on.
"""

from fractions import Fraction

import numpy as np

from lockstep.frontend.proxy.gmap.distributions import Paths
from lockstep.frontend.proxy.gmap.five_tuple import FiveTuple
from lockstep.frontend.proxy.gmap.sites import MOST_LINES
from lockstep.frontend.proxy.model import Launched
from lockstep.workload import MOST_GRID

_PERIODS = 64  # that are tried for a path, the most frequent distances of equal entries


def scaled(known: FiveTuple, launch: Launched) -> tuple[Paths, tuple[int, int, int]]:
    """Paths and grid of a launch of its scale; those of scale 1 are the ones there are."""
    if launch.scale == 1:
        return known.paths, launch.grid
    paths, left = known.paths, launch.scale
    if launch.scale < 1:
        paths = Paths.of([shortened(path, launch.scale) for path in known.paths], paths.warps)
        shorter = FiveTuple(known.sites, paths, known.inter, known.intra, known.reuse)
        if shorter.warp_accesses:
            left *= Fraction(known.warp_accesses) / Fraction(shorter.warp_accesses)
    x, y, z = launch.grid
    ctas = min(max(round(x * y * z * left), 1), MOST_GRID[0])
    return paths, launch.grid if ctas == x * y * z else (ctas, 1, 1)


def shortened(path: np.ndarray, share: Fraction) -> np.ndarray:
    """A path without so many turns of its longest loop that its length is nearest to the share.

    At least one turn stays; a path without a loop stays as it is.
    """
    begin, period, turns = longest_loop(path)
    if turns < 2:
        return path
    saved = round(len(path) * (1 - share) / period)
    left_out = min(saved, turns - 1) * period
    return np.concatenate([path[:begin], path[begin + left_out :]])


def longest_loop(path: np.ndarray) -> tuple[int, int, int]:
    """Where a path repeats itself longest: begin, entries of a turn, turns; turns 1 if nowhere.

    A loop is entries that recur after the same distance. Of loops that save as many entries, the
    shorter turn counts.
    """
    best = (0, len(path), 1)
    for period in _periods(path):
        equal = path[period:] == path[:-period]
        begin, length = _longest_run(equal)
        begin, length = _at_instruction(path, begin, length)
        turns = 1 + length // period
        if (turns - 1) * period > (best[2] - 1) * best[1]:
            best = begin, period, turns
    return best


def _periods(path: np.ndarray) -> list[int]:
    """Distances from an entry to the next one that is equal, the most frequent ones, ascending."""
    order = np.argsort(path, kind="stable")
    gaps = np.diff(order)[path[order][1:] == path[order][:-1]]
    periods, counts = np.unique(gaps, return_counts=True)
    return sorted(periods[np.argsort(-counts, kind="stable")[:_PERIODS]].tolist())


def _longest_run(flags: np.ndarray) -> tuple[int, int]:
    """Where the longest run of true ones begins, and its length."""
    edges = np.flatnonzero(np.diff(flags.astype(np.int8), prepend=0, append=0))
    if not len(edges):
        return 0, 0
    lengths = edges[1::2] - edges[::2]
    longest = int(np.argmax(lengths))
    return int(edges[2 * longest]), int(lengths[longest])


def _at_instruction(path: np.ndarray, begin: int, length: int) -> tuple[int, int]:
    """The part of a run that begins with the first line of an instruction."""
    inside = np.flatnonzero(path[begin : begin + length] & (MOST_LINES - 1) == 0)
    if not len(inside):
        return begin, 0
    return begin + int(inside[0]), length - int(inside[0])
