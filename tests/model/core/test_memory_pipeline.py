"""Memory pipeline: queues, address generation, the arbiter, and the L1 stage."""

from types import SimpleNamespace

import numpy as np
import pytest

from lockstep.builder import KernelBuilder
from lockstep.gpus.units import operations
from lockstep.isa.instruction import OpClass
from lockstep.model.cache import l1, l1_banks, l1_fill
from lockstep.model.cache.prefetch import table
from lockstep.model.core import memory_pipeline, stores
from lockstep.model.counters import Stall
from lockstep.workload import MemoryCopy

pytestmark = pytest.mark.plain
A = 0x7F0000000000


def loads(count, warps=1, text="LDS R{}, [R2]", **sizes):
    """Independent loads of one warp a sub-core."""
    k = KernelBuilder("loads", grid=1, block=32 * warps, shared_bytes=1024, **sizes)
    for n in range(count):
        k(text.format(10 + n), address=0 if "LDS" in text else A)
    return k.workload()


@pytest.mark.parametrize("interval", [1, 4, 7])
@pytest.mark.parametrize("queue", [1, 3])
def test_a_queue_takes_so_many_instructions_and_then_one_an_interval(watch, tiny, queue, interval):
    gpu = tiny(sm__memory__queue=queue, sm__memory__address_interval=interval)
    seen = watch(loads(8), gpu)
    at = seen.of(0)[:8]
    assert at[:queue] == list(range(queue))
    # A place is free in the cycle in which the arbiter takes an instruction with its addresses.
    pace = max(interval, gpu.sm.memory.accept_interval)
    accepted = [interval + n * pace for n in range(8)]
    expected = list(range(queue))
    for n in range(queue, 8):
        expected.append(max(expected[-1] + 1, accepted[n - queue]))
    if interval >= gpu.sm.memory.accept_interval:
        assert at == expected
        assert seen.stalls[Stall.MEMORY_QUEUE] == expected[7] - 7
    assert at[7] >= expected[7]


@pytest.mark.parametrize(
    ("text", "pace"),
    [("LDS R{}, [R2]", 2), ("LDL R{}, [R2]", 2), ("LDG.E R{}, [R2]", 7), ("LD.E R{}, [R2]", 7)],
)
def test_addresses_of_64_bits_take_the_address_generation_longer(watch, tiny, text, pace):
    intervals = {"sm__memory__address_interval": 2, "sm__memory__wide_address_interval": 7}
    seen = watch(loads(5, text=text), tiny(sm__memory__queue=1, **intervals))
    # The queue of one is free again when the arbiter takes the load, two cycles after its turn.
    assert seen.of(0)[:5] == [0, 2, *(2 + pace * n for n in (1, 2, 3))]


@pytest.fixture
def presented(tiny, idle_sms):
    """Function that brings one sector to the L1: (what came of it, the access, the warp)."""
    c = idle_sms(tiny(l1__miss_queue=2))

    def present(op, a=0, now=0):
        access, warp = c.accesses[0, a], c.warps[0, 3]
        access.warp, access.remaining, access.latest = 3, 0, 0
        warp.outstanding, warp.age = 0, 9
        instruction = SimpleNamespace(op=op, cache=0)
        request = memory_pipeline.request_of(c, 0, a, access, instruction)
        transaction = SimpleNamespace(line=7, sectors=1, full=0)
        came = memory_pipeline.present(c, 0, access, request, transaction, now)
        return came, access, warp

    return c, present


def test_an_access_is_told_what_hits_and_what_comes(presented):
    c, present = presented
    came, access, _ = present(OpClass.LOAD, a=5)
    assert (came, access.remaining, access.latest) == (1, 1, 0)
    assert c.l1.nodes[0, 0].waiter == 5
    l1_fill.fill(c.l1, 0, c.counters[0], 0, 1, 0)
    came, access, warp = present(OpClass.LOAD, a=6, now=40)
    assert (came, access.remaining, access.latest) == (0, 0, 40 + c.l1.spec[0].hit_cycles)
    assert warp.outstanding == 0


@pytest.mark.parametrize("op", [OpClass.STORE, OpClass.REDUCTION])
def test_what_is_written_is_outstanding_until_it_is_acknowledged(presented, op):
    c, present = presented
    came, access, warp = present(op)
    assert (came, access.remaining, warp.outstanding) == (0, 0, 1)
    assert c.l1.queue[0, 0].tag == stores.writer_of(warp, 3)
    present(OpClass.ATOMIC)
    came, access, warp = present(op)
    assert (came, access.remaining, warp.outstanding) == (l1.FULL_QUEUE, 0, 0), "it comes again"


def arrivals(seen, latency, warps):
    """When each warp's load was accepted, from the issue of the instruction that needs it."""
    return sorted(seen.of(w)[1] - latency for w in range(warps))


@pytest.mark.parametrize("interval", [1, 2, 5])
def test_the_arbiter_takes_one_instruction_an_interval(watch, tiny, interval):
    gpu = tiny(sm__memory__accept_interval=interval)
    k = KernelBuilder("arbiter", grid=1, block=128, shared_bytes=1024)
    k("LDS R1, [R2]", address=0)
    k("MOV R3, R1")
    seen = watch(k.workload(), gpu)
    assert arrivals(seen, gpu.shared.latency, 4) == [0, interval, 2 * interval, 3 * interval]


def test_the_arbiter_goes_round_the_sub_cores(watch, tiny):
    gpu = tiny(sm__memory__accept_interval=5, sm__memory__address_interval=1)
    k = KernelBuilder("turns", grid=1, block=128, shared_bytes=1024)
    for n in (1, 3):
        k(f"LDS R{n}, [R2]", address=0)
    k("MOV R5, R1")
    k("MOV R6, R3")
    seen = watch(k.workload(), gpu)
    first = [seen.of(w)[2] for w in range(4)]
    assert first == [first[0] + 5 * w for w in range(4)]
    second = [seen.of(w)[3] for w in range(4)]
    assert second == [t + 4 * 5 for t in first], "each sub-core has its turn before the next round"


def test_outstanding_instructions_are_limited(watch, tiny):
    gpu = tiny(sm__memory__outstanding=2, sm__memory__queue=4)
    k = KernelBuilder("limit", grid=1, block=32)
    for n in range(3):
        k(f"LDG.E R{10 + n}, [R2]", address=A + (n << 12))
    seen = watch(k.workload(MemoryCopy(A, 1 << 14)), gpu)
    assert seen.of(0)[:2] == [0, 1]
    assert seen.of(0)[2] >= gpu.l2.latency - gpu.sm.memory.address_interval
    assert seen.stalls[Stall.MEMORY_QUEUE] == seen.of(0)[2] - 2


@pytest.mark.parametrize("text", ["LDG.E R1, [R2]", "LDS R1, [R2]", "STG.E [R2], R4"])
def test_one_outstanding_instruction_at_a_time_still_ends(watch, tiny, text):
    k = KernelBuilder("single", grid=2, block=128, shared_bytes=256)
    for _ in range(3):
        k(text, address=A if "G" in text else 0)
    seen = watch(k.workload(), tiny(sm__memory__outstanding=1))
    assert seen.run.stopped == ""
    assert seen.counters["memory_instructions"] == 2 * 4 * 3


def gather(k, text, lines, sectors=1):
    """Lane k accesses line k % lines; of each line the first sectors."""
    k(text, address=lambda at: A + (at.lane % lines) * 128 + (at.lane // lines % sectors) * 32)


@pytest.mark.parametrize(
    "banks, lines, sectors, cycles",
    [(4, 1, 1, 1), (4, 32, 1, 32), (4, 8, 4, 8), (1, 4, 1, 4), (8, 32, 1, 16)],
)
def test_transactions_go_through_the_l1_while_banks_are_free(
    watch, tiny, banks, lines, sectors, cycles
):
    """Neighbouring lines share their banks when a line covers all of them."""
    gpu = tiny(l1__banks=banks)

    def there(count):
        k = KernelBuilder("banks", grid=1, block=32)
        for _ in range(2):  # the second time all hit
            gather(k, "LDG.E R1, [R2]", count, sectors)
            k("MOV R3, R1")
        at = watch(k.workload(), gpu).of(0)
        return at[3] - at[2]

    assert there(lines) == gpu.l1.latency + cycles - 1


PROMPT = dict.fromkeys(
    [f"sm__memory__{x}_interval" for x in ("address", "wide_address", "accept")], 1
)


@pytest.mark.parametrize(
    "text, offset, cycles",
    [
        ("LDG.E R1, [R2]", lambda lane: 4 * lane, 1),
        ("LDG.E R1, [R2]", lambda lane: 64 + 4 * lane, 1),  # two lines, every bank once
        ("LDG.E R1, [R2]", lambda lane: 8 * lane, 2),
        ("LDG.E R1, [R2]", lambda lane: 128 * lane, 32),  # words of one bank
        ("LDG.E R1, [R2]", lambda lane: 132 * lane, 8),  # 32 lines
        ("LDG.E.64 R4, [R2]", lambda lane: 8 * lane, 2),
        ("LDG.E.128 R4, [R2]", lambda lane: 16 * lane, 4),
        ("LDG.E.128 R4, [R2]", lambda lane: 32 * lane, 8),
    ],
)
def test_with_tag_banks_a_load_takes_its_words_or_its_lines(watch, tiny, text, offset, cycles):
    gpu = tiny(l1__tag_banks=4, **PROMPT)
    k = KernelBuilder("words", grid=1, block=32, shared_bytes=256)
    for _ in range(2):  # the second time all hit
        k(text, address=lambda at: A + offset(at.lane))
        k("MOV R3, R4" if "R4" in text else "MOV R3, R1")
    k(text, address=lambda at: A + offset(at.lane))
    k("LDS R8, [R2]", address=0)
    k("MOV R9, R8")
    at = watch(k.workload(), gpu).of(0)
    wide = "128" in text  # its write port takes the fourth word a cycle later
    assert at[3] - at[2] == gpu.l1.latency + cycles - 1 + wide
    # What comes next is taken by the arbiter when the stage is free again.
    assert at[6] - at[4] == gpu.shared.latency + cycles


@pytest.mark.parametrize("count", [1, 2])
@pytest.mark.parametrize("stride, passes", [(136, 2), (144, 4), (160, 8), (192, 16), (128, 32)])
def test_words_of_a_miss_are_read_when_all_its_lines_are_there(watch, tiny, count, stride, passes):
    """32 lines each, and ``count`` loads that wait for them; of 132 bytes no bank has two words."""
    gpu = tiny(l1__tag_banks=4, l1__miss_queue=64, **PROMPT)

    def used(stride):
        k = KernelBuilder("misses", grid=1, block=32)
        for n in range(count):
            k(f"LDG.E R{10 + n}, [R2]", address=lambda at: A + stride * at.lane)
        k("IADD3 R4, R10, R11, RZ")
        return watch(k.workload(), gpu).of(0)[count]

    assert used(stride) - used(132) == count * (passes - 1)


def test_with_tag_banks_stores_take_a_cycle_for_lines_of_four_banks(watch, tiny):
    k = KernelBuilder("stores", grid=1, block=32, shared_bytes=256)
    k("STG.E [R2], R1", address=lambda at: A + 512 * at.lane)
    k("LDS R8, [R2]", address=0)
    k("MOV R9, R8")
    gpu = tiny(l1__tag_banks=4, l1__miss_queue=32, **PROMPT)
    at = watch(k.workload(), gpu).of(0)
    lines = [(A + 512 * lane) // 128 for lane in range(32)]
    counts = [sum(l1_banks.tag_bank(line, 2) == bank for line in lines) for bank in range(4)]
    assert counts == [8, 8, 8, 8]
    assert at[2] - at[0] == gpu.shared.latency + 8


def test_the_l1_stage_holds_up_the_next_access(watch, tiny):
    gpu = tiny()
    k = KernelBuilder("stage", grid=1, block=32, shared_bytes=256)
    gather(k, "LDG.E R1, [R2]", 32)
    k("LDS R5, [R2]", address=0)
    k("MOV R6, R5")
    seen = watch(k.workload(), gpu)
    taken = gpu.sm.memory.address_interval + 32
    last = seen.of(0)[2]
    # The queue has the second one ready long before: the stage takes it after the last line.
    assert last >= taken + gpu.shared.latency - gpu.sm.memory.address_interval - 1


def test_what_the_l1_refuses_comes_again_and_the_cycles_are_counted(watch, tiny):
    gpu = tiny(l1__mshr_entries=1)
    k = KernelBuilder("refused", grid=1, block=32)
    gather(k, "LDG.E R1, [R2]", 4)
    seen = watch(k.workload(), gpu)
    assert seen.run.stopped == ""
    assert seen.counters["l1_global_read_sectors"] == 4
    # Three times a line waits until the one before has come from the DRAM.
    assert seen.counters["l1_reservation_fails"] > 3 * gpu.l2.latency
    assert 0 < seen.counters["l1_fail_mshr"] <= seen.counters["l1_reservation_fails"]
    assert seen.counters["l1_line_stalls"] == 0


@pytest.mark.parametrize("waiting", [0, 1])
def test_a_hit_passes_a_miss_that_waits_for_an_entry(watch, tiny, waiting):
    """A line is here; a miss has the only entry, another one waits for it; then comes the hit."""
    gpu = tiny(l1__mshr_entries=1, l1__waiting=waiting)
    k = KernelBuilder("passing", grid=1, block=32)
    k("LDG.E R1, [R2]", address=A)
    k("MOV R3, R1")
    k("LDG.E R4, [R2]", address=A + 4096)
    k("LDG.E R5, [R2]", address=A + 8192)
    k("LDG.E R6, [R2]", address=A)
    k("MOV R7, R6")
    seen = watch(k.workload(), gpu)
    hit, used = seen.of(0)[4:6]
    assert seen.counters["l1_waited"] == waiting
    assert seen.counters["l1_global_read_sectors"] == 4
    if waiting:  # its addresses come after those of the two misses, and then it is a hit
        behind = 2 * (gpu.sm.memory.wide_address_interval - 1)
        assert used - hit == behind + gpu.l1.latency
    else:  # two lines come from the L2 before it is looked up
        assert used - hit > gpu.l2.latency


def test_cycles_without_a_line_are_counted_apart(watch, tiny):
    gpu = tiny(l1__allocate="miss", l1__carveouts=(), l1__bytes=128, l1__sets=1)
    k = KernelBuilder("refused", grid=1, block=32)
    gather(k, "LDG.E R1, [R2]", 4)
    seen = watch(k.workload(), gpu)
    assert seen.counters["l1_fail_line"] > 0
    # Three times the only line waits until the one before has come from the DRAM.
    assert seen.counters["l1_line_stalls"] > 3 * gpu.l2.latency
    assert seen.counters["l1_line_stalls"] == seen.counters["l1_reservation_fails"]


@pytest.mark.parametrize("name", ["l1__mshr_entries", "l1__mshr_merges", "l1__miss_queue"])
def test_the_smallest_l1_still_serves_everything(watch, tiny, name):
    k = KernelBuilder("small", grid=1, block=128)
    for _ in range(2):
        gather(k, "LDG.E R1, [R2]", 6)
        gather(k, "STG.E [R2], R1", 6)
        gather(k, "RED.E.ADD [R2], R1", 2)
    seen = watch(k.workload(), tiny(**{name: 1}))
    assert seen.run.stopped == ""
    assert seen.counters["memory_instructions"] == 4 * 6


def test_a_texture_load_takes_its_own_latency(watch, tiny):
    gpu = tiny()
    latency = operations(gpu)[OpClass.TEXTURE].latency
    k = KernelBuilder("texture", grid=1, block=32)
    for _ in range(2):
        k("TEX.SCR.LL RZ, R4, R2, R2, 0x0, 0x58, 2D, 0x1", address=A)
        k("MOV R3, R4")
    seen = watch(k.workload(), gpu)
    if seen.of(0)[1] > 10:  # the destination is known
        assert seen.of(0)[3] - seen.of(0)[2] == latency
    assert seen.counters["texture_requests"] == 2


def test_addresses_are_taken_in_order_by_each_warp(watch, tiny):
    """Loop iterations and masks: every instruction with a lane takes the next record."""
    k = KernelBuilder("order", grid=1, block=64)
    lines = []
    with k.loop(3):
        k("LDG.E R1, [R2]", address=lambda at: A + 4096 * (at.i + 3 * at.warp) + 0 * at.lane)
        k("LDG.E R3, [R2]", address=A + (1 << 20), mask=0)
        k("LDG.E R4, [R2]", address=lambda at: A + (1 << 16) + 128 * at.i + 0 * at.thread)
    gpu = tiny()
    original = memory_pipeline.begin_transactions

    def note(c, s, a, now):
        original(c, s, a, now)
        lines.append((int(c.accesses[s, a].warp), int(c.transactions[s, 0].line) * 128 - A))

    memory_pipeline.begin_transactions = note
    try:
        watch(k.workload(), gpu)
    finally:
        memory_pipeline.begin_transactions = original
    for w in range(2):
        mine = [line for warp, line in lines if warp == w]
        expected = np.array([[4096 * (i + 3 * w), (1 << 16) + 128 * i] for i in range(3)])
        assert mine == expected.ravel().tolist()


@pytest.mark.parametrize(("ways", "each"), [(1, 2), (4, 1), (4, 2), (4, 3), (32, 2)])
def test_each_further_pass_over_the_banks_makes_the_result_later(watch, tiny, ways, each):
    gpu = tiny(shared__pass_latency=each)
    k = KernelBuilder("ways", grid=1, block=32, shared_bytes=1 << 14)
    k("LDS R1, [R2]", address=lambda at: at.lane * 4 * ways)
    k("MOV R3, R1")
    assert watch(k.workload(), gpu).of(0)[1] == gpu.shared.latency + (ways - 1) * each


@pytest.mark.parametrize(("block", "pace"), [(32, 16), (128, 8)])
def test_passes_of_one_sub_core_come_slower_than_those_of_the_sm(watch, tiny, block, pace):
    """Eight ways each: a sub-core has a pass in two cycles, all of them one a cycle."""
    gpu = tiny(shared__pass_latency=2, sm__memory__accept_interval=1)
    k = KernelBuilder("paces", grid=1, block=block, shared_bytes=1 << 14)
    for n in range(5):
        k(f"LDS R{10 + n}, [R2]", address=lambda at: at.lane * 32)
    k("MOV R3, R14")
    seen = watch(k.workload(), gpu)
    warps = block // 32
    last = max(seen.of(w)[5] for w in range(warps))
    assert last == gpu.shared.latency + 7 * 2 + (5 * warps - 1) * pace


def test_a_prefetcher_is_told_of_each_load_by_its_number_and_that_of_its_warp(watch, tiny):
    seen = []

    def note(site, line, warp, hit, state, out):
        seen.append((int(site), int(line) - A // 128, int(warp), int(hit)))
        return 0

    k = KernelBuilder("k", grid=3, block=64)
    k("LDG.E R4, [R2]", address=k.coalesced(A))
    k("LDG.E.STRONG.GPU R5, [R2]", address=k.coalesced(A))
    k("STG.E [R2], R4", address=k.coalesced(A))
    with k.lanes(lambda at: at.cta == 2 and at.warp == 1):
        k("LDG.E R6, [R4]", address=k.coalesced(A))
    k("EXIT")
    watch(k.workload(), tiny(), policies={"l1_prefetcher": note})
    first = [(0, warp, warp, table.MISS) for warp in range(6)]
    assert sorted(seen) == sorted([*first, (3, 5, 5, seen[-1][3])])
