"""Periods: by hand, and against every lag one by one."""

import numpy as np
import pytest

from lockstep.sampling.period import period, steady


def _codes(text):
    return np.array([ord(letter) - ord("a") for letter in text])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("abcabcabc", 3),
        ("aaaa", 1),
        ("aabaab", 3),
        ("abab", 2),
        ("aba", 0),  # two whole periods at least
        ("abcdefgh", 0),
        ("a", 0),
        ("aa", 1),
        ("ab", 0),
        ("a" * 99 + "b" + "a" * 99 + "b", 100),  # 98 % of neighbours are equal
        ("xx" + "abc" * 50, 3),
    ],
)
def test_periods(text, expected):
    assert period(_codes(text)) == expected


def test_how_many_places_may_differ():
    """Of 200 launches of two kernels in turns, some are of a third: a period while few are."""

    def codes(others):
        found = np.arange(200) % 2
        found[20 : 20 + 4 * others : 4] = 2
        return found

    def correlation(found):
        chance = ((np.bincount(found) / 200) ** 2).sum()
        return (np.mean(found[:-2] == found[2:]) - chance) / (1 - chance)

    assert correlation(codes(2)) > 0.95 > correlation(codes(3))
    assert period(codes(2), 2) == 2
    assert period(codes(3), 2) == 0


def test_the_longest():
    codes = np.arange(1000) % 70
    assert period(codes, 70) == 70
    assert period(codes, 69) == 0


def _naive(codes, least):
    n = len(codes)
    chance = sum((codes.tolist().count(k) / n) ** 2 for k in set(codes.tolist()))
    for lag in range(1, n // 2 + 1):
        same = sum(codes[i] == codes[i + lag] for i in range(n - lag)) / (n - lag)
        if same >= chance + least * (1 - chance) - 1e-12:
            return lag
    return 0


@pytest.mark.parametrize("seed", range(40))
def test_against_every_lag(seed):
    random = np.random.default_rng(seed)
    codes = np.tile(random.integers(0, 4, random.integers(1, 30)), 10)[: random.integers(2, 200)]
    changed = random.random(len(codes)) < random.choice([0, 0.01, 0.1])
    codes[changed] = random.integers(0, 4, changed.sum())
    for least in (0.6, 0.95):
        assert period(codes, least=least) == _naive(codes, least)


def test_what_comes_before_the_periods():
    assert steady(_codes("abcabc"), 3) == 0
    assert steady(_codes("xyzzy" + "abc" * 4), 3) == 5
    assert steady(_codes("c" + "abc" * 4), 3) == 0  # the start is a part of a period
    codes = np.concatenate([np.zeros(7, int), np.tile(np.arange(1, 101), 4)])
    codes[50] = 0
    assert steady(codes, 100) == 3  # 95 of 100 are alike
    assert steady(codes, 100, least=1) == 51
