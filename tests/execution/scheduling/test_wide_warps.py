"""Lanes of warps of 32 and of 64 part and meet: a mask of 64 lanes uses the sign bit."""

import numpy as np
import pytest

from lane_kernels import Block, Kernel, launch, run
from lockstep.execution.lanes.integer import resize
from lockstep.execution.lanes.types import I32, I64, PRED, Value
from lockstep.execution.launches.faults import LaunchError
from lockstep.execution.programs.program import Ending, Recording
from lockstep.execution.scheduling import masks
from lockstep.execution.state import result_word


@pytest.fixture(params=[32, 64])
def lanes(request):
    return request.param


@pytest.fixture
def rng():
    return np.random.default_rng(64)


def leave(lift, predicate):
    """Those lanes leave for which it holds."""
    lift.b.active = Value(lift.b.ir.and_(lift.b.active.ir, predicate.ir), PRED)


def add(lift, array, number):
    """Add a constant to each thread's element of an array."""
    b = lift.b
    lift.store(array, Value(b.ir.add(lift.load(array, I32).ir, b.constant(I32, number).ir), I32))


def test_masks_of_lanes():
    for count in range(1, 65):
        assert int(masks.first_lanes(count)) % (1 << 64) == (1 << count) - 1
        assert int(masks.only(count - 1)) % (1 << 64) == 1 << count - 1


@pytest.mark.parametrize("threads", [1, 31, 32, 33, 63, 64, 65, 127, 128, 200])
def test_each_thread_runs_once(lanes, threads):
    """Also in warps that are not full."""
    out = np.zeros(256, np.uint32)
    [found] = run(Kernel(lanes, [Block(lambda lift: add(lift, 0, 5))]), threads, out)
    assert found.tolist() == [5] * threads + [0] * (256 - threads)


def test_lanes_stay_in_a_loop_as_often_as_they_want(lanes, rng):
    """Then go on together; the last lane longest, or not at all."""
    turns = rng.integers(0, 9, 3 * lanes).astype(np.int32)
    turns[lanes - 1], turns[2 * lanes - 1] = 20, 0

    def turn(lift):
        add(lift, 1, 1)
        add(lift, 0, -1)
        leave(lift, lift.nonzero(lift.load(0, I32)))

    blocks = [
        Block(lambda lift: leave(lift, lift.nonzero(lift.load(0, I32))), Ending.BRANCH, 1, 2),
        Block(turn, Ending.BRANCH, 1, 2),
        Block(lambda lift: add(lift, 1, 1000)),
    ]
    found = run(Kernel(lanes, blocks), len(turns), turns, np.zeros(len(turns), np.int32))
    assert found[1].tolist() == (turns + 1000).tolist()


def test_each_lane_goes_to_a_block_of_its_own(lanes, rng):
    targets = rng.integers(1, 4, 2 * lanes).astype(np.int64)

    def jump(lift):
        lift.b.store_vector(lift.b.scratch(), lift.load(0, I64), lift.b.active)

    others = [Block(lambda lift, k=k: add(lift, 1, 10 * k)) for k in (1, 2, 3)]
    blocks = [Block(jump, Ending.INDIRECT), *others]
    found = run(Kernel(lanes, blocks), len(targets), targets, np.zeros(len(targets), np.int32))
    assert found[1].tolist() == (10 * targets).tolist()


def test_lanes_meet_at_barriers_of_different_numbers(lanes):
    """Even threads at barrier 3, odd ones at 5: each writes, then reads its neighbour's but one."""
    threads = 4 * lanes

    def arrive(lift):
        b = lift.b
        lift.store(0, Value(b.ir.add(lift.thread().ir, b.constant(I32, 100).ir), I32))
        odd = b.ir.and_(lift.thread().ir, b.constant(I32, 1).ir)
        number = b.ir.add(b.ir.shl(odd, b.constant(I32, 1).ir), b.constant(I32, 3).ir)
        b.store_vector(b.scratch(), resize(b, Value(number, I32), I64))
        count = b.offset(b.scratch(), 8 * b.lanes)
        b.store_vector(count, b.constant(I64, threads // 2))

    def read(lift):
        b = lift.b
        other = b.ir.xor(lift.thread().ir, b.constant(I32, threads // 2).ir)
        lift.store(1, lift.load(0, I32, Value(other, I32)))

    fields = {"barrier": -1}
    blocks = [Block(arrive, Ending.BARRIER, taken=1, fields=fields), Block(read)]
    found = run(Kernel(lanes, blocks), threads, *np.zeros((2, threads), np.int32))
    assert found[1].tolist() == [100 + (n ^ threads // 2) for n in range(threads)]


@pytest.mark.parametrize("expected, opens", [(2, True), (3, False)])
def test_a_warp_that_is_not_full_counts_in_full_at_a_barrier(lanes, expected, opens):
    """A barrier for so many whole warps, of which there are one and a half."""
    fields = {"barrier": 1, "threads": expected * lanes}
    blocks = [
        Block(lambda lift: add(lift, 0, 1), Ending.BARRIER, taken=1, fields=fields),
        Block(lambda lift: add(lift, 0, 2)),
    ]
    threads, out = lanes + lanes // 2, np.zeros(2 * lanes, np.int32)
    if opens:
        [found] = run(Kernel(lanes, blocks), threads, out)
        assert found.tolist() == [3] * threads + [0] * (2 * lanes - threads)
    else:
        with pytest.raises(LaunchError, match="deadlock"):
            run(Kernel(lanes, blocks), threads, out)


def test_a_reduction_over_a_barrier_counts_all_lanes(lanes, rng):
    chosen = (rng.random(3 * lanes) < 0.5).astype(np.int32)
    chosen[lanes - 1 :: lanes] = 1

    def arrive(lift):
        b = lift.b
        holds = b.bits_of(lift.nonzero(lift.load(0, I32)))
        b.set_field("barrier_lanes", b.ir.zext(holds, I64.element))

    def read(lift):
        b = lift.b
        word = b.load_vector(b.offset(b.scratch(), 8 * result_word(b.lanes)), I64)
        lift.store(1, resize(b, word, I32))

    blocks = [Block(arrive, Ending.BARRIER, taken=1, fields={"reduces": 1}), Block(read)]
    found = run(Kernel(lanes, blocks), len(chosen), chosen, np.zeros(len(chosen), np.int32))
    assert set(found[1].tolist()) == {int(chosen.sum()) << 2 | 2 | int(chosen.all())}


@pytest.mark.parametrize("lane", [0, -1])
def test_a_trap_is_the_fault_of_its_lane(lanes, lane):
    trapped = np.zeros(lanes, np.int32)
    trapped[lane] = 1
    blocks = [
        Block(lambda lift: leave(lift, lift.nonzero(lift.load(0, I32))), Ending.TRAP, next=1),
        Block(lambda lift: None),
    ]
    with pytest.raises(LaunchError) as caught:
        run(Kernel(lanes, blocks), lanes, trapped)
    assert (caught.value.kind, caught.value.thread) == ("trap", (lane % lanes, 0, 0))


def test_all_lanes_that_leave_are_no_fault(lanes):
    """As many ones as a block returns after a fault, in warps of 64."""
    blocks = [
        Block(lambda lift: add(lift, 0, 1), Ending.BRANCH, 1),
        Block(lambda lift: add(lift, 0, 2), Ending.EXIT),
    ]
    [found] = run(Kernel(lanes, blocks), 2 * lanes, np.zeros(2 * lanes, np.int32))
    assert found.tolist() == [3] * 2 * lanes


def test_a_stream_tells_lanes_and_addresses(lanes, rng):
    """A guarded instruction: which lanes, and where they read."""
    chosen, index = (rng.random(lanes) < 0.4).astype(np.int32), rng.permutation(lanes)
    chosen[-1] = 1

    def block(lift):
        everyone = lift.b.active
        leave(lift, lift.nonzero(lift.load(0, I32)))
        lift.stream.lanes(lift.number)
        access = lift.access(2, lift.load(1, I64), 4)
        lift.record_addresses(access.address)
        lift.b.active = everyone

    kernel = Kernel(lanes, [Block(block)], Recording.EVERYTHING, widths=[4])
    with launch(kernel, lanes, chosen, index, np.zeros(lanes, np.int32)) as (execute, _):
        [cta] = execute.ctas()
    mask = sum(1 << int(k) for k in np.flatnonzero(chosen))
    assert [int(m) % (1 << 64) for m in cta.runs["mask"]] == [mask]
    found = cta.pool[: chosen.sum()]
    assert (found - found[0]).tolist() == (4 * (index[chosen > 0] - index[chosen > 0][0])).tolist()
