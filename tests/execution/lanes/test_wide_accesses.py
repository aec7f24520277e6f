"""Loads, stores and atomics in warps of 32 and of 64 lanes, against NumPy."""

import numpy as np
import pytest

from lane_kernels import KINDS, WARPS, Block, Kernel, launch, masks, run
from lockstep.execution.checks.kinds import Check
from lockstep.execution.lanes import counting, memory
from lockstep.execution.lanes.addresses import Access, lane_numbers
from lockstep.execution.lanes.atomics import atomic, first_of_each_bank
from lockstep.execution.lanes.types import I32, I64, Value
from lockstep.execution.launches.faults import LaunchError
from lockstep.execution.programs.profile import Profile
from lockstep.execution.programs.program import Ending, Recording
from lockstep.execution.state import Memory, Window

SIZE = 4096  # elements of the array that is accessed


def indices(rng, pattern, lanes):
    """The element that each thread accesses."""
    threads = np.arange(WARPS * lanes)
    return {
        "neighbours": threads + 7,
        "halves": threads % (lanes // 2) + threads // (lanes // 2) * 100,
        "same": np.repeat(rng.integers(0, 1000, WARPS * 2), lanes // 2),
        "any": rng.integers(0, 1000, len(threads)),
    }[pattern].astype(np.int32)


PATTERNS = ["neighbours", "halves", "same", "any"]


def guarded(lift, mask):
    """Only threads whose element of an array is not zero."""
    return lift.b.guarded(lift.nonzero(lift.load(mask, I32)))


def patterns(rng, lanes):
    """(name, elements of the threads, which threads are active) of every kind of access."""
    for pattern in PATTERNS:
        for everyone in (False, True):
            active = masks(rng, lanes, WARPS) | everyone
            yield f"{pattern}, {everyone}", indices(rng, pattern, lanes), active


BRIEF = pytest.mark.parametrize("brief", [False, True])  # routines instead of what is inline


@BRIEF
@pytest.mark.parametrize("kind", [np.uint8, np.uint16, np.uint32, np.uint64])
def test_loads(lanes, rng, kind, brief):
    data = rng.integers(0, 256, SIZE * 8, np.uint8).view(kind)[:SIZE]

    def block(lift):
        with guarded(lift, 0):
            lift.store(3, lift.load(2, KINDS[data.dtype.name], lift.load(1, I32)))

    kernel, out = Kernel(lanes, [Block(block)]), np.zeros(WARPS * lanes, kind)
    kernel.for_debuggers = brief
    for name, index, active in patterns(rng, lanes):
        found = run(kernel, len(active), active.astype(np.int32), index, data, out)
        np.testing.assert_array_equal(found[3], np.where(active, data[index], 0), name)


@BRIEF
@pytest.mark.parametrize("count", [2, 4])
def test_vectors_are_moved(lanes, rng, count, brief):
    """Element by element in memory's order; of lanes that write one place the last one wins."""
    data = rng.integers(0, 1 << 32, (SIZE, count), np.uint32)

    def block(lift):
        with guarded(lift, 0):
            place = lift.load(1, I32)
            values = memory.load(lift.b, lift.access(2, place, 4, count), I32, count)
            memory.store(
                lift.b, lift.access(3, place, 4, count), [_more(lift.b, v) for v in values]
            )

    kernel, out = Kernel(lanes, [Block(block)]), np.zeros_like(data)
    kernel.for_debuggers = brief
    for name, index, active in patterns(rng, lanes):
        found = run(kernel, len(active), active.astype(np.int32), index, data, out)[3]
        expected = np.zeros_like(data)
        threads = np.arange(WARPS * lanes, dtype=np.uint32)[:, None]
        changed = data[index] + threads % np.uint32(lanes)
        for thread in np.flatnonzero(active):
            expected[index[thread]] = changed[thread]
        np.testing.assert_array_equal(found, expected, name)


def _more(b, value):
    return Value(b.ir.add(value.ir, lane_numbers(b, I32).ir), I32)


@BRIEF
def test_shared_and_local_memory(lanes, active, rng, brief):
    """Each thread leaves a word in both and reads that of another thread, and its own."""
    words = rng.integers(0, 1 << 32, len(active), np.uint32)
    other = rng.permutation(len(active)).astype(np.int32)

    def place(lift, index):
        return Value(lift.b.ir.shl(index.ir, lift.b.constant(I32, 2).ir), I32)

    def writes(lift):
        b, value = lift.b, lift.load(1, I32)
        shared = Access(Window.SHARED, place(lift, lift.thread()), 4, lift.site(Window.SHARED))
        memory.store(b, shared, [value])
        local = Access(Window.LOCAL, b.constant(I32, 4), 4, lift.site(Window.LOCAL))
        memory.store(b, local, [value])

    def reads(lift):
        with guarded(lift, 0):
            b, index = lift.b, lift.load(2, I32)
            shared = Access(Window.SHARED, place(lift, index), 4, lift.site(Window.SHARED))
            lift.store(3, memory.load(b, shared, I32)[0])
            local = Access(Window.LOCAL, b.constant(I32, 4), 4, lift.site(Window.LOCAL))
            lift.store(4, memory.load(b, local, I32)[0])

    blocks = [Block(writes, Ending.BARRIER, taken=1), Block(reads)]
    kernel = Kernel(lanes, blocks, shared_bytes=4 * len(active), local_bytes=16)
    kernel.for_debuggers = brief
    outs = [np.zeros(len(active), np.uint32)] * 2
    found = run(kernel, len(active), active.astype(np.int32), words, other, *outs)
    np.testing.assert_array_equal(found[3], np.where(active, words[other], 0))
    np.testing.assert_array_equal(found[4], np.where(active, words, 0))


OPERATIONS = {
    "add": lambda old, value: old + value,
    "max": max,
    "xor": lambda old, value: old ^ value,
    "exch": lambda old, value: value,
    "inc": lambda old, value: 0 if old >= value else old + 1,
}


@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize("kind", [np.uint32, np.uint64])
def test_atomics_change_memory_lane_by_lane(lanes, active, rng, operation, kind):
    element = KINDS[np.dtype(kind).name]
    index = rng.integers(0, 9, len(active)).astype(np.int32)
    values = rng.integers(0, 50, len(active)).astype(kind)

    def block(lift):
        with guarded(lift, 0):
            place, value = lift.load(1, I32), lift.load(2, element)
            access = lift.access(3, place, element.bytes)
            lift.store(4, atomic(lift.b, access, operation, element, [[value]])[0])

    memory_before = rng.integers(0, 50, 9).astype(kind)
    arrays = [active.astype(np.int32), index, values, memory_before, np.zeros(len(active), kind)]
    found = run(Kernel(lanes, [Block(block)]), len(active), *arrays)
    now, before = memory_before.tolist(), [0] * len(active)
    for thread in np.flatnonzero(active):
        before[thread] = now[index[thread]]
        now[index[thread]] = OPERATIONS[operation](now[index[thread]], int(values[thread]))
    assert found[3].tolist() == [n % (1 << 8 * element.bytes) for n in now]
    assert found[4].tolist() == before


def test_the_first_lanes_of_each_bank(lanes, active, rng):
    address = (4 * rng.integers(0, 1 << 10, len(active))).astype(np.uint32)

    def block(lift):
        with guarded(lift, 0):
            first = first_of_each_bank(lift.b, lift.load(1, I32), 4)
            lift.store(2, lift.b.select(first, lift.b.constant(I32, 1), lift.b.constant(I32, 2)))

    arrays = [active.astype(np.int32), address, np.zeros(len(active), np.uint32)]
    found = run(Kernel(lanes, [Block(block)]), len(active), *arrays)[2]
    expected = np.zeros(len(active), np.uint32)
    for warp in range(WARPS):
        taken = set()
        for thread in range(warp * lanes, (warp + 1) * lanes):
            if active[thread]:
                bank = int(address[thread]) // 4 % 32
                expected[thread] = 2 if bank in taken else 1
                taken.add(bank)
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("pattern", PATTERNS)
@pytest.mark.parametrize("everyone", [False, True])
def test_lanes_and_sectors_are_counted(lanes, active, rng, pattern, everyone):
    """Of global memory 32 bytes each; of local memory words of eight threads side by side."""
    index = indices(rng, pattern, lanes)
    active |= everyone

    def block(lift):
        with guarded(lift, 0):
            b, address = lift.b, lift.access(2, lift.load(1, I32), 4).address
            start = b.splat(lift.argument(2), I64)
            offset = Value(b.ir.sub(address.ir, start.ir), I64)
            counting.count_lanes(b, lift.number)
            counting.count_access(b, lift.number, Memory.GLOBAL, 4, address)
            counting.count_access(b, lift.number, Memory.LOCAL, 4, offset)

    kernel = Kernel(lanes, [Block(block)], Recording.PROFILE)
    arrays = [active.astype(np.int32), index, np.zeros(SIZE, np.uint32)]
    with launch(kernel, len(active), *arrays) as (execute, _):
        profile = Profile(execute.program, 1)
        execute.run(profile)
    [counter] = profile._counters
    rows = list(zip(active.reshape(WARPS, lanes), index.reshape(WARPS, lanes)))
    assert counter["lanes"] == active.sum()
    assert counter["times"] == sum(on.any() for on, _ in rows)
    sectors = [{n // 8 for n in row[on].tolist()} for on, row in rows]
    groups = np.arange(lanes) // 8
    words = [set(zip(row[on].tolist(), groups[on].tolist())) for on, row in rows]
    assert counter["sectors"][Memory.GLOBAL] == sum(map(len, sectors))
    assert counter["sectors"][Memory.LOCAL] == sum(map(len, words))


def test_reads_of_what_some_lanes_did_not_write_are_found(lanes, active):
    def shared(lift):
        place = lift.b.ir.shl(lift.thread().ir, lift.b.constant(I32, 2).ir)
        return Access(Window.SHARED, Value(place, I32), 4, lift.site(Window.SHARED))

    def writes(lift):
        with guarded(lift, 0):
            memory.store(lift.b, shared(lift), [lift.b.constant(I32, 1)])

    blocks = [
        Block(writes, Ending.BARRIER, taken=1),
        Block(lambda lift: memory.load(lift.b, shared(lift), I32)),
    ]
    kernel = Kernel(lanes, blocks, Recording.INIT, shared_bytes=4 * len(active))
    with launch(kernel, len(active), active.astype(np.int32), checks=Check.INIT) as (execute, _):
        execute.run()
        [finding] = execute.findings
    assert (finding.kind, finding.count) == ("unwritten_read", (~active).sum())
    assert finding.thread == (int(np.flatnonzero(~active)[0]), 0, 0)


def test_an_access_outside_of_the_last_lane_alone_is_its_fault(lanes):
    index = np.zeros(lanes, np.int32)
    index[-1] = 1 << 20

    def block(lift):
        lift.store(1, lift.load(1, I32, lift.load(0, I32)))

    with pytest.raises(LaunchError) as caught:
        run(Kernel(lanes, [Block(block)]), lanes, index, np.zeros(lanes, np.uint32))
    assert (caught.value.kind, caught.value.thread) == ("illegal_address", (lanes - 1, 0, 0))
