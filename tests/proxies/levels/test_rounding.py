"""Rounding and noise, by numbers."""

import numpy as np
import pytest

from lockstep.frontend.proxy.gmap import Histograms
from lockstep.proxies.levels.blurred import blurred_path
from lockstep.proxies.levels.rounding import blurred_histograms, noised, rounded, rounded_up


@pytest.mark.parametrize(
    ("value", "expected"),
    [(0, 0), (1, 1), (31, 31), (32, 32), (33, 34), (34, 34), (5200, 5120), (-5200, -5120)]
    + [(4352, 4352), (245_760, 245_760), (1 << 40, 1 << 40), (63, 64)],
)
def test_numbers_are_rounded_to_sixteenths_of_a_power_of_two(value, expected):
    assert rounded(np.array([value])).tolist() == [expected]


def test_numbers_are_off_by_a_32nd_at_most():
    values = np.random.default_rng(0).integers(1, 1 << 45, 10_000)
    assert (np.abs(rounded(values) - values) / values).max() <= 1 / 32
    up = np.array([rounded_up(v) for v in values.tolist()])
    assert (up >= values).all()
    assert ((up - values) / values).max() <= 1 / 16


def test_noise_is_of_laplace_and_leaves_no_negative_counts():
    counts = np.full(20_000, 100)
    noise = noised(counts, 0.25, np.random.default_rng(0)) - counts
    assert abs(noise.mean()) < 0.2
    assert abs(np.abs(noise).mean() - 4) < 0.2  # 1 / epsilon
    assert noised(np.array([1, 2, 1]), 1e-9, np.random.default_rng(1)).min() >= 0


def test_something_is_left_to_draw_from():
    for seed in range(50):
        assert noised(np.array([1, 2, 1]), 0.01, np.random.default_rng(seed)).any()


def test_values_that_become_equal_are_counted_together():
    histograms = Histograms.of([(np.array([5199, 5200, 7000]), np.array([10, 20, 30]))])
    values, counts = blurred_histograms(histograms, 1e9, np.random.default_rng(0))[0]
    assert values.tolist() == [5120, 6912]
    assert counts.tolist() == [30, 30]


@pytest.mark.parametrize(("turns", "expected"), [(8, 8), (33, 34), (37, 38), (65, 64)])
def test_loops_have_rounded_numbers_of_turns(turns, expected):
    path = np.array([0, *[32, 64] * turns, 96])
    found = blurred_path(path)
    assert found.tolist() == [0, *[32, 64] * expected, 96]
