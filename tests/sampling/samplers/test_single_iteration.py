"""A single iteration: by markers, by the period, and without either."""

import numpy as np
import pandas as pd
import pytest

from lockstep.sampling import LaunchTable, draw, estimate, sampler


def _chosen(names, ranges=None, times=None):
    frame = pd.DataFrame({"name": list(names)})
    if ranges is not None:
        frame["range"] = ranges
    times = np.ones(len(frame)) if times is None else np.array(times, float)
    plan, seen = draw(sampler("single-iteration"), LaunchTable(frame), 0, lambda rows: times[rows])
    return plan, estimate(plan, seen)


def test_the_second_period_is_scaled_by_launches():
    times = [9, 9, 9, 1, 2, 3] + [1, 2, 3] * 8  # the first iteration is slow
    plan, found = _chosen("abc" * 10, times=times)
    assert plan.chosen.tolist() == [3, 4, 5]
    assert found.total == 10 * 6 and not found.bounded
    assert plan.notes == ("iterations of 3 launches, by their kernels",)


def test_launches_before_the_first_period():
    plan, _ = _chosen("xy" + "abcd" * 20)
    assert plan.chosen.tolist() == [6, 7, 8, 9]


def test_code_tells_kernels_apart_not_names():
    frame = pd.DataFrame({"name": ["k"] * 12, "code": list("aab" * 4)})
    plan = sampler("single-iteration").plan(LaunchTable(frame), np.random.default_rng(0))
    assert plan.chosen.tolist() == [3, 4, 5]


@pytest.mark.parametrize(
    ("ranges", "chosen"),
    [
        (["", "s0", "s0", "s1", "s1", "s1", "s2", ""], [3, 4, 5]),  # a name each
        (["it", "it", "", "it", "it", "it", "", "it"], [3, 4, 5]),  # one name, gaps between
        (["f", "f", "b", "f", "b", "b", "f", "b"], [3, 4, 5]),  # two in turns
        (["f", "", "b", "f", "", "b", "f", "b"], [3, 4, 5]),  # with launches in between
    ],
)
def test_markers_say_what_an_iteration_is(ranges, chosen):
    plan, _ = _chosen("aabbaabb", ranges)
    assert plan.chosen.tolist() == chosen
    assert plan.notes == ("iterations by their markers",)


def test_one_marker_is_no_iteration():
    plan, _ = _chosen("ab" * 4, ["", "", "all", "all", "all", "all", "", ""])
    assert plan.chosen.tolist() == [2, 3]
    assert "by their kernels" in plan.notes[0]


@pytest.mark.parametrize("names", ["a", "ab", "abcde"])
def test_what_does_not_repeat_is_simulated_whole(names):
    plan, found = _chosen(names)
    assert plan.chosen.tolist() == list(range(len(names)))
    assert plan.notes == ("the launches repeat in no period: all are simulated",)
    assert found.low == found.total == found.high == len(names)
