"""TBPoint between launches: by hand, against a loop over pairs, and what it refuses."""

import numpy as np
import pytest

from launch_tables import mixture, profiled_table
from lockstep.errors import LockstepError
from lockstep.sampling import draw, estimate, sampler
from lockstep.sampling.features import INSTRUCTIONS, LANES, PKA
from lockstep.sampling.samplers import tbpoint
from lockstep.sampling.samplers.tbpoint import DISTANCES, cut


def _plan(table, **parameters):
    return sampler("tbpoint", **parameters).plan(table, np.random.default_rng(0))


def test_the_distances():
    assert DISTANCES[0] == 0.2 and DISTANCES[-1] == 0.01 and len(DISTANCES) == 20


# Instructions of 0.9, 0.93 and 1.17 of their mean: all within 0.27, two of them within 0.03.
INSTRUCTIONS_OF_THREE = [90, 93, 117]


@pytest.mark.parametrize(
    ("times", "target", "strata"),
    [
        ([100, 100, 100], 0.05, [0, 0, 1]),  # 0.2 is enough, and already tells the third apart
        ([100, 150, 100], 0.2, [0, 0, 1]),  # off by 50 of 350
        ([100, 150, 100], 0.1, [0, 1, 2]),  # goes on to 0.02
    ],
)
def test_the_largest_distance_below_the_target(times, target, strata):
    plan = _plan(profiled_table(INSTRUCTIONS_OF_THREE, times), target=target)
    assert plan.stratum.tolist() == strata
    assert plan.chosen.tolist() == sorted({strata.index(group) for group in strata})


def test_features_are_relative_to_their_means():
    """Instructions, lanes and sectors count alike, whatever their sizes; nothing else counts."""
    for column, scale in ((INSTRUCTIONS, 1e9), (LANES, 10), (PKA[0], 1e3)):
        columns = {name: 0.0 for name in PKA[:3]} | {column: np.array([0.9, 0.93, 1.17]) * scale}
        columns["smsp__inst_executed_op_shared_ld.sum"] = [1, 100, 10_000]
        plan = _plan(profiled_table([7, 7, 7], [1, 1, 1], **columns))
        assert plan.stratum.tolist() == [0, 0, 1]


def test_the_mean_is_of_launches_not_of_distinct_ones():
    # The mean of all is 101, that of the two different ones 105.
    rows = [100] * 9 + [110]
    table = profiled_table(rows, [100] * 9 + [500])
    features = tbpoint._features(table)
    assert features[:, 0].mean() == pytest.approx(1)
    assert features[9, 0] - features[0, 0] == pytest.approx(10 / 101)


def test_a_cut_by_hand():
    # Leaves 0 to 3; node 4 joins 0 and 1 at 1, node 5 joins 2 and 3 at 2, node 6 all at 5.
    children, heights = np.array([[0, 1], [2, 3], [4, 5]]), np.array([1.0, 2, 5])
    assert cut(children, heights, 0.9).tolist() == [0, 1, 2, 3]
    assert cut(children, heights, 1).tolist() == [4, 4, 2, 3]
    assert cut(children, heights, 4.9).tolist() == [4, 4, 5, 5]
    assert cut(children, heights, 5).tolist() == [6, 6, 6, 6]
    assert cut(np.zeros((0, 2), int), np.zeros(0), 1).tolist() == [0]


def _naive(points, distance):
    """Join the two nearest groups while their farthest launches are near enough."""
    groups = [[k] for k in range(len(points))]
    apart = np.linalg.norm(points[:, None] - points[None], axis=2)
    while len(groups) > 1:
        reach, i, j = min(
            (apart[np.ix_(a, b)].max(), i, j)
            for i, a in enumerate(groups)
            for j, b in enumerate(groups[:i])
        )
        if reach > distance:
            break
        groups[j] += groups.pop(i)
    label = np.zeros(len(points), int)
    for k, group in enumerate(groups):
        label[group] = k
    return label


@pytest.mark.long
@pytest.mark.parametrize("seed", range(8))
def test_against_a_loop_over_pairs(seed, monkeypatch):
    random = np.random.default_rng(seed)
    instructions = random.integers(80, 121, 40)
    table = profiled_table(instructions, 100 + random.random(40), **{LANES: 20 + random.random(40)})
    for distance in (0.2, 0.05, 0.01):
        monkeypatch.setattr(tbpoint, "DISTANCES", (distance,))
        mine = _plan(table).stratum
        naive = _naive(tbpoint._features(table), distance)
        assert len(set(zip(mine.tolist(), naive.tolist()))) == naive.max() + 1 == mine.max() + 1


def test_if_no_distance_is_enough_the_best_one():
    table = profiled_table([10] * 4, [100, 100, 200, 200])
    plan = _plan(table)
    assert plan.chosen.tolist() == [0]
    assert plan.notes[-1] == "no distance has an error below 5.00%: this is the best one"


def test_many_launches_of_few_kinds():
    table, kind = mixture(5000)
    plan = _plan(table)
    assert estimate(plan, table.times[plan.chosen]).total == pytest.approx(
        table.times.sum(), rel=0.05
    )
    assert len(plan.chosen) <= kind.max() + 1


def test_more_different_launches_than_memory_is_for(monkeypatch):
    table = profiled_table(np.arange(1, 12), np.ones(11))
    monkeypatch.setattr(tbpoint, "MOST", 11)
    _plan(table)
    monkeypatch.setattr(tbpoint, "MOST", 10)
    with pytest.raises(LockstepError, match="tbpoint compares every two of 11 different launches"):
        _plan(table)


def test_without_times_the_profile_predicts_them():
    table = profiled_table([40, 40, 4000], [100, 100, 500])
    method = sampler("tbpoint", without_times=True)
    plan, _ = draw(method, table.without_times(), 0, lambda rows: table.times[rows])
    assert plan.chosen.tolist() == [0, 2]
    assert "groups were chosen by times that the profile predicts" in plan.notes


def test_what_it_cannot_sample():
    with pytest.raises(LockstepError, match="tbpoint reads the profile of every launch"):
        _plan(profiled_table([10, np.nan], [1, 1]))
    with pytest.raises(LockstepError, match="the target is 5"):
        sampler("tbpoint", target=5)
