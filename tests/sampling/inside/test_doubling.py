"""The ratio estimator over launches that ran twice: its formula, its bias, its interval."""

import math

import numpy as np
import pytest

from lockstep.errors import LockstepError
from lockstep.sampling.inside import correct


def population(rng, n=200):
    """Projections that are 10 % too small in the mean, and what they project."""
    projected = rng.lognormal(10, 0.5, n)
    return projected, projected * rng.normal(1.1, 0.05, n)


def test_a_constant_bias_is_removed_without_a_rest():
    projected = [10.0, 20.0, 40.0]
    c = correct(projected, [(10.0, 11.0), (40.0, 44.0)])
    assert c.ratio == pytest.approx(1.1) and c.total == pytest.approx(77)
    assert c.variance == pytest.approx(0) and c.degrees == 1


def test_the_variance_is_that_of_the_textbook():
    projected, pairs = [10.0, 20.0, 40.0, 30.0], [(10.0, 12.0), (40.0, 42.0)]
    c = correct(projected, pairs)
    ratio = 54 / 50
    residuals = [12 - ratio * 10, 42 - ratio * 40]
    spread = sum(r * r for r in residuals) / 1
    assert c.total == pytest.approx(ratio * 100)
    assert c.variance == pytest.approx((4 * 25 / 25) ** 2 * (1 - 2 / 4) * spread / 2)
    assert c.error == pytest.approx(math.sqrt(c.variance))


def test_what_ran_twice_entirely_is_exact():
    c = correct([10.0, 20.0], [(10.0, 12.0), (20.0, 19.0)])
    assert (c.total, c.variance) == (31.0, 0.0)


def test_one_pair_has_no_variance():
    c = correct([10.0, 20.0], [(10.0, 12.0)])
    assert c.total == pytest.approx(36) and math.isnan(c.variance) and c.degrees == 0


def test_the_total_is_unbiased_and_the_variance_is_its_variance():
    rng = np.random.default_rng(11)
    projected, exact = population(rng)
    totals, variances = [], []
    for _ in range(800):
        drawn = rng.choice(len(exact), 20, replace=False)
        c = correct(projected, list(zip(projected[drawn], exact[drawn])))
        totals.append(c.total)
        variances.append(c.variance)
    assert projected.sum() < 0.93 * exact.sum(), "uncorrected it is far off"
    assert np.mean(totals) == pytest.approx(exact.sum(), rel=0.002)
    assert np.mean(variances) == pytest.approx(np.var(totals), rel=0.15)
    held = [abs(t - exact.sum()) < 2.093 * math.sqrt(v) for t, v in zip(totals, variances)]
    assert np.mean(held) == pytest.approx(0.95, abs=0.03), "2.093: Student's t, 19 degrees"


@pytest.mark.parametrize(
    ("projected", "pairs"),
    [([1.0], []), ([1.0], [(1.0, 1.0)] * 2), ([math.nan], [(1.0, 1.0)]), ([1.0], [(0.0, 1.0)])],
)
def test_what_is_no_sample_is_refused(projected, pairs):
    with pytest.raises(LockstepError, match=r"expected|finite"):
        correct(projected, pairs)
