"""Double sampling: some launches that were ended early also run to the end.

A projection is biased by ramps and tails. A random part of the projected launches is simulated
whole as well, and the ratio estimator (Cochran, "Sampling Techniques", 3rd edition, sections 6.3
and 12.8) carries what they show to all of them, with a variance.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from lockstep.errors import LockstepError


class Correction(NamedTuple):
    """The sum over all projected launches, corrected by those that ran twice."""

    ratio: float  # exact over projected, of the pairs
    total: float  # of all launches: their projections times the ratio
    variance: float  # of the total, from what the ratio leaves; NaN with fewer than two pairs
    degrees: int  # of freedom of the variance

    @property
    def error(self) -> float:
        """Standard error of the total."""
        return math.sqrt(self.variance)


def correct(projected: Sequence[float], pairs: Sequence[tuple[float, float]]) -> Correction:
    """Correct the sum of projections by pairs (projected, exact).

    ``projected``: of all launches that were ended early, those of the pairs included, which are
    drawn at random from them without replacement; at least one pair. Two or more of them give a
    variance; it is 0 where every launch ran twice. Whoever calls this simulates the pairs, all of
    one kind of launch: the ratio is one number. Raises :class:`LockstepError` for numbers that
    cannot be that.
    """
    every, both = np.asarray(projected, float), np.asarray(pairs, float).reshape(-1, 2)
    n, total = len(both), len(every)
    if not 1 <= n <= total:
        raise LockstepError(f"{n} launches of {total} ran twice: expected 1 to {total}")
    if not (np.isfinite(every).all() and np.isfinite(both).all() and (both > 0).all()):
        raise LockstepError("projected and exact numbers are to be finite, pairs above 0")
    x, y = both.T
    ratio = y.sum() / x.sum()
    if n == total:
        return Correction(ratio, float(y.sum()), 0.0, n - 1)
    estimated = ratio * every.sum()
    if n < 2:
        return Correction(ratio, estimated, math.nan, 0)
    residuals = y - ratio * x
    # In the form of Robinson (1987): the share of x in the sample that was drawn counts, too.
    scale = every.mean() / x.mean()
    spread = (residuals**2).sum() / (n - 1)
    variance = (total * scale) ** 2 * (1 - n / total) * spread / n
    return Correction(ratio, float(estimated), float(variance), n - 1)
