"""Greedy clustering of paths, by cases that are counted by hand."""

import numpy as np
import pytest

from lockstep.proxies.gmap.clustering import cluster, similarity


def path(text):
    return np.array([ord(c) for c in text], np.int64)


@pytest.mark.parametrize(
    ("a", "b", "share"),
    [
        ("abcd", "abcd", 1.0),
        ("abcd", "abxd", 0.75),
        ("abcd", "abcdabcd", 0.5),
        ("abcd", "bcda", 0.0),  # in sequence: what is shifted is not the same
        ("", "", 1.0),
        ("", "a", 0.0),
    ],
)
def test_similarity_is_the_share_of_equal_places(a, b, share):
    assert similarity(path(a), path(b)) == similarity(path(b), path(a)) == share


def test_the_most_frequent_path_stands_for_those_like_it():
    paths = [path("aaaaaaaaab"), path("aaaaaaaaaa"), path("bbbbbbbbbb")]
    found = cluster(paths, [3, 5, 4])
    assert found.representatives == [1, 2]
    assert found.member.tolist() == [0, 0, 1]
    assert found.forced == 0


def test_at_the_threshold_a_path_joins_and_below_it_does_not():
    paths = [path("aaaaaaaaaa"), path("aaaaaaaaab"), path("aaaaaaaabb")]
    assert cluster(paths, [3, 2, 1]).member.tolist() == [0, 0, 1]


def test_the_first_cluster_that_is_like_it_gets_a_path_not_the_nearest():
    paths = [path("aaaaaaaaab"), path("aaaaaaaacc"), path("aaaaaaaaac")]
    # The third is 0.9 like both: the first is more frequent.
    assert cluster(paths, [9, 8, 1]).member.tolist() == [0, 1, 0]


def test_of_paths_as_frequent_the_one_with_the_lower_number_is_first():
    assert cluster([path("ab"), path("ba")], [2, 2]).representatives == [0, 1]


def test_when_clusters_have_run_out_a_path_joins_the_nearest_and_is_counted():
    paths = [path("aaaa"), path("bbbb"), path("abbc"), path("aaac")]
    found = cluster(paths, [9, 8, 2, 1], most=2)
    assert found.representatives == [0, 1]
    assert found.member.tolist() == [0, 1, 1, 0]
    assert found.forced == 3


def test_no_path_makes_no_cluster():
    assert cluster([], []).representatives == []
