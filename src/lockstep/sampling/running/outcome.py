"""What the simulated launches of a run say of all of them."""

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd

from lockstep import notebook
from lockstep.correlation.launches import is_sum
from lockstep.errors import LockstepError
from lockstep.gpus.spec import GPU
from lockstep.metrics import facts, registry
from lockstep.names import demangled
from lockstep.sampling.counters import Counters, estimate_rates
from lockstep.sampling.estimate import Estimate, estimate, estimate_ratio, estimates
from lockstep.sampling.plan import Plan

if TYPE_CHECKING:  # importing the engine imports the compiler
    from lockstep.engine.record import KernelRun


class KernelEstimate(NamedTuple):
    """Cycles of all launches of a kernel, ``kernel`` being its name as linkers see it."""

    kernel: str
    launches: int
    simulated: int
    estimated: float
    low: float
    high: float


class SampledRun:
    """Estimates of all launches, from those that a plan chose and that were simulated.

    ``runs``: of those on a ``gpu``, in the order of the plan; ``kernel_of``: int64 [launches of the
    plan], into ``kernels``, the names that linkers see.
    """

    def __init__(
        self,
        plan: Plan,
        runs: "Sequence[KernelRun]",
        gpu: GPU,
        kernel_of: np.ndarray,
        kernels: Sequence[str],
        confidence: float,
    ):
        self.plan, self.gpu, self.confidence = plan, gpu, confidence
        self.kernels, self._kernel_of, self._runs = kernels, kernel_of, runs
        self._cycles = np.array([run.cycles for run in runs], np.float64)

    @cached_property
    def cycles(self) -> Estimate:
        """Core cycles of all launches, each from its start to the end of its last CTA."""
        return estimate(self.plan, self._cycles, self.confidence)

    def _repr_html_(self) -> str:
        """What notebooks show."""
        interval = (self.cycles.low, self.cycles.high) if self.cycles.bounded else None
        values = {
            "launches": len(self.plan),
            "simulated": len(self._runs),
            "cycles, estimated": self.cycles.total,
            "interval": interval,
            "speed-up in cycles": self.speedup,
        }
        return notebook.facts(f"Sampled run on {self.gpu.name}", values)

    @property
    def simulated_cycles(self) -> float:
        """Cycles of the launches that were simulated."""
        return float(self._cycles.sum())

    @property
    def speedup(self) -> float:
        """Estimated cycles of all launches, divided by those that were simulated."""
        return self.cycles.total / self.simulated_cycles

    @cached_property
    def observed(self) -> pd.DataFrame:
        """The metrics of each simulated launch, a row each, under the names that they have."""
        columns = registry.columns(self.gpu)
        found = [registry.evaluate(columns, facts.of_kernel(run, self.gpu)) for run in self._runs]
        return pd.DataFrame(found)

    def metrics(self) -> pd.DataFrame:
        """Estimates of all metrics but those of one launch: estimated, low, high, a row each.

        Sums are estimated as the cycles are; what is no sum, such as a hit rate, follows from
        estimated totals of counters.
        """
        sums = [
            name
            for name in map(str, self.observed)
            if is_sum(name) and np.isfinite(self.observed[name].to_numpy(np.float64)).all()
        ]
        found = estimates(self.plan, self.observed[sums], self.confidence)
        rates = estimate_rates(self.plan, Counters.of(self._runs, self.gpu), self.confidence)
        return pd.concat([found, rates])[["estimated", "low", "high"]]

    def by_kernel(self) -> list[KernelEstimate]:
        """A row a kernel, in the order of their first launches.

        A kernel that shares strata with others has no estimate of its own: NaN.
        """
        chosen = self._kernel_of[self.plan.chosen]
        mixed = _mixed(self.plan.stratum, self._kernel_of)
        rows = []
        for number, name in enumerate(self.kernels):
            mine, nothing = chosen == number, float("nan")
            total, low, high = nothing, nothing, nothing
            if not mixed[number]:
                cycles = np.where(mine, self._cycles, 0.0)
                total, low, high, _, _ = estimate(self.plan, cycles, self.confidence)
            launches = int((self._kernel_of == number).sum())
            rows.append(KernelEstimate(name, launches, int(mine.sum()), total, low, high))
        return rows

    def ratio(self, above: str, below: str) -> Estimate:
        """The total of one metric divided by that of another."""
        observed = self.observed
        return estimate_ratio(
            self.plan, observed[above].to_numpy(), observed[below].to_numpy(), self.confidence
        )

    def relative_to(self, baseline: "SampledRun") -> Estimate:
        """The cycles of all launches, by those on another design of which the same were simulated.

        Its interval is that of pairs: what both designs say of a launch varies together. Raises
        :class:`LockstepError` if the other run followed another plan.
        """
        if not self.plan.chooses_as(baseline.plan):
            raise LockstepError("the runs followed different plans: their launches are no pairs")
        return estimate_ratio(self.plan, self._cycles, baseline._cycles, self.confidence)

    def document(self) -> dict[str, Any]:
        """For a JSON file; no estimate has the name of a metric that was measured."""
        total = {"estimated": self.cycles.total, "low": self.cycles.low, "high": self.cycles.high}
        return {
            "sampler": self.plan.sampler,
            "parameters": self.plan.parameters,
            "notes": list(self.plan.notes),
            "confidence": self.confidence,
            "launches": len(self.plan),
            "simulated": len(self.plan.chosen),
            "strata": len(self.plan.sizes),
            "speedup in cycles": self.speedup,
            "cycles": total,
            "kernels": [
                {**row._asdict(), "title": demangled(row.kernel)} for row in self.by_kernel()
            ],
            "observed": {
                "launch": self.plan.chosen.tolist(),
                "cycles": self._cycles.tolist(),
            },
            "metrics": {
                name: dict(zip(("estimated", "low", "high"), values))
                for name, *values in self.metrics().itertuples()
            },
        }


def _mixed(stratum: np.ndarray, kernel_of: np.ndarray) -> np.ndarray:
    """Whether a kernel shares a stratum with another, of each kernel."""
    pairs = np.unique(np.stack([stratum.astype(np.int64), kernel_of]), axis=1)
    shared = np.bincount(pairs[0]) > 1
    found = np.zeros(kernel_of.max() + 1, bool)
    found[pairs[1][shared[pairs[0]]]] = True
    return found
