"""The default sampler: what its interval promises, and the structure that it finds."""

import numpy as np
import pandas as pd
import pytest

from lockstep.errors import LockstepError
from lockstep.sampling import LaunchTable, draw, estimate, sampler
from lockstep.sampling.samplers.bounded import MARGIN, SILENT, _deviations, period_of


def _drawn(table, times, seed=0, **options):
    plan, seen = draw(sampler("bounded", **options), table, seed, lambda rows: times[rows])
    return plan, estimate(plan, seen), seen


def _programs():
    random = np.random.default_rng(99)
    n = 6000
    place = np.arange(n)
    noise = 1 + 0.01 * random.standard_normal(n)
    one = pd.DataFrame({"name": ["k"] * n})
    yield "noise", one, 1000 * noise
    yield "drift", one, (1000 + place / 3) * noise
    yield "phases", one, np.array([100.0, 900, 100, 5000, 200])[place % 5] * noise
    yield "modes", one, np.where(random.random(n) < 0.2, 1600.0, 1000.0) * noise
    loop = pd.DataFrame({"name": np.array(list("abbbbc"))[place % 6]})
    yield "loop", loop, np.array([500.0, 10, 4000, 10, 700, 90])[place % 6] * noise
    sizes = n - place
    shrinking = pd.DataFrame({"name": ["k"] * n, "grid_x": sizes})
    yield "shrinking", shrinking, (50.0 + sizes) * noise


PROGRAMS = {name: (LaunchTable(frame), times) for name, frame, times in _programs()}


@pytest.mark.long
@pytest.mark.parametrize("name", PROGRAMS)
def test_the_interval_holds_and_is_as_narrow_as_asked(name):
    table, times = PROGRAMS[name]
    truth, held, share = times.sum(), 0, []
    for seed in range(40):
        _, found, seen = _drawn(table, times, seed, error=0.02)
        assert found.half_width <= 0.02
        held += found.low <= truth <= found.high
        share.append(seen.sum() / truth)
    assert held >= 35  # 38 are expected of 40; fewer than 35 once in 70 times
    assert np.mean(share) < 0.1


def test_a_smaller_error_takes_more_launches():
    table, times = PROGRAMS["modes"]
    few, many = (_drawn(table, times, error=e)[0] for e in (0.05, 0.01))
    assert 4 * len(few.chosen) < len(many.chosen) < len(table)


@pytest.mark.long
def test_strata_that_hid_their_slow_launches_are_drawn_from_as_often():
    """If what two launches took decided, totals would be 0.6 % too low, and 32 intervals hold."""
    random = np.random.default_rng(5)
    grid = 64 * random.integers(1, 300, 12_000)
    times = grid * np.where(random.random(len(grid)) < 0.3, 3.0, 1.0)
    table = LaunchTable(pd.DataFrame({"name": ["k"] * len(grid), "grid_x": grid}))
    truth, held, total = times.sum(), 0, []
    for seed in range(40):
        plan, found, _ = _drawn(table, times, seed, error=0.01)
        held += found.low <= truth <= found.high
        total.append(found.total)
    assert held >= 35
    assert len(plan.chosen) > 3 * len(plan.sizes), "more than the pilot"
    assert abs(np.mean(total) / truth - 1) < 0.003  # of 40 seeds; its deviation is 0.0008


def test_it_stops_when_the_interval_with_its_margin_is_as_narrow_as_asked():
    table, times = PROGRAMS["modes"]
    plan, found, _ = _drawn(table, times, error=0.02)
    assert plan.margin == MARGIN > 1
    half = float(np.sqrt(found.parts["variance"].sum())) / found.total
    quantile = found.half_width / half / MARGIN
    assert 1.95 < quantile < 2.1, "Student's, of some 50 launches and more"
    assert 0.015 < found.half_width <= 0.02


def test_phases_become_strata():
    plan, _, _ = _drawn(*PROGRAMS["phases"], error=0.02)
    assert [run["period"] for run in plan.parameters["runs"]] == [5]
    place = np.arange(len(plan)) % 5
    rest = np.bincount(plan.stratum)[plan.stratum] > 32  # but for the run and the first launch
    for h in np.unique(plan.stratum[rest]):
        assert len(np.unique(place[plan.stratum == h])) == 1


def test_drifts_are_cut_into_intervals():
    plan, _, _ = _drawn(*PROGRAMS["drift"], error=0.004)
    first = [np.flatnonzero(plan.stratum == h) for h in range(plan.stratum.max() + 1)]
    assert len(first) > 3
    assert all((np.diff(rows) <= 64).all() for rows in first)


def test_places_in_a_loop_need_no_run():
    plan, _, _ = _drawn(*PROGRAMS["loop"], error=0.02)
    assert plan.parameters["runs"] == []
    assert len(plan.chosen) < 45


def test_the_first_launch_of_each_kernel_is_simulated():
    table, times = PROGRAMS["loop"]
    for seed in range(5):
        assert set(_drawn(table, times, seed)[0].chosen) >= {0, 1, 5}


@pytest.mark.parametrize(
    ("times", "period"),
    [
        (np.tile([1.0, 2, 3], 10), 3),
        (np.tile([1.0, 1, 2, 1], 8), 4),
        (np.ones(32), 1),
        (np.random.default_rng(1).random(32), 1),
        (np.arange(32.0), 1),
        (np.tile([5.0, 1], 16) + np.random.default_rng(2).random(32), 2),
    ],
)
def test_periods(times, period):
    assert period_of(times) == period


@pytest.mark.parametrize("options", [{"error": 0}, {"error": 1.0}, {"confidence": 0.3}])
def test_what_cannot_be_asked_for(options):
    with pytest.raises(LockstepError, match=f"{next(iter(options))} = "):
        sampler("bounded", **options)


def test_few_launches_of_a_stratum_do_not_decide_how_many_are_drawn_of_it():
    """Of a calm stratum and one that varies, as many are wanted until each has said enough."""
    for n, same in ((2, True), (SILENT + 1, True), (SILENT + 2, False)):
        sizes = np.array([100, 100])
        spread = np.array([1.0, 9.0])
        variance = sizes**2 * (1 - n / sizes) * spread / n
        parts = pd.DataFrame({"launches": sizes, "sampled": [n, n], "variance": variance})
        calm, other = 50 * _deviations(parts, np.array([50.0, 50.0]))
        if same:
            assert (calm, other) == pytest.approx((5**0.5, 5**0.5))
        else:
            assert calm < 0.999 * 5**0.5 < 1.001 * 5**0.5 < other
