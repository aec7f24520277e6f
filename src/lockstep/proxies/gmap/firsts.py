"""Where the warps of a kernel begin at each instruction: the bases, and the strides between warps.

How much local memory a CTA has is known at the end only; so where warps begin in it is kept.
"""

import numpy as np

from lockstep.proxies.gmap.counting import PairCounts
from lockstep.proxies.gmap.entries import APART


class FirstLines:
    """Strides from the first access of a warp to that of the next one that has any.

    ``base``: of each source, the first line. Local memory begins at line 0, with a piece for each
    CTA.
    """

    def __init__(self) -> None:
        self.base: dict[int, int] = {}
        self._strides = PairCounts()
        self._last: dict[int, int] = {}
        self._local: list[np.ndarray] = []  # int64 [3, warps]: source, CTA, line
        self._span = self._ctas = 0

    def see(
        self, source: np.ndarray, line: np.ndarray, first: np.ndarray, cta: np.ndarray, ctas: int
    ) -> None:
        """Look at accesses ordered by source, then by time; ``first``: a warp's first of each."""
        bounds = np.flatnonzero(np.diff(source, prepend=-1, append=-1))
        for begin, end in zip(bounds[:-1].tolist(), bounds[1:].tolist()):
            part = slice(begin, end)
            chosen = first[part]
            if source[begin] & 1:
                lines = line[part] - APART
                self._span = max(self._span, int(lines.max()) + 1)
                which = source[part][chosen], cta[part][chosen] + self._ctas, lines[chosen]
                self._local.append(np.stack(which))
            else:
                self._count(int(source[begin]), line[part][chosen])
        self._ctas += ctas

    def _count(self, source: int, firsts: np.ndarray) -> None:
        self.base.setdefault(source, int(firsts[0]))
        before = [self._last[source]] if source in self._last else []
        strides = np.diff(np.concatenate([np.array(before, np.int64), firsts]))
        self._strides.add(np.full(len(strides), source), strides)
        self._last[source] = int(firsts[-1])

    def finish(self) -> PairCounts:
        """The strides by source; nothing is seen any more."""
        source, cta, line = np.concatenate([np.zeros((3, 0), np.int64), *self._local], axis=1)
        self._local = []
        for each in np.unique(source).tolist():
            self._count(each, (cta * self._span + line)[source == each])
        return self._strides
