"""When basic blocks take as long as before, and what instructions take: by hand."""

import numpy as np
import pytest

from lockstep.sampling.inside.blocks import LOOKS, BlockTimes

BLOCKS = np.array([0, 2, 3])  # of two instructions, and of one


def looked(durations, executions=400, **options):
    """Looks every 100 cycles, between which each block ran so often; cycles of each at each."""
    times = BlockTimes(options.pop("window", 2000), options.pop("slope", 0.01), 0.03)
    done, spent = np.zeros(3, np.int64), np.zeros(3, np.int64)
    for k, (first, second) in enumerate(durations):
        done = done + executions
        spent = spent + executions * np.array([first, 1, second])
        times.look(100 * (k + 1), done, spent)
        times.judge(BLOCKS)
    return times


def test_blocks_are_stable_once_they_ran_often_enough():
    """Passed over: the first 1,024; then a window of eight looks."""
    same = [(4, 9)] * 30
    assert not looked(same[:10]).stable.any()
    assert looked(same).stable.all()
    assert not looked(same, executions=20).stable.any()
    assert looked(same).times(BLOCKS).tolist() == [4, 1, 9]


@pytest.mark.parametrize(("growth", "stable"), [(0, True), (3, False), (-3, False)])
def test_blocks_that_become_slower_are_not(growth, stable):
    """By so many cycles in 100: a slope of 1 + growth / 100, where 0.01 is allowed."""
    times = looked([(500, 900 + growth * k) for k in range(30)])
    assert times.stable.tolist() == [True, True, stable]


def test_times_are_those_of_the_last_half_window():
    durations = [(4, 9)] * 30 + [(5, 9)] * 10
    times = looked(durations, window=4000)
    assert times.stable.all() and times.times(BLOCKS).tolist() == [5, 1, 9]


def test_what_is_not_stable_takes_its_mean_and_what_never_ran_that_of_all():
    times = BlockTimes(2000, 0.01, 0.03)
    times.look(100, np.array([10, 30, 0]), np.array([40, 60, 0]))
    assert times.times(BLOCKS).tolist() == [4, 2, 2.5]


def test_many_looks_leave_every_second_one():
    times = looked([(4, 9)] * (3 * LOOKS), executions=40)
    assert times.stable.all() and times.times(BLOCKS).tolist() == [4, 1, 9]
