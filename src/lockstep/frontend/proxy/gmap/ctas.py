"""The CTAs of a launch that is drawn from a 5-tuple, made one after the other."""

import math
from collections.abc import Iterator

import numpy as np

from lockstep.frontend.proxy.gmap import draw
from lockstep.frontend.proxy.gmap.emit import emitted
from lockstep.frontend.proxy.gmap.five_tuple import FiveTuple
from lockstep.frontend.proxy.gmap.sites import LINE_BYTES, LINE_MASK, NOTHING
from lockstep.frontend.proxy.model import Launched
from lockstep.workload import Cta

KEPT = 256  # CTAs from one place where the bases are kept to the next


class CtaGenerator:
    """Makes any CTA of a launch; those in the order of the grid are made without repetition.

    ``grid``: what it is served as. The seed and the number of the launch say what is drawn;
    ``counting`` is one of :data:`.draw.REUSES`.
    """

    def __init__(
        self,
        known: FiveTuple,
        launch: Launched,
        grid: tuple[int, int, int],
        counting: str = draw.PUBLISHED,
    ):
        self._known, self._launch, self._grid = known, launch, grid
        self._tables = draw.tables(known)
        where = np.where(known.markers, NOTHING, known.sites["allocation"])
        bases = np.append(launch.bases, 0)[where]  # the last one is that of NOTHING
        self._bases = (bases // LINE_BYTES + known.sites["base"]) & LINE_MASK
        self._next = 0  # the CTA that these bases are for
        self._kept = [self._bases.copy()]
        deepest = int(known.reuse.values.max(initial=-1)) + 1
        self._stack = np.zeros(deepest if counting == draw.STACK else 0, np.int64)

    def lines(self, cta: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Path of each warp of a CTA, where its lines begin (and the end), and the lines."""
        c = self._walked(cta)
        counts = self._known.path_accesses[c.chosen]
        begin = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        lines = np.zeros(begin[-1], np.int64)
        numbers = self._draws(draw.ACCESS, cta, 2 * len(lines))
        c.seen[:] = 0
        draw.fill_lines(self._tables, c, numbers, begin, lines, self._stack)
        return c.chosen, begin, lines

    def _draws(self, stream: int, cta: int, count: int) -> np.ndarray:
        return draw.draws(self._launch.seed, self._launch.number, stream, cta, count)

    def _walked(self, cta: int) -> draw.CtaDraws:
        """The bases of a CTA, after those of the CTAs before it."""
        if self._next > cta or self._next < cta - cta % KEPT:
            place = min(cta // KEPT, len(self._kept) - 1)
            self._bases, self._next = self._kept[place].copy(), place * KEPT
        while True:
            walking, self._next = self._next, self._next + 1
            c = self._walk(walking)
            if self._next == KEPT * len(self._kept):
                self._kept.append(self._bases.copy())
            if walking == cta:
                return c

    def _walk(self, cta: int) -> draw.CtaDraws:
        warps, sites = self._launch.warps, len(self._known.sites)
        c = draw.CtaDraws(
            self._draws(draw.WALK, cta, warps * (1 + sites)).reshape(warps, 1 + sites),
            self._bases,
            np.zeros(warps, np.int64),
            np.zeros((warps, sites), np.int64),
            np.zeros(sites, np.int64),
            np.zeros(sites, np.int64),
        )
        draw.walk_bases(self._tables, c)
        return c

    def cta(self, cta: int) -> Cta:
        """The streams of the CTA with this linear index."""
        chosen, _, lines = self.lines(cta)
        x, y, _ = self._grid
        index = cta % x, cta // x % y, cta // (x * y)
        lanes = self._launch.warp_size
        return emitted(self._known, self._tables, lanes, index, chosen, lines)

    def ctas(self) -> Iterator[Cta]:
        """All CTAs in the order of the grid."""
        return map(self.cta, range(math.prod(self._grid)))
