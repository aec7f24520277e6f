"""Counts of pairs that come in batches."""

from collections import Counter

import numpy as np

from lockstep.proxies.gmap import counting
from lockstep.proxies.gmap.counting import PairCounts


def test_pairs_are_counted_whatever_batch_they_come_in(monkeypatch):
    monkeypatch.setattr(counting, "_WAITING", 40)
    random, counts, expected = np.random.default_rng(0), PairCounts(), Counter()
    for _ in range(30):
        owners, values = random.integers(0, 4, 20), random.integers(-3, 3, 20)
        counts.add(owners, values)
        expected.update(zip(owners.tolist(), values.tolist()))
    owners, values, found = counts.pairs().tolist()
    assert dict(zip(zip(owners, values), found)) == expected
    assert list(zip(owners, values)) == sorted(expected)


def test_owners_are_put_together_by_number():
    counts = PairCounts()
    counts.add(np.array([0, 1, 1, 3]), np.array([5, 5, 6, 7]))
    histograms = counts.histograms(np.array([0, 0, -1, 2]), 3)
    assert [tuple(map(list, histograms[i])) for i in range(3)] == [
        ([5, 6], [2, 1]),
        ([], []),
        ([7], [1]),
    ]


def test_nothing_counted_makes_empty_histograms():
    assert PairCounts().pairs().shape == (3, 0)
    assert len(PairCounts().histograms(np.zeros(0, np.int64), 2)) == 2
