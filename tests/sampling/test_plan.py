"""Plans: what fits together, files, what is refused."""

import json

import numpy as np
import pandas as pd
import pytest

from lockstep.errors import InputError, LockstepError
from lockstep.sampling import LaunchTable, Plan


@pytest.fixture
def table():
    return LaunchTable(pd.DataFrame({"name": list("aabba")}))


@pytest.fixture
def plan(table):
    return Plan.of(table, "test", [5, 5, 9, 9, 5], [3, 0, 4], drawn=True, parameters={"k": 2})


def test_labels_and_probabilities(plan):
    assert plan.stratum.tolist() == [0, 0, 1, 1, 0]
    assert plan.chosen.tolist() == [0, 3, 4]
    assert plan.probability.tolist() == pytest.approx([2 / 3, 1 / 2, 2 / 3])
    assert plan.weights().tolist() == [1.5, 2, 1.5]
    assert repr(plan) == "<Plan by test: 3 of 5 launches, 2 strata>"


def test_drawn_again(plan):
    more = plan.redrawn(plan.stratum, [0, 3, 4, 1, 2])
    assert more.chosen.tolist() == [0, 1, 2, 3, 4]
    assert more.probability.tolist() == [1] * 5
    cut = plan.redrawn([0, 0, 7, 8, 3], plan.chosen.tolist() + [2], parameters={"k": 3})
    assert cut.stratum.tolist() == [0, 0, 2, 3, 1]
    assert cut.probability.tolist() == [0.5, 1, 1, 1]
    assert (cut.table, cut.parameters) == (plan.table, {"k": 3})


def test_picked_launches_have_no_probability_unless_their_stratum_is_whole(table):
    plan = Plan.of(table, "test", [0, 0, 1, 1, 0], [0, 2, 3], drawn=False)
    assert np.isnan(plan.probability).tolist() == [True, False, False]
    assert not plan.drawn


@pytest.mark.parametrize("auxiliary", [None, [1.0, 2.5, 3.0, 4.0, 5.0]])
def test_a_file_gives_the_same_plan(table, tmp_path, auxiliary):
    estimator = "expansion" if auxiliary is None else "ratio"
    auxiliary = None if auxiliary is None else np.array(auxiliary)
    plan = Plan.of(
        table, "test", [0, 0, 1, 1, 0], [0, 2], drawn=False,
        estimator=estimator, auxiliary=auxiliary, parameters={"error": 0.01}, notes=("a", "b"),
        family=None if auxiliary is None else np.array([0, 0, 0, 0, 1], np.int32), margin=1.25,
    )  # fmt: skip
    plan.write(tmp_path / "plan.json")
    again = Plan.read(tmp_path / "plan.json")
    for name in ("stratum", "chosen", "probability", "auxiliary", "family"):
        np.testing.assert_equal(getattr(again, name), getattr(plan, name))
    for name in ("table", "sampler", "estimator", "parameters", "notes", "margin"):
        assert getattr(again, name) == getattr(plan, name)
    again.check_table(table)


def test_a_file_that_says_nothing_of_a_margin_has_none(plan, tmp_path):
    path = tmp_path / "plan.json"
    path.write_text(json.dumps({k: v for k, v in plan.document().items() if k != "margin"}))
    assert Plan.read(path).margin == 1


def test_a_plan_for_other_launches_is_refused(plan):
    with pytest.raises(LockstepError, match="plan is for 5 launches, and there are 2"):
        plan.check_table(LaunchTable(pd.DataFrame({"name": ["a", "b"]})))
    with pytest.raises(LockstepError, match="made for other launches"):
        plan.check_table(LaunchTable(pd.DataFrame({"name": list("ababa")})))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"chosen": [0, 4, 3]}, "in program order"),
        ({"chosen": [0, 0, 3]}, "in program order"),
        ({"chosen": [0, 3, 5]}, "of 5 launches chooses launch 5"),
        ({"chosen": [-1, 0, 3]}, "of 5 launches chooses launch -1"),
        ({"chosen": [0, 0.5, 3]}, "are whole numbers"),
        ({"family": [0, 0, 0, 0, 1.5]}, "are whole numbers"),
        ({"chosen": [0, 1, 4]}, "no launch of stratum 1 is chosen"),
        ({"stratum": [0, 0, 2, 2, 0]}, "none is empty"),
        ({"stratum": [0, 0, -1, 1, 0]}, "numbered from 0"),
        ({"stratum": [0, 0, 2**31 - 1, 1, 0]}, "numbered from 0"),
        ({"stratum": [0, 0, 1, 1]}, "says 5 launches, and has strata of 4"),
        ({"probability": [1, 1]}, "a probability for each"),
        ({"probability": [0, 1, 1]}, "above 0 and at most 1"),
        ({"probability": [1, 6, 1]}, "above 0 and at most 1"),
        ({"probability": [1, float("inf"), 1]}, "Infinity is no finite number"),
        ({"margin": 0.9}, "margin is from 1 to 2, not 0.9"),
        ({"margin": 2}, "margin is from 1 to 2, not 2.0"),
        ({"estimator": "guess"}, "no estimator is named 'guess'"),
        ({"estimator": "ratio"}, "need an auxiliary"),
        ({"estimator": "ratio", "auxiliary": [1, 2, 3, 0, 5]}, "of a stratum add up to 0"),
        ({"auxiliary": [1, 2, 3, 4, 5]}, "no other does"),
        ({"estimator": "ratio", "auxiliary": [1, float("nan"), 3, 4, 5]}, "NaN is no finite"),
        ({"estimator": "ratio", "auxiliary": [[], [], [], [], []]}, "are finite"),
        ({"family": [0, 1]}, "has 2 labels of families"),
        ({"chosen": "all"}, "no plan"),
        ({"stratum": [2**40, 0, 1, 1, 0]}, "no plan"),
        ({"lockstep plan": 99}, "is no plan of version 1"),
    ],
)
def test_files_that_are_no_plan(plan, tmp_path, change, message):
    path = tmp_path / "plan.json"
    plan.write(path)
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    with pytest.raises(InputError, match=message):
        Plan.read(path)


@pytest.mark.parametrize("text", ["", "[]", "{", "[" * 100_000, "\x00", '{"parameters": 1e999}'])
def test_files_that_are_no_json(tmp_path, text):
    path = tmp_path / "plan.json"
    path.write_text(text)
    with pytest.raises(InputError, match="no plan"):
        Plan.read(path)
    with pytest.raises(InputError, match="cannot read"):
        Plan.read(tmp_path / "absent.json")
