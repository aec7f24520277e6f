"""What the warps of a launch execute, as their CTAs are read: types of warps, predicted times.

The type of a warp is how often it executes each instruction, in whatever order: its vector of basic
blocks. Here it is a number, a linear hash of these counts: each instruction has a random weight.
What a warp takes, if each instruction takes its mean, is such a sum, too.
"""

from collections import Counter, deque
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from lockstep.plain_bytes import together
from lockstep.workload import RUN, WARP, Cta

_SEED = 1  # of the weights
_FIRST = 1024  # weights


class _Batch(NamedTuple):
    """CTAs that were read together: runs, and of each warp where its own begin and how many."""

    runs: np.ndarray
    first: np.ndarray
    many: np.ndarray


class WarpStreams:
    """Of one launch. ``warps``: of each CTA."""

    def __init__(self, warps: int):
        self._warps = warps
        self._random = np.random.default_rng(_SEED)
        self._weights = np.zeros(1, np.uint64)  # sums of those of the instructions before
        self._types: deque[np.ndarray] = deque()  # uint64 [CTAs, warps], of those not counted
        self._known: Counter[int] = Counter()  # warps of each type, of the first CTAs
        self._counted = 0  # CTAs
        self._executions = np.zeros(0, np.int64)
        self._begins = np.zeros(0, bool)  # a basic block does, as far as any warp has shown
        self._waiting: deque[_Batch] = deque()  # CTAs that have not ended, the first perhaps have
        self._passed = 0  # CTAs of batches that wait no more
        self.instructions = 0  # warp instructions
        self.durations: list[float] | None = None  # of CTAs that had not ended, once predicted
        self._times: np.ndarray | None = None

    def add(self, ctas: Sequence[Cta]) -> None:
        """The next CTAs of the launch."""
        batch = _batch(ctas)
        self.instructions += int(batch.runs["count"].sum())
        self._note(batch.runs)
        self._types.append(self._sums(batch, self._weights).reshape(-1, self._warps))
        if self._times is None:
            self._waiting.append(batch)
        else:
            self._predict_batch(batch, 0)

    @property
    def executions(self) -> np.ndarray:
        """How often each instruction is executed by all CTAs that were read, int64."""
        return self._executions

    @property
    def blocks(self) -> np.ndarray:
        """The first instruction of each basic block, int64, and where the last one ends.

        Wherever a warp came to an instruction or left it other than in order, one begins: of a
        branch that no warp took nothing is known.
        """
        return np.append(np.flatnonzero(self._begins), len(self._begins))

    def ended(self, ctas: int) -> None:
        """So many CTAs have ended: nobody will ask what their warps would take."""
        while self._waiting and self._passed + self._ctas(self._waiting[0]) <= ctas:
            self._passed += self._ctas(self._waiting.popleft())

    def dominance(self, ctas: int) -> float:
        """The share of warps that are of the commonest type, among the first CTAs.

        No fewer than it was asked about before.
        """
        while self._types and self._counted < ctas:
            batch = self._types.popleft()
            part, rest = np.split(batch, [ctas - self._counted])
            types, counts = np.unique(part, return_counts=True)
            self._known.update(dict(zip(types.tolist(), counts.tolist())))
            self._counted += len(part)
            if len(rest):
                self._types.appendleft(rest)
        return max(self._known.values(), default=0) / max(1, self._counted * self._warps)

    def predict(self, times: np.ndarray, ended: int) -> None:
        """Keep how long CTAs behind the first ``ended`` take, those that are read later, too.

        A CTA takes as long as its longest warp, this as its instructions together; ``times``:
        cycles of each, float64.
        """
        self.durations, self._times = [], times
        self.ended(ended)
        skip = ended - self._passed
        for batch in self._waiting:
            self._predict_batch(batch, skip)
            skip = 0
        self._waiting.clear()

    def _predict_batch(self, batch: _Batch, skip: int) -> None:
        """All but the first CTAs of a batch; instructions that had not been seen take the mean."""
        assert self._times is not None and self.durations is not None, "it predicts"
        times, size = self._times, len(self._executions)
        if len(times) < size:
            unseen = np.full(size - len(times), times.mean() if len(times) else 0.0)
            times = self._times = np.append(times, unseen)
        sums = self._sums(batch, np.append(0.0, np.cumsum(times)))
        self.durations += sums.reshape(-1, self._warps).max(axis=1)[skip:].tolist()

    def _note(self, runs: np.ndarray) -> None:
        """Count executions, and see where blocks begin."""
        if not len(runs):
            return
        first = runs["static"].astype(np.int64)
        ends = first + runs["count"]
        if (size := int(ends.max())) > len(self._executions):
            grown = size - len(self._executions)
            self._executions = np.append(self._executions, np.zeros(grown, np.int64))
            self._begins = np.append(self._begins, np.zeros(grown, bool))
        steps = np.bincount(first, minlength=size + 1) - np.bincount(ends, minlength=size + 1)
        self._executions[:size] += np.cumsum(steps)[:size]
        self._begins[first] = True
        self._begins[ends[ends < len(self._begins)]] = True
        while len(self._weights) <= size:
            more = self._random.integers(2**64, size=_FIRST, dtype=np.uint64)
            sums = self._weights[-1] + np.cumsum(more, dtype=np.uint64)
            self._weights = np.append(self._weights, sums)

    def _sums(self, batch: _Batch, before: np.ndarray) -> np.ndarray:
        """Of each warp, what its instructions have together; ``before``: sums of those before."""
        first = batch.runs["static"]
        of_runs = before[first + batch.runs["count"]] - before[first]
        ahead = np.append(before.dtype.type(0), np.cumsum(of_runs, dtype=before.dtype))
        return ahead[batch.first + batch.many] - ahead[batch.first]

    def _ctas(self, batch: _Batch) -> int:
        return len(batch.first) // self._warps


def _batch(ctas: Sequence[Cta]) -> _Batch:
    warps = together([cta.warps for cta in ctas], WARP)
    shift = np.cumsum([0, *(len(cta.runs) for cta in ctas)])[:-1]
    first = warps["first_run"] + np.repeat(shift, [len(cta.warps) for cta in ctas])
    return _Batch(together([cta.runs for cta in ctas], RUN), first, warps["runs"].copy())
