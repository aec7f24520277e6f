"""The first instructions: where they end, and what the rest counts."""

import numpy as np
import pytest

from launch_tables import profiled_table
from lockstep.errors import LockstepError
from lockstep.sampling import estimate, sampler
from lockstep.sampling.features import LANES


def _plan(table, **parameters):
    return sampler("first-instructions", **parameters).plan(table, np.random.default_rng(0))


@pytest.mark.parametrize(
    ("limit", "chosen"), [(1, 1), (40, 1), (41, 2), (80, 2), (81, 3), (999, 4)]
)
def test_launches_until_there_are_so_many(limit, chosen):
    table = profiled_table([10, 10, 10, 10], **{LANES: 4.0})  # 40 instructions of threads each
    assert _plan(table, instructions=limit).chosen.tolist() == list(range(chosen))


def test_cycles_go_with_instructions_of_threads():
    table = profiled_table([10, 20, 100], [30, 60, 500], **{LANES: [32.0, 32.0, 16.0]})
    plan = _plan(table, instructions=600)
    assert plan.chosen.tolist() == [0, 1]
    found = estimate(plan, table.times[plan.chosen])
    assert found.total == pytest.approx(90 / 960 * (960 + 1600))
    assert not found.bounded


def test_a_short_program_is_simulated_whole():
    table = profiled_table([10, 20], [3, 5], **{LANES: 32.0})
    plan = _plan(table)
    found = estimate(plan, table.times)
    assert (found.low, found.total, found.high) == (8, 8, 8)


def test_launches_without_instructions_belong_to_nobody():
    table = profiled_table([0, 10, 10], **{LANES: [np.nan, 1.0, 1.0]})
    assert _plan(table, instructions=1).chosen.tolist() == [0, 1]


def test_what_it_cannot_sample():
    with pytest.raises(LockstepError, match="no launch executes an instruction"):
        _plan(profiled_table([0, 0]))
    with pytest.raises(LockstepError, match="launch 1 has none"):
        _plan(profiled_table([10, np.nan]))
    with pytest.raises(LockstepError, match="nothing to see in the first 0 instructions"):
        sampler("first-instructions", instructions=0)
