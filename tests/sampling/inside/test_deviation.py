"""How far off what was left out may be: by hand, and on launches that are made up."""

import numpy as np
import pytest
from scipy import stats

from lockstep.sampling.inside.deviation import UNEXPLAINED, UNSEEN, Gap, deviation


def test_two_units_by_hand():
    found = deviation([2.0, 2.4], [False], [100.0, 900.0], [Gap(1000, 10)])
    square = (0.4**2 / 2 + (UNSEEN * 2.2) ** 2) / 2
    assert found.cycles == pytest.approx((square * (100**2 + 900**2 + 1000**2 / 10)) ** 0.5)
    assert found.freedom == 2
    assert found.half_width(0.95) == pytest.approx(stats.t.ppf(0.975, 2) * found.cycles)


def test_a_difference_that_traffic_explains_counts_in_part():
    given = [100.0, 900.0], [Gap(1000, 10)]
    told, untold = (deviation([2.0, 4.0], [each], *given).cycles for each in (True, False))
    less = deviation([3 - UNEXPLAINED, 3 + UNEXPLAINED], [False], *given).cycles
    assert told == pytest.approx(less)
    assert told < untold


def test_units_that_are_alike_leave_what_was_not_seen():
    few, many = (deviation([2.0] * n, [False] * (n - 1), [0.0] * n, []).cycles for n in (2, 9))
    assert few == many == 0, "nothing was left out"
    for units, expected in ((2, UNSEEN / 2**0.5), (18, UNSEEN / 18**0.5)):
        found = deviation([2.0] * units, [False] * (units - 1), [500.0] + [0.0] * (units - 1), [])
        assert found.cycles == pytest.approx(1000 * expected)


@pytest.mark.parametrize("noise", [0.005, 0.03, 0.1])
@pytest.mark.parametrize("units", [2, 5])
def test_intervals_hold_on_waves_that_vary_by_themselves(noise, units):
    """Waves of 1,000 instructions; gaps of nine waves behind all units but the last."""
    random, held = np.random.default_rng(4), 0
    for _ in range(400):
        waves = 2 + 2 * noise * random.standard_normal(10 * units)
        places = np.arange(units) * 10
        gaps, weights = [Gap(9000, 9)] * (units - 1), [0.0] + [9000.0] * (units - 1)
        rates = waves[places]
        truth = 1000 * np.delete(waves[: places[-1]], places[:-1]).sum()
        found = deviation(rates.tolist(), [False] * (units - 1), weights, gaps)
        held += abs(rates @ weights - truth) <= found.half_width(0.95)
    assert held / 400 >= 0.92, held
