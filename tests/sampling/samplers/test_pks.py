"""Principal Kernel Selection: by hand, against scikit-learn on all launches, and the pitfalls."""

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.decomposition import PCA

from launch_tables import mixture, profiled_table
from lockstep.errors import LockstepError
from lockstep.sampling import draw, estimate, sampler
from lockstep.sampling.readings import pka_features
from lockstep.sampling.samplers import pks
from lockstep.sampling.samplers.pks import components


def _plan(table, seed=0, **parameters):
    return sampler("pks", **parameters).plan(table, np.random.default_rng(seed))


@pytest.mark.parametrize(
    ("instructions", "times", "chosen", "counts"),
    [
        ([5e4] * 414, [7] * 414, [0], [414]),  # gaussian_208: launches take what a launch takes
        ([4e6, 4e6, 9e6] * 500, [50, 51, 90] * 500, [0, 2], [1000, 500]),  # fdtd2d
        ([1e4, 1e5, 1e6, 1e7] * 20, [5, 20, 80, 320] * 20, [0, 1, 2, 3], [20] * 4),  # histogram
        ([1e4, 1e6, 1e8] * 2 + [1e6] + [1e8] * 4, [1, 30, 900] * 2 + [30] + [900] * 4,
         [0, 1, 2], [2, 3, 6]),  # cutcp
    ],
)  # fmt: skip
def test_launches_and_groups_as_in_table_3(instructions, times, chosen, counts):
    """Launches as the programs of Table 3 have them, of kinds that lie apart."""
    plan = _plan(profiled_table(instructions, times), target=0.01)
    assert plan.chosen.tolist() == chosen
    assert plan.sizes.tolist() == counts


# Three launches of 100 cycles and one of 500: with one group the first stands for all, 400 of 800.
TWO_KINDS = ([10, 10, 10, 1e6], [100, 100, 100, 500])


def test_the_fewest_groups_below_the_target():
    table = profiled_table(*TWO_KINDS)
    plan = _plan(table, target=0.51)
    assert plan.chosen.tolist() == [0]
    plan = _plan(table, target=0.5)  # an error of 50 % is not below
    assert plan.chosen.tolist() == [0, 3]
    assert plan.stratum.tolist() == [0, 0, 0, 1]
    assert plan.notes == ("groups: 2; projected error: 0.00%",)
    assert estimate(plan, table.times[plan.chosen]).total == 800
    assert not plan.drawn or not np.isfinite(estimate(plan, table.times[plan.chosen]).low)


class Naive:
    """Every launch is a row of its own, and nothing is shared but among targets."""

    def __init__(self, table):
        self.times = table.times
        x = np.log1p(pka_features(table))
        deviation = x.std(axis=0)
        x = (x - x.mean(axis=0)) / np.where(deviation > 1e-9, deviation, 1)
        self.x = PCA(0.9995).fit_transform(x)
        self.most = len(np.unique(self.x.round(9), axis=0))
        self.known = {}  # by the number of groups: the error, and the launches that are chosen

    def grouped(self, k):
        if k not in self.known:
            labels = KMeans(k, n_init=10, random_state=k).fit(self.x).labels_.tolist()
            firsts = [labels.index(group) for group in range(k)]
            projected = sum(self.times[first] * labels.count(labels[first]) for first in firsts)
            total = self.times.sum()
            self.known[k] = abs(projected - total) / total, sorted(firsts)
        return self.known[k]

    def chosen(self, target):
        tried = []
        for k in range(1, self.most + 1):
            tried.append(self.grouped(k))
            if tried[-1][0] < target:
                return tried[-1][1]
        return min(tried)[1]


@pytest.mark.long
@pytest.mark.parametrize("seed", range(4))
def test_against_every_launch_on_its_own(seed):
    table = mixture(300, kinds=5, seed=seed)[0]
    naive = Naive(table)
    for target in (0.5, 0.1, 0.01, 1e-4):
        assert _plan(table, target=target).chosen.tolist() == naive.chosen(target), target


def test_components_by_hand():
    # Deviations 2 and 1, no correlation: variance 4 and 1, so 0.8 and 0.2 of it.
    x = np.array([[2.0, 1], [2, -1], [-2, 1], [-2, -1]])
    ones = np.ones(4)
    assert components(x, ones, False, 0.8).shape == (4, 1)
    assert components(x, ones, False, 0.81).shape == (4, 2)
    assert components(x, ones, False, 1.0).shape == (4, 2)
    assert np.abs(components(x, ones, False, 0.8))[:, 0] == pytest.approx([2, 2, 2, 2])
    assert np.abs(components(np.expm1(x + 2), ones, True, 1.0)) == pytest.approx(np.ones((4, 2)))


def test_weights_are_repeated_rows():
    random = np.random.default_rng(4)
    x, counts = random.random((6, 3)), random.integers(1, 9, 6)
    few = components(x, counts, True, 1.0)
    all_rows = components(np.repeat(x, counts, axis=0), np.ones(counts.sum()), True, 1.0)
    few = np.repeat(few, counts, axis=0)
    np.testing.assert_allclose(few @ few.T, all_rows @ all_rows.T, atol=1e-12)


def test_without_standardising_instructions_rule():
    loads = {"smsp__inst_executed_op_global_ld.sum": [0, 9, 0, 9]}
    table = profiled_table([1e6, 1e6, 2e6, 2e6], [100, 300, 100, 300], **loads)
    raw, scaled = _plan(table, standardise=False), _plan(table)
    assert estimate(raw, table.times[raw.chosen]).total == 400
    assert estimate(scaled, table.times[scaled.chosen]).total == 800


def test_fewer_distinct_rows_than_groups():
    times = [100, 200] * 10
    table = profiled_table([10, 10, 1e5, 1e5] * 5, times)
    plan = _plan(table)
    assert plan.stratum.max() + 1 <= 2
    assert plan.notes[-1] == "no number of groups has an error below 5.00%: this is the best one"


def test_identical_rows():
    plan = _plan(profiled_table([10] * 50, [100] * 50))
    assert plan.chosen.tolist() == [0]
    plan = _plan(profiled_table([10] * 50, [100] * 25 + [200] * 25))
    assert plan.chosen.tolist() == [0] and "no number of groups" in plan.notes[-1]


def test_one_launch():
    plan = _plan(profiled_table([10], [100]))
    assert plan.chosen.tolist() == [0] and plan.drawn


def test_the_launch_nearest_the_centre():
    # In logarithms 1, 2 and 4; the centre is 7 / 3.
    table = profiled_table(np.expm1([1.0, 2, 4]), [1, 1, 1])
    assert _plan(table, pick="centre").chosen.tolist() == [1]
    assert _plan(table, pick="first").chosen.tolist() == [0]


@pytest.mark.long
def test_a_random_launch_is_any_of_its_group():
    table = profiled_table([10] * 8 + [1e6] * 2, [100] * 10)
    chosen = [
        _plan(table, seed, pick="random", groups=1, target=0.5).chosen[0] for seed in range(300)
    ]
    counts = np.bincount(chosen, minlength=10)
    assert counts.min() > 30 - 4 * 30**0.5 and counts.max() < 30 + 4 * 30**0.5


def test_a_random_launch_takes_its_own_time():
    """What is projected is the time of the launch that was drawn, not of one like it."""
    table = profiled_table([10] * 4, [100, 200, 300, 400])
    for seed in range(10):
        plan = _plan(table, seed, pick="random")
        total = estimate(plan, table.times[plan.chosen]).total
        assert plan.notes[0] == f"groups: 1; projected error: {abs(total - 1000) / 1000:.2%}"


def test_the_least_error_instead_of_the_fewest_groups():
    table = profiled_table(*TWO_KINDS)
    assert len(_plan(table, target=0.6).chosen) == 1
    assert len(_plan(table, target=0.6, least_error=True).chosen) == 2


def test_no_more_groups_than_components():
    table = profiled_table([10, 1e3, 1e5], [100, 300, 900])  # one feature varies: one component
    assert len(_plan(table, target=0.01).chosen) == 3
    assert len(_plan(table, target=0.01, within_components=True).chosen) == 1


def test_without_times_the_profile_predicts_them():
    table = profiled_table([40, 40, 4000], [100, 100, 500])
    plan, _ = draw(
        sampler("pks", without_times=True), table.without_times(), 0, lambda rows: table.times[rows]
    )
    assert plan.chosen.tolist() == [0, 2]
    assert "groups were chosen by times that the profile predicts" in plan.notes
    with pytest.raises(LockstepError, match="pks needs the time of every launch"):
        draw(sampler("pks"), table.without_times(), 0, lambda rows: table.times[rows])


def test_launches_without_a_profile_are_not_taken_for_empty_ones():
    with pytest.raises(LockstepError, match="launch 2 has none: profile all, or use two-level"):
        _plan(profiled_table([10, 10, np.nan], [1, 1, 1]))


@pytest.mark.parametrize("pick", pks.PICKS)
def test_of_many_distinct_rows_some_are_seen(monkeypatch, pick):
    table = mixture(3000, noise=1e-3)[0]
    whole = _plan(table, pick=pick)
    monkeypatch.setattr(pks, "FITTED", 200)
    plans = [_plan(table, pick=pick) for _ in range(2)]
    assert plans[0].notes[-1] == "k-means saw 200 launches, drawn of 3000"
    np.testing.assert_array_equal(plans[0].stratum, plans[1].stratum)
    assert len(set(zip(plans[0].stratum.tolist(), whole.stratum.tolist()))) == len(whole.sizes)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"pick": "centr"}, "no pick is named 'centr'; did you mean centre"),
        ({"target": 5}, "the target is 5; expected an error between 0 and 1"),
        ({"variance": 0}, "the variance kept is 0"),
        ({"groups": 0}, "there can be no 0 groups"),
    ],
)
def test_parameters_that_mean_nothing(parameters, message):
    with pytest.raises(LockstepError, match=message):
        sampler("pks", **parameters)
