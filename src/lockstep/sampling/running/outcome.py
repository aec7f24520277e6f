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
from lockstep.metrics import registry
from lockstep.metrics.facts import of_kernel
from lockstep.names import demangled
from lockstep.sampling.counters import Counters, estimate_rates
from lockstep.sampling.estimate import Estimate, estimate, estimate_ratio, estimates, widened
from lockstep.sampling.inside.launches import Inside, Projected
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
    plan], into ``kernels``, the names that linkers see. ``inside``: the rule by which some of them
    ran in part, whose estimates then stand for them.
    """

    def __init__(
        self,
        plan: Plan,
        runs: "Sequence[KernelRun]",
        gpu: GPU,
        kernel_of: np.ndarray,
        kernels: Sequence[str],
        confidence: float,
        inside: Inside | None = None,
    ):
        self.plan, self.gpu, self.confidence = plan, gpu, confidence
        self.kernels, self._kernel_of, self._runs = kernels, kernel_of, runs
        self._inside, self._weights = inside, plan.weights()
        together = inside.together(runs, self._weights) if inside else Projected.whole(runs)
        self._projected = together
        self._cycles = self._projected.cycles

    @cached_property
    def cycles(self) -> Estimate:
        """Core cycles of all launches, each from its start to the end of its last CTA.

        Its interval holds what is not known of launches that ran in part, too.
        """
        return self._estimated(np.full(len(self._cycles), True))

    @property
    def remarks(self) -> tuple[str, ...]:
        """What the cycles are without."""
        timed = self.gpu.host.copy == "timed"
        return ("copies and calls of the host are not in it",) if timed else ()

    @property
    def in_part(self) -> int:
        """Launches that ran in part."""
        return int(self._projected.cut.sum())

    @property
    def paired(self) -> int:
        """Launches that ran to their end though the rule would have ended them."""
        return self._projected.pairs

    def _estimated(self, mine: np.ndarray) -> Estimate:
        """The cycles of all launches that some of the chosen ones stand for: bool [chosen]."""
        found = estimate(self.plan, np.where(mine, self._cycles, 0.0), self.confidence)
        kernels = self._kernel_of[self.plan.chosen]
        weights = np.where(mine, self._weights, 0.0)
        return widened(found, self._projected.variances(weights, kernels))

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
        """Cycles of the launches that were simulated, as far as they ran."""
        return float(sum(run.cycles for run in self._runs))

    @property
    def speedup(self) -> float:
        """Estimated cycles of all launches, divided by those that were simulated."""
        return self.cycles.total / self.simulated_cycles

    @cached_property
    def observed(self) -> pd.DataFrame:
        """The metrics of each simulated launch, a row each, under the names that they have.

        Those of launches that ran in part are estimates.
        """
        columns = registry.columns(self.gpu)
        facts = [of_kernel(run, self.gpu) for run in self._runs]
        for number in np.flatnonzero(self._projected.cut).tolist():
            facts[number] = self._projected.projections[number].facts(self.gpu)
        return pd.DataFrame([registry.evaluate(columns, each) for each in facts])

    def metrics(self) -> pd.DataFrame:
        """Estimates of all metrics but those of one launch: estimated, low, high, a row each.

        Sums are estimated as the cycles are; what is no sum, such as a hit rate, follows from
        estimated totals of counters. Where a launch ran in part nothing bounds them.
        """
        sums = [
            name
            for name in map(str, self.observed)
            if is_sum(name) and np.isfinite(self.observed[name].to_numpy(np.float64)).all()
        ]
        found = estimates(self.plan, self.observed[sums], self.confidence)
        if self.in_part:
            counters = Counters.projected(self._projected.projections, self.gpu)
        else:
            counters = Counters.of(self._runs, self.gpu)
        rates = estimate_rates(self.plan, counters, self.confidence)
        both = pd.concat([found, rates])[["estimated", "low", "high"]]
        if self.in_part:
            both[["low", "high"]] = np.nan
        return both

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
                found = self._estimated(mine)
                total, low, high = found.total, found.low, found.high
            launches = int((self._kernel_of == number).sum())
            rows.append(KernelEstimate(name, launches, int(mine.sum()), total, low, high))
        return rows

    def ratio(self, above: str, below: str) -> Estimate:
        """The total of one metric divided by that of another.

        Raises :class:`LockstepError` where launches ran in part.
        """
        self._check_whole()
        observed = self.observed
        return estimate_ratio(
            self.plan, observed[above].to_numpy(), observed[below].to_numpy(), self.confidence
        )

    def relative_to(self, baseline: "SampledRun") -> Estimate:
        """The cycles of all launches, by those on another design of which the same were simulated.

        Its interval is that of pairs: what both designs say of a launch varies together. Raises
        :class:`LockstepError` if the other run followed another plan, or launches ran in part.
        """
        self._check_whole()
        baseline._check_whole()
        if not self.plan.chooses_as(baseline.plan):
            raise LockstepError("the runs followed different plans: their launches are no pairs")
        return estimate_ratio(self.plan, self._cycles, baseline._cycles, self.confidence)

    def _check_whole(self) -> None:
        if self.in_part:
            raise LockstepError(
                f"{self.in_part} launches ran in part, and what two numbers of them are off by "
                "together is not known: simulate without a rule inside launches"
            )

    def document(self) -> dict[str, Any]:
        """For a JSON file; no estimate has the name of a metric that was measured."""
        total = {"estimated": self.cycles.total, "low": self.cycles.low, "high": self.cycles.high}
        return {
            "sampler": self.plan.sampler,
            "parameters": self.plan.parameters,
            "notes": [*self.plan.notes, *self.remarks],
            "confidence": self.confidence,
            "launches": len(self.plan),
            "simulated": len(self.plan.chosen),
            "strata": len(self.plan.sizes),
            "speedup in cycles": self.speedup,
            "cycles": total,
            "kernels": [
                {**row._asdict(), "title": demangled(row.kernel)} for row in self.by_kernel()
            ],
            **self._each(),
            "metrics": {
                name: dict(zip(("estimated", "low", "high"), values))
                for name, *values in self.metrics().itertuples()
            },
        }

    def _each(self) -> dict[str, Any]:
        """Every chosen launch: observed, or estimated where some ran in part."""
        launches, cycles = self.plan.chosen.tolist(), self._cycles.tolist()
        if self._inside is None:
            return {"observed": {"launch": launches, "cycles": cycles}}
        projected = self._projected
        return {
            "inside": {
                "rule": self._inside.name,
                "in part": self.in_part,
                "run to their end": projected.pairs,
                "ratio": projected.correction.ratio if projected.correction else None,
                "launch": launches,
                "estimated": cycles,
                "cycles simulated": [run.cycles for run in self._runs],
            }
        }


def _mixed(stratum: np.ndarray, kernel_of: np.ndarray) -> np.ndarray:
    """Whether a kernel shares a stratum with another, of each kernel."""
    pairs = np.unique(np.stack([stratum.astype(np.int64), kernel_of]), axis=1)
    shared = np.bincount(pairs[0]) > 1
    found = np.zeros(kernel_of.max() + 1, bool)
    found[pairs[1][shared[pairs[0]]]] = True
    return found
