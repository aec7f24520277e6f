"""Stratified random sampling until the interval is as narrow as was asked for.

Strata are launches that the table does not tell apart. A pilot of two launches each says how much
their times vary; what then is drawn goes where a launch narrows the interval most for the time that
it takes (Neyman's allocation with costs: Cochran, Sampling Techniques, 5.5). Two things find
structure that no column shows: the launches of a stratum that is drawn from often are cut into
intervals of time, each with its own draws, which follows drifts; and where times vary in a stratum
of many launches, a run of successive ones is simulated, and if it repeats with some period, its
phases become strata. The run only decides how to cut: it is no part of the sample, so that what is
estimated of the rest stays unbiased.
"""

from weakref import WeakKeyDictionary

import numpy as np
import pandas as pd

from lockstep.errors import LockstepError
from lockstep.sampling.estimate import CONFIDENCE, Estimate, estimate
from lockstep.sampling.extras import student
from lockstep.sampling.neighbours import of_neighbours
from lockstep.sampling.plan import Plan
from lockstep.sampling.sampler import Effort, register
from lockstep.sampling.strata import alike, filled, in_context, in_time, merged
from lockstep.sampling.table import LaunchTable

LEAST = 2  # launches drawn of a stratum
FEWEST = 6  # launches of a stratum; smaller ones of one shape are put together
EACH = 6  # launches of a stratum in the mean, if there are more than MOST strata
MOST = 16
MARGIN = 1.1  # of intervals: stopping when the data look good makes them a little too short
INTERVAL = 8  # launches drawn in an interval of time
DRIFTS = 0.7  # of its variance is within intervals: a stratum is cut into them
RUN = 32  # launches of a run that is looked at for a period
PROBED = 20 * RUN  # launches of a stratum of which a run is worth while
DRAWN = 30  # launches beyond the first of each stratum, before an interval is believed ...
SHARE = 20  # ... or one in so many, of short programs
FREEDOM = 8  # degrees of freedom that the launches which are wanted will have at least
TIGHTER = 0.9  # the error that launches are wanted for, by that of the step before
# Degrees of freedom that others count for: the mean deviation of all strata, and the mean of a
# stratum's neighbours. What few launches say of one must not decide how many more are drawn of it.
PRIOR = 64.0
SILENT = 8  # degrees of freedom of a stratum's own that do not count at all
FACTOR = 4.0  # by which a stratum's mean may differ from its neighbours' for no reason


@register
class Bounded:
    """``error``: the half width, relative to the total, that is asked for; with ``confidence``."""

    name, level, times = "bounded", 0, False
    effort = Effort("error", 1e-5, 0.99)

    def __init__(self, error: float = 0.01, confidence: float = CONFIDENCE, depth: int = 4):
        if not 0 < error < 1:
            raise LockstepError(f"error = {error}: expected a share above 0 and below 1")
        if not 0.5 <= confidence < 1:
            raise LockstepError(f"confidence = {confidence}: expected a share of 0.5 to 1")
        if depth < 0:
            raise LockstepError(f"depth = {depth}: expected how many launches before, from 0 on")
        self.error, self.confidence, self.depth = error, confidence, depth
        self._known: WeakKeyDictionary[LaunchTable, tuple[np.ndarray, np.ndarray]] = (
            WeakKeyDictionary()
        )

    def plan(self, table: LaunchTable, random: np.random.Generator) -> Plan:
        """The pilot; the first launch of each kernel is simulated in any case."""
        if table not in self._known:
            self._known[table] = self._strata(table)
        stratum, first = self._known[table]
        parameters = {"error": self.error, "confidence": self.confidence, "runs": []}
        drawn = filled(stratum, first, LEAST, random)
        return Plan.of(
            table,
            self.name,
            stratum,
            drawn,
            drawn=True,
            family=stratum.astype(np.int32),
            parameters=parameters,
            margin=MARGIN,
        )

    def _strata(self, table: LaunchTable) -> tuple[np.ndarray, np.ndarray]:
        """Strata, and the first launch of each kernel, which is one by itself."""
        most = max(MOST, len(table) / EACH)
        shapes = alike(table, most)
        stratum = merged(in_context(table, shapes, self.depth, most), shapes, FEWEST)
        first = np.unique(table.codes(), return_index=True)[1]
        stratum[first] = stratum.max() + 1 + np.arange(len(first))
        return np.unique(stratum, return_inverse=True)[1], first

    def more(
        self, table: LaunchTable, plan: Plan, seen: np.ndarray, random: np.random.Generator
    ) -> Plan | None:
        """Further launches while the interval is too wide."""
        found = estimate(plan, seen, self.confidence)
        drawn = int(found.parts["freedom"].sum())
        enough = drawn >= min(DRAWN, len(plan) / SHARE) or len(plan.chosen) == len(plan)
        if found.half_width <= self.error and enough:
            return None
        runs = plan.parameters["runs"]
        if any(run["period"] == 0 for run in runs):
            return self._phases(plan, seen, random)
        wanted = self._wanted(table, plan, seen, found, self.error)
        if (probing := _runs(plan, seen, wanted, random)) is not None:
            return probing
        # Deviations of a few launches say little: what they ask for is given in steps.
        n = found.parts["sampled"].to_numpy()
        error = self.error
        while (wanted <= n).all():  # it should be narrow enough, and is not
            error *= TIGHTER
            wanted = self._wanted(table, plan, seen, found, error)
        wanted = np.minimum(wanted, 2 * n)
        cuts = _intervals(plan, seen)
        stratum, wanted = in_time(plan.stratum, cuts, np.maximum(wanted, 2 * cuts))
        return plan.redrawn(stratum, filled(stratum, plan.chosen, wanted, random))

    def _phases(self, plan: Plan, seen: np.ndarray, random: np.random.Generator) -> Plan:
        """Cut strata whose run repeats into its phases."""
        known = np.full(len(plan), np.nan)
        known[plan.chosen] = seen
        stratum, runs = plan.stratum.astype(np.int64), []
        for run in plan.parameters["runs"]:
            if run["period"] == 0:
                mine = plan.stratum == plan.stratum[run["first"]]
                rest = plan.stratum == plan.stratum[run["of"]]
                period = period_of(known[mine])
                both = np.flatnonzero(mine | rest)
                phase = np.arange(len(both)) % period
                stratum[both[rest[both]]] = stratum.max() + 1 + phase[rest[both]]
                run = run | {"period": period}
            runs.append(run)
        stratum = np.unique(stratum, return_inverse=True)[1]
        drawn = filled(stratum, plan.chosen, LEAST, random)
        return plan.redrawn(stratum, drawn, parameters=plan.parameters | {"runs": runs})

    def _wanted(
        self, table: LaunchTable, plan: Plan, seen: np.ndarray, found: Estimate, error: float
    ) -> np.ndarray:
        """Launches of each stratum that narrow the interval most for the time that they take."""
        sizes, n = plan.sizes, found.parts["sampled"].to_numpy()
        own = np.bincount(plan.stratum[plan.chosen], seen) / n
        others = of_neighbours(table, plan.stratum, n, own)
        others = np.clip(others, own / FACTOR, own * FACTOR)
        weight = _told(n) / (PRIOR + _told(n))
        mean = own**weight * others ** (1 - weight)
        deviation = mean * _deviations(found.parts, own)
        freedom = max(FREEDOM, int((n - 1)[n < sizes].sum()))
        quantile = student((1 + self.confidence) / 2, freedom)
        target = (error / MARGIN * found.total / quantile) ** 2
        work = float((sizes * deviation * np.sqrt(mean)).sum())
        bound = target + float((sizes * deviation**2).sum())
        wanted = np.ceil(sizes * deviation / np.sqrt(mean) * work / bound)
        return np.clip(wanted, n, sizes).astype(np.int64)


def _runs(
    plan: Plan, seen: np.ndarray, wanted: np.ndarray, random: np.random.Generator
) -> Plan | None:
    """Simulate a run in strata from which many launches are wanted, each once; or None."""
    probed = np.zeros(len(wanted), bool)
    probed[plan.stratum[[run["of"] for run in plan.parameters["runs"]]]] = True
    stratum, chosen, runs = plan.stratum.astype(np.int64), [plan.chosen], []
    known = np.bincount(plan.stratum[plan.chosen]) >= 2 * LEAST
    worth = ~probed & known & (wanted >= 2 * RUN) & (plan.sizes >= PROBED)
    for h in np.flatnonzero(worth).tolist():
        rows = np.flatnonzero(plan.stratum == h)
        at = int(random.integers(len(rows) - RUN + 1))
        run = rows[at : at + RUN]
        # What was drawn of these before is part of the run now, and stands for nothing else.
        stratum[run] = stratum.max() + 1
        chosen.append(run)
        rest = np.setdiff1d(rows, run)
        runs.append({"first": int(run[0]), "of": int(rest[0]), "period": 0})
    if not runs:
        return None
    stratum = np.unique(stratum, return_inverse=True)[1]
    parameters = plan.parameters | {"runs": plan.parameters["runs"] + runs}
    drawn = filled(stratum, np.concatenate(chosen), LEAST, random)
    return plan.redrawn(stratum, drawn, parameters=parameters)


def period_of(times: np.ndarray) -> int:
    """The period with which a run of times repeats, 1 if it does not.

    It is the shortest whose phases leave little more than the best one, and half of the variance.
    """
    left = np.array([_within(times, p) for p in range(1, len(times) // 3 + 1)])
    if left.min() >= left[0] / 2:
        return 1
    return 1 + int(np.argmax(left <= left.min() + 0.05 * left[0]))


def _within(times: np.ndarray, period: int) -> float:
    """The variance within the phases of a period."""
    phases = [times[k::period] for k in range(period)]
    return sum(((p - p.mean()) ** 2).sum() for p in phases) / (len(times) - period)


def _intervals(plan: Plan, seen: np.ndarray) -> np.ndarray:
    """Into how many intervals of time each stratum is cut: 1 where that would not help."""
    strata, sizes = plan.stratum[plan.chosen], plan.sizes
    cuts = np.ones(len(sizes), np.int64)
    n = np.bincount(strata)
    for h in np.flatnonzero((n >= 2 * INTERVAL) & (n < sizes)).tolist():
        y, k = seen[strata == h], int(n[h]) // INTERVAL
        rank = np.searchsorted(np.flatnonzero(plan.stratum == h), plan.chosen[strata == h])
        part = rank * k // sizes[h]
        counts = np.maximum(np.bincount(part, minlength=k), 1)
        mean = np.bincount(part, y, minlength=k) / counts
        within = ((y - mean[part]) ** 2).sum() / (n[h] - k)
        if within < DRIFTS * y.var(ddof=1):
            cuts[h] = k
    return cuts


def _told(n: np.ndarray) -> np.ndarray:
    """Degrees of freedom of the launches drawn of a stratum that count beside ``PRIOR``."""
    return np.maximum(n - 1 - SILENT, 0)


def _deviations(parts: pd.DataFrame, mean: np.ndarray) -> np.ndarray:
    """Standard deviation of the launches of each stratum, relative to its mean.

    That of few launches says little: it is what strata have on average which counts for ``PRIOR``
    degrees of freedom. The own ones beyond ``SILENT`` draw away from it.
    """
    sizes, n = parts["launches"].to_numpy(), parts["sampled"].to_numpy()
    with np.errstate(divide="ignore", invalid="ignore"):
        square = parts["variance"].to_numpy() * n / (sizes**2 * (1 - n / sizes))
    open_ = n < sizes
    relative = np.where(open_, square / mean**2, 0.0)
    weight = np.where(open_, sizes * mean, 0.0)
    pooled = (relative * weight).sum() / weight.sum() if weight.any() else 0.0
    mixed = (PRIOR * pooled + _told(n) * relative) / (PRIOR + _told(n))
    return np.where(open_, np.sqrt(mixed), 0.0)
