"""Constant loads: with known addresses through a small cache, others at the hit latency."""

import pytest

from lockstep.builder import KernelBuilder
from lockstep.model.counters import Stall
from lockstep.model.sm import fetch
from lockstep.model.sm.constant import load

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
