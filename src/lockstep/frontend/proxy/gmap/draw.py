"""Algorithm 1 of the paper: the lines that a warp accesses, drawn from a kernel's distributions.

What is drawn for a CTA are numbers of a stream of its own, at places that do not depend on what
comes out: two for each access, and for each warp one for its path and one for each site. But the
bases of sites go on from one warp to the next (line 9 of the algorithm): so CTAs are drawn in the
order of the grid, or the walk of the bases is made up for.
"""

from typing import NamedTuple

import numpy as np

from lockstep._jit import jit
from lockstep.frontend.proxy.gmap.distributions import Histograms
from lockstep.frontend.proxy.gmap.five_tuple import FiveTuple
from lockstep.frontend.proxy.gmap.sites import LINE_MASK, ORDINAL_BITS

PUBLISHED, STACK = "published", "stack"
REUSES = PUBLISHED, STACK
"""What a drawn reuse distance counts: accesses backwards, as the algorithm is printed, or distinct
lines, which is what was measured."""
DRAW_BITS = 32
WALK, ACCESS = 0, 1  # streams of a CTA


class DrawTable(NamedTuple):
    """Histograms to draw from."""

    first: np.ndarray
    values: np.ndarray
    cumulative: np.ndarray


class DrawTables(NamedTuple):
    """What algorithm 1 takes, as int64 arrays."""

    path_first: np.ndarray
    entries: np.ndarray
    markers: np.ndarray  # of sites
    shares: DrawTable  # one histogram, of paths
    inter: DrawTable
    intra: DrawTable
    reuse: DrawTable


class CtaDraws(NamedTuple):
    """What algorithm 1 makes for a CTA; all is filled but the draws and ``bases``."""

    walk: np.ndarray  # [warps, 1 + sites]: numbers drawn
    bases: np.ndarray  # [sites]: B, goes on from CTA to CTA
    chosen: np.ndarray  # [warps]: path of each warp
    opening: np.ndarray  # [warps, sites]: the line of its first access
    seen: np.ndarray  # [sites]: the last warp that accessed it, 1 more than its number
    last: np.ndarray  # [sites]: B' of the warp


def tables(known: FiveTuple) -> DrawTables:
    """Of a kernel."""
    paths = known.paths
    shares = Histograms.of([(np.arange(len(paths)), paths.warps)])
    return DrawTables(
        paths.first,
        paths.entries,
        known.markers.astype(np.int64),
        *(table_of(h) for h in (shares, known.inter, known.intra, known.reuse)),
    )


def table_of(histograms: Histograms) -> DrawTable:
    """To draw from."""
    return DrawTable(histograms.first, histograms.values, histograms.cumulative())


def draws(seed: int, kernel: int, stream: int, cta: int, count: int) -> np.ndarray:
    """Numbers of DRAW_BITS bits; int64 [count]."""
    key = np.array([seed, kernel << 1 | stream], np.uint64)
    bits = np.random.Philox(key=key, counter=np.array([0, cta, 0, 0], np.uint64))
    return (bits.random_raw(count) >> np.uint64(64 - DRAW_BITS)).astype(np.int64)


@jit
def draw(table, i, number):
    """A value of histogram ``i``; 0 if it has none."""
    low, high = table.first[i], table.first[i + 1]
    if low == high:
        return np.int64(0)
    target = (number * table.cumulative[high - 1]) >> DRAW_BITS
    high -= 1
    while low < high:
        middle = (low + high) >> 1
        if table.cumulative[middle] > target:
            high = middle
        else:
            low = middle + 1
    return table.values[low]


@jit
def has(table, i, value):
    """Whether histogram ``i`` has a value."""
    low, high = table.first[i], table.first[i + 1]
    while low < high:
        middle = (low + high) >> 1
        if table.values[middle] < value:
            low = middle + 1
        else:
            high = middle
    return low < table.first[i + 1] and table.values[low] == value


@jit
def walk_bases(t, c):
    """Lines 6 to 10, for all warps of a CTA: paths, and where each site begins."""
    for w in range(len(c.chosen)):
        path = draw(t.shares, 0, c.walk[w, 0])
        c.chosen[w] = path
        for place in range(t.path_first[path], t.path_first[path + 1]):
            k = t.entries[place] >> ORDINAL_BITS
            if t.markers[k] == 0 and c.seen[k] != w + 1:
                c.seen[k] = w + 1
                c.bases[k] = (c.bases[k] + draw(t.inter, k, c.walk[w, 1 + k])) & LINE_MASK
                c.opening[w, k] = c.bases[k]


@jit
def fill_lines(t, c, numbers, begin, lines, stack):
    """Lines 11 to 18, for all warps: ``lines`` from ``begin[w]`` on are those of warp ``w``.

    ``numbers``: two for each line. ``stack`` has room for as many distinct lines as reuse may
    look back to, and none if it counts accesses.
    """
    for w in range(len(c.chosen)):
        path, j, depth = c.chosen[w], begin[w], np.int64(0)
        for place in range(t.path_first[path], t.path_first[path + 1]):
            k = t.entries[place] >> ORDINAL_BITS
            if t.markers[k] != 0:
                continue
            if c.seen[k] != w + 1:
                c.seen[k] = w + 1
                line = c.opening[w, k]
                c.last[k] = line
            else:
                back = draw(t.reuse, path, numbers[2 * j])
                if len(stack) > 0:
                    found = 0 <= back < depth
                    line = stack[back] if found else np.int64(0)
                else:
                    found = 0 <= back < j - begin[w]
                    line = lines[j - 1 - back] if found else np.int64(0)
                if not found or not has(t.intra, k, line - lines[j - 1]):
                    line = (c.last[k] + draw(t.intra, k, numbers[2 * j + 1])) & LINE_MASK
                    c.last[k] = line
            lines[j] = line
            depth = to_front(stack, depth, line)
            j += 1


@jit
def to_front(stack, depth, line):
    """Put a line in front of those used before; how many there are then."""
    if len(stack) == 0:
        return np.int64(0)
    k, carried = np.int64(0), line
    while k < depth:
        stack[k], carried = carried, stack[k]
        if carried == line:
            return depth
        k += 1
    if depth < len(stack):
        stack[depth] = carried
        return depth + 1
    return depth
