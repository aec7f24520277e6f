"""Comparisons: numbers by hand, the quick way against the plain one, and equal shares of time."""

import numpy as np
import pandas as pd
import pytest

from lockstep.errors import LockstepError
from lockstep.sampling import SAMPLERS, LaunchTable, Plan, estimate, sampler
from lockstep.sampling.comparison import COLUMNS, at_share, compare, trials, with_effort
from lockstep.sampling.features import PROFILE
from lockstep.sampling.sampler import Effort, OneStep


def _table(launches=600, seed=5):
    random = np.random.default_rng(seed)
    kernel = random.integers(0, 3, launches)
    size = random.integers(1, 5, launches)
    frame = pd.DataFrame({"name": [f"k{k}" for k in kernel], "grid_x": size, "block_x": 64})
    for k, name in enumerate(PROFILE):
        frame[name] = size * (100.0 + k)
    frame["blocks"] = [[0, int(k)] for k in kernel]
    frame["executions"] = [[int(s), 2 * int(s)] for s in size]
    return LaunchTable(frame.assign(time=100 * size * random.lognormal(0, 0.2, launches)))


class _Fixed(OneStep):
    """Chooses what it was told, another choice with each seed."""

    name, level, times = "fixed", 0, False

    def __init__(self, choices, drawn=True):
        self.choices, self.drawn = list(choices), drawn

    def plan(self, table, random):
        assert not table.has_times
        chosen = self.choices.pop(0)
        return Plan.of(table, "fixed", [0] * len(table), chosen, drawn=self.drawn, notes=("a", "b"))


def _four():
    return LaunchTable(pd.DataFrame({"name": "k", "time": [1.0, 2.0, 3.0, 4.0]}))


def test_numbers_by_hand():
    found = compare(_four(), {"mine": _Fixed([[0, 1], [3]], drawn=True)}, seeds=2)
    row = found.loc[0]
    # of 10: 4 x 1.5 = 6 and 4 x 4 = 16; 3 and 4 of the time are simulated
    assert row["error"] == pytest.approx((0.4 + 0.6) / 2) and row["worst"] == pytest.approx(0.6)
    assert row["simulated"] == pytest.approx(0.35)
    assert row["s_cycles"] == pytest.approx(2 / (0.3 + 0.4))  # harmonic: all time by simulated
    assert (row["launches"], row["strata"], row["chosen"], row["seeds"]) == (4, 1, 1.5, 2)
    assert row["bounded"] == 0.5  # one launch of four has no interval
    textbook = estimate(Plan.of(_four(), "", [0] * 4, [0, 1], drawn=True), np.array([1.0, 2.0]))
    assert row["half_width"] == pytest.approx(textbook.half_width)
    assert row["coverage"] == float(textbook.low <= 10 <= textbook.high)
    assert (row["sampler"], row["notes"]) == ("mine", "a; b") and np.isnan(row["at"])
    assert tuple(found.columns) == COLUMNS


def test_coverage_is_of_what_has_an_interval():
    times = np.concatenate([np.arange(1.0, 99.0), [5000.0, 5000.0]])
    table = LaunchTable(pd.DataFrame({"name": "k", "time": times}))
    low, whole, one = np.arange(20), np.arange(100), [3]
    found = compare(table, {"mine": _Fixed([low, whole, one])}, seeds=3).loc[0]
    assert found["bounded"] == pytest.approx(2 / 3)
    assert found["coverage"] == 0.5  # the first 20 know nothing of the last two
    none = compare(table, {"mine": _Fixed([one])}, seeds=1).loc[0]
    assert none["bounded"] == 0 and np.isnan(none["coverage"]) and np.isnan(none["half_width"])


def _with_known(name, table):
    method = sampler(name)
    return method, table if method.times else table.without_times()


def _having(what):
    return sorted(name for name, method in SAMPLERS.items() if getattr(method, what, None))


@pytest.mark.parametrize("name", _having("same_strata"))
def test_the_quick_way_gives_what_drawing_gives(name):
    table = _table()
    method, known = _with_known(name, table)
    quick = trials(method, known, table.times, 4, 0.95)
    method.same_strata = False
    plain = trials(method, known, table.times, 4, 0.95)
    for k in range(4):
        np.testing.assert_equal(quick[k if len(quick) > 1 else 0], plain[k])


@pytest.mark.parametrize("name", _having("effort"))
def test_less_effort_simulates_less(name):
    table = _table()
    method, known = _with_known(name, table)
    effort = method.effort
    middle = float(np.sqrt(effort.most * effort.least))
    much, some, little = (
        trials(with_effort(method, value), known, table.times, 1, 0.95)[0].simulated
        for value in (effort.most, middle, effort.least)
    )
    assert much >= some >= little and much > little
    assert getattr(method, effort.parameter) == getattr(sampler(name), effort.parameter)


@pytest.mark.parametrize("name", ["random", "systematic", "stem"])
def test_equal_shares(name):
    table = _table(20_000)
    found = compare(table, {name: sampler(name)}, seeds=5, shares=(0.02, 0.005))
    assert found["at"].tolist()[1:] == [0.02, 0.005]
    assert found["simulated"].tolist()[1:] == pytest.approx([0.02, 0.005], rel=0.1)
    assert not found["notes"].str.contains("nearest").any()
    assert found["parameters"].nunique() == 3


def test_a_share_that_cannot_be_had_is_told():
    table = _table(50)
    found = compare(table, {"random": sampler("random")}, seeds=3, shares=(0.001,)).loc[1]
    assert found["chosen"] == 6  # two of each kernel at least
    assert "the nearest to 0.100% that it can" in found["notes"]
    nearest = at_share(sampler("random"), table, table.times, 1.0)
    assert trials(nearest, table, table.times, 1, 0.95)[0].simulated == pytest.approx(1)


def test_all_samplers_and_those_that_cannot():
    table = _table(200)
    found = compare(table, seeds=2, shares=())
    assert set(found["sampler"]) == set(SAMPLERS)
    assert found.set_index("sampler")["error"].notna().all()
    light = LaunchTable(table.frame[["name", "grid_x", "time"]])
    found = compare(light, seeds=2, shares=(0.1,)).groupby("sampler").first()
    assert found.loc["random", "error"] < 0.5
    assert np.isnan(found.loc["sieve", "error"])
    assert found.loc["sieve", "notes"].startswith("sieve reads level 1")


@pytest.mark.long
def test_the_same_table_twice_is_the_same_comparison():
    found = [compare(_table(300), seeds=3, shares=(0.1,)) for _ in range(2)]
    pd.testing.assert_frame_equal(*found)


def test_own_samplers_need_no_effort():
    class Own:
        name, level, times = "own", 0, True

        def plan(self, table, random):
            return Plan.of(table, "own", [0] * len(table), [0, 1], drawn=True)

        def more(self, table, plan, seen, random):
            return None

    assert len(compare(_four(), {"own": Own()}, seeds=2)) == 1


@pytest.mark.parametrize("name", _having("effort"))
def test_efforts_are_of_attributes(name):
    method = sampler(name)
    assert isinstance(method.effort, Effort)
    low, high = sorted((method.effort.most, method.effort.least))
    assert 0 < low <= getattr(method, method.effort.parameter) <= high


def test_what_is_refused():
    with pytest.raises(LockstepError, match="needs the time of every launch"):
        compare(_four().without_times())
    with pytest.raises(LockstepError, match="at least one seed, not 0"):
        compare(_four(), seeds=0)
