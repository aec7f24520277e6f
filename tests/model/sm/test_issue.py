"""Issue: execution units, branches, fences, asynchronous copies, and what else holds a warp."""

import pytest

from lockstep.builder import KernelBuilder
from lockstep.gpus.units import operations
from lockstep.isa.instruction import OpClass
from lockstep.model.core.state import GROUPS
from lockstep.model.counters import Stall
from lockstep.workload import MemoryCopy

pytestmark = pytest.mark.plain
A = 0x7F0000000000


def same(text, times, warps=1, **sizes):
    """Warps that each issue one instruction several times, without dependence."""
    k = KernelBuilder("same", grid=1, block=32 * warps, **sizes)
    for _ in range(times):
        k(text)
    return k.workload()


@pytest.mark.parametrize(
    "text, op",
    [
        ("FFMA R1, R2, R3, R4", OpClass.FP32),
        ("DADD R8, R2, R6", OpClass.FP64),
        ("MUFU.RCP R1, R2", OpClass.SFU),
    ],
)
def test_a_unit_of_a_sub_core_starts_once_an_interval(watch, tiny, text, op):
    gpu = tiny(sm__subcores=2)
    interval = operations(gpu)[op].interval
    k = KernelBuilder("intervals", grid=1, block=128)
    k(text)
    seen = watch(k.workload(), gpu)
    assert [seen.of(w)[0] for w in range(4)] == [0, 0, interval, interval]
    assert seen.stalls[Stall.UNIT_BUSY] == 2 * (max(0, interval - 2))


def test_a_unit_of_the_sm_is_shared_by_its_sub_cores(watch, tiny):
    gpu = tiny(**{"sm.units.shuffle.lanes": 8})
    interval = operations(gpu)[OpClass.SHUFFLE].interval
    seen = watch(same("SHFL.IDX PT, R1, R2, R3, 0x1f", 1, warps=4), gpu)
    assert [seen.of(w)[0] for w in range(4)] == [0, interval, 2 * interval, 3 * interval]


def test_two_instances_of_a_unit_take_turns(watch, tiny):
    gpu = tiny(**{"sm.units.shuffle.lanes": 8, "sm.units.shuffle.count": 2})
    interval = operations(gpu)[OpClass.SHUFFLE].interval
    seen = watch(same("SHFL.IDX PT, R1, R2, R3, 0x1f", 1, warps=4), gpu)
    assert [seen.of(w)[0] for w in range(4)] == [0, 0, interval, interval]


def test_what_any_unit_executes_leaves_the_first_to_others(watch, tiny):
    gpu = tiny(**{"sm.units.fp32.count": 2, "sm.units.fp32.instances.IMAD": 1})
    k = KernelBuilder("mix", grid=1, block=32)
    for n in range(2):
        k(f"FFMA R{n}, R2, R3, R4")
        k(f"IMAD R{10 + n}, R2, R3, R4")
    assert watch(k.workload(), gpu).of(0)[:4] == [0, 1, 2, 3]


def test_what_the_first_unit_alone_executes_waits_for_it(watch, tiny):
    gpu = tiny(**{"sm.units.fp32.count": 2, "sm.units.fp32.instances.IMAD": 1})
    interval = operations(gpu)[OpClass.IMAD].interval
    k = KernelBuilder("wait", grid=1, block=32)
    for n in range(3):
        k(f"IMAD R{10 + n}, R2, R3, R4")
    assert watch(k.workload(), gpu).of(0)[:3] == [0, interval, 2 * interval]


def test_units_work_side_by_side(watch, tiny):
    k = KernelBuilder("units", grid=1, block=32)
    k("FMUL R1, R2, R3")
    k("MOV R5, R6")
    k("FMUL R9, R2, R3")
    k("MOV R10, R6")
    assert watch(k.workload(), tiny()).of(0)[:4] == [0, 1, 2, 3]


def loop(trips):
    k = KernelBuilder("loop", grid=1, block=32)
    with k.loop(trips):
        k("NOP")
        k("BRA 0x0")
    return k.workload()


@pytest.mark.parametrize("redirect", [0, 5, 8])
def test_a_taken_branch_costs_the_redirect(watch, tiny, redirect):
    seen = watch(loop(3), tiny(sm__front_end__redirect=redirect))
    again = 2 + redirect
    assert seen.of(0) == [0, 1, again, again + 1, 2 * again, 2 * again + 1, 2 * again + 2]
    assert seen.stalls[Stall.FETCH] == 2 * redirect


def test_a_branch_that_falls_through_costs_nothing(watch, tiny):
    assert watch(loop(1), tiny()).of(0) == [0, 1, 2]


@pytest.mark.parametrize(
    ("architecture", "pcs", "taken"),
    [
        (70, [0x00, 0x10, 0x20], False),
        (70, [0x00, 0x10, 0x30], True),  # a trace met the target first: it comes next
        (70, [0x20, 0x30, 0x00], True),
        (70, [0x00, 0x10, 0x10], True),
        (0, [0x00, 0x10, 0x20], False),
        (61, [0x08, 0x10, 0x18], False),
        (61, [0x08, 0x10, 0x20], True),
        (61, [0x10, 0x18, 0x28], False),  # a control word lies between
        (61, [0x10, 0x18, 0x20], False),  # what knows no control words
        (61, [0x10, 0x18, 0x30], True),
        (35, [0x10, 0x18, 0x20], False),
        (35, [0x10, 0x18, 0x28], True),
        (35, [0x30, 0x38, 0x48], False),
    ],
)
def test_pcs_tell_whether_a_branch_is_taken(watch, tiny, architecture, pcs, taken):
    k = KernelBuilder("branch", grid=1, block=32, architecture=architecture)
    for text in ("NOP", "BRA 0x0", "NOP"):
        k(text)
    k._code.instructions["pc"][:3] = pcs
    gpu = tiny(sm__front_end__redirect=7)
    assert watch(k.workload(), gpu).of(0)[:3] == [0, 1, 2 + 7 * taken]


def test_a_fence_waits_for_stores_and_then_its_latency(watch, tiny):
    def issues(*lines):
        k = KernelBuilder("fence", grid=1, block=32)
        for text in lines:
            k(text, address=A if "[" in text else None)
        return watch(k.workload(MemoryCopy(A, 128)), gpu)

    gpu = tiny()
    alone = issues("MEMBAR.SC.GPU", "NOP")
    assert alone.of(0)[:2] == [0, gpu.sm.fence_latency]
    assert alone.stalls[Stall.FENCE] == gpu.sm.fence_latency - 1
    store = issues("STG.E [R2], R4", "MEMBAR.SC.GPU", "NOP")
    there_and_back = 2 * gpu.interconnect.latency
    assert store.of(0)[1] > there_and_back
    assert store.of(0)[2] == store.of(0)[1] + gpu.sm.fence_latency
    assert store.stalls[Stall.FENCE] == store.of(0)[2] - 2
    two = issues("STG.E [R2], R4", "STG.E [R2], R4", "MEMBAR.SC.GPU", "NOP")
    assert two.of(0)[2] > store.of(0)[1], "the last store counts"


def test_an_exit_with_outstanding_stores_keeps_the_cta(watch, tiny):
    gpu = tiny()
    k = KernelBuilder("store", grid=1, block=32)
    k("STG.E [R2], R4", address=A)
    seen = watch(k.workload(), gpu, cta_events=True)
    assert seen.of(0) == [0, 1]
    assert seen.run.cta_events["end"][0] > 2 * gpu.interconnect.latency


def groups(gpu, watch, script, copy=True):
    """Asynchronous copies: 'c' copies near, 'C' far, '.' commits, a digit waits until no more
    groups are open, '-' does nothing. Returns the cycle of each, and what was seen."""
    k = KernelBuilder("groups", grid=1, block=32, shared_bytes=256, architecture=80)
    for n, letter in enumerate(script):
        if letter in "cC":
            k("LDGSTS.E [R1], [R2]", address=A + (n << 16 if letter == "C" else 0))
        elif letter == ".":
            k("LDGDEPBAR")
        elif letter == "-":
            k("NOP")
        else:
            k(f"DEPBAR.LE SB0, 0x{letter}")
    k("NOP")
    seen = watch(k.workload(*[MemoryCopy(A, 128)] * copy), gpu)
    return dict(enumerate(seen.of(0))), seen


def test_a_group_wait_lets_the_newest_groups_run(watch, tiny):
    gpu = tiny()
    at, seen = groups(gpu, watch, "c.0")
    assert at[2] == gpu.l2.latency
    assert seen.stalls[Stall.GROUP] == at[2] - 2
    at, _ = groups(gpu, watch, "c.1")
    assert at[2] == 2
    at, _ = groups(gpu, watch, "c.C.1")
    assert at[4] == gpu.l2.latency
    both, _ = groups(gpu, watch, "c.C.0")
    assert at[4] < both[4], "the far copy of the newest group is not waited for"


def test_copies_that_are_not_committed_are_not_waited_for(watch, tiny):
    at, _ = groups(tiny(), watch, "c0")
    assert at[1] == 1


def test_a_group_wait_without_copies_passes(watch, tiny):
    at, _ = groups(tiny(), watch, "0..0")
    assert [at[k] for k in range(5)] == [0, 1, 2, 3, 4]


def test_a_copy_that_hits_the_l1_is_there_after_the_hit_latency(watch, tiny):
    gpu = tiny()
    for wait in ("0", "-------0", "--------------0"):
        at, _ = groups(gpu, watch, "c.0c." + wait)
        assert at[4 + len(wait)] - at[3] == gpu.l1.latency
    at, _ = groups(gpu, watch, "c.0c.c.--------1")
    assert at[15] - at[3] == gpu.l1.latency, "the newest group is not waited for"


def test_more_groups_than_the_hardware_counts_wait(watch, tiny):
    gpu = tiny()
    at, seen = groups(gpu, watch, "c." * (GROUPS + 1), copy=False)
    last = 2 * GROUPS - 1
    assert all(at[k] == k for k in range(7))
    assert max(at[k + 1] - at[k] for k in range(last)) > gpu.l2.latency
    assert seen.stalls[Stall.GROUP] > gpu.l2.latency


def test_dual_issue_takes_two_instructions_of_one_warp(watch, tiny):
    gpu = tiny(sm__scheduler__issue_width=2)
    k = KernelBuilder("dual", grid=1, block=32)
    k("FMUL R1, R2, R3")
    k("MOV R5, R6")
    k("FMUL R9, R2, R3")
    k("MOV R10, R9")
    seen = watch(k.workload(), gpu)
    latency = operations(gpu)[OpClass.FP32].latency
    assert seen.of(0) == [0, 0, 2, 2 + latency, 2 + latency]
    assert seen.stalls[Stall.ISSUED] == 3, "scheduler-cycles, not instructions"


def test_a_yield_lets_another_warp_go_first(watch, tiny):
    def order(**control):
        k = KernelBuilder("yield", grid=1, block=64)
        for _ in range(2):
            k("NOP", stall=1, **control)
        k("EXIT", stall=1)
        seen = watch(k.workload(), tiny(sm__subcores=1, sm__scheduler__policy="lrr"))
        return [w for _, _, w, _ in seen.issues]

    assert order() == [0, 1] * 3
    assert order(yields=1)[:2] == [0, 0], "round robin begins again after a yield"


def test_masked_off_memory_instructions_use_no_memory(watch, tiny):
    k = KernelBuilder("masked", grid=1, block=32)
    k("LDG.E R1, [R2]", address=A, mask=0)
    k("MOV R3, R1")
    seen = watch(k.workload(), tiny())
    assert seen.of(0)[:2] == [0, 1]
    assert seen.counters["memory_instructions"] == 0
    assert seen.counters["thread_instructions"] == 32 * 2
    assert seen.counters["warp_instructions"] == 3


def test_issued_instructions_are_counted_by_class(watch, tiny):
    k = KernelBuilder("classes", grid=2, block=64)
    with k.loop(3):
        k("FFMA R1, R2, R3, R4", mask=0xFF)
    k("LDG.E R1, [R2]", address=k.coalesced(A))
    seen = watch(k.workload(), tiny())
    issued = seen.counters["issued"]
    assert issued[OpClass.FP32] == 12 and issued[OpClass.LOAD] == 4 and issued[OpClass.EXIT] == 4
    assert issued.sum() == seen.counters["warp_instructions"] == 20
    assert seen.counters["thread_instructions"] == 12 * 8 + 8 * 32


@pytest.mark.parametrize("nanoseconds", [0, 1, 20, 100])
def test_a_sleeping_warp_is_not_eligible_for_the_time_it_names(watch, tiny, nanoseconds):
    gpu = tiny(clock_mhz=1500.0)
    cycles = -(-nanoseconds * 3 // 2)
    k = KernelBuilder("sleep", grid=1, block=32)
    k(f"NANOSLEEP {nanoseconds:#x}")
    k("NOP")
    seen = watch(k.workload(), gpu)
    assert seen.of(0)[:2] == [0, max(1, cycles)]
    assert seen.stalls[Stall.SLEEP] == max(0, cycles - 1)


def test_others_run_while_a_warp_sleeps(watch, tiny):
    k = KernelBuilder("sleep", grid=1, block=64)
    with k.lanes(lambda at: at.warp == 0):
        k("NANOSLEEP 0x64")
    for _ in range(5):
        k("NOP")
    seen = watch(k.workload(), tiny(sm__subcores=1))
    assert seen.of(1)[:5] == [1, 2, 3, 4, 5]


def test_a_sleep_of_a_register_is_over_at_once(watch, tiny):
    assert watch(same("NANOSLEEP R5", 2), tiny()).of(0)[:2] == [0, 1]


def test_a_sleep_is_no_longer_than_a_millisecond(watch, tiny):
    gpu = tiny(clock_mhz=1000.0)
    seen = watch(same("NANOSLEEP 0x7fffffff", 1), gpu)
    assert seen.of(0)[1] == 1_000_000


def loads_around(text, **kwargs):
    """A line is loaded, one instruction issues, and the line is loaded again."""
    k = KernelBuilder("around", grid=1, block=32)
    k("LDG.E R1, [R2]", address=k.coalesced(A))
    k("MOV R2, R1")
    k(text, **kwargs)
    k("LDG.E R3, [R2]", address=k.coalesced(A))
    k("MOV R2, R3")
    return k.workload()


@pytest.mark.parametrize(
    ("text", "hits"), [("CCTL.IVALL", 0), ("CCTL.PF1", 4), ("NOP", 4), ("@P0 CCTL.IVALL", 4)]
)
def test_an_invalidation_empties_the_l1(watch, tiny, text, hits):
    kwargs = {"mask": 0} if text.startswith("@") else {}
    seen = watch(loads_around(text, **kwargs), tiny())
    assert seen.counters["l1_global_read_hits"] == hits


def test_cache_control_with_an_address_loads_no_constant(watch, tiny):
    seen = watch(loads_around("CCTL.IV [R2]", address=A), tiny())
    assert seen.counters["constant_accesses"] == 0
    assert seen.counters["l1_global_read_hits"] == 4


@pytest.mark.parametrize("cycles", [0, 6])
def test_a_warp_waits_where_its_paths_part_and_meet(watch, tiny, cycles):
    k = KernelBuilder("paths", grid=1, block=32)
    k("BRA 0x20")
    with k.lanes(lambda at: at.lane < 8):
        k("NOP")
        k("BSYNC B0")
    k("NOP")
    seen = watch(k.workload(), tiny(sm__front_end__divergence=cycles))
    assert seen.of(0)[:4] == [0, 1 + cycles, 2 + cycles, 3 + 2 * cycles]


@pytest.mark.parametrize("lines", [(), ("STG.E [R2], R4",)])
def test_a_fence_takes_a_round_trip_whatever_is_outstanding(watch, tiny, lines, round_trip=700):
    k = KernelBuilder("fence", grid=1, block=32)
    for text in (*lines, "MEMBAR.SC.GPU", "NOP"):
        k(text, address=A if "[" in text else None)
    seen = watch(k.workload(MemoryCopy(A, 128)), tiny(sm__fence_round_trip=round_trip))
    assert seen.of(0)[len(lines) + 1] == len(lines) + round_trip


def products(watch, gpu, *lines):
    """Issue cycles of one warp that multiplies in a warpgroup's products."""
    k = KernelBuilder("products", grid=1, block=32, architecture=90)
    for text in lines:
        k(text)
    return watch(k.workload(), gpu).of(0)


@pytest.fixture
def hopper(tiny):
    return tiny(sm__units__tensor__operations__GMMA=45, sm__units__tensor__intervals__GMMA=32)


@pytest.mark.parametrize(("columns", "cycles"), [(64, 32), (128, 64), (256, 128)])
def test_a_product_of_a_warpgroup_takes_time_by_its_columns(watch, hopper, columns, cycles):
    product = f"HGMMA.64x{columns}x16.F32 R24, gdesc[UR4], R24"
    at = products(watch, hopper, "WARPGROUP.ARRIVE", product, product, "NOP")
    assert at[:4] == [0, 1, 1 + cycles, 2 + cycles], "and the warp goes on meanwhile"


def test_a_wait_ends_when_the_products_of_older_groups_are_there(watch, hopper):
    product = "HGMMA.64x64x16.F32 R24, gdesc[UR4], R24"
    group = ["WARPGROUP.ARRIVE", product]
    at = products(watch, hopper, *group, "WARPGROUP.DEPBAR.LE gsb0, 0x0", "NOP")
    assert at[2] == 1 + 45 + 32
    at = products(watch, hopper, *group, *group, "WARPGROUP.DEPBAR.LE gsb0, 0x1", "NOP")
    assert at[3:5] == [1 + 32, 1 + 45 + 32]


@pytest.mark.parametrize(
    ("accumulators", "cycles"), [("R24", [1, 2, 6, 12, 18]), ("RZ", [1, 2, 4, 6, 9])]
)
def test_operands_wait_while_a_product_reads_its_accumulators(watch, tiny, accumulators, cycles):
    """Three operands of one bank take three cycles, and twice as long beside a product."""
    gpu = tiny(
        sm__units__tensor__operations__GMMA=45, sm__units__tensor__intervals__GMMA=32,
        sm__operands__banks=2, sm__operands__window=3, sm__operands__reuse_cache=False,
    )  # fmt: skip
    product = f"HGMMA.64x64x16.F32 R24, gdesc[UR4], {accumulators}"
    sums = [f"FFMA R{k}, R2, R4, R6" for k in (9, 11, 13, 15)]
    at = products(watch, gpu, "WARPGROUP.ARRIVE", product, *sums)
    assert at[1:6] == cycles


@pytest.mark.parametrize(("queue", "issued"), [(0, [0, 8, 16, 24]), (2, [0, 1, 2, 8])])
def test_instructions_wait_for_a_unit_in_its_queue(watch, tiny, queue, issued):
    """Four warps of a sub-core and a unit that takes 8 cycles; the warp that waits goes on."""
    gpu = tiny(
        **{"sm.subcores": 1, "sm.units.sfu.lanes": 4, "sm.scheduler.policy": "gto"}
        | ({"sm.unit_queues.sfu": queue} if queue else {})
    )
    k = KernelBuilder("queue", grid=1, block=128)
    k("MUFU.RCP R1, R2")
    k("MOV R3, R1")
    seen = watch(k.workload(), gpu)
    assert [seen.of(w)[0] for w in range(4)] == issued
    latency = operations(gpu)[OpClass.SFU].latency
    assert [seen.of(w)[1] - 8 * w >= latency for w in range(4)] == [True] * 4


@pytest.mark.parametrize(("interval", "later"), [(0, 0), (17, 17)])
def test_fences_of_an_sm_follow_each_other(watch, tiny, interval, later):
    k = KernelBuilder("fences", grid=1, block=64)
    k("MEMBAR.SC.GPU")
    k("NOP")
    gpu = tiny(**{"sm.fence_round_trip": 700, "sm.fence_interval": interval, "sm.subcores": 2})
    seen = watch(k.workload(), gpu)
    assert [seen.of(w)[1] for w in (0, 1)] == [700, 700 + later]


@pytest.mark.parametrize("waits", [True, False])
def test_a_fence_within_the_cta_waits_for_accesses_or_not(watch, tiny, waits):
    k = KernelBuilder("local", grid=1, block=32)
    k("STG.E [R2], R4", address=A)
    k("MEMBAR.ALL.CTA")
    k("NOP")
    gpu = tiny(**{"sm.local_fence_waits": waits})
    at = watch(k.workload(MemoryCopy(A, 128)), gpu).of(0)
    assert (at[1] > gpu.interconnect.latency) == waits


@pytest.mark.parametrize(("nanoseconds", "cycles"), [(0, 90), (40, 90), (200, 236)])
def test_a_sleep_takes_longer_than_it_says(watch, tiny, nanoseconds, cycles):
    changes = {"clock_mhz": 1000.0, "sm.sleep_overhead": 36, "sm.shortest_sleep": 90}
    k = KernelBuilder("sleeps", grid=1, block=32)
    k(f"NANOSLEEP {nanoseconds:#x}")
    k("NOP")
    assert watch(k.workload(), tiny(**changes)).of(0)[1] == cycles
