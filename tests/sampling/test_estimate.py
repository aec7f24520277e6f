"""The estimator: against formulas by hand, against a naive twin, and against the truth."""

import dataclasses
import functools

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from lockstep.errors import LockstepError
from lockstep.sampling import LaunchTable, Plan, estimate, estimate_ratio, estimates
from lockstep.sampling.estimate import estimate_functions, widened


@functools.cache
def _table(launches):
    return LaunchTable(pd.DataFrame({"name": ["k"] * launches}))


def _plan(stratum, chosen, drawn=True, **more):
    return Plan.of(_table(len(stratum)), "test", np.array(stratum), chosen, drawn=drawn, **more)


def test_expansion_is_cochrans():
    plan = _plan([0] * 10 + [1] * 4, [0, 3, 5, 11, 13])
    found = estimate(plan, np.array([2.0, 4.0, 6.0, 10.0, 14.0]), unseen=0)
    assert found.total == 10 * 4 + 4 * 12
    v0, v1 = 100 * (1 - 0.3) * 4 / 3, 16 * (1 - 0.5) * 8 / 2
    assert found.parts["variance"].tolist() == pytest.approx([v0, v1])
    freedom = (v0 + v1) ** 2 / (v0**2 / 2 + v1**2 / 1)
    half = stats.t.ppf(0.975, freedom) * (v0 + v1) ** 0.5
    assert (found.low, found.high) == pytest.approx((88 - half, 88 + half))


def test_the_margin_of_a_plan_widens_every_interval():
    """That of a total, of a ratio, and of one with further variances."""
    y = np.array([2.0, 4.0, 6.0, 10.0, 14.0])
    plain = _plan([0] * 10 + [1] * 4, [0, 3, 5, 11, 13])
    wide = dataclasses.replace(plain, margin=1.25)
    for say in (
        lambda plan: estimate(plan, y),
        lambda plan: estimate_ratio(plan, y, y**2),
        lambda plan: widened(estimate(plan, y), [(3.0, 5.0)]),
    ):
        one, other = say(plain), say(wide)
        assert other.total == one.total
        assert other.half_width == pytest.approx(1.25 * one.half_width)


def test_a_stratum_that_is_simulated_whole_adds_no_variance():
    found = estimate(_plan([0, 0, 1], [0, 1, 2]), np.array([1.0, 5.0, 7.0]))
    assert (found.total, found.low, found.high) == (13, 13, 13)


def test_one_of_several_has_no_bound():
    found = estimate(_plan([0, 0, 1], [0, 2]), np.array([1.0, 7.0]))
    assert found.total == 9
    assert not found.bounded and np.isnan(found.half_width)


def test_picks_have_no_bound_though_there_are_many():
    y = np.array([1.0, 2.0, 3.0])
    assert estimate(_plan([0] * 6, [0, 1, 2], drawn=True), y).bounded
    assert not estimate(_plan([0] * 6, [0, 1, 2], drawn=False), y).bounded
    assert estimate(_plan([0] * 3, [0, 1, 2], drawn=False), y).bounded  # nothing is left out


def test_ratio_is_exact_where_the_auxiliary_is_proportional():
    x = np.arange(1.0, 11.0)
    plan = _plan([0] * 6 + [1] * 4, [1, 4, 7, 9], estimator="ratio", auxiliary=x)
    y = np.where(np.arange(10) < 6, 3 * x, 5 * x)
    found = estimate(plan, y[plan.chosen], unseen=0)
    assert found.total == pytest.approx(y.sum())
    assert found.half_width == pytest.approx(0, abs=1e-12)
    assert float(plan.weights() @ y[plan.chosen]) == pytest.approx(y.sum())


def test_regression_is_exact_where_times_are_linear():
    random = np.random.default_rng(5)
    x = random.random((200, 2))
    y = 7 + x @ [3.0, 11.0]
    chosen = random.choice(200, 40, replace=False)
    plan = _plan([0] * 200, chosen, estimator="regression", auxiliary=x)
    found = estimate(plan, y[plan.chosen], unseen=0)
    assert found.total == pytest.approx(y.sum())
    assert found.half_width == pytest.approx(0, abs=1e-9)


def test_regression_with_few_launches_has_no_bound():
    x = np.random.default_rng(1).random((50, 2))
    plan = _plan([0] * 50, np.arange(14), estimator="regression", auxiliary=x)
    assert not estimate(plan, np.arange(14.0)).bounded  # 5 launches for each of 3 coefficients
    plan = _plan([0] * 50, np.arange(15), estimator="regression", auxiliary=x)
    assert estimate(plan, np.arange(15.0)).bounded


def _naive(plan, y):
    total = variance = 0.0
    for h in range(plan.stratum.max() + 1):
        size = int((plan.stratum == h).sum())
        mine = y[plan.stratum[plan.chosen] == h]
        total += size * mine.mean()
        if len(mine) < size:
            variance += size**2 * (1 - len(mine) / size) * mine.var(ddof=1) / len(mine)
    return total, variance


@pytest.mark.parametrize("seed", range(20))
def test_against_a_loop_over_strata(seed):
    random = np.random.default_rng(seed)
    stratum = random.integers(0, random.integers(1, 8), 200)
    stratum[:16] = np.repeat(np.arange(8), 2) % (stratum.max() + 1)
    chosen = np.union1d(np.arange(16), random.choice(200, 30, replace=False))
    plan = _plan(np.unique(stratum, return_inverse=True)[1], chosen)
    y = random.lognormal(size=len(plan.chosen))
    total, variance = _naive(plan, y)
    found = estimate(plan, y, unseen=0)
    assert found.total == pytest.approx(total)
    assert found.parts["variance"].sum() == pytest.approx(variance)


@pytest.mark.parametrize("estimator", ["expansion", "ratio", "regression"])
def test_intervals_hold_as_often_as_they_say(estimator):
    random = np.random.default_rng(11)
    x = random.gamma(4, size=600)
    y = 10 * x + random.normal(0, 2, 600)
    auxiliary = None if estimator == "expansion" else x
    held = 0
    for _ in range(400):
        chosen = np.concatenate([h * 200 + random.choice(200, 12, False) for h in range(3)])
        plan = _plan(np.arange(600) // 200, chosen, estimator=estimator, auxiliary=auxiliary)
        found = estimate(plan, y[plan.chosen], unseen=0)
        held += found.low <= y.sum() <= found.high
    assert 0.915 <= held / 400 <= 0.985  # 95 % and three standard deviations


def test_what_was_not_seen_counts_as_one_launch_more():
    plan = _plan([0] * 10, [0, 3, 5])
    y = np.array([2.0, 4.0, 6.0])
    found = estimate(plan, y, unseen=1.0)
    assert found.parts["variance"].tolist() == pytest.approx([100 * 0.7 * (8 + 16) / 3 / 3])
    little = estimate(plan, y, unseen=0.25)  # (8 + 1) / 3 is less than 8 / 2
    assert little.parts["variance"].tolist() == pytest.approx([100 * 0.7 * 8 / 2 / 3])
    equal = estimate(plan, np.array([4.0, 4.0, 4.0]))
    assert equal.total == 40
    assert equal.parts["variance"].tolist() == pytest.approx([100 * 0.7 * 0.4**2 / 3 / 3])
    many = estimate(_plan([0] * 1000, np.arange(0, 1000, 2)), np.full(500, 4.0))
    assert many.half_width < 0.0005
    whole = estimate(_plan([0] * 2, [0, 1]), np.array([1.0, 2.0]))
    assert whole.half_width == 0


def test_strata_of_one_family_share_what_was_not_seen():
    stratum, chosen, y = np.arange(40) // 10, np.arange(0, 40, 2), np.full(20, 4.0)
    apart = estimate(_plan(stratum, chosen), y)
    shared = estimate(_plan(stratum, chosen, family=np.zeros(40, np.int32)), y)
    whole = estimate(_plan(np.zeros(40, np.int64), chosen), y)
    assert shared.total == whole.total == 160
    v = 4 * 100 * 0.5 * (0.25 * 0.4**2) / 4.25 / 5  # each has a quarter of the launch
    assert shared.parts["variance"].sum() == pytest.approx(v)
    assert shared.half_width < 0.65 * apart.half_width


def test_a_ratio_of_totals():
    plan = _plan([0] * 8, [0, 2, 5, 7])
    cycles = np.array([10.0, 20.0, 30.0, 40.0])
    found = estimate_ratio(plan, 2 * cycles, cycles, unseen=0)
    assert (found.total, found.low, found.high) == pytest.approx((2, 2, 2))
    wider = estimate_ratio(plan, np.array([30.0, 30.0, 50.0, 90.0]), cycles)
    assert wider.total == 2 and wider.low < 2 < wider.high
    assert np.isnan(estimate_ratio(plan, cycles, 0 * cycles).total)


def test_pairs_that_are_alike_say_that_others_are():
    plan = _plan([0, 1] * 10, range(12))
    x = np.array([10.0, 400.0] * 6)
    noisy = x * np.array([1.5, 1.5, 1.47, 1.53] * 3)
    alike, differing = (estimate_ratio(plan, y, x) for y in (1.5 * x, noisy))
    assert alike.half_width < differing.half_width
    by_hand = estimate(plan, x, unseen=0.01)  # a tenth of UNSEEN
    assert alike.half_width == pytest.approx(by_hand.half_width)
    same = np.full(12, 50.0)
    strata = estimate_ratio(plan, same * np.array([1.0, 2.0] * 6), same)
    assert strata.half_width > 5 * alike.half_width


@pytest.mark.parametrize("seed", range(5))
def test_a_function_of_totals_is_a_ratio_of_them(seed):
    random = np.random.default_rng(seed)
    plan = _plan(np.sort(random.integers(0, 3, 60)), np.arange(0, 60, 2))
    observed = random.lognormal(size=(30, 3))
    values = lambda t: {"ratio": t[1] / t[0], "sum": t[0] + t[2], "none": float("nan")}  # noqa: E731
    found = estimate_functions(plan, observed, values)
    assert list(found.index) == ["ratio", "sum"]
    ratio = estimate_ratio(plan, observed[:, 1], observed[:, 0])
    assert found.loc["ratio"].tolist() == pytest.approx([*ratio[:4]], rel=1e-3)
    total = estimate(plan, observed[:, 0] + observed[:, 2])
    assert found.loc["sum"].tolist() == pytest.approx([*total[:4]])


def test_estimates_stand_beside_what_was_measured():
    observed = pd.DataFrame({"time": [2.0, 4.0], "instructions": [20.0, 20.0]})
    found = estimates(_plan([0] * 10, [3, 4]), observed, unseen=0)
    assert found.loc["time", "estimated"] == 30
    assert found.loc["instructions"].tolist() == [200, 200, 200, 0.95]


def test_what_was_not_observed_is_named():
    plan = _plan([0] * 4, [1, 3])
    with pytest.raises(LockstepError, match="launch 3 was chosen, and nothing was observed"):
        estimate(plan, np.array([1.0, np.nan]))
    with pytest.raises(LockstepError, match="chooses 2 launches, and 3 were observed"):
        estimate(plan, np.ones(3))
