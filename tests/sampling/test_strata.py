"""Strata: what is told apart, what is put together, and drawing from them."""

import numpy as np
import pandas as pd
import pytest

from lockstep.sampling import LaunchTable
from lockstep.sampling.strata import (
    alike,
    before,
    binned,
    filled,
    in_context,
    in_time,
    joined,
    members,
    merged,
)


def test_members_and_joined():
    labels = joined(np.array([7, 7, 3, 7]), np.array(["a", "b", "a", "a"]))
    assert labels.tolist() == [0, 1, 2, 0]
    assert [rows.tolist() for rows in members(labels)] == [[0, 3], [1], [2]]


def test_few_values_are_told_apart_and_many_are_put_into_bins():
    few, many = np.arange(1024) % 64 + 1000, np.arange(1024) % 128 + 1000
    labels = np.zeros(1024, np.int64)
    assert len(np.unique(binned(labels, few))) == 64
    bins = binned(labels, many)
    expected = np.floor(np.log2(many + 1.0) / 0.25)
    assert len(np.unique(bins)) == len(np.unique(expected)) == 2
    assert (joined(bins) == joined(-expected)).all()
    two = many // 64  # 64 values of each label are few again
    assert len(np.unique(joined(two, binned(two, many)))) == 128


def test_values_that_few_launches_have_are_put_into_bins():
    labels = np.zeros(64, np.int64)
    assert len(np.unique(binned(labels, np.arange(64) % 8))) == 8
    assert len(np.unique(binned(labels, np.arange(64) % 9))) < 9
    sizes = np.bincount(np.unique(binned(labels, np.arange(64)), return_inverse=True)[1])
    assert sorted(sizes) == [8, 9, 10, 11, 12, 14]
    two = np.arange(64) % 2
    both = np.bincount(joined(two, binned(two, np.arange(64))))
    assert sorted(both) == [8, 8, 9, 10, 13, 16]
    assert len(np.unique(binned(labels, np.full(64, 7)))) == 1


def _table(**columns):
    return LaunchTable(pd.DataFrame({"name": list("abcabc")} | columns))


@pytest.mark.parametrize(
    "columns",
    [
        {"grid_x": [1, 1, 1, 2, 1, 1]},
        {"block_z": [1, 1, 1, 2, 1, 1]},
        {"shared_bytes": [0, 0, 0, 48, 0, 0]},
        {"arguments": ["", "", "", "n=2", "", ""]},
        {"smsp__inst_executed.sum": [5.0, 1, 1, 6, 1, 1]},
        {"new_sectors": [5.0, 1, 1, 6, 1, 1]},
    ],
)
def test_what_is_told_apart(columns):
    def wide(**columns):
        frame = pd.DataFrame({"name": list("abcabc")} | columns)
        return LaunchTable(pd.concat([frame] * 8, ignore_index=True))

    assert len(np.unique(alike(wide()))) == 3
    labels = alike(wide(**columns))
    assert len(np.unique(labels)) == 4 and labels[0] != labels[3] == labels[9]


def test_context_is_that_of_the_stream():
    table = LaunchTable(pd.DataFrame({"name": list("axbxaxb"), "stream": [0, 0, 0, 0, 0, 0, 1]}))
    labels = table.codes()
    assert before(table, labels).tolist() == [-1, 0, 1, 2, 1, 0, -1]
    deep = in_context(table, labels, 1)
    assert deep[1] == deep[5] != deep[3]
    table = LaunchTable(pd.DataFrame({"name": list("abbb" * 5)}))
    # The first, second and third b, an a, and the first one of all.
    assert len(np.unique(in_context(table, table.codes(), 4)[4:])) == 4


def test_small_labels_are_put_together_within_their_parent():
    labels = np.array([0, 0, 0, 1, 2, 3, 3, 4])
    parents = np.array([0, 0, 0, 0, 0, 1, 1, 2])
    assert merged(labels, parents, 2).tolist() == [0, 0, 0, 1, 1, 2, 2, 3]
    assert merged(labels, parents, 3).tolist() == [0, 0, 0, 0, 0, 1, 1, 2]
    assert merged(labels, parents, 1).tolist() == labels.tolist()


@pytest.mark.parametrize("seed", range(10))
def test_filled_draws_what_lacks_and_keeps_what_is_chosen(seed):
    random = np.random.default_rng(seed)
    labels = np.unique(random.integers(0, 9, 100), return_inverse=True)[1]
    sizes = np.bincount(labels)
    chosen = random.choice(100, 20, replace=False)
    wanted = random.integers(0, 15, len(sizes))
    found = filled(labels, chosen, wanted, random)
    assert set(chosen) <= set(found) and len(set(found)) == len(found)
    have = np.bincount(labels[chosen], minlength=len(sizes))
    expected = np.maximum(have, np.minimum(wanted, sizes))
    assert np.bincount(labels[found], minlength=len(sizes)).tolist() == expected.tolist()


def test_filled_draws_each_as_often():
    times = np.zeros(12)
    random = np.random.default_rng(0)
    labels = np.repeat([0, 1], [8, 4])
    for _ in range(4000):
        times[filled(labels, np.array([0, 8]), 3, random)] += 1
    assert times[[0, 8]].tolist() == [4000, 4000]
    assert (np.abs(times[1:8] / 4000 - 2 / 7) < 0.03).all()
    assert (np.abs(times[9:] / 4000 - 2 / 3) < 0.03).all()


def test_intervals_of_time():
    labels = np.array([0, 1, 0, 1, 0, 1, 0, 0])
    found, wanted = in_time(labels, np.array([2, 1]), np.array([3, 2]))
    assert found.tolist() == [0, 2, 0, 2, 0, 2, 1, 1]
    assert wanted.tolist() == [2, 2, 2]
