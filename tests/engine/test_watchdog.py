"""When nothing can move any more, the run ends and says who waits for whom."""

import pytest

from lockstep.builder import KernelBuilder, program
from lockstep.engine import run
from lockstep.engine.kernels import KernelTable
from lockstep.engine.machine import Machine
from lockstep.engine.record import totals
from lockstep.engine.streams import Streams
from lockstep.engine.watchdog import MOST_WARPS, explain
from lockstep.model.cache import l2_stalls
from lockstep.model.clock import NEVER
from lockstep.model.core.state import LONG
from lockstep.model.counters import Stall
from lockstep.model.memory import QUEUE


def crossed(warps=2, grid=1):
    """Half of the warps wait at one barrier, the others at another."""
    k = KernelBuilder("crossed", grid=grid, block=32 * warps)
    k("FFMA R1, R2, R3, R4")
    with k.lanes(lambda at: at.warp % 2 == 0):
        k("BAR.SYNC 0x1")
    with k.lanes(lambda at: at.warp % 2 == 1):
        k("BAR.SYNC 0x2")
    return k.workload()


def test_a_deadlock_ends_the_run_with_the_chain_and_what_there_is(small):
    gpu = small()
    result = run(crossed(), gpu, cta_events=True, interval=100)
    lines = result.stopped.splitlines()
    assert lines[0].startswith("deadlock at cycle ")
    assert lines[1] == "kernel 1 (crossed): 1 CTAs unfinished"
    assert lines[2].startswith("SM 0 warp 0 (CTA 0, next pc 0x")
    assert lines[2].endswith("waits: barrier 1: 1 of 2 warps arrived")
    assert lines[3].endswith("waits: barrier 2: 1 of 2 warps arrived")
    (k,) = result.kernels
    assert not k.complete and k.warp_instructions == 4
    total = totals(k.sm)
    assert total["warp_instructions"] == 4
    assert total["active_cycles"] * gpu.sm.subcores == total["stalls"].sum()
    assert total["stalls"][Stall.BARRIER] > 0
    assert len(result.cta_events) == 0


def test_only_the_first_warps_are_listed(small):
    text = run(crossed(warps=12), small()).stopped
    assert text.count(" waits: ") == MOST_WARPS
    assert "... and 4 more warps" in text


def test_a_deadlock_of_one_kernel_keeps_the_finished_ones(small):
    fine = KernelBuilder("fine", grid=2, block=32)
    result = run(program(fine, crossed(), fine), small())
    assert [(k.name, k.complete) for k in result.kernels] == [("fine", True), ("crossed", False)]


@pytest.fixture
def stuck(small):
    """(table, state) with one warp that waits for register 5, whose load never returns."""
    k = KernelBuilder("stuck", grid=1, block=32)
    k("LDG.E R5, [R2]", address=0x7F0000000000)
    k("MOV R1, R5")
    machine = Machine(small(), 1, {})
    machine.close()
    streams = Streams(machine.sm, machine.dispatcher, machine.own_sms)
    table = KernelTable(streams, machine.gpu)
    table.start(k.kernel(), 0)
    sm = streams.sm
    warp = sm.warps[1, 3]
    warp.active, warp.left, warp.static, warp.barrier = 1, 1, 1, -1
    sm.looks[1, 3].reason, warp.outstanding = Stall.LONG_SCOREBOARD, 1
    sm.ready[1, 3, 5] = NEVER << 2 | LONG
    sm.l1.entries[1]["pending"][7], sm.l1.entries[1]["line"][7] = 0b0001, 7
    return table, sm, machine.memory


def test_a_load_that_never_returns_is_named(stuck):
    text = explain(stuck[0], stuck[2], {}, 777)
    assert text.splitlines() == [
        "deadlock at cycle 777: no unit can move",
        "kernel 1 (stuck): 1 CTAs unfinished",
        "SM 1 warp 3 (CTA 0, next pc 0x10 MOV, MOVE) waits: "
        "long scoreboard for register 5, 1 memory operations outstanding",
        "SM 1: 1 L1 misses in flight (lines at 0x380), miss queue 0",
    ]


def test_a_blocked_l1_stage_is_named(stuck):
    table, sm, memory = stuck
    sm.sms[1].current, sm.sms[1].blocked = 0, 650
    sm.l1.caches[1].queue_count = 16
    last = explain(table, memory, {}, 777).splitlines()[-1]
    assert last == (
        "SM 1: 1 L1 misses in flight (lines at 0x380), miss queue 16, "
        "L1 stage blocked since cycle 650"
    )


def test_who_waits_for_an_entry_and_who_was_refused_are_named(stuck):
    table, sm, memory = stuck
    sm.l1.entries[1]["pending"][:5] = 0b0001
    sm.l1.caches[1].waiting_count, sm.l1.caches[1].retry_count = 2, 3
    sm.l1.waiting[1, 0].line = 9
    sm.l1.retries[1, 0].line, sm.l1.retries[1, 0].refusals = 10, 64
    last = explain(table, memory, {}, 777).splitlines()[-1]
    assert last == (
        "SM 1: 6 L1 misses in flight (lines at 0x0, 0x0, 0x0 and 3 more), miss queue 0, "
        "2 reads wait for an entry, the first for 0x480, "
        "3 refused requests, the first for 0x500 after 64 refusals"
    )


def test_slices_that_cannot_go_on_are_named(stuck):
    table, _, memory = stuck
    for n in range(4):
        cache = memory.l2.slices[n]
        cache.stalled, cache.stalled_since, cache.mshrs = l2_stalls.STALL_MSHR, 40 + n, 8
        index = int(cache.free)
        cache.head[QUEUE], cache.count[QUEUE] = index, 1
        memory.l2.entries[index].line, memory.l2.entries[index].source = 3 + n, 1
    lines = explain(table, memory, {}, 777).splitlines()
    assert lines[-4] == (
        "L2 slice 0: 1 requests, the first for 0x180 of SM 1 waits for an MSHR entry since "
        "cycle 40; 8 sectors in flight"
    )
    assert lines[-1] == "... and 1 more slices"


def never(records, first, count, now):
    return -1


def never_a_warp(warps, first, count, last, now):
    return -1


def test_a_scheduler_that_never_chooses_is_named(small, monkeypatch):
    monkeypatch.setattr("lockstep.engine.watchdog.STALLED_CYCLES", 1000)
    k = KernelBuilder("two", grid=1, block=64)
    k("FFMA R1, R2, R3, R4")
    text = run(k.workload(), small(), policies={"scheduler": never_a_warp}).stopped
    line = never_a_warp.__code__.co_firstlineno
    expected = f"the scheduler policy never_a_warp ({__file__}, line {line}) chose none of 2 warps"
    assert text.splitlines()[1] == f"{expected} that can issue"


def test_a_dram_scheduler_that_never_chooses_is_named(small, monkeypatch):
    monkeypatch.setattr("lockstep.engine.watchdog.STALLED_CYCLES", 1000)
    k = KernelBuilder("loads", grid=1, block=32)
    k("LDG.E R5, [R2]", address=0x7F0000000000)
    k("MOV R1, R5")
    text = run(k.workload(), small(), policies={"dram_scheduler": never}).stopped
    line = never.__code__.co_firstlineno
    expected = f"the dram_scheduler policy never ({__file__}, line {line}) chose none of 1 requests"
    assert text.splitlines()[1] == expected
