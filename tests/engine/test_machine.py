"""The machine: windows of time, threads, and a user's policies."""

import gc
import threading
import weakref

import pytest

from lockstep.engine import machine, run
from lockstep.engine.machine import Machine
from lockstep.gpus import library
from lockstep.model.cache.prefetch.stream import stream
from lockstep.model.cache.prefetch.stride import stride
from lockstep.model.clock import NEVER
from lockstep.model.records import StateMemory


@pytest.mark.parametrize("threads", [1, 2, 3, 50])
def test_an_idle_machine_has_nothing_to_do(small, threads):
    gpu = small(sm__count=3, dram__channels=5, dram__refresh=False)
    machine = Machine(gpu, threads, {})
    window = gpu.interconnect.latency
    assert machine.run_windows(0, NEVER, NEVER, 10) == (window, NEVER)
    assert machine.run_windows(100, 130, NEVER, 10) == (130, NEVER), "a window ends at the cut"
    assert machine.next_dispatch(0) == NEVER and machine.take_retired() == []
    machine.close()


def test_there_are_no_more_threads_than_sms(small):
    before = threading.active_count()
    machine = Machine(small(sm__count=3), 50, {})
    assert threading.active_count() == before + 2
    machine.close()
    assert threading.active_count() == before


def oldest(warps, first, count, last, now):
    for i in range(count):
        if warps[first + i].ready:
            return i
    return -1


def least_recently_used(ways, first, count, now):
    best = -1
    for k in range(count):
        if best < 0 or ways[first + k].used < ways[first + best].used:
            best = k
    return best


def in_turn(line_address, slices):
    return line_address // 256


@pytest.mark.parametrize(
    "name, policy, builtin",
    [
        ("scheduler", oldest, {"sm.scheduler.policy": "oldest"}),
        ("slice_hash", in_turn, {"l2.slice_hash": "linear"}),
        ("l1_replacement", least_recently_used, {"l1.replacement": "lru"}),
        ("l1_prefetcher", stride, {"l1.prefetcher": "stride"}),
        ("l2_prefetcher", stream, {"l2.prefetcher": "stream"}),
    ],
)
def test_a_users_policy_can_do_what_the_built_in_one_does(small, mixed, raw, name, policy, builtin):
    tight = {"l1.bytes": 4096, "l1.carveouts": (), "l2.sets": 2, "l2.ways": 4}
    gpu = small(**tight)
    workload = mixed().workload()
    expected = run(workload, library.replace(gpu, **builtin))
    assert raw(run(workload, gpu, policies={name: policy})) == raw(expected)


def test_policies_of_one_run_are_gone_in_the_next(small, mixed, raw):
    def always_zero(line_address, slices):
        return 0

    workload, gpu = mixed().workload(), small()
    before = run(workload, gpu)
    assert raw(run(workload, gpu, policies={"slice_hash": always_zero})) != raw(before)
    assert raw(run(workload, gpu)) == raw(before)


def test_a_long_run_asks_for_large_pages_once_and_gives_the_same(small, mixed, raw, monkeypatch):
    workload, gpu, asked = mixed().workload(), small(), []
    plain = run(workload, gpu)
    monkeypatch.setattr(machine, "SMALL_PAGES", 1e-9)
    original = StateMemory.use_large_pages
    monkeypatch.setattr(StateMemory, "use_large_pages", lambda s: asked.append(s) or original(s))
    assert raw(run(workload, gpu)) == raw(plain)
    assert len(asked) == 1


def test_a_machine_is_gone_when_nobody_needs_it(small):
    """Garbage is looked for rarely, and what a machine takes is much address space."""
    machine = Machine(small(), 1, {})
    state = weakref.ref(machine.memory.counters.base)
    machine.close()
    gc.disable()
    try:
        assert state() is not None
        del machine
        assert state() is None
    finally:
        gc.enable()
