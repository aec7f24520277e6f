"""Instruction fetch of compute units: turns, pieces of lines, and where the lines come from."""

import numpy as np
import pytest

pytestmark = pytest.mark.plain
CODE_LATENCY = 3


def gaps(cycles):
    return np.diff(cycles).tolist()


def alone(tiny_cu, **changes):
    """A CU of one SIMD, whose turn is every cycle."""
    return tiny_cu(sm__subcores=1, sm__front_end__l1_latency=CODE_LATENCY, **changes)


def test_a_simd_fetches_for_one_wavefront_a_turn(wavefronts, tiny_cu, watch_cu):
    for subcores in (1, 4):
        gpu = tiny_cu(sm__subcores=subcores, sm__front_end__l1_latency=CODE_LATENCY)
        seen = watch_cu(wavefronts.make(*[["scalar"]] * 12), gpu)
        first = [seen.of(slot)[0] for slot in range(0, 12, subcores)]
        assert gaps(first) == [subcores] * (12 // subcores - 1)


@pytest.mark.parametrize("latency", [1, 2, 7])
def test_the_first_instruction_waits_for_the_instruction_cache(
    wavefronts, tiny_cu, watch_cu, latency
):
    gpu = tiny_cu(sm__subcores=1, sm__front_end__l1_latency=latency)
    assert watch_cu(wavefronts.make(["scalar"]), gpu).of(0) == [latency]


@pytest.mark.parametrize("size", [4, 8])
def test_a_long_instruction_costs_two_words(wavefronts, tiny_cu, watch_cu, size):
    """Pieces of two words: the next is asked for a turn after the first instruction of one."""
    kind = wavefronts.long("scalar") if size == 8 else "scalar"
    cycles = watch_cu(wavefronts.make([kind] * 16), alone(tiny_cu, cu__fetch_bytes=8)).of(0)
    pieces = 16 * size // 8
    assert cycles[-1] - cycles[0] == (pieces - 1) * (1 + CODE_LATENCY) + (8 // size - 1)


@pytest.mark.parametrize("size", [4, 8])
def test_wavefronts_share_the_fetch_of_their_simd(wavefronts, tiny_cu, watch_cu, size):
    """Nine wavefronts with three units to issue to are bound by the 8 bytes of each turn."""
    kinds = ["scalar", "valu", "branch"]
    kinds = [wavefronts.long(kind) if size == 8 else kind for kind in kinds]
    gpu = alone(
        tiny_cu,
        cu__fetch_bytes=8,
        cu__branch_latency=1,
        sm__units__valu__intervals__FP32=1,
        sm__units__valu__operations__FP32=1,
    )
    programs = [[kinds[k % 3]] * 24 for k in range(9)]
    last = watch_cu(wavefronts.make(*programs), gpu).issues[-1][0]
    pieces = 9 * 24 * size // 8
    assert pieces <= last <= pieces + 2 * CODE_LATENCY + 9


def test_an_instruction_across_two_pieces_needs_both(wavefronts, tiny_cu, watch_cu):
    """The second of two long instructions behind a short one begins in the first 16 bytes."""
    long = wavefronts.long("scalar")
    gpu = alone(tiny_cu, cu__fetch_bytes=16)
    cycles = watch_cu(wavefronts.make(["scalar", long, long, "scalar"]), gpu).of(0)
    assert gaps(cycles) == [1, 1 + CODE_LATENCY - 1, 1]


def test_a_line_that_is_absent_comes_from_the_l2(wavefronts, tiny_cu, watch_cu):
    def first(**changes):
        gpu = alone(tiny_cu, sm__front_end__l1_bytes=32768, **changes)
        seen = watch_cu(wavefronts.make(["scalar"] * 4), gpu)
        assert seen.counters["l1i_misses"] == seen.counters["noc_requests"] == 1
        return seen.of(0)[0]

    assert first(l2__latency=260) == first()  # it is in neither cache: DRAM's latency counts
    assert first(dram__latency=500) - first(dram__latency=400) == 100


def test_lines_of_code_are_kept_by_the_l2(wavefronts, tiny_cu, watch_cu):
    """CUs that share no instruction cache: the second one hits in the L2."""
    changes = dict(sm__count=2, cu__neighbours=(1, 1), sm__ctas=1, launch__cta_interval=1000.0)
    gpu = alone(tiny_cu, sm__front_end__l1_bytes=32768, **changes)
    seen = watch_cu(wavefronts.make(["scalar"] * 4, groups=2), gpu)
    assert seen.counters["l1i_misses"] == 2
    assert seen.of(0, 1)[0] - 1000 < seen.of(0, 0)[0] - 150
    before = seen.of(0, 1)[0]
    gpu = alone(tiny_cu, sm__front_end__l1_bytes=32768, l2__latency=210, **changes)
    assert watch_cu(wavefronts.make(["scalar"] * 4, groups=2), gpu).of(0, 1)[0] == before + 10


def test_a_line_on_its_way_is_asked_for_once(wavefronts, tiny_cu, watch_cu):
    """Wavefronts of two neighbours wait for the lines of one program, in which they go together."""
    gpu = tiny_cu(sm__count=2, cu__neighbours=(2,), sm__ctas=1, sm__front_end__l1_bytes=32768)
    seen = watch_cu(wavefronts.make(["scalar"] * 40, groups=2), gpu)
    assert seen.counters["l1i_misses"] == seen.counters["noc_requests"] == 3
    assert seen.of(0, 0)[0] // 4 == seen.of(0, 1)[0] // 4


def test_who_finds_no_entry_asks_when_one_is_free(wavefronts, tiny_cu, watch_cu):
    """Four wavefronts in four lines; two entries: the others ask when the first are answered."""

    def firsts(entries):
        gpu = alone(tiny_cu, sm__front_end__l1_bytes=32768, cu__mshr_entries=entries)
        seen = watch_cu(wavefronts.make(*[["scalar"]] * 4), gpu)
        assert seen.counters["noc_requests"] == 4
        return [seen.of(slot)[0] for slot in range(4)]

    four, two = firsts(4), firsts(2)
    assert two[:2] == four[:2]
    assert four[3] < four[0] + 30
    assert two[0] + 100 < two[2] < two[3]
