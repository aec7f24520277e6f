"""Statistics against NumPy's, against plain loops, and against numbers worked out by hand."""

import math
import statistics

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lockstep.correlation import Statistics, relative_error

COUNT = st.integers(0, 10**12) | st.floats(1e-3, 1e12)
PAIRS = st.lists(st.tuples(COUNT, COUNT), min_size=1, max_size=30)


def naive(pairs):
    """Each number as its definition says, one after the other."""
    errors = [abs(o - m) / m if m else float(o != 0) for o, m in pairs]
    ordered, place = sorted(errors), 0.9 * (len(errors) - 1)
    low, high = ordered[math.floor(place)], ordered[math.ceil(place)]
    return {
        "mape": math.fsum(errors) / len(errors),
        "median": statistics.median(errors),
        "p90": low + (high - low) * (place - math.floor(place)),
        "worst": max(errors),
    }


@given(PAIRS)
def test_errors_are_those_of_their_definitions(pairs):
    found = Statistics.of(*zip(*pairs))
    assert found.count == len(pairs)
    for name, value in naive(pairs).items():
        assert getattr(found, name) == pytest.approx(value, rel=1e-9), name
    assert abs(found.bias) <= found.mape * (1 + 1e-9)
    assert found.median <= found.worst and found.p90 <= found.worst


@given(PAIRS.filter(lambda pairs: len({o for o, _ in pairs}) > 2 < len({m for _, m in pairs})))
def test_the_coefficient_of_correlation_is_numpys(pairs):
    ours, measured = (np.array(side, float) for side in zip(*pairs))
    found = Statistics.of(ours, measured).pearson
    assert -1 - 1e-9 <= found <= 1 + 1e-9
    assert found == pytest.approx(np.corrcoef(ours, measured)[0, 1], abs=1e-6)


@given(PAIRS.filter(lambda pairs: sum(m for _, m in pairs) > 0))
def test_nrmse_is_numpys(pairs):
    ours, measured = (np.array(side, float) for side in zip(*pairs))
    expected = np.sqrt(np.mean((ours - measured) ** 2)) / measured.mean()
    assert Statistics.of(ours, measured).nrmse == pytest.approx(expected, rel=1e-9, abs=1e-12)


@given(PAIRS, st.floats(0.1, 10))
def test_a_unit_changes_nothing(pairs, factor):
    ours, measured = zip(*pairs)
    scaled = Statistics.of([x * factor for x in ours], [x * factor for x in measured])
    for name, value in Statistics.of(ours, measured).to_dict().items():
        assert scaled.to_dict()[name] == pytest.approx(value, rel=1e-6, abs=1e-6, nan_ok=True)


def test_by_hand():
    found = Statistics.of([110, 80, 400, 100], [100, 100, 200, 100])
    assert found.mape == pytest.approx((0.1 + 0.2 + 1 + 0) / 4)
    assert found.bias == pytest.approx((0.1 - 0.2 + 1 + 0) / 4)
    assert found.median == pytest.approx(0.15)
    assert found.p90 == pytest.approx(0.2 + 0.7 * 0.8)
    assert found.worst == 1
    assert found.nrmse == pytest.approx(math.sqrt((100 + 400 + 40000) / 4) / 125)
    assert str(found).startswith("mean 32.50 %, median 15.00 %, 90th percentile 76.00 %")


@pytest.mark.parametrize(
    ("ours", "measured", "r"),
    [([1, 2, 3], [10, 20, 30], 1), ([3, 2, 1], [10, 20, 30], -1), ([1, 2, 1], [5, 6, 7], 0)],
)
def test_lines_have_a_known_correlation(ours, measured, r):
    assert Statistics.of(ours, measured).pearson == pytest.approx(r, abs=1e-12)


@pytest.mark.parametrize("pairs", [[], [(5, 4)], [(5, 4), (5, 8)], [(5, 4), (6, 4)]])
def test_what_is_undefined_is_nan(pairs):
    found = Statistics.of([o for o, _ in pairs], [m for _, m in pairs])
    assert math.isnan(found.pearson)
    assert math.isnan(found.mape) == (not pairs)


def test_of_nothing_but_zeros_everything_is_right():
    found = Statistics.of([0, 0], [0, 0])
    assert (found.mape, found.nrmse, found.bias) == (0, 0, 0)
    assert math.isnan(Statistics.of([1, 0], [0, 0]).nrmse)


@pytest.mark.parametrize(
    ("ours", "measured", "error"), [(0, 0, 0), (3, 0, 1), (5, 4, 0.25), (-5, -4, -0.25)]
)
def test_relative_errors(ours, measured, error):
    assert relative_error(ours, measured) == error


def test_large_numbers_do_not_overflow():
    found = Statistics.of([1e200, 2e200, 4e200], [1e200, 2e200, 3e200])
    assert found.nrmse == pytest.approx(math.sqrt(1 / 3) / 2)
    assert found.pearson == pytest.approx(np.corrcoef([1, 2, 4], [1, 2, 3])[0, 1])


def test_sides_must_be_equally_long():
    with pytest.raises(ValueError, match="2 numbers beside 1"):
        Statistics.of([1, 2], [1])
