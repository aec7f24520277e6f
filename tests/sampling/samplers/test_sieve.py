"""Sieve: tiers and weights by hand, cuts against SciPy's density, a bandwidth too narrow."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from lockstep.errors import LockstepError
from lockstep.sampling import LaunchTable, estimate, sampler
from lockstep.sampling.features import INSTRUCTIONS, PROFILE
from lockstep.sampling.samplers.sieve import cut, variation


def _table(instructions, names=None, **columns):
    frame = pd.DataFrame({"name": names or ["k"] * len(instructions)} | columns)
    return LaunchTable(
        frame.assign(**dict.fromkeys(PROFILE, 1.0)).assign(**{INSTRUCTIONS: instructions})
    )


def _plan(table, **parameters):
    return sampler("sieve", **parameters).plan(table, np.random.default_rng(0))


def test_coefficient_of_variation():
    assert variation(np.array([2.0, 4.0, 6.0])) == pytest.approx((8 / 3) ** 0.5 / 4)
    assert variation(np.full(7, 0.1)) == 0  # the mean of these is not exactly 0.1
    assert variation(np.array([0.0, 0.0])) == 0


def test_tier_1_is_the_first_launch():
    plan = _plan(_table([7.0] * 4, block_x=[32, 64, 64, 64]))
    assert plan.stratum.tolist() == [0] * 4 and plan.chosen.tolist() == [0]
    assert plan.weights().tolist() == [4]


def test_tier_2_is_the_first_with_the_commonest_cta_size():
    instructions = [10.0, 11, 12, 10, 11, 12]
    plan = _plan(_table(instructions, block_x=[32, 64, 128, 32, 64, 64], grid_x=[9, 1, 1, 1, 2, 3]))
    assert plan.chosen.tolist() == [1]
    assert _plan(_table(instructions, block_x=[1, 64, 64, 32, 32, 8])).chosen.tolist() == [1]
    shape = {"block_x": [64, 8, 8, 64, 8, 4], "block_y": [1, 8, 8, 2, 8, 8]}
    assert _plan(_table(instructions, **shape)).chosen.tolist() == [0]  # 64 threads, four times


def test_tier_3_begins_at_0_4():
    below, above = [0.61, 1.39] * 20, [0.59, 1.41] * 20
    found = variation(np.array(below)), variation(np.array(above))
    assert found == pytest.approx((0.39, 0.41))
    assert len(_plan(_table(np.multiply(below, 1e6))).chosen) == 1
    assert _plan(_table(np.multiply(above, 1e6))).chosen.tolist() == [0, 1]


def test_tier_3_takes_the_first_of_each_part():
    instructions = [5e6, 1e3, 5.1e6, 1.1e3, 0.9e3, 4.9e6] * 4
    plan = _plan(_table(instructions, block_x=[32, 32, 64, 64, 64, 64] * 4))
    assert plan.chosen.tolist() == [0, 1]
    few = np.array(instructions) < 1e6
    assert plan.stratum.max() == 1 and len(np.unique(plan.stratum[few])) == 1


def test_parts_that_vary_are_cut_again():
    # From afar two modes; near, the upper one is two that are a factor of four apart.
    random = np.random.default_rng(0)
    modes = np.repeat([1e2, 1e7, 4e7], 60) * random.uniform(0.97, 1.03, 180)
    plain = cut(modes, None)
    assert plain.max() == 1 and variation(modes[plain == 1]) > 0.5
    assert len(_plan(_table(modes)).chosen) == 3


def test_kernels_are_apart():
    plan = _plan(_table([5.0, 9e9, 5.0, 9e9], list("abab")))
    assert plan.chosen.tolist() == [0, 1]


def test_weights_are_instructions_or_launches():
    table = _table([100.0, 110, 90, 100, 120, 1000], list("aaaaab"))
    by_instructions, by_count = _plan(table), _plan(table, weights="count")
    assert by_instructions.weights().tolist() == pytest.approx([5.2, 1])
    assert by_count.weights().tolist() == [5, 1]
    cycles = np.array([50.0, 400.0])
    assert estimate(by_instructions, cycles).total == pytest.approx(5.2 * 50 + 400)
    assert estimate(by_count, cycles).total == 650
    assert not estimate(by_count, cycles).bounded


def test_launches_that_execute_nothing():
    assert estimate(_plan(_table([0.0, 0, 0])), np.array([5.0])).total == 15
    plan = _plan(_table([0.0, 10_000] * 30))
    assert plan.chosen.tolist() == [0, 1]
    assert estimate(plan, np.array([5.0, 9.0])).total == pytest.approx(30 * 14)


def _naive_valleys(numbers, width):
    grid = np.arange(numbers.min(), numbers.max() + width, width / 40)
    factor = width / numbers.std(ddof=1)
    density = stats.gaussian_kde(numbers, factor)(grid)
    inner = density[1:-1]
    return grid[1:-1][(inner < density[:-2] * (1 - 1e-9)) & (inner <= density[2:])]


@pytest.mark.parametrize("seed", range(40))
def test_cuts_against_scipys_density(seed):
    random = np.random.default_rng(seed)
    modes, launches = random.integers(1, 5), random.integers(5, 200)
    centre = random.uniform(3, 12, modes)[random.integers(0, modes, launches)]
    spread = random.choice([0.02, 0.05, 0.2]) * random.standard_normal(launches)
    instructions = np.exp(centre + spread).round()
    numbers = np.log(instructions)
    width = stats.gaussian_kde(numbers, "silverman").factor * numbers.std(ddof=1)
    valleys = _naive_valleys(numbers, width)
    clear = np.abs(numbers[:, None] - valleys).min(axis=1, initial=np.inf) > width / 4
    expected = np.searchsorted(valleys, numbers)
    found = cut(instructions, None)
    assert found.max() == len(np.unique(expected)) - 1
    np.testing.assert_array_equal(found[clear], np.unique(expected, return_inverse=True)[1][clear])


def test_two_equal_modes_are_apart_from_two_bandwidths_on():
    for gap, parts in [(1.9, 1), (2.1, 2), (11.9, 2), (12.1, 2), (1e9, 2)]:
        assert cut(1000 + gap * np.arange(2.0), 1.0).max() == parts - 1
    assert cut(np.full(5, 3.0), 1.0).tolist() == [0] * 5


def test_a_bandwidth_of_one_instruction_simulates_nearly_everything():
    random = np.random.default_rng(4)
    table = _table(random.lognormal(12, 1, 500).round())
    assert len(_plan(table, bandwidth=1).chosen) > 450
    assert len(_plan(table).chosen) < 10


def test_what_is_refused():
    with pytest.raises(LockstepError, match="no weight is named 'counts'; did you mean count"):
        sampler("sieve", weights="counts")
    with pytest.raises(LockstepError, match="sieve: bandwidth is 0; expected instructions"):
        sampler("sieve", bandwidth=0)
    with pytest.raises(
        LockstepError, match="sieve reads the profile of every launch, and launch 1 has"
    ):
        _plan(_table([5.0, np.nan]))
