"""STEM+ROOT: its formulas by hand, its splits against all splits, and how well its draws do."""

import numpy as np
import pandas as pd
import pytest

from lockstep.errors import LockstepError
from lockstep.sampling import LaunchTable, estimate, sampler
from lockstep.sampling.samplers.stem import Z, root, sizes, two_means


def _six_kernels(seed=1):
    """Times as six kernels of neural networks have them: one mode or several, some rare.

    A kernel's modes: launches, mean time in ns, standard deviation.
    """
    random = np.random.default_rng(seed)
    kernels = {
        "max_pool": [(400, 19200, 250)],
        "norm": [(1400, 5600, 90), (900, 6300, 120), (450, 11500, 350)],
        "elementwise": [(120, 2150, 90), (65, 2480, 110)],
        "strided": [(50, 57000, 900), (42, 67000, 1400)],
        "gemm_128": [(640, 19500, 400), (540, 30500, 250)],
        "gemm_64": [(1200, 6400, 60), (2700, 7550, 140)],
    }
    rows = [
        pd.DataFrame({"name": name, "time": random.normal(mean, deviation, launches)})
        for name, modes in kernels.items()
        for launches, mean, deviation in modes
    ]
    return LaunchTable(pd.concat(rows).sample(frac=1, random_state=seed), "ns")


def _plan(table, seed=0, **parameters):
    return sampler("stem", **parameters).plan(table, np.random.default_rng(seed))


def _one_kernel(times):
    return LaunchTable(pd.DataFrame({"name": "k", "time": times}))


def _squares(part):
    return ((part - part.mean()) ** 2).sum()


def _naive_two_means(ordered):
    places = [k for k in range(1, len(ordered)) if ordered[k - 1] < ordered[k]]
    costs = [_squares(ordered[:k]) + _squares(ordered[k:]) for k in places]
    return places[int(np.argmin(costs))] if places else 0


def _naive_root(times, error, size=None):
    """As published, parts as they are: no sorting once, no short cuts."""
    times = np.sort(times)
    if size is None:
        size = max(1, int(np.ceil((Z / error * times.std() / times.mean()) ** 2)))
        size = min(size, len(times))
    middle = _naive_two_means(times)
    if middle:
        halves = times[:middle], times[middle:]
        a = sum(len(t) * t.std() * t.mean() ** 0.5 for t in halves)
        b = sum(t.sum() for t in halves)
        sizes = [
            max(1, int(np.ceil(a / (b * error / Z) ** 2 * len(t) * t.std() / t.mean() ** 0.5)))
            for t in halves
        ]
        sizes = [min(n, len(t)) for n, t in zip(sizes, halves, strict=True)]
        spent = sum(n * t.mean() for n, t in zip(sizes, halves, strict=True))
        if spent <= size * times.mean() and sum(sizes) < len(times):
            parts = zip(halves, sizes, strict=True)
            return [found for t, n in parts for found in _naive_root(t, error, n)]
    return [(times, size)]


def test_two_means_by_hand():
    assert two_means(np.array([1.0, 2, 3, 10, 11])) == 3
    assert two_means(np.array([1.0, 10, 11, 12])) == 1
    assert two_means(np.array([5.0, 5, 5])) == 0
    assert two_means(np.array([5.0])) == 0
    assert two_means(np.array([5.0, 5, 6, 6, 6])) == 2  # equal times stay together
    assert two_means(1e15 + np.array([0.0, 1, 2, 9, 10])) == 3  # squares of these cancel


@pytest.mark.parametrize("seed", range(20))
def test_two_means_against_all_splits(seed):
    random = np.random.default_rng(seed)
    numbers = np.sort(random.lognormal(3, 1.5, random.integers(2, 60)).round(seed % 3))
    mine, best = two_means(numbers), _naive_two_means(numbers)
    if mine != best:  # two splits that are equally good
        costs = [_squares(numbers[:k]) + _squares(numbers[k:]) for k in (mine, best)]
        assert costs[0] == pytest.approx(costs[1], rel=1e-9)


def test_joint_sizes_by_hand():
    found = sizes(np.array([100, 300]), np.array([1.0, 4.0]), np.array([0.1, 0.8]), 0.05)
    # A = 10 + 480, B = 1300, A (1.96 / (0.05 B))^2 = 0.4455: times 10 and times 120
    assert found.tolist() == [5, 54]
    assert sizes(np.array([40]), np.array([5.0]), np.array([1.0]), 0.1).tolist() == [16]  # 15.4
    assert sizes(np.array([9]), np.array([5.0]), np.array([1.0]), 0.1).tolist() == [9]
    assert sizes(np.array([9]), np.array([5.0]), np.array([0.0]), 0.1).tolist() == [1]


def test_a_split_must_not_take_longer():
    # A deviation of 0.43 % for an error of 0.65 % asks for 1.7 launches: two of the mean, or one of
    # each time.
    (whole,) = root(np.array([100.0, 100, 100, 101]), 0.0065)  # 201 instead of 200.5
    assert (whole[0].tolist(), whole[1]) == ([0, 1, 2, 3], 2)
    found = root(np.array([101.0, 100, 101, 101]), 0.0065)  # 201 instead of 201.5
    assert [(rows.tolist(), size) for rows, size in found] == [([1], 1), ([0, 2, 3], 1)]


def test_equal_times_need_one_launch():
    ((rows, size),) = root(np.full(1000, 7.0), 0.001)
    assert (len(rows), size) == (1000, 1)


def test_all_are_taken_where_more_are_wanted_than_there_are():
    found = root(np.array([1.0, 2.0, 4.0, 8.0]), 1e-6)
    assert sum(size for _, size in found) == 4


@pytest.mark.parametrize("error", [0.25, 0.05, 0.01])
@pytest.mark.parametrize("seed", range(8))
def test_root_against_a_recursion_over_all_splits(seed, error):
    random = np.random.default_rng(seed)
    modes = random.integers(1, 4)
    times = random.lognormal(random.integers(1, 6, (300, 1)) * modes / 3, 0.15).ravel()
    found = root(times, error)
    expected = _naive_root(times, error)
    assert [size for _, size in found] == [size for _, size in expected]
    for (rows, _), (part, _) in zip(found, expected, strict=True):
        np.testing.assert_allclose(np.sort(times[rows]), part)


@pytest.mark.parametrize(
    ("error", "strata", "sampled"),
    [(0.05, 12, (13, 24, 48)), (0.01, 32, (82, 106, 160))],
)
def test_six_kernels(error, strata, sampled):
    table = _six_kernels()
    plans = [_plan(table, error=error, least=least) for least in (1, 2, 4)]
    assert [plan.stratum.max() + 1 for plan in plans] == [strata] * 3
    assert tuple(len(plan.chosen) for plan in plans) == sampled
    codes = table.codes()
    for stratum in range(strata):
        assert len(np.unique(codes[plans[0].stratum == stratum])) == 1


@pytest.mark.long
@pytest.mark.parametrize(("least", "most"), [(1, 0.006), (2, 0.0045), (4, 0.003)])
def test_errors_and_intervals(least, most):
    table = _six_kernels()
    truth, errors, held = table.times.sum(), [], []
    for seed in range(200):
        plan = _plan(table, seed, least=least)
        found = estimate(plan, table.times[plan.chosen], unseen=0)
        errors.append(abs(found.total / truth - 1))
        held.append(found.low <= truth <= found.high)
        assert found.bounded == (least > 1)
    assert np.mean(errors) < most
    assert least == 1 or 0.9 <= np.mean(held) <= 0.995


def test_a_sample_of_one_is_told():
    table = _one_kernel(np.linspace(99, 101, 50))
    assert _plan(table).notes == ("1 of 1 strata have one sampled launch: no bound",)
    assert _plan(table, least=2).notes == ()
    assert _plan(_one_kernel([3.0])).notes == ()


def test_parameters_are_checked():
    with pytest.raises(LockstepError, match="stem: error is 0; expected more than 0"):
        sampler("stem", error=0)
    for least in (0, 1.5):
        with pytest.raises(LockstepError, match=f"stem: least is {least}; expected a"):
            sampler("stem", least=least)
