"""What of a program's accesses can be read in its proxy: lines, and sequences of distances.

Shares of what is distinct in the original, whose elements are hashed; of more than MOST, those with
the lowest hashes are looked at, as large a part of the proxy's.
"""

from typing import Any, NamedTuple

import numpy as np

from lockstep.caches.accesses import BARRIER, PRIVATE
from lockstep.caches.coalescer import Coalescer, CtaAccesses
from lockstep.workload import Cta, Kernel, Workload

GRAM = 8  # distances from one line to the next, in a row
MOST = 1 << 20  # distinct elements that are kept
_TOGETHER = 1 << 16  # lines that are looked at together
_ODD = np.random.default_rng(0).integers(0, 1 << 63, GRAM, np.uint64) * np.uint64(2) + np.uint64(1)
_MIX = np.uint64(0x9E3779B97F4A7C15)  # 2**64 over the golden ratio


class Leaks(NamedTuple):
    """Shares, 0 to 1, of the original's distinct lines and sequences that the proxy has, too."""

    lines: float
    sequences: float


class _Distinct:
    """Distinct hashes; the lowest of them, if there are too many."""

    def __init__(self) -> None:
        self._parts: list[np.ndarray] = []
        self._waiting = 0
        self.below = (1 << 64) - 1  # those up to here are kept

    def add(self, hashes: np.ndarray) -> None:
        self._parts.append(np.unique(hashes[hashes <= np.uint64(self.below)]))
        self._waiting += len(self._parts[-1])
        if self._waiting > 2 * MOST:
            kept = self.kept()
            if len(kept) > MOST:
                self.below = int(kept[MOST - 1])
                kept = kept[:MOST]
            self._parts, self._waiting = [kept], len(kept)

    def kept(self) -> np.ndarray:
        return np.unique(np.concatenate([np.zeros(0, np.uint64), *self._parts]))

    def share_in(self, other: "_Distinct") -> float:
        """The share of these that are among the others; 0 of nothing."""
        below = np.uint64(min(self.below, other.below))
        mine, others = self.kept(), other.kept()
        mine = mine[mine <= below]
        return float(np.isin(mine, others).mean()) if len(mine) else 0.0


class AccessTraces:
    """Takes the launches of a program: a watcher of a device, or ``take`` a workload.

    A sequence is of one instruction: from line to line of a warp, and on to those of the next one.
    So it does not matter where allocations lie. Local memory, whose addresses are nobody's, is left
    out.
    """

    reads = True

    def __init__(self) -> None:
        self._lines, self._sequences = _Distinct(), _Distinct()
        self._kernel: Kernel | None = None
        self._coalesce: Coalescer | None = None
        self._waiting: list[np.ndarray] = []  # int64 [2, lines]: instruction, line
        self._count = 0
        self._last: dict[int, np.ndarray] = {}  # lines of each instruction

    def launched(self, launch: Any) -> None:
        """A launch of a device begins."""

    def ended(self, launch: Any) -> None:
        """It has ended."""

    def read(self, kernel: Kernel, cta: Cta) -> None:
        """The next CTA of a launch."""
        if self._coalesce is None or self._kernel is not kernel:
            self._look()
            self._kernel, self._coalesce, self._last = kernel, Coalescer(kernel), {}
        self._waiting.append(_lines(self._coalesce(cta)))
        self._count += self._waiting[-1].shape[1]
        if self._count > _TOGETHER:
            self._look()

    def take(self, workload: Workload) -> None:
        """All CTAs of a workload."""
        for kernel in workload.kernels:
            for cta in kernel.ctas():
                self.read(kernel, cta)

    def leaks(self, proxy: "AccessTraces") -> Leaks:
        """What a proxy has of these."""
        for each in (self, proxy):
            each._look()
        return Leaks(self._lines.share_in(proxy._lines), self._sequences.share_in(proxy._sequences))

    def _look(self) -> None:
        """Keep what waits."""
        site, line = np.concatenate([np.zeros((2, 0), np.int64), *self._waiting], axis=1)
        self._waiting, self._count = [], 0
        self._lines.add(line.astype(np.uint64) * _MIX)
        order = np.argsort(site, kind="stable")
        for part in np.split(order, np.flatnonzero(np.diff(site[order])) + 1):
            if len(part):
                number = int(site[part[0]])
                lines = np.concatenate([self._last.get(number, line[:0]), line[part]])
                self._last[number] = lines[-GRAM:]
                self._sequences.add(_grams(lines))


def _grams(lines: np.ndarray) -> np.ndarray:
    """Hashes of all GRAM distances in a row."""
    distance = np.diff(lines).astype(np.uint64)
    count = max(len(lines) - GRAM, 0)
    gram = np.zeros(count, np.uint64)
    for k in range(GRAM if count else 0):
        gram = (gram ^ gram >> np.uint64(29)) + distance[k : k + count] * _ODD[k]
    return (gram ^ gram >> np.uint64(29)) * _MIX


def _lines(accesses: CtaAccesses) -> np.ndarray:
    """The instruction and the line of what a CTA accesses, warp after warp; int64 [2, lines]."""
    steps = accesses.steps
    step = np.repeat(np.arange(len(steps)), steps["lines"])
    known = (steps["kind"] < BARRIER) & (steps["flags"] & PRIVATE == 0)
    kept = known[step]
    return np.stack([steps["site"][step], accesses.lines["line"]]).astype(np.int64)[:, kept]
