"""Distinct rows, representatives, and which grouping is taken."""

import numpy as np
import pytest

from lockstep.errors import LockstepError
from lockstep.sampling.groups import (
    Grouping,
    check_target,
    choose,
    distinct,
    grouping,
    least_of_each,
)


def test_distinct_rows_in_the_order_of_their_first_launch():
    rows = distinct(np.array([[5.0, 1], [2, 1], [5, 1], [5, 0], [2, 1], [5, 1]]))
    assert rows.row.tolist() == [0, 1, 0, 2, 1, 0]
    assert rows.first.tolist() == [0, 1, 3]
    assert rows.counts.tolist() == [3, 2, 1]


@pytest.mark.parametrize("seed", range(10))
def test_distinct_rows_against_a_dictionary(seed):
    random = np.random.default_rng(seed)
    table = random.integers(0, 3, (200, 4)).astype(float)
    seen: dict = {}
    expected = [seen.setdefault(tuple(row), len(seen)) for row in table.tolist()]
    rows = distinct(table)
    assert rows.row.tolist() == expected
    np.testing.assert_array_equal(table[rows.first][rows.row], table)
    assert rows.counts.tolist() == [expected.count(k) for k in range(len(seen))]


def test_the_smallest_key_leads_and_the_first_of_equals():
    groups = np.array([1, 0, 1, 0, 0])
    assert least_of_each(groups, np.array([4, 9, 2, 7, 7])).tolist() == [3, 2]


def test_projected_error():
    # Groups of 3 + 1 and 2 launches; the leads take 10 and 50, all take 150.
    found = grouping(
        np.array([7, 7, 3]),
        np.array([0, 1, 2]),
        np.array([3, 1, 2]),
        np.array([10.0, 20, 50]),
        150.0,
    )
    assert found.groups.tolist() == [0, 0, 1]
    assert found.leads.tolist() == [0, 2]
    assert found.error == pytest.approx(abs(4 * 10 + 2 * 50 - 150) / 150)


def _candidates(errors, read):
    for k, error in enumerate(errors):
        read.append(k)
        yield Grouping(np.zeros(1), np.full(1, k), error)


def test_the_first_below_the_target_else_the_best():
    def chosen(target, least):
        read = []
        found = choose(_candidates([0.2, 0.04, 0.05, 0.01, 0.01], read), target, least)
        return int(found.leads[0]), len(read)

    assert chosen(0.05, False) == (1, 2)  # and looks no further
    assert chosen(0.04, False) == (3, 4)  # below, not at
    assert chosen(0.005, False) == (3, 5)  # the first of the best
    assert chosen(0.05, True) == (3, 5)


@pytest.mark.parametrize("target", [0, 1, -0.1, float("nan")])
def test_targets_are_shares(target):
    with pytest.raises(LockstepError, match="expected an error between 0 and 1"):
        check_target(target)
