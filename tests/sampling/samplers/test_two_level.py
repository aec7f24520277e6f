"""Two levels: what classifiers are told, what they tell, and kernels that nobody has profiled."""

import warnings

import numpy as np
import pandas as pd
import pytest

from launch_tables import profiled_table
from lockstep.errors import LockstepError
from lockstep.sampling import LaunchTable, draw, estimate, sampler
from lockstep.sampling.features import INSTRUCTIONS, PROFILE
from lockstep.sampling.samplers import two_level
from lockstep.sampling.samplers.two_level import CLASSIFIERS, _majority


def _table(kind, seen, **columns):
    """Launches of kinds 0, 1, ... that lie far apart; a profile of the first ``seen`` alone."""
    kind = np.array(kind)
    frame = pd.DataFrame({name: np.ones(len(kind)) for name in PROFILE} | {"name": "k"} | columns)
    frame[INSTRUCTIONS] = 10.0 ** (1 + kind)
    frame.loc[seen:, list(PROFILE)] = np.nan
    return LaunchTable(frame.assign(time=100.0 * (1 + kind)))


def _plan(table, seed=0, **parameters):
    return sampler("two-level", **parameters).plan(table, np.random.default_rng(seed))


RANDOM = np.random.default_rng(8).integers(0, 2, 300)


@pytest.mark.long
@pytest.mark.parametrize(
    "columns",
    [
        {"name": [f"k{kind}" for kind in RANDOM]},
        {"grid_y": 1 + RANDOM},
        {"block_x": 32 + 32 * RANDOM},
        {"arguments": [f"@3 {kind}" for kind in RANDOM]},
    ],
)
@pytest.mark.parametrize("classifier", [*CLASSIFIERS, "majority"])
def test_what_is_known_of_all_launches_tells_their_groups(columns, classifier):
    table = _table(RANDOM, 100, **columns)
    plan = _plan(table, target=1e-6, classifier=classifier)
    assert len(set(zip(plan.stratum.tolist(), RANDOM.tolist()))) == 2
    assert plan.chosen.tolist() == [0, int((RANDOM[0] != RANDOM).argmax())]
    assert estimate(plan, table.times[plan.chosen]).total == table.times.sum()
    assert plan.parameters["accuracy"] == dict.fromkeys([*CLASSIFIERS, "majority"], 1.0)
    assert plan.notes[-1].startswith(f"launches that {classifier} labelled: 200; right when held")


def test_the_position_tells_groups():
    kind = [0, 0, 0, 1, 1, 1] * 40  # nothing differs but the place behind the marker
    table = _table(kind, 120, range=[f"s{k // 6}" for k in range(240)])
    plan = _plan(table, target=1e-6)
    assert plan.stratum.tolist() == kind


def test_without_further_launches_it_is_pks():
    table = profiled_table([10, 1e3, 1e5] * 5, [1, 2, 3] * 5)
    plan, pks = _plan(table, target=0.01), sampler("pks", target=0.01)
    expected = pks.plan(table, np.random.default_rng(0))
    np.testing.assert_array_equal(plan.stratum, expected.stratum)
    np.testing.assert_array_equal(plan.chosen, expected.chosen)
    assert plan.notes == expected.notes and plan.parameters["accuracy"] == {}


def test_kernels_that_nobody_profiled_are_groups_of_their_own():
    names = ["a", "b"] * 20 + ["c", "a", "d", "c", "b", "d"]
    kind = [0, 1] * 20 + [2, 0, 3, 2, 1, 3]
    table = _table(kind, 40, name=names)
    plan = _plan(table, target=1e-6)
    assert plan.stratum.tolist() == kind
    assert plan.chosen.tolist() == [0, 1, 40, 42]
    assert plan.notes[-1] == "kernels that only launches without a profile run: 2"
    assert estimate(plan, table.times[plan.chosen]).total == table.times.sum()
    assert not plan.drawn


def test_one_group_asks_no_classifier():
    table = _table([0] * 50, 20)
    plan = _plan(table)
    assert plan.chosen.tolist() == [0] and plan.parameters["accuracy"] == {}
    assert plan.notes[-1] == "launches that were labelled without a profile: 30"


@pytest.mark.parametrize(("seen", "profiled", "read"), [(100, 40, 40), (30, 40, 30), (40, 40, 40)])
def test_how_many_launches_are_read(seen, profiled, read):
    plan = _plan(_table(RANDOM, seen, grid_x=1 + RANDOM), profiled=profiled)
    assert plan.parameters["profiled"] == read


def test_what_is_profiled_behind_them_is_not_looked_at():
    table = _table(RANDOM, 200, grid_x=1 + RANDOM)
    other = LaunchTable(table.frame.copy())
    other.frame.loc[100:, list(PROFILE)] = 7.0
    plans = [_plan(t, profiled=100) for t in (table, other)]
    np.testing.assert_array_equal(plans[0].stratum, plans[1].stratum)


def test_accuracy_is_that_of_launches_not_learned_from():
    """Groups that go with nothing are guessed, however well those learned from are remembered."""
    table = _table(RANDOM, 250, grid_x=np.random.default_rng(1).permutation(300))
    accuracy = _plan(table, target=1e-6).parameters["accuracy"]
    assert all(0.2 < share < 0.8 for share in accuracy.values())  # 50 held out: 0.5 and 0.07


def test_where_nothing_tells_groups_apart_nobody_is_warned():
    table = _table(RANDOM, 100)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        plan = _plan(table, target=1e-6)
    assert set(plan.stratum[100:].tolist()) <= {0, 1}


def test_two_profiled_launches_hold_out_none():
    table = _table([0, 1, 0, 1, 1], 2, name=list("ababb"))
    plan = _plan(table, target=1e-6)
    assert plan.parameters["accuracy"] == {}
    assert plan.stratum.tolist() == [0, 1, 0, 1, 1]


def test_rows_are_labelled_in_parts(monkeypatch):
    table = _table(RANDOM, 100, grid_x=1 + RANDOM, grid_y=np.arange(300))
    whole = _plan(table)
    monkeypatch.setattr(two_level, "CHUNK", 7)
    np.testing.assert_array_equal(_plan(table).stratum, whole.stratum)


def test_each_distinct_row_is_labelled_once(monkeypatch):
    rows = []

    class Counted(two_level.Light):
        def features(self, asked):
            rows.append(len(asked))
            return super().features(asked)

    monkeypatch.setattr(two_level, "Light", Counted)
    _plan(_table(RANDOM, 100, grid_x=1 + RANDOM), target=1e-6)
    learned, _, labelled = rows
    assert (learned, labelled) == (80, 2)


def test_the_majority():
    votes = np.array([[1, 1, 2, 1, 1], [1, 2, 1, 2, 1], [1, 1, 1, 3, 2]])
    assert _majority(votes, 0).tolist() == [1, 1, 1, 1, 1]
    assert _majority(votes, 2).tolist() == [1, 1, 1, 3, 1]  # where all differ, the best one


def test_without_times_the_profile_predicts_them():
    table = _table(RANDOM, 100, grid_x=1 + RANDOM)
    method = sampler("two-level", without_times=True)
    plan, _ = draw(method, table.without_times(), 0, lambda rows: table.times[rows])
    assert "groups were chosen by times that the profile predicts" in plan.notes
    with pytest.raises(LockstepError, match="two-level needs the time of every launch"):
        draw(sampler("two-level"), table.without_times(), 0, lambda rows: table.times[rows])


def test_what_it_cannot_sample():
    with pytest.raises(LockstepError, match="of the first launches, and launch 0 has none"):
        _plan(_table([0, 1], 0))
    with pytest.raises(LockstepError, match="of 0 profiled launches there are no groups"):
        sampler("two-level", profiled=0)
    with pytest.raises(LockstepError, match="no classifier is named 'sdg'; did you mean sgd"):
        sampler("two-level", classifier="sdg")
    with pytest.raises(LockstepError, match="no pick is named 'last'"):
        sampler("two-level", pick="last")
    with pytest.raises(LockstepError, match=r"sampler two-level: .*'sead'"):
        sampler("two-level", sead=1)
