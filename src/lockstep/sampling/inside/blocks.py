"""Photon's block level: when basic blocks take as long as they did before, by their executions.

What an execution of a block takes goes from the issue of the instruction before it to that of its
last one. A launch is looked at from time to time, and each block has its executions and cycles
between two looks; so its window is the last looks in which it was executed often enough.
"""

import numpy as np

EXECUTIONS = 4096  # of the window of a block; Photon, as published with its artifact
PASSED = 1024  # executions of each block that are passed over; the same
SLOPE = 0.01  # of the end of blocks by their start, off 1; the same
COVERAGE = 0.95  # of all instructions are in stable blocks; the same
LOOKS = 512  # that are kept: then every second one
LEAST_LOOKS = 8  # in a window: fewer say nothing of a slope
OFTEN = 8  # a window, a block is looked at


class BlockTimes:
    """Of one launch.

    ``executions``: of the window of a block, and of the half of it that tells what it takes;
    ``slope`` and ``tolerance``: of the slope, and of the means of both.
    """

    def __init__(self, executions: int, slope: float, tolerance: float):
        self._window, self._slope, self._tolerance = executions, slope, tolerance
        self._looks = 0
        self._cycle = np.zeros(LOOKS, np.int64)
        self._done = np.zeros((LOOKS, 0), np.int64)  # executions of each instruction up to a look
        self._spent = np.zeros((LOOKS, 0), np.int64)  # cycles, the same
        self._asked = np.zeros(0, np.int64)  # executions when a block was looked at, by its last
        self.stable = np.zeros(0, bool)  # each instruction

    def look(self, cycle: int, done: np.ndarray, spent: np.ndarray) -> None:
        """What each instruction has done up to a cycle: int64 executions, and cycles."""
        if (more := len(done) - self._done.shape[1]) > 0:
            wider = (0, 0), (0, more)
            self._done, self._spent = np.pad(self._done, wider), np.pad(self._spent, wider)
            self._asked, self.stable = (np.pad(a, (0, more)) for a in (self._asked, self.stable))
        if self._looks == LOOKS:
            for array in (self._cycle, self._done, self._spent):
                array[: LOOKS // 2] = array[1::2]
            self._looks //= 2
        row = self._looks
        self._cycle[row], self._done[row], self._spent[row] = cycle, done, spent
        self._looks += 1

    def judge(self, blocks: np.ndarray) -> None:
        """See which blocks have become stable; ``blocks``: their first ones, and the end."""
        if not self._looks:
            return
        newest = self._done[self._looks - 1]
        for first, end in zip(blocks.tolist(), blocks[1:].tolist()):
            last = end - 1
            if end > len(newest) or self.stable[first:end].all():
                continue
            if newest[last] - self._asked[last] >= max(1, self._window // OFTEN):
                self._asked[last] = newest[last]
                if self._is_stable(first, end):
                    self.stable[first:end] = True

    def times(self, blocks: np.ndarray) -> np.ndarray:
        """Cycles of each instruction, float64: the means of the last half window of its block.

        Of blocks that are not stable the means of all executions, of those that never ran the mean
        of all others.
        """
        done, spent = (a[self._looks - 1].astype(np.float64) for a in (self._done, self._spent))
        mean = spent.sum() / max(done.sum(), 1)
        times = np.where(done > 0, spent / np.maximum(done, 1), mean)
        for first, end in zip(blocks.tolist(), blocks[1:].tolist()):
            if end <= len(times) and self.stable[first:end].all():
                since = self._since(end - 1, self._window // 2)
                block = slice(first, end)
                ran = done[end - 1] - self._done[since, end - 1]
                times[block] = (spent[block] - self._spent[since, block]) / ran
        return times

    def _since(self, last: int, executions: int) -> int:
        """The latest look behind which a block was executed so often, or -1."""
        done = self._done[: self._looks, last]
        return int(np.searchsorted(done, done[-1] - executions, side="right")) - 1

    def _is_stable(self, first: int, end: int) -> bool:
        long = self._since(end - 1, self._window)
        short = self._since(end - 1, self._window // 2)
        long = min(long, self._looks - 1 - LEAST_LOOKS)
        if long < 0 or self._done[long, end - 1] < PASSED:
            return False
        looks = slice(long, self._looks)
        ran = np.diff(self._done[looks, end - 1]).astype(np.float64)
        took = np.diff(self._spent[looks, first:end].sum(axis=1)).astype(np.float64)
        middle = (self._cycle[looks][1:] + self._cycle[looks][:-1]) / 2
        some = ran > 0
        if some.sum() < LEAST_LOOKS // 2:
            return False
        ran, took, ends = ran[some], took[some], middle[some]
        begins = ends - took / ran
        wide = np.average((begins - np.average(begins, weights=ran)) ** 2, weights=ran)
        both = np.average(
            (begins - np.average(begins, weights=ran)) * (ends - np.average(ends, weights=ran)),
            weights=ran,
        )
        if not wide or abs(both / wide - 1) > self._slope:
            return False
        mean = took.sum() / ran.sum()
        late = self._spent[self._looks - 1, first:end] - self._spent[short, first:end]
        half = late.sum() / (self._done[self._looks - 1, end - 1] - self._done[short, end - 1])
        return abs(mean - half) <= self._tolerance * (mean + half)
