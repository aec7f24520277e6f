"""What the model counted of launches, a row each, and what metrics they have all together."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Self

import numpy as np
import pandas as pd

from lockstep.correlation.launches import is_sum
from lockstep.gpus.spec import GPU
from lockstep.metrics import registry
from lockstep.metrics.facts import Facts, named
from lockstep.sampling.estimate import CONFIDENCE, estimate_functions
from lockstep.sampling.inside.projection import Projection
from lockstep.sampling.plan import Plan

if TYPE_CHECKING:  # importing the engine imports the compiler
    from lockstep.engine.record import KernelRun

_TIMES = 2  # columns before the counters: cycles, and those with CTAs


class Counters:
    """``values``: int64 [launches, 2 + words]: cycles, those with CTAs, counters summed over units.

    ``sm`` and ``partition``: the records that the counters are of, on a ``gpu``.
    """

    def __init__(self, gpu: GPU, values: np.ndarray, sm: np.dtype, partition: np.dtype):
        self.gpu, self.values, self._sm, self._partition = gpu, values, sm, partition
        self._columns = [column for column in registry.columns(gpu) if not is_sum(column.name)]

    @classmethod
    def of(cls, runs: "Sequence[KernelRun]", gpu: GPU) -> Self:
        """Those of launches that were simulated, at least one."""
        values = np.array([counted(run) for run in runs])
        return cls(gpu, values, runs[0].sm.dtype, runs[0].partition.dtype)

    @classmethod
    def projected(cls, projections: Sequence[Projection], gpu: GPU) -> Self:
        """Those of launches of which a part may have run, at least one; estimated, float64."""
        run = projections[0].run
        values = np.array([each.row() for each in projections])
        return cls(gpu, values, run.sm.dtype, run.partition.dtype)

    def of_rows(self, rows: np.ndarray) -> "Counters":
        """Those of some of the launches, int64."""
        return Counters(self.gpu, self.values[rows], self._sm, self._partition)

    def rates(self, totals: np.ndarray | None = None) -> dict[str, float]:
        """Metrics that are no sums, of all launches together; NaN where one is undefined.

        ``totals``: of columns, if they are not those of these launches.
        """
        if totals is None:
            totals = self.values.sum(axis=0)
        words = self._sm.itemsize // 8
        sm, memory = totals[_TIMES : _TIMES + words], totals[_TIMES + words :]
        cycles, running = totals[:_TIMES].tolist()
        facts = Facts(
            self.gpu, named(sm, self._sm), named(memory, self._partition), cycles, running
        )
        return registry.evaluate(self._columns, facts)


def counted(run: "KernelRun") -> np.ndarray:
    """A row of :class:`Counters`."""
    words = [np.ascontiguousarray(records).view(np.int64) for records in (run.sm, run.partition)]
    sums = [w.reshape(len(r), -1).sum(axis=0) for w, r in zip(words, (run.sm, run.partition))]
    return np.concatenate([[run.cycles, run.running], *sums])


def estimate_rates(plan: Plan, counters: Counters, confidence: float = CONFIDENCE) -> pd.DataFrame:
    """Metrics that are no sums, such as hit rates: estimated, low, high, confidence, a row each.

    ``counters``: of the chosen launches, in the order of ``plan.chosen``. Each metric is what
    follows from estimated totals of counters; means of rates of launches are never taken.
    """
    observed = counters.values.astype(np.float64)
    return estimate_functions(plan, observed, counters.rates, confidence)
