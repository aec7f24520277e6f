"""A GPU whose memory is modelled outside: what it is asked, when, and what its answers do."""

import contextlib
import gc
import weakref
from dataclasses import replace

import numpy as np
import pytest

import lockstep
from fixed_memory import FixedMemory
from lockstep.builder import KernelBuilder
from lockstep.engine import outside
from lockstep.errors import LockstepError
from lockstep.outside import ANSWER, Kind

BASE = 0x7F0000000000


@pytest.fixture(scope="module")
def gpu(small):
    return small()


@pytest.fixture(scope="module")
def one_load():
    """A warp that loads a line and needs it."""
    k = KernelBuilder("one", grid=1, block=32)
    k("LDG.E R4, [R2]", address=k.coalesced(BASE))
    k("FADD R5, R4, R4")
    k("EXIT")
    return k.workload()


@pytest.fixture(scope="module")
def kinds():
    """A warp that reads half a line, writes one, updates two words."""
    k = KernelBuilder("kinds", grid=1, block=32)
    with k.lanes(lambda at: at.lane < 16):
        k("LDG.E R4, [R2]", address=k.coalesced(BASE))
    k("STG.E [R2], R4", address=k.coalesced(BASE + 0x1000))
    k("ATOMG.E.ADD.STRONG.GPU PT, R6, [R2], R4", address=k.broadcast(BASE + 0x2000))
    k("RED.E.ADD.STRONG.GPU [R2], R4", address=k.broadcast(BASE + 0x3020))
    k("EXIT")
    return k.workload()


@pytest.fixture(scope="module")
def busy(mixed):
    return mixed().workload()


def run(workload, gpu, memory, **options):
    return lockstep.simulate(workload, gpu, outside=memory, **options)


def test_a_load_takes_as_much_longer_as_the_memory_does(gpu, one_load):
    cycles = {n: run(one_load, gpu, FixedMemory(n)).cycles for n in (0, 1, 59, 60, 61, 500)}
    assert {n: c - cycles[0] for n, c in cycles.items()} == {n: n for n in cycles}


class RefusedMemory(FixedMemory):
    """It answers what nobody asked."""

    def exchange(self, end, requests):
        return np.array([(0, end)], ANSWER)


@pytest.mark.parametrize("memory", [FixedMemory(9), RefusedMemory(9)])
def test_a_run_is_gone_when_nobody_needs_it(monkeypatch, gpu, one_load, memory):
    """Garbage is looked for rarely, and what a run takes is much address space."""
    known, join = [], outside.Outside.join

    def note(self, verdict):
        known.append(weakref.ref(self))
        join(self, verdict)

    monkeypatch.setattr(outside.Outside, "join", note)
    gc.collect()
    gc.disable()
    try:
        with contextlib.suppress(LockstepError):
            run(one_load, gpu, memory)
        assert [each() for each in known] == [None]
    finally:
        gc.enable()


def test_both_ways_take_as_long_as_the_crossbar_does(small, one_load):
    cycles, arrivals = [], []
    for latency in (60, 61, 90):
        memory = FixedMemory(7)
        result = run(one_load, small(interconnect__latency=latency), memory)
        cycles.append(result.cycles)
        arrivals.append(memory.requests[0][2])
    assert [at - arrivals[0] for at in arrivals] == [0, 1, 30]
    assert [n - cycles[0] for n in cycles] == [0, 2, 60]


def test_a_memory_is_told_of_the_gpu_before_all_else(gpu, one_load):
    memory = FixedMemory(10)
    run(one_load, gpu, memory)
    told = memory.interface
    assert (told.gpu, told.sms, told.partitions) == ("QV100", 4, 2)
    assert (told.line_bytes, told.sector_bytes) == (128, 32)
    assert told.in_flight == 4 * 2 * gpu.interconnect.buffer
    assert told.clock_hz == gpu.clock_mhz * 1e6
    assert memory.closed == 1


def test_requests_say_what_they_are(gpu, kinds):
    memory = FixedMemory(20)
    run(kinds, gpu, memory)
    seen = {
        kind: (address, size, sectors, sm)
        for _, address, _, sm, _, size, _, kind, sectors in memory.requests
    }
    assert seen == {
        Kind.READ: (BASE, 64, 0b0011, 0),
        Kind.WRITE: (BASE + 0x1000, 128, 0b1111, 0),
        Kind.ATOMIC: (BASE + 0x2000, 32, 0b0001, 0),
        Kind.REDUCTION: (BASE + 0x3000, 32, 0b0010, 0),
    }
    assert len(memory.requests) == 4


def test_no_request_arrives_in_a_window_that_is_over(gpu, busy):
    memory = FixedMemory(33)
    run(busy, gpu, memory)
    assert len(memory.requests) > 500
    assert memory.ends == sorted(set(memory.ends))

    class Late(FixedMemory):
        def exchange(self, end, requests):
            assert not len(requests) or requests["cycle"].min() >= end
            assert not len(requests) or requests["cycle"].max() < end + self.interface.latency
            return super().exchange(end, requests)

    run(busy, gpu, Late(33))


def test_neither_threads_nor_the_order_of_answers_change_a_result(gpu, busy):
    results = [
        run(busy, gpu, FixedMemory(150, seed), threads=threads)
        for seed, threads in ((0, 1), (1, 1), (2, 2), (3, 4))
    ]
    assert len({result.hash for result in results}) == 1
    assert not results[0].stopped
    slow = run(busy, gpu, FixedMemory(400))
    assert slow.cycles > results[0].cycles + 250


@pytest.mark.parametrize("buffer", [1, 3])
def test_no_more_are_under_way_than_there_are_credits(small, busy, buffer):
    memory = FixedMemory(300)
    result = run(busy, small(interconnect__buffer=buffer), memory)
    assert not result.stopped and max(memory.most.values()) == buffer


def test_answers_wait_for_a_credit_and_none_is_lost(small, busy):
    wide, narrow = FixedMemory(100), FixedMemory(100)
    fast = run(busy, small(interconnect__reply_buffer=64), wide)
    slow = run(busy, small(interconnect__reply_buffer=1), narrow)
    assert not slow.stopped and slow.cycles > fast.cycles
    for result, memory in ((fast, wide), (slow, narrow)):
        assert result.run.sm["noc_replies"].sum() == len(memory.requests) > 500


class Wrong(FixedMemory):
    """Changes the answers that ``spoil`` is given."""

    def __init__(self, spoil):
        super().__init__(100)
        self._spoil = spoil

    def exchange(self, end, requests):
        answers = super().exchange(end, requests)
        return self._spoil(answers, end) if len(answers) else answers


def twice(answers, end):
    return np.concatenate([answers, answers])


def of_nobody(answers, end):
    answers["id"] += 1 << 40
    return answers


def too_late(answers, end):
    answers["cycle"] = end
    return answers


def too_early(answers, end):
    answers["cycle"] = -1
    return answers


def many(answers, end):
    return np.repeat(answers, 1000)


@pytest.mark.parametrize(
    "spoil, text",
    [
        (twice, "answers request 0, which is not under way"),
        (of_nobody, "answers request 1099511627776, which is not under way"),
        (too_late, r"answers request 0 at cycle (\d+): expected one from \d+ to \d+"),
        (too_early, "answers request 0 at cycle -1: expected one from"),
        (many, r"gives 1,000 answers at cycle [\d,]+, more than there are requests under way"),
    ],
)
def test_wrong_answers_are_refused_by_name(gpu, one_load, spoil, text):
    memory = Wrong(spoil)
    with pytest.raises(LockstepError, match=text):
        run(one_load, gpu, memory)
    assert memory.closed == 1


def test_what_goes_wrong_in_a_memory_is_raised(gpu, one_load):
    def fail(answers, end):
        raise ZeroDivisionError("mine")

    with pytest.raises(ZeroDivisionError, match="mine"):
        run(one_load, gpu, Wrong(fail))


@pytest.mark.parametrize("threads", [1, 2])
def test_ctrl_c_while_the_memory_works_ends_the_run_after_the_window(gpu, busy, threads):
    class Interrupted(FixedMemory):
        def exchange(self, end, requests):
            if len(self.ends) == 20:
                raise KeyboardInterrupt
            return super().exchange(end, requests)

    memory = Interrupted(100)
    result = run(busy, gpu, memory, threads=threads)
    last = memory.ends[-1]
    assert f"interrupted at cycle {result.cycles}" in result.stopped
    assert last < result.cycles <= last + gpu.interconnect.latency
    assert len(memory.ends) == 20 and memory.closed == 1


@pytest.mark.long
def test_a_memory_that_never_answers_is_no_endless_run(gpu, one_load):
    result = run(one_load, gpu, Wrong(lambda answers, end: np.zeros(0, ANSWER)))
    assert "deadlock" in result.stopped


def test_another_launch_finds_the_memory_as_it_is(gpu, one_load, kinds):
    memory = FixedMemory(50)
    k = KernelBuilder("again", grid=2, block=64)
    k("LDG.E R4, [R2]", address=k.coalesced(BASE))
    k("EXIT")
    both = replace(one_load, commands=[*one_load.commands, *k.workload().commands])
    result = run(both, gpu, memory)
    assert len(result.run.kernels) == 2
    assert len(memory.requests) == 1 + 2 * 2 and memory.closed == 1


@pytest.mark.parametrize(
    "options, text",
    [
        ({"ranks": 2}, "ranks = 2: an outside memory is joined to a single one"),
        ({"warm": [1]}, "a kernel that is warmed: it changes the L2"),
    ],
)
def test_what_needs_the_l2_is_refused(gpu, one_load, options, text):
    with pytest.raises(LockstepError, match=text):
        run(one_load, gpu, FixedMemory(1), **options)


def test_there_are_no_checkpoints(gpu, one_load, tmp_path):
    with pytest.raises(LockstepError, match="no checkpoint has what an outside memory holds"):
        run(one_load, gpu, FixedMemory(1), checkpoint=tmp_path)


def test_a_protocol_is_refused():
    gpu = lockstep.gpu("HD7770", ["coherence.protocol=si"])
    with pytest.raises(LockstepError, match=r"coherence.protocol = si: an outside memory keeps no"):
        outside.Outside(gpu, None, None, FixedMemory(1))


def test_modules_are_refused():
    with pytest.raises(LockstepError, match=r"modules.count = 4: an outside memory is behind one"):
        outside.Outside(lockstep.gpu("MCM_256"), None, None, FixedMemory(1))
