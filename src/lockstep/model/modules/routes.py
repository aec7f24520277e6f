"""Which modules have links, and which of its links a module sends a message on.

Every way is a shortest one. On a ring two ways may be equally short; then messages of modules with
an even number go up and the others go down, so that links share them. On a mesh messages go along
their row first. Modules number the mesh row by row; it is as near to a square as their count can be
divided.
"""

from math import isqrt
from typing import NamedTuple

from lockstep.gpus.modules import Modules

HERE = -1


class Routes(NamedTuple):
    """``neighbours[m]``: the modules that module ``m`` has a link to, link by link.

    ``links[m][target]``: the number of the link that leads on to a target, or HERE.
    ``hops[m][target]``: over how many links in all.
    """

    neighbours: list[list[int]]
    links: list[list[int]]
    hops: list[list[int]]

    @property
    def most_hops(self) -> int:
        """Of the longest way."""
        return max(map(max, self.hops))


def routes(modules: Modules) -> Routes:
    """The ways between all modules."""
    n = modules.count
    step = {"ring": _along_ring, "mesh": _along_mesh, "full": _straight}[modules.topology]
    following = [[step(m, target, n) for target in range(n)] for m in range(n)]
    neighbours = [sorted(set(row) - {m}) for m, row in enumerate(following)]
    links = [
        [HERE if k == m else neighbours[m].index(k) for k in row] for m, row in enumerate(following)
    ]
    hops = [[_count(following, m, target) for target in range(n)] for m in range(n)]
    return Routes(neighbours, links, hops)


def _count(following: list[list[int]], m: int, target: int) -> int:
    count = 0
    while m != target:
        m, count = following[m][target], count + 1
    return count


def _along_ring(m: int, target: int, n: int) -> int:
    up = (target - m) % n
    if up == 0:
        return m
    if 2 * up == n:
        return (m + (1 if m % 2 == 0 else -1)) % n
    return (m + (1 if 2 * up < n else -1)) % n


def columns(n: int) -> int:
    """Modules in a row of a mesh of ``n``."""
    return n // next(rows for rows in range(isqrt(n), 0, -1) if n % rows == 0)


def _along_mesh(m: int, target: int, n: int) -> int:
    width = columns(n)
    (row, column), (to_row, to_column) = divmod(m, width), divmod(target, width)
    if column != to_column:
        return m + (1 if to_column > column else -1)
    return m + width * ((to_row > row) - (to_row < row))


def _straight(_m: int, target: int, _n: int) -> int:
    return target
