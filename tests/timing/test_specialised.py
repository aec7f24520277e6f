"""Warp specialisation: producers and consumers in one CTA, at named barriers with thread counts."""

import pytest

import lockstep

QV100 = lockstep.gpu("QV100")
FFMA = 4  # cycles until a dependent one issues
TURNS = (8, 24)
FULL, EMPTY = 1, 2


def pipeline(turns, produce, consume, buffers):
    """Cycles of a CTA in which two warps fill buffers in shared memory and two others empty them.

    Each buffer has a barrier "full" and one "empty"; a side arrives at one and waits at the other.
    """
    k = lockstep.KernelBuilder("pipeline", grid=1, block=128, shared_bytes=4096)
    with k.lanes(lambda at: at.warp < 2), k.loop(turns // buffers):
        for b in range(buffers):
            k(f"BAR.SYNC.DEFER_BLOCKING {EMPTY + 2 * b:#x}, 0x80")
            for _ in range(produce):
                k("FFMA R1, R1, R3, R4")
            k(f"BAR.ARV {FULL + 2 * b:#x}, 0x80")
    with k.lanes(lambda at: at.warp >= 2):
        for b in range(buffers):
            k(f"BAR.ARV {EMPTY + 2 * b:#x}, 0x80")
        with k.loop(turns // buffers):
            for b in range(buffers):
                k(f"BAR.SYNC.DEFER_BLOCKING {FULL + 2 * b:#x}, 0x80")
                for _ in range(consume):
                    k("FFMA R1, R1, R3, R4")
                k(f"BAR.ARV {EMPTY + 2 * b:#x}, 0x80")
    result = lockstep.simulate(k.workload(), QV100)
    assert not result.stopped
    return result.total["cycles"]


def cycles_each(*shape):
    few, many = TURNS
    return (pipeline(many, *shape) - pipeline(few, *shape)) / (many - few)


@pytest.mark.parametrize(("produce", "consume"), [(40, 20), (20, 40)])
def test_with_one_buffer_the_sides_take_turns(produce, consume):
    work = FFMA * (produce - 1) + FFMA * (consume - 1)
    arrivals = 2  # one of each side, issued after its work
    assert cycles_each(produce, consume, 1) == 2 * QV100.sm.barrier_latency + work + arrivals


@pytest.mark.parametrize(("produce", "consume"), [(40, 20), (20, 40), (30, 30)])
def test_with_two_buffers_the_slower_side_sets_the_pace(produce, consume):
    work = FFMA * (max(produce, consume) - 1)
    own = 2  # the arrival and the next wait, which finds its barrier complete but for itself
    assert cycles_each(produce, consume, 2) == QV100.sm.barrier_latency + work + own
