"""Managed memory that migrates: faults, moves, accesses over the link, on a small GPU."""

from dataclasses import replace
from itertools import pairwise

import pytest

from lockstep.builder import KernelBuilder
from lockstep.engine import run
from lockstep.engine.host.costs import Costs
from lockstep.errors import LockstepError
from lockstep.host_calls import Direction, HostAccess, Managed, Synchronize
from lockstep.workload import Workload

BUFFER, SIZE = 0x7F0000000000, 65536


@pytest.fixture(scope="module")
def migrating(small):
    """Function from overrides of the host to a small GPU whose managed memory migrates."""

    def make(**changes):
        changes = {"copy": "timed", "memory": "migrating", "fault_ns": 3000} | changes
        return small(**{f"host__{name}": value for name, value in changes.items()})

    return make


@pytest.fixture(scope="module")
def kernel():
    """Function that makes a kernel of so many CTAs, which read 4 KiB each, or one of 256 a page."""

    def make(ctas, number=1, stride=16):
        k = KernelBuilder("reads", grid=ctas, block=256)
        k("LDG.E.128 R4, [R2]", address=k.coalesced(BUFFER, stride))
        k("FFMA R8, R4, R5, R8")
        k("EXIT")
        return replace(k.workload().kernels[0], id=number)

    return make


def simulated(gpu, *commands, **options):
    return run(Workload("w", commands), gpu, **options)


def test_a_page_faults_once_and_moves(migrating, kernel):
    gpu = migrating()
    costs = Costs(gpu)
    there = simulated(gpu, kernel(4))
    moved = simulated(gpu, Managed(BUFFER, SIZE), kernel(4))
    counts = moved.host.pages
    assert (counts.faults, counts.migrated_bytes, counts.thrash) == (1, SIZE, 0)
    (copy,) = moved.host.copies
    assert (copy.direction, copy.engine, copy.bytes) == (Direction.TO_DEVICE, -1, SIZE)
    assert copy.end - copy.start == costs.on_link(SIZE)
    fault = costs.clock.cycle(3_000_000 + costs.on_link(SIZE) + costs.latency)
    longer = moved.kernels[0].cycles - there.kernels[0].cycles
    assert fault - 500 < longer < fault + 120, "its lines come from the L2 then, not the DRAM"
    assert moved.partition["copy_sectors"].sum() == SIZE // 32


def test_a_page_that_is_here_is_not_asked_for_again(migrating, kernel):
    gpu = migrating()
    first, second = simulated(gpu, Managed(BUFFER, SIZE), kernel(4), kernel(4, 2)).kernels
    assert second.cycles < first.cycles / 3
    freed = simulated(gpu, Managed(BUFFER, SIZE), Managed(BUFFER, SIZE, managed=False), kernel(4))
    assert freed.host.pages.faults == 0


def test_memory_beside_managed_memory_does_not_wait(migrating, kernel):
    gpu = migrating()
    whole = simulated(gpu, Managed(BUFFER + SIZE, SIZE), kernel(4))
    assert whole.host.pages.faults == 0
    assert whole.kernels[0].cycles == simulated(gpu, kernel(4)).kernels[0].cycles


def test_faults_are_served_together_and_pages_share_the_link(migrating, kernel):
    gpu = migrating(fault_ns=50_000)
    whole = simulated(gpu, Managed(BUFFER, 4 * SIZE), kernel(4, stride=256))
    link = Costs(gpu).on_link(SIZE)
    starts = sorted(copy.start for copy in whole.host.copies)
    assert whole.host.pages.faults == 4
    assert starts[3] - starts[0] < 50_000_000, "not one fault after the other"
    assert all(b - a >= link for a, b in pairwise(starts))


def test_pages_that_the_host_needs_come_back(migrating, kernel):
    gpu = migrating()
    whole = simulated(
        gpu,
        Managed(BUFFER, SIZE),
        kernel(4),
        Synchronize(),
        HostAccess(BUFFER, 4),
        kernel(4, 2),
        Synchronize(),
        HostAccess(BUFFER + SIZE, 4),
    )
    counts = whole.host.pages
    assert (counts.faults, counts.thrash, counts.returned_bytes) == (2, 1, SIZE)
    back = next(copy for copy in whole.host.copies if copy.direction is Direction.TO_HOST)
    access = next(call for call in whole.host.calls if call.name == "access")
    costs = Costs(gpu)
    assert access.end - access.start == 3_000_000 + costs.on_link(SIZE) + costs.latency
    assert back.end == access.end - costs.latency


def test_with_access_counters_a_page_moves_when_it_is_used_often(migrating, kernel):
    few = migrating(migration="access_counters", migration_accesses=1000)
    remote = simulated(few, Managed(BUFFER, SIZE), kernel(4)).host.pages
    assert (remote.faults, remote.migrated_bytes, remote.remote_accesses) == (0, 0, 128)
    often = migrating(migration="access_counters", migration_accesses=20, fault_ns=100)
    whole = simulated(often, Managed(BUFFER, SIZE), kernel(16))
    assert whole.host.pages.faults == 1
    assert 20 <= whole.host.pages.remote_accesses < 512
    touch = simulated(migrating(fault_ns=100), Managed(BUFFER, SIZE), kernel(16))
    assert touch.host.pages.remote_accesses == 0


def test_an_access_over_the_link_takes_its_latency(migrating, kernel):
    """One line: its SM waits for the link, and for the window in which it asked to end."""
    k = KernelBuilder("one", grid=1, block=32)
    k("LDG.E R4, [R2]", address=k.coalesced(BUFFER))
    k("FFMA R8, R4, R5, R8")
    k("EXIT")
    gpu = migrating(migration="access_counters")
    (one,) = k.workload().kernels
    here = simulated(gpu, one).kernels[0].cycles
    there = simulated(gpu, Managed(BUFFER, SIZE), one).kernels[0].cycles
    costs = Costs(gpu)
    latency = costs.clock.cycle(2 * costs.latency + costs.on_link(128))
    assert latency <= there - here <= latency + 2 * gpu.interconnect.latency


@pytest.mark.parametrize("threads", [1, 2])
def test_threads_change_nothing(migrating, kernel, raw, threads):
    gpu = migrating(migration="access_counters", migration_accesses=20, fault_ns=500)
    whole = simulated(gpu, Managed(BUFFER, 4 * SIZE), kernel(48), threads=threads)
    once = simulated(gpu, Managed(BUFFER, 4 * SIZE), kernel(48))
    assert raw(whole) == raw(once) and whole.host == once.host
    with pytest.raises(LockstepError, match=r"host\.memory = migrating.*runs on one rank"):
        simulated(gpu, kernel(4), ranks=2)
