"""How often warps execute what their lanes come to apart: ``cubins/arrivals.cu``.

On an H100 each group of lanes that arrives where paths join issues the BSYNC, and one lane of each
bank of shared memory gets through a compare-and-swap of the compiler's in each turn of its loop.
"""

import numpy as np
import pytest

import lockstep
from cubin_files import cubins

LANES = np.arange(32)
WAYS = {
    "functional": {"profile": True},
    "traced": {"timing": True, "profile": True},
    "at issue": {"timing": True, "at_issue": True, "profile": True},
}


@pytest.fixture(scope="module", params=[f"{a} {w}" for a in ("sm_80", "sm_90") for w in WAYS])
def module(request):
    architecture, way = request.param.split(" ", 1)
    gpu = lockstep.gpu({"sm_80": "A100", "sm_90": "H100"}[architecture], ["sm.count=1"])
    with lockstep.Device(gpu, **WAYS[way]) as device:
        yield device.load_cubin(cubins("arrivals")[architecture])


def count(launch):
    """The warp instructions that were executed, which are those that were simulated."""
    executed = launch.profile["smsp__inst_executed.sum"]
    if launch.kernel.module.device.timing is not None:
        assert launch.metrics["sm__inst_executed.sum"] == executed
    return executed


def turns(module, counts):
    """What a loop of so many turns in each lane executes; all of them together take eight."""
    device = module.device
    out = device.zeros(32, "u4")
    launch = module["turns"][1, 32](device.array(np.array(counts, np.int32)), out)
    expected = LANES.astype(np.uint64)
    for k in range(8):
        expected = np.where(k < np.array(counts), expected * 5 + 1, expected) & 0xFFFFFFFF
    assert np.array_equal(out.numpy(), expected[LANES ^ 1])
    return count(launch)


@pytest.mark.parametrize(
    "counts, arrivals",
    [
        (8 - LANES // 16, 2),
        (1 + LANES // 4, 8),
        (1 + LANES % 8, 8),
        (LANES // 4 * 8 // 7, 8),  # some go past the loop
    ],
)
def test_each_group_of_lanes_that_arrives_executes_where_paths_join(module, counts, arrivals):
    assert turns(module, counts) - turns(module, np.full(32, 8)) == arrivals - 1


def sums(module, places, value):
    """What atomic additions of lanes to words of shared memory execute."""
    device = module.device
    out = device.zeros(32, "f4")
    launch = module["sums"][1, 32](device.array(np.array(places, np.int32)), value, out)
    same = [(places == p).sum() for p in places]
    assert out.numpy().tolist() == [value * n for n in same]
    return count(launch)


@pytest.mark.parametrize("value", [0.0, 1.5])
def test_one_lane_of_each_bank_gets_through_in_a_turn(module, value):
    """Even where the sum is what was there before, so that none of the others would notice."""
    once, twice = (sums(module, LANES * stride, value) for stride in (1, 2))
    turn = twice - once
    assert turn > 1
    for places, turns_taken in [
        (LANES * 0, 32),  # one word
        (LANES * 32, 32),  # one bank
        (LANES * 8, 8),
        (LANES // 2, 2),
        (LANES % 16 * 32 + LANES // 16, 16),
    ]:
        assert sums(module, places, value) - once == (turns_taken - 1) * turn
