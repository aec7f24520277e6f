"""Systematic sampling: where its launches lie, and what a stratum has of them."""

import numpy as np
import pandas as pd
import pytest

from lockstep.sampling import LaunchTable, estimate, sampler


def _plan(launches, every, seed=0):
    table = LaunchTable(pd.DataFrame({"name": ["k"] * launches}))
    return sampler("systematic", every=every).plan(table, np.random.default_rng(seed))


@pytest.mark.long
def test_launches_are_as_far_apart_as_they_stand_for():
    plan = _plan(120, 10)
    assert np.diff(plan.chosen).tolist() == [10] * 11
    assert plan.sizes.tolist() == [20] * 6
    starts = {int(_plan(120, 10, seed).chosen[0]) for seed in range(200)}
    assert starts == set(range(10))


@pytest.mark.parametrize("seed", range(100))
def test_a_stratum_has_two_sampled_launches_whatever_the_number_of_launches(seed):
    plan = _plan(300 + 7 * seed, 23, seed)
    assert (np.bincount(plan.stratum[plan.chosen]) == 2).all()
    assert np.ptp(plan.sizes) <= 2
    assert estimate(plan, 1.0 + plan.chosen).bounded


def test_few_launches_are_all_simulated():
    assert len(_plan(3, 100).chosen) == 3
    assert len(_plan(4, 100).chosen) == 2
