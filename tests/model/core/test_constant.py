"""Constant loads, with known addresses through a small cache, and constant operands at issue."""

import pytest

from lockstep.builder import KernelBuilder
from lockstep.builder import program as several
from lockstep.engine.kernels import CONSTANTS
from lockstep.isa.instruction import CONSTANT_BANK, CONSTANT_BANKS, OpClass
from lockstep.model.core import fetch
from lockstep.model.core.constant import bring, load, operand
from lockstep.model.counters import Stall

pytestmark = pytest.mark.plain


@pytest.fixture(scope="session")
def cache(tiny, idle_sms):
    """(specification, state, load of an address): two sets of two ways unless changed.

    The cache behind it, which instructions and constants share, holds all unless that is changed.
    """

    def make(front_end=None, **changes):
        changes = {"constant.bytes": 256, "constant.ways": 2} | {
            f"constant.{k}": v for k, v in changes.items()
        }
        changes |= {f"sm.front_end.{k}": v for k, v in (front_end or {"l1_bytes": 0}).items()}
        gpu = tiny(**changes)
        c = idle_sms(gpu)
        return gpu.constant, c, lambda address, now: load(c, 0, address, now)

    return make


def test_a_miss_then_hits(cache):
    spec, c, get = cache()
    assert get(0, 10) == 10 + spec.miss_latency
    arrived = 10 + spec.miss_latency - spec.latency
    assert get(4, 11) == arrived + spec.latency, "the line is on its way"
    assert get(spec.line_bytes - 4, arrived + 1) == arrived + 1 + spec.latency
    assert get(spec.line_bytes, 300) == 300 + spec.miss_latency, "the next line is its own miss"
    assert (c.counters[0].constant_accesses, c.counters[0].constant_misses) == (4, 2)


def test_the_least_recently_used_line_leaves(cache):
    spec, _, get = cache()
    same_set = [2 * spec.line_bytes * n for n in range(3)]
    for now, n in enumerate((0, 1, 0, 2)):
        get(same_set[n], 1000 * now)
    assert get(same_set[0], 5000) == 5000 + spec.latency
    assert get(same_set[1], 6000) == 6000 + spec.miss_latency


def test_a_perfect_cache_always_hits(cache):
    spec, c, get = cache(bytes=0)
    assert get(0, 10) == 10 + spec.latency
    assert c.counters[0].constant_misses == 0


TWO_LINES = {"l1_bytes": 256, "l1_ways": 2, "l1_latency": 20, "l2_latency": 200}
BEHIND = 200 - 20  # cycles that a line comes later from the L2 than from the SM's cache


def test_what_the_cache_of_instructions_and_constants_lacks_comes_from_the_l2(cache):
    spec, c, get = cache(TWO_LINES)
    assert get(0, 10) == 10 + spec.miss_latency + BEHIND
    assert get(spec.line_bytes, 1000) == 1000 + spec.miss_latency, "two of its lines in one there"
    assert c.counters[0].constant_misses == 2 and c.counters[0].l1i_misses == 1


def test_instructions_drive_constants_out_of_the_cache_that_they_share(cache):
    spec, c, get = cache(TWO_LINES, bytes=128)
    set_of = 2 * spec.line_bytes  # both are in the one set of the constant cache
    get(0, 10)
    fetch.from_l1(c, 0, 0, 1000)
    assert get(set_of, 2000) == 2000 + spec.miss_latency + BEHIND, "a third line of two"
    assert fetch.from_l1(c, 0, 0, 3000) == 3000 + 20, "the oldest left, the constant"
    fetch.from_l1(c, 0, 1, 4000)
    get(2 * set_of, 5000)
    assert fetch.from_l1(c, 0, 0, 6000) == 6000 + 200, "constants drive instructions out, too"


def program(*lines):
    k = KernelBuilder("constant", grid=1, block=32)
    for text, address, mask in lines:
        k(text, address=address, mask=mask)
    return k.workload()


def test_a_dependent_instruction_waits_for_hit_and_miss(watch, tiny):
    gpu = tiny(sm__front_end__l1_bytes=0)
    lines = [("LDC R1, c[0x0][R2]", 64, None), ("MOV R3, R1", None, None)]
    seen = watch(program(*lines, *lines), gpu)
    miss, hit = gpu.constant.miss_latency, gpu.constant.latency
    assert seen.of(0)[1] - seen.of(0)[0] == miss
    assert seen.of(0)[3] - seen.of(0)[2] == hit
    assert seen.stalls[Stall.SHORT_SCOREBOARD] == miss - 1 + hit - 1
    assert seen.counters["constant_accesses"] == 2


def test_a_load_with_an_unknown_address_hits(watch, tiny):
    gpu = tiny()
    seen = watch(program(("LDC R1, c[0x0][R2]", None, None), ("MOV R3, R1", None, None)), gpu)
    assert seen.of(0)[1] == gpu.constant.latency
    assert seen.counters["constant_accesses"] == 0


def test_each_load_takes_its_own_address(watch, tiny):
    gpu = tiny()
    load = "LDC R1, c[0x0][R2]"
    seen = watch(program((load, 0, None), (load, 0, 0), (load, 4096, None), (load, 0, None)), gpu)
    assert seen.counters["constant_accesses"] == 3, "masked off, it takes none"
    assert seen.counters["constant_misses"] == 2


# Operands of arithmetic

PLACE = 0x160  # of the first parameter; a line begins at 0x140


@pytest.fixture(scope="session")
def operands(tiny, idle_sms):
    """(specification, state, lookup of an operand by a sub-core): two sets of two ways."""

    def make(front_end=None, **changes):
        changes = {"constant.operand_bytes": 256} | changes
        changes |= {f"sm.front_end.{k}": v for k, v in (front_end or {"l1_bytes": 0}).items()}
        gpu = tiny(**changes)
        c = idle_sms(gpu)
        for order, kernel in enumerate(c.kernels):
            kernel.constant_base = CONSTANTS + order * CONSTANT_BANKS * CONSTANT_BANK

        def get(place, now, b=0, kernel=0):
            return operand(c, 0, b, c.kernels[kernel], place, now)

        return gpu.constant, c, get

    return make


def test_an_operand_misses_then_hits(operands):
    spec, c, get = operands()
    arrives = 10 + spec.operand_miss_latency
    assert get(PLACE, 10) == arrives
    assert get(PLACE + 4, 11) == arrives, "the line is on its way"
    assert get(0x140, arrives + 5) <= arrives + 5
    assert get(0x180, arrives) == arrives + spec.operand_miss_latency, "the next line"
    assert (c.counters[0].operand_constants, c.counters[0].operand_constant_misses) == (4, 2)
    assert c.counters[0].constant_accesses == 0


def test_the_least_recently_used_line_of_operands_leaves(operands):
    spec, _, get = operands()
    same_set = [2 * spec.line_bytes * n for n in range(3)]
    for now, n in enumerate((0, 1, 0, 2)):
        get(same_set[n], 1000 * now)
    assert get(same_set[0], 5000) <= 5000
    assert get(same_set[1], 6000) == 6000 + spec.operand_miss_latency


def test_sub_cores_loads_and_launches_have_lines_of_their_own(operands):
    spec, c, get = operands()
    get(PLACE, 0)
    load(c, 0, PLACE, 0)
    assert get(PLACE, 1000) <= 1000, "a load takes no line of operands"
    assert get(PLACE, 2000, b=1) == 2000 + spec.operand_miss_latency
    assert get(PLACE, 3000, kernel=1) == 3000 + spec.operand_miss_latency, "another launch"
    assert get(PLACE, 4000) <= 4000, "which lies in the other way"
    assert load(c, 0, PLACE, 5000) == 5000 + spec.latency


def test_operands_come_from_the_cache_that_the_sub_cores_share(operands):
    spec, c, get = operands(TWO_LINES)
    assert get(PLACE, 10) == 10 + spec.operand_miss_latency + BEHIND
    assert get(PLACE, 1000, b=1) == 1000 + spec.operand_miss_latency
    assert c.counters[0].l1i_misses == 1
    assert get(PLACE, 2000, kernel=1) == 2000 + spec.operand_miss_latency + BEHIND
    fetch.from_l1(c, 0, 0, 3000)
    assert c.counters[0].l1i_misses == 3, "code is not what lies at the same number"


def test_a_launch_brings_constants_to_every_sm(tiny, idle_sms):
    gpu = tiny(
        sm__count=2,
        constant__operand_bytes=256,
        **{f"sm__front_end__{k}": v for k, v in TWO_LINES.items()},
    )
    c, miss = idle_sms(gpu), gpu.constant.operand_miss_latency
    kernel = c.kernels[0]
    kernel.constant_base = CONSTANTS
    bring(c, CONSTANTS, 129, 0)
    for s in range(2):
        assert operand(c, s, 0, kernel, 0, 100) == 100 + miss
        assert operand(c, s, 0, kernel, 128, 200) == 200 + miss
        assert operand(c, s, 0, kernel, 256, 300) == 300 + miss + BEHIND, "not brought"
    assert [sm.l1i_misses for sm in c.counters] == [1, 1]


def test_what_a_launch_brings_drives_out_what_was_used_longest_ago(operands):
    _, c, _ = operands(TWO_LINES)
    fetch.from_l1(c, 0, 0, 10)
    fetch.from_l1(c, 0, 1, 20)
    bring(c, CONSTANTS, 4, 1000)
    assert fetch.from_l1(c, 0, 1, 2000) == 2000 + 20
    assert fetch.from_l1(c, 0, 0, 3000) == 3000 + 200


ADD, OTHER = "FADD R1, R2, c[0x0][0x160]", "IADD3 R5, R6, R7, RZ"


def first_warp_adds(*lines, block=64, **needs):
    """Only warp 0 executes the lines; all others begin with an instruction without a constant."""
    k = KernelBuilder("operand", grid=1, block=block, **needs)
    with k.lanes(lambda at: (at.warp == 0) & (at.lane >= 0)):
        for text in lines or (ADD,):
            k(text)
    k(OTHER)
    return k


def one_sub_core(tiny, **changes):
    return tiny(sm__front_end__l1_bytes=0, sm__subcores=1, **changes)


@pytest.mark.parametrize("policy", ["gto", "lrr", "oldest"])
@pytest.mark.parametrize("hold", [1, 4, 9])
def test_an_absent_operand_holds_the_sub_core_for_a_while(watch, tiny, hold, policy):
    gpu = one_sub_core(tiny, constant__operand_hold=hold, sm__scheduler__policy=policy)
    miss = gpu.constant.operand_miss_latency
    seen = watch(first_warp_adds().workload(), gpu)
    assert seen.of(1)[0] == hold, "not a cycle before"
    assert seen.of(0)[0] == miss
    assert seen.stalls[Stall.IMC_MISS] >= hold
    assert sum(seen.stalls) == seen.counters["active_cycles"]


def test_the_operand_may_come_before_the_sub_core_gives_up(watch, tiny):
    gpu = one_sub_core(tiny, constant__operand_hold=9, constant__operand_miss_latency=3)
    seen = watch(first_warp_adds().workload(), gpu)
    assert (seen.of(0)[0], seen.of(1)[0]) == (3, 6), "greedy: two of warp 0 are between"
    assert seen.stalls[Stall.IMC_MISS] == 3


def test_another_sub_core_goes_on(watch, tiny):
    seen = watch(first_warp_adds().workload(), tiny(sm__front_end__l1_bytes=0, sm__subcores=2))
    assert seen.of(1)[0] == 0


def test_an_operand_that_is_there_costs_nothing(watch, tiny):
    gpu = one_sub_core(tiny)
    again = "IADD3 R3, R4, c[0x0][0x17c], RZ"
    seen = watch(
        first_warp_adds(ADD, again, "FADD R8, R2, c[0x0][0x180]", block=32).workload(), gpu
    )
    miss = gpu.constant.operand_miss_latency
    assert seen.of(0)[:3] == [miss, miss + 1, 2 * miss + 2]
    assert seen.counters["operand_constants"] == 3
    assert seen.stalls[Stall.IMC_MISS] == 2 * miss


def test_it_is_looked_up_when_nothing_else_is_missing(watch, tiny):
    gpu = one_sub_core(tiny)
    seen = watch(first_warp_adds("MUFU.RCP R2, R9", ADD, block=32).workload(), gpu)
    ready = next(u.operations["SFU"] for u in gpu.sm.units if "SFU" in u.operations)
    assert seen.of(0)[:2] == [0, ready + gpu.constant.operand_miss_latency]


def test_the_second_instruction_of_a_cycle_waits_for_its_operand(watch, tiny):
    gpu = one_sub_core(tiny, sm__scheduler__issue_width=2)
    seen = watch(first_warp_adds("MOV R3, R4", ADD).workload(), gpu)
    assert seen.of(0)[:2] == [0, gpu.constant.operand_miss_latency]
    assert seen.of(1)[0] == gpu.constant.operand_hold
    assert sum(seen.stalls) == seen.counters["active_cycles"]


def test_warps_that_throw_out_each_others_line_go_on(watch, tiny):
    gpu = one_sub_core(tiny, constant__operand_bytes=64, constant__operand_ways=1)
    k = KernelBuilder("one line", grid=1, block=64)
    for parity in range(2):
        with k.lanes(lambda at, parity=parity: (at.warp == parity) & (at.lane >= 0)):
            for register in range(3):
                k(f"FADD R{register}, R9, c[0x0][{0x140 + 64 * parity:#x}]")
    seen = watch(k.workload(), gpu)
    assert seen.counters["operand_constants"] == seen.counters["operand_constant_misses"] == 6
    assert [len(seen.of(w)) for w in range(2)] == [4, 4]
    hold, miss = gpu.constant.operand_hold, gpu.constant.operand_miss_latency
    interval = 2  # of the FP32 unit: then warp 0 misses again, which holds what came for warp 1
    assert (seen.of(0)[0], seen.of(1)[0]) == (miss, miss + interval + hold)


def test_launches_of_a_kernel_have_parameters_of_their_own(watch, tiny):
    k = first_warp_adds(block=32)
    seen = watch(several(k, k), one_sub_core(tiny))
    assert seen.counters["operand_constant_misses"] == 2


def test_operands_are_always_there_on_a_gpu_whose_cache_is_not_known(watch, tiny):
    seen = watch(first_warp_adds().workload(), one_sub_core(tiny, constant__operand_bytes=0))
    assert seen.of(0)[0] == 0
    assert seen.counters["operand_constants"] == 0


def test_the_policy_of_a_user_is_held_too(watch, tiny):
    def oldest(warps, first, count, last, now):
        for i in range(count):
            if warps[first + i].ready:
                return i
        return -1

    gpu = one_sub_core(tiny)
    seen = watch(first_warp_adds().workload(), gpu, policies={"scheduler": oldest})
    assert seen.of(1)[0] == gpu.constant.operand_hold
    assert seen.of(0)[0] == gpu.constant.operand_miss_latency


def test_a_load_has_no_operand():
    code = program(("LDC R1, c[0x0][0x160]", None, None)).kernels[0].code.instructions
    assert code["op"][0] == OpClass.LOAD and code["constant"][0] == -1


@pytest.mark.parametrize("bank, behind", [(0, 0), (3, BEHIND)])
def test_the_parameters_of_a_kernel_are_there_when_it_starts(watch, tiny, bank, behind):
    front_end = {f"sm__front_end__{k}": v for k, v in TWO_LINES.items()}
    gpu = tiny(sm__subcores=1, **front_end | {"sm__front_end__l1_ways": 1})
    k = KernelBuilder("parameter", grid=1, block=32)
    k(OTHER)
    k(f"FADD R1, R2, c[{bank:#x}][0x160]")
    seen = watch(k.workload(), gpu)
    first, second = seen.of(0)[:2]
    assert second - first == 1 + gpu.constant.operand_miss_latency + behind


# The bank of parameters, when a launch begins

FIRST = 70  # cycles from the start of an SM's first CTA


@pytest.mark.parametrize(
    ("text", "at_issue"),
    [("ULDC UR4, c[0x0][0x210]", True), ("IADD3 R1, R2, c[0x0][0x160], R3", True),
     ("LDC R1, c[0x0][0x210]", False), ("MOV R1, R2", False)],
)  # fmt: skip
def test_who_reads_parameters_waits_until_the_sm_has_them(watch, tiny, text, at_issue):
    gpu = tiny(constant__first_latency=FIRST, constant__operand_bytes=0)
    at = watch(program(("NOP", None, None), (text, None, None)), gpu).of(0)
    assert at[:2] == [0, FIRST if at_issue else 1]


@pytest.mark.parametrize(("before", "waits"), [(0, True), (FIRST + 5, False)])
def test_a_load_of_a_parameter_comes_late(watch, tiny, before, waits):
    gpu = tiny(constant__first_latency=FIRST)
    lines = [("NOP", None, None)] * before + [("LDC R1, c[0x0][0x210]", None, None)]
    at = watch(program(*lines, ("MOV R3, R1", None, None)), gpu).of(0)
    assert at[before + 1] == (FIRST if waits else before) + gpu.constant.latency


def test_a_later_cta_finds_the_parameters_and_another_launch_does_not(watch, tiny):
    k = KernelBuilder("first", grid=2, block=32)
    k("ULDC UR4, c[0x0][0x210]")
    gpu = tiny(constant__first_latency=FIRST, launch__cta_interval=10.0)
    seen = watch(k.workload(), gpu)
    assert [seen.of(w)[0] for w in (0, 1)] == [FIRST, FIRST]
    gpu = tiny(constant__first_latency=FIRST, launch__cta_interval=FIRST + 10.0)
    seen = watch(k.workload(), gpu, cta_events=True)
    starts = sorted(seen.run.cta_events["start"])
    issued = sorted(cycle for cycle, *_ in seen.issues)
    assert issued[0] == FIRST and starts[1] == FIRST + 10 and FIRST + 10 in issued


@pytest.mark.parametrize(("l2", "later"), [("kept", 0), ("replay", 0), ("flush", 200)])
def test_parameters_come_from_dram_if_the_l2_is_empty(watch, tiny, l2, later):
    gpu = tiny(constant__first_latency=FIRST, l2__latency=300, dram__latency=500, launch__l2=l2)
    at = watch(program(("NOP", None, None), ("ULDC UR4, c[0x0][0x210]", None, None)), gpu).of(0)
    assert at[:2] == [0, FIRST + later]
