"""What a sample says about all launches: totals, ratios of totals, and intervals.

One estimator serves all samplers. A total is the sum over strata of

* ``expansion``: launches x mean of the sampled ones (Cochran, Sampling Techniques, 5.3);
* ``ratio``: auxiliary of the stratum x sampled total / sampled auxiliary (6.10, separate ratios);
* ``regression``: predictions of all launches, and the expansion of what they leave. The
  coefficients are fitted over the whole sample, those for a launch on the other half of it, so
  that fitting does not make the variance smaller.

Its variance is that of simple random sampling without replacement in each stratum, its interval
Student's, with the degrees of freedom of Satterthwaite (Cochran, 5.4). A stratum that is sampled
whole has no variance; one with a single sampled launch of several has one that nobody knows: then
there is no bound.

Two launches that took the same time do not say that all others do: times of launches have modes,
and a small sample may have missed one. So each stratum counts as if it had one launch more, off by
``UNSEEN`` of its mean; strata of one family share that launch, by how many of each were sampled.
That is little beside what many launches say.

A sampler that stops as soon as the interval is narrow enough stops more often where it happens to
be too narrow: its plans have a ``margin``, by which intervals are wider.
"""

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from lockstep import notebook
from lockstep.errors import LockstepError
from lockstep.sampling.extras import student
from lockstep.sampling.plan import Plan

CONFIDENCE = 0.95
UNSEEN = 0.1
SURPRISE = 0.1  # of UNSEEN: launches that all have the same ratio may hide one that has not
STEP = 0.01  # of a total, by which it is changed to see what follows from it
LAUNCHES_A_COEFFICIENT = 5  # with fewer, regression is no better than expansion


class Estimate(NamedTuple):
    """An estimated total; ``low`` and ``high`` are NaN where nothing bounds it.

    ``parts``: a row a stratum: launches, sampled, total, variance, freedom (degrees of) and share,
    of the whole variance. ``margin``: that of the plan, by which the interval is wider than these
    variances make it.
    """

    total: float
    low: float
    high: float
    confidence: float
    parts: pd.DataFrame
    margin: float = 1.0

    def _repr_html_(self) -> str:
        """What notebooks show."""
        interval = (self.low, self.high) if self.bounded else None
        values = {"total": self.total, "interval": interval, "confidence": self.confidence}
        return notebook.facts("Estimate", {**values, "strata": len(self.parts)})

    @property
    def bounded(self) -> bool:
        """Whether it has an interval."""
        return bool(np.isfinite(self.low))

    @property
    def half_width(self) -> float:
        """Half of the interval, relative to the total; NaN without one."""
        return (self.high - self.low) / 2 / self.total if self.total else float("nan")


def estimate(
    plan: Plan,
    observed: np.ndarray,
    confidence: float = CONFIDENCE,
    unseen: float | np.ndarray = UNSEEN,
) -> Estimate:
    """The total of all launches.

    ``observed``: float64, a value of each chosen launch, in the order of ``plan.chosen``.
    ``unseen``: what a launch that was not seen may be off by, relative to the mean of its stratum;
    0 gives the textbook's variance.
    """
    y = _checked(plan, observed)
    return _estimate(plan, y, confidence, unseen * y)


def widened(found: Estimate, more: Sequence[tuple[float, float]]) -> Estimate:
    """The same total, with further variances, each with its degrees of freedom.

    A variance that is NaN leaves no bound. ``parts`` are those of strata alone.
    """
    total, nothing = found.total, float("nan")
    extra, freedoms = np.array(list(more), np.float64).reshape(-1, 2).T
    if not len(extra) or not found.bounded:
        return found
    if not np.isfinite(extra).all() or (freedoms[extra > 0] < 1).any():
        return found._replace(low=nothing, high=nothing)
    variance = np.concatenate([found.parts["variance"].to_numpy(np.float64), extra])
    freedom = np.concatenate([found.parts["freedom"].to_numpy(np.float64), freedoms])
    half = _student(variance, freedom, found.confidence) * float(variance.sum()) ** 0.5
    half *= found.margin
    return found._replace(low=total - half, high=total + half)


def estimate_ratio(
    plan: Plan,
    above: np.ndarray,
    below: np.ndarray,
    confidence: float = CONFIDENCE,
    unseen: float = UNSEEN,
) -> Estimate:
    """One total divided by another, such as instructions by cycles; both of the chosen launches.

    The variance is that of the linear part of the quotient (Cochran, 6.3).
    """
    top, bottom = estimate(plan, above, confidence), estimate(plan, below, confidence)
    if not bottom.total:
        nothing = float("nan")
        return Estimate(nothing, nothing, nothing, confidence, bottom.parts, plan.margin)
    ratio = top.total / bottom.total
    both = np.column_stack([np.asarray(above, np.float64), np.asarray(below, np.float64)])
    slopes = np.array([1, -ratio]) / bottom.total
    return _of_linear_part(plan, ratio, both * slopes, confidence, unseen)


def estimate_functions(
    plan: Plan,
    observed: np.ndarray,
    function: Callable[[np.ndarray], dict[str, float]],
    confidence: float = CONFIDENCE,
    unseen: float = UNSEEN,
) -> pd.DataFrame:
    """What follows from several totals together, such as hit rates: as of :func:`estimates`.

    ``observed``: float64 [chosen launches, counters]; ``function``: values by name, of the totals
    of the counters, float64 [counters]. The variance is that of the linear part of each (Cochran,
    6.3), whose slopes are differences. What is no finite number is left out.
    """
    totals = np.array([estimate(plan, column, confidence).total for column in observed.T])
    values = {name: v for name, v in function(totals).items() if np.isfinite(v)}
    counted, slopes = np.flatnonzero(totals), np.zeros((len(totals), len(values)))
    for k in counted.tolist():
        step = np.zeros(len(totals))
        step[k] = STEP * totals[k]
        ends = [function(totals + s) for s in (step, -step)]
        more, less = (np.array([end[name] for name in values], np.float64) for end in ends)
        slopes[k] = (more - less) / (2 * step[k])
    rows: dict[Hashable, Estimate] = {}
    for (name, value), slope in zip(values.items(), slopes.T):
        terms = observed * slope
        rows[name] = _of_linear_part(plan, value, terms[:, slope != 0], confidence, unseen)
    return _frame(rows)


def _of_linear_part(
    plan: Plan, value: float, terms: np.ndarray, confidence: float, unseen: float
) -> Estimate:
    """A function of totals, whose linear part has these terms: float64 [chosen launches, totals].

    A launch that was not seen may be off in the terms of one sign: by as much as those of both
    signs differ in the launches that were seen, whatever their stratum, but at least by
    ``SURPRISE`` of ``unseen``, and at most by that.
    """
    more, less = (np.maximum(sign * terms, 0).sum(axis=1) for sign in (1, -1))
    larger, weights = np.maximum(more, less), plan.weights()
    whole = weights @ larger**2
    differ = float(np.sqrt(weights @ (more - less) ** 2 / whole)) if whole else 0.0
    off = min(max(differ, SURPRISE * unseen), unseen) * larger
    left = _estimate(plan, _checked(plan, more - less), confidence, off)
    half = (left.high - left.low) / 2
    return Estimate(value, value - half, value + half, confidence, left.parts, plan.margin)


def estimates(
    plan: Plan,
    observed: pd.DataFrame,
    confidence: float = CONFIDENCE,
    unseen: float = UNSEEN,
) -> pd.DataFrame:
    """Estimates of totals of several counters: a row a column of ``observed``.

    Columns ``estimated``, ``low`` and ``high``: never the name of what was measured alone.
    """
    found = {
        name: estimate(plan, observed[name].to_numpy(), confidence, unseen) for name in observed
    }
    return _frame(found)


def _frame(found: Mapping[Hashable, Estimate]) -> pd.DataFrame:
    rows = [(e.total, e.low, e.high, e.confidence) for e in found.values()]
    columns = ["estimated", "low", "high", "confidence"]
    return pd.DataFrame(rows, index=list(found), columns=columns)


def _checked(plan: Plan, observed: np.ndarray) -> np.ndarray:
    y = np.asarray(observed, np.float64)
    if y.shape != plan.chosen.shape:
        raise LockstepError(
            f"the plan chooses {len(plan.chosen)} launches, and {y.size} were observed"
        )
    if not np.isfinite(y).all():
        missing = int(plan.chosen[~np.isfinite(y)][0])
        raise LockstepError(f"launch {missing} was chosen, and nothing was observed of it")
    return y


def _estimate(plan: Plan, y: np.ndarray, confidence: float, unseen: np.ndarray) -> Estimate:
    """``unseen``: of each chosen launch, what another of its stratum may be off by."""
    if plan.estimator == "ratio":
        assert plan.auxiliary is not None
        x = plan.auxiliary.reshape(len(plan), -1)[:, 0]
        strata = plan.stratum[plan.chosen]
        slope = np.bincount(strata, y) / np.bincount(strata, x[plan.chosen])
        totals = slope * np.bincount(plan.stratum, x)
        return _sum(plan, totals, y - slope[strata] * x[plan.chosen], confidence, unseen)
    if plan.estimator == "regression":
        predicted, residuals = _regression(plan, y)
        totals = np.bincount(plan.stratum, predicted) + _expanded(plan, residuals)
        return _sum(plan, totals, residuals, confidence, unseen)
    return _sum(plan, _expanded(plan, y), y, confidence, unseen)


def _expanded(plan: Plan, y: np.ndarray) -> np.ndarray:
    """Launches x mean of each stratum."""
    strata = plan.stratum[plan.chosen]
    return plan.sizes * np.bincount(strata, y) / np.bincount(strata)


def _sum(
    plan: Plan,
    totals: np.ndarray,
    deviations: np.ndarray,
    confidence: float,
    unseen: np.ndarray,
) -> Estimate:
    """Add up strata; ``deviations`` of the chosen launches are what varies within them."""
    strata, sizes = plan.stratum[plan.chosen], plan.sizes
    n = np.bincount(strata)
    mean = np.bincount(strata, deviations) / n
    squares = np.bincount(strata, (deviations - mean[strata]) ** 2)
    further = np.bincount(strata, unseen) / n
    with np.errstate(divide="ignore", invalid="ignore"):
        extra = np.where(further > 0, n / _of_family(plan, n), 0)
        spread = (squares + extra * further**2) / (n - 1 + extra)
        spread = np.maximum(spread, squares / (n - 1))  # it tells of more, never of less
        spread[n == 1] = np.nan
        variance = np.where(n == sizes, 0.0, sizes**2 * (1 - n / sizes) * spread / n)
    if plan.estimator == "regression" and len(plan.chosen) < _least(plan):
        variance[n < sizes] = np.nan
    freedom = np.where(n == sizes, 0, n - 1)
    total, whole = float(totals.sum()), float(variance.sum())
    parts = pd.DataFrame(
        {
            "launches": sizes,
            "sampled": n,
            "total": totals,
            "variance": variance,
            "freedom": freedom,
            "share": variance / whole if whole > 0 else np.zeros(len(sizes)),
        }
    )
    nothing = float("nan")
    if not plan.drawn or not np.isfinite(whole):
        return Estimate(total, nothing, nothing, confidence, parts, plan.margin)
    half = plan.margin * _student(variance, freedom, confidence) * whole**0.5
    return Estimate(total, total - half, total + half, confidence, parts, plan.margin)


def _of_family(plan: Plan, n: np.ndarray) -> np.ndarray:
    """The sampled launches of each stratum's family."""
    if plan.family is None:
        return n
    family = np.zeros(len(n), np.int64)
    family[plan.stratum] = np.unique(plan.family, return_inverse=True)[1]
    return np.bincount(family, n)[family]


def _student(variance: np.ndarray, freedom: np.ndarray, confidence: float) -> float:
    """Student's quantile with the degrees of freedom that a sum of variances has."""
    known = variance > 0
    if not known.any():
        return 0.0
    v, f = variance[known], freedom[known]
    effective = v.sum() ** 2 / (v**2 / f).sum()
    return student((1 + confidence) / 2, effective)


def _least(plan: Plan) -> int:
    assert plan.auxiliary is not None
    columns = plan.auxiliary.reshape(len(plan), -1).shape[1]
    return LAUNCHES_A_COEFFICIENT * (columns + 1)


def _regression(plan: Plan, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """A prediction of each launch, and what those of the other half leave of each chosen one."""
    assert plan.auxiliary is not None
    design = np.column_stack([np.ones(len(plan)), plan.auxiliary.reshape(len(plan), -1)])
    sampled, weights, half = design[plan.chosen], np.sqrt(plan.weights()), _halves(plan)
    fits, residuals = [], np.empty(len(y))
    for fold in (0, 1):
        rows = half != fold if len(y) >= 2 * _least(plan) else np.full(len(y), True)
        a, w = sampled[rows], weights[rows]
        fits.append(np.linalg.lstsq(a * w[:, None], y[rows] * w, rcond=None)[0])
        residuals[half == fold] = (y - sampled @ fits[-1])[half == fold]
    return design @ (fits[0] + fits[1]) / 2, residuals


def _halves(plan: Plan) -> np.ndarray:
    """0 or 1 of each chosen launch, in turns within each stratum."""
    strata = plan.stratum[plan.chosen]
    order = np.argsort(strata, kind="stable")
    begins = np.concatenate([[0], np.cumsum(np.bincount(strata))[:-1]])
    half = np.empty(len(strata), np.int64)
    half[order] = (np.arange(len(strata)) - begins[strata[order]]) % 2
    return half
