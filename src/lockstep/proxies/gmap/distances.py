"""LRU stack distances: how many distinct lines a warp accessed since it accessed this one last.

Bennett and Kruskal, IBM Journal 1975: a tree of partial sums over time has a one where a line was
accessed last, so that a distance is the sum over the time in between.
"""

import numpy as np

from lockstep._jit import jit
from lockstep.frontend.proxy.gmap.sites import COLD


def stack_distances(begin: np.ndarray, lines: np.ndarray) -> np.ndarray:
    """Of each access; int64, COLD for the first one of a warp to a line.

    ``lines`` are those of warps in their order, warp ``w`` from ``begin[w]`` to ``begin[w + 1]``.
    """
    warp = np.repeat(np.arange(len(begin) - 1), np.diff(begin))
    order = np.lexsort((lines, warp))  # stable: equal ones stay in the order of time
    same = (lines[order][1:] == lines[order][:-1]) & (warp[order][1:] == warp[order][:-1])
    previous = np.full(len(lines), COLD, np.int64)
    previous[order[1:][same]] = order[:-1][same]
    found = np.empty(len(lines), np.int64)
    tree = np.zeros(int(np.diff(begin).max(initial=0)) + 1, np.int64)
    _fill(np.ascontiguousarray(begin, np.int64), previous, tree, found)
    return found


@jit
def _fill(begin, previous, tree, found):
    for w in range(len(begin) - 1):
        first = begin[w]
        count = begin[w + 1] - first
        tree[: count + 1] = 0
        for i in range(count):
            back = previous[first + i]
            if back < 0:
                found[first + i] = COLD
            else:
                at = back - first
                found[first + i] = _sum(tree, i) - _sum(tree, at + 1)
                _add(tree, at + 1, count, -1)
            _add(tree, i + 1, count, 1)


@jit
def _sum(tree, k):
    total = np.int64(0)
    while k > 0:
        total += tree[k]
        k -= k & -k
    return total


@jit
def _add(tree, k, count, what):
    while k <= count:
        tree[k] += what
        k += k & -k
