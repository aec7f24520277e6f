"""Instruction fetch: L0, its stream buffer, the L1 instruction cache, and the L2 behind them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lockstep.builder import KernelBuilder, program
from lockstep.model.core.fetch import fetch
from lockstep.model.counters import Stall

pytestmark = pytest.mark.plain

SMALL = {
    "sm.front_end.l0_bytes": 256,
    "sm.front_end.l0_ways": 2,
    "sm.front_end.l1_bytes": 512,
    "sm.front_end.l1_ways": 2,
    "sm.front_end.stream_buffer": 0,
}


@pytest.fixture(scope="session")
def front_end(tiny, idle_sms):
    """(specification, state, fetch of a line by a sub-core) of small caches with changes."""

    def make(**changes):
        gpu = tiny(**SMALL | {f"sm.front_end.{k}": v for k, v in changes.items()})
        c = idle_sms(gpu)
        return gpu.sm.front_end, c, lambda line, now, b=0: fetch(c, 0, b, line, now)

    return make


def test_a_line_comes_from_the_l2_then_hits_the_l0(front_end):
    spec, c, get = front_end()
    there = spec.l2_latency
    assert get(7, 0) == there
    assert get(7, there - 1) == there, "the line is still on its way"
    assert get(7, there) == there
    assert (c.counters[0].l0i_accesses, c.counters[0].l0i_misses) == (3, 1)
    assert c.counters[0].l1i_misses == 1


def test_another_sub_core_finds_the_line_in_the_l1(front_end):
    spec, c, get = front_end()
    get(7, 0)
    assert get(7, 10, b=1) == spec.l2_latency + spec.l1_latency, "it waits for the line"
    later = spec.l2_latency + 100
    assert get(7, later, b=2) == later + spec.l1_latency
    assert c.counters[0].l1i_misses == 1


def test_the_least_recently_used_line_leaves_the_l0(front_end):
    spec, _, get = front_end(l1_bytes=1024, l1_ways=8)
    for now, line in enumerate((0, 4, 0, 8)):  # two ways, one set
        get(line, 1000 * now)
    assert get(0, 5000) == 5000
    assert get(4, 6000) == 6000 + spec.l1_latency


def test_lines_of_another_set_of_the_l1_stay(front_end):
    spec, _, get = front_end()
    for now, line in enumerate((1, 0, 2, 4)):  # two sets of two ways in the L1
        get(line, 1000 * now)
    assert get(1, 9000) == 9000 + spec.l1_latency
    assert get(0, 10000) == 10000 + spec.l2_latency, "2 and 4 took its places"


def test_the_stream_buffer_prefetches_a_line_a_cycle(front_end):
    spec, c, get = front_end(stream_buffer=2)
    assert get(0, 0) == spec.l2_latency
    assert get(1, 300) == 300, "asked for at cycle 1"
    assert get(2, 400) == 400
    assert get(3, 401) == 301 + spec.l2_latency, "asked for when line 1 was taken"
    assert c.counters[0].l0i_misses == 1
    assert get(8, 900) == 900 + spec.l2_latency, "a jump begins a new stream"
    assert c.counters[0].l0i_misses == 2


def test_a_jump_within_the_stream_keeps_it(front_end):
    _, c, get = front_end(stream_buffer=4)
    get(0, 0)
    assert get(3, 500) == 500
    assert get(5, 2000) == 2000
    assert c.counters[0].l0i_misses == 1


def test_prefetched_lines_that_are_still_coming_are_waited_for(front_end):
    spec, _, get = front_end(stream_buffer=2)
    get(0, 0)
    assert get(1, 5) == 1 + spec.l2_latency
    assert get(2, 6) == 2 + spec.l2_latency


def test_perfect_caches(front_end):
    _, c, get = front_end(l0_bytes=0)
    assert get(123, 45) == 45
    assert c.counters[0].l0i_accesses == 0
    spec, _, get = front_end(l1_bytes=0)
    assert get(123, 45) == 45 + spec.l1_latency


@given(st.lists(st.integers(0, 9), max_size=40), st.integers(1, 3))
def test_the_l0_agrees_with_a_naive_lru_cache(front_end, lines, ways):
    _, c, get = front_end(l0_bytes=128 * ways, l0_ways=ways)
    kept, misses = [], 0
    for step, line in enumerate(lines):
        misses += line not in kept
        kept = [*[k for k in kept if k != line], line][-ways:]
        get(line, 1000 * step)
    assert c.counters[0].l0i_misses == misses


def straight(count):
    k = KernelBuilder("straight", grid=1, block=32)
    for _ in range(count):
        k("NOP")
    return k.workload()


def test_a_warp_waits_for_its_first_line(watch, tiny):
    gpu = tiny(**SMALL)
    seen = watch(straight(3), gpu)
    start = gpu.sm.front_end.l2_latency
    assert seen.of(0) == [start, start + 1, start + 2, start + 3]
    assert seen.stalls[Stall.FETCH] == start


@pytest.mark.parametrize("buffer", [1, 2, 3, 5])
def test_a_line_is_asked_for_as_soon_as_the_buffer_has_room_for_its_first_instruction(
    watch, tiny, buffer
):
    gpu = tiny(**SMALL | {"sm.front_end.buffer": buffer})
    per_line = gpu.sm.front_end.line_bytes // 16
    seen = watch(straight(2 * per_line), gpu)
    gaps = np.diff(seen.of(0))
    assert gaps[per_line - 1] == gpu.sm.front_end.l2_latency + 2 - buffer
    assert (np.delete(gaps, [per_line - 1, 2 * per_line - 1]) == 1).all()


@pytest.mark.parametrize(("architecture", "size"), [(70, 16), (61, 8), (0, 16)])
def test_how_many_instructions_a_line_has_depends_on_the_generation(
    watch, tiny, architecture, size
):
    gpu = tiny(**SMALL)
    k = KernelBuilder("straight", grid=1, block=32, architecture=architecture)
    for i in range(20):
        k("NOP")
        k._code.instructions["pc"][i] = size * i
    gaps = np.diff(watch(k.workload(), gpu).of(0))
    assert np.flatnonzero(gaps > 1)[0] == 128 // size - 1
    assert gaps.max() == gpu.sm.front_end.l2_latency + 2 - gpu.sm.front_end.buffer


@pytest.mark.parametrize(("before", "hidden"), [(5, True), (4, False)])
def test_a_line_comes_while_the_instruction_before_it_waits(watch, tiny, before, hidden):
    """A warp sleeps before the last instructions of a line."""
    gpu = tiny(**SMALL)
    k = KernelBuilder("sleeps", grid=1, block=32)
    for i in range(12):
        k("NANOSLEEP 0x400" if i == before else "NOP")
    at = watch(k.workload(), gpu).of(0)
    assert at[before + 1] - at[before] > gpu.sm.front_end.l2_latency
    latency = gpu.sm.front_end.l2_latency + 2 - gpu.sm.front_end.buffer
    assert at[8] - at[7] == (1 if hidden else latency)


def test_after_a_taken_branch_nothing_is_ahead(watch, tiny):
    """A loop of one line and a half: the line behind it is asked for, each time in vain."""
    gpu = tiny(**SMALL | {"sm.front_end.l0_bytes": 1024, "sm.front_end.l1_bytes": 4096})
    k = KernelBuilder("loop", grid=1, block=32)
    with k.loop(3):
        for _ in range(15):
            k("NOP")
        k("BRA 0x0")
    seen = watch(k.workload(), gpu)
    assert seen.counters["l0i_misses"] == 3
    assert seen.counters["l0i_accesses"] == 3 * 3, "the last is that of the EXIT"
    starts = seen.of(0)[16::16]
    assert starts[1] - starts[0] == 16 + gpu.sm.front_end.redirect


def test_a_stream_buffer_hides_straight_code(watch, tiny):
    gpu = tiny(**SMALL | {"sm.front_end.stream_buffer": 8})
    seen = watch(straight(40), gpu)
    assert seen.of(0)[-1] == gpu.sm.front_end.l2_latency + 40
    assert seen.counters["l0i_misses"] == 1


def test_two_kernels_of_different_names_share_no_lines(watch, tiny):
    gpu = tiny(**SMALL)
    a, b = straight(3).kernels[0], straight(3).kernels[0]
    b.name = "other"
    assert watch(program(a, a), gpu).counters["l1i_misses"] == 1
    assert watch(program(a, b), gpu).counters["l1i_misses"] == 2


@pytest.mark.parametrize(("interval", "cycles"), [(0, 8), (8, 8), (20, 20)])
def test_lines_of_straight_code_follow_each_other_as_the_l0_gets_them(
    watch, tiny, interval, cycles
):
    """Eight instructions a line, from an L1 instruction cache that has them all."""
    sizes = {"sm.front_end.stream_buffer": 8, "sm.front_end.l1_bytes": 4096}
    gpu = tiny(**SMALL | sizes | {"sm.front_end.fill_interval": interval})
    k = KernelBuilder("loop", grid=1, block=32)
    with k.loop(3):
        for _ in range(79):
            k("NOP")
        k("BRA 0x0")
    at = watch(k.workload(), gpu).of(0)[2 * 80 :]
    assert at[72] - at[40] == 4 * cycles


def test_a_line_that_is_wanted_comes_before_those_that_are_fetched_ahead(watch, tiny):
    """A branch to another line: eight lines that follow the first are on their way."""
    waits = []
    for interval in (0, 100):
        k = KernelBuilder("jump", grid=1, block=32)
        with k.loop(2):
            k("NOP")
            k("BRA 0x0")
        k._code.instructions["pc"][2:] += 1 << 16
        changes = {"sm.front_end.stream_buffer": 8, "sm.front_end.fill_interval": interval}
        waits.append(watch(k.workload(), tiny(**SMALL | changes)).of(0)[-1])
    assert waits[0] == waits[1]
