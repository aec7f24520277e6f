"""Barriers of a CTA: all unfinished warps must arrive, none passes before."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lockstep.builder import KernelBuilder
from lockstep.model.counters import Stall

pytestmark = pytest.mark.plain


def work(k, warp, cycles):
    """Keeps one warp busy before it goes on."""
    with k.lanes(lambda at: at.warp == warp):
        for _ in range(cycles):
            k("NOP")


def test_the_barrier_opens_after_the_last_arrival(watch, tiny):
    gpu = tiny()
    k = KernelBuilder("barrier", grid=1, block=128)
    work(k, 2, 10)
    k("BAR.SYNC 0x0")
    k("MOV R1, R2")
    seen = watch(k.workload(), gpu)
    arrived = 10
    assert [seen.of(w)[-3] for w in range(4)] == [0, 0, arrived, 0]
    assert {seen.of(w)[-2] for w in range(4)} == {arrived + gpu.sm.barrier_latency}
    waits = 3 * (arrived + gpu.sm.barrier_latency - 1) + gpu.sm.barrier_latency - 1
    assert seen.stalls[Stall.BARRIER] == waits


def test_a_cta_does_not_wait_for_another(watch, tiny):
    gpu = tiny()
    k = KernelBuilder("barrier", grid=2, block=64)
    with k.lanes(lambda at: (at.cta == 1) & (at.warp == 0)):
        for _ in range(50):
            k("NOP")
    k("BAR.SYNC 0x0")
    seen = watch(k.workload(), gpu, cta_events=True)
    ends = dict(zip(seen.run.cta_events["cta"].tolist(), seen.run.cta_events["end"].tolist()))
    assert ends[0] < 50 < ends[1]


def test_named_barriers_are_independent(watch, tiny):
    gpu = tiny()
    k = KernelBuilder("named", grid=1, block=64)
    with k.lanes(lambda at: at.warp == 0):
        k("BAR.ARV 0x1, 0x40")
        k("BAR.SYNC 0x2")
    with k.lanes(lambda at: at.warp == 1):
        for _ in range(20):
            k("NOP")
        k("BAR.SYNC 0x1")
        k("BAR.ARV 0x2, 0x40")
    seen = watch(k.workload(), gpu)
    assert seen.run.stopped == ""
    first = seen.of(1)[20]  # arrives at 1, where warp 0 was long ago
    assert seen.of(1)[21] == first + gpu.sm.barrier_latency
    assert seen.of(0)[2] == seen.of(1)[21] + gpu.sm.barrier_latency


def test_an_arrival_does_not_wait(watch, tiny):
    k = KernelBuilder("arrive", grid=1, block=64)
    with k.lanes(lambda at: at.warp == 0):
        k("BAR.ARV 0x1, 0x40")
        k("NOP")
    with k.lanes(lambda at: at.warp == 1):
        k("BAR.SYNC 0x1")
    assert watch(k.workload(), tiny()).of(0)[:2] == [0, 1]


def test_a_predicate_that_is_false_keeps_a_warp_from_the_barrier(watch, tiny):
    """Neither does it wait, nor does it count as one of two that open the barrier."""
    gpu = tiny()
    k = KernelBuilder("guarded", grid=1, block=96)
    work(k, 2, 30)
    k("BAR.SYNC 0x1, 0x40", mask=lambda at: at.warp > 0)
    k("NOP")
    seen = watch(k.workload(), gpu)
    assert seen.run.stopped == ""
    assert seen.of(0)[:2] == [0, 1]
    assert seen.of(1)[1] == seen.of(2)[31] == 30 + gpu.sm.barrier_latency


def test_a_warp_that_leaves_opens_the_barrier(watch, tiny):
    gpu = tiny()
    k = KernelBuilder("leaves", grid=1, block=64)
    with k.lanes(lambda at: at.warp == 0):
        k("BAR.SYNC 0x0")
    work(k, 1, 30)
    seen = watch(k.workload(), gpu)
    left = seen.of(1)[-1]
    assert seen.of(0)[1] == left + gpu.sm.barrier_latency


def test_a_warp_that_arrived_and_left_counts_once(watch, tiny):
    gpu = tiny()
    k = KernelBuilder("producer", grid=1, block=128)
    with k.lanes(lambda at: at.warp == 0):
        k("BAR.ARV 0x1, 0x80")
    work(k, 3, 40)
    with k.lanes(lambda at: at.warp > 0):
        k("BAR.SYNC 0x1")
    seen = watch(k.workload(), gpu)
    assert seen.of(0)[-1] < 5, "gone before the others arrive"
    last = seen.of(3)[40]
    assert {seen.of(w)[-1] for w in (1, 2, 3)} == {last + gpu.sm.barrier_latency}


def test_a_barrier_can_be_used_again_and_again(watch, tiny):
    gpu = tiny()
    k = KernelBuilder("loop", grid=1, block=96)
    with k.loop(5):
        k("BAR.SYNC 0x3")
    seen = watch(k.workload(), gpu)
    assert seen.run.stopped == ""
    assert all(len(seen.of(w)) == 6 for w in range(3))


def test_a_barrier_of_some_warps_does_not_wait_for_the_others(watch, tiny):
    gpu = tiny()
    k = KernelBuilder("half", grid=1, block=128)
    work(k, 1, 7)
    work(k, 3, 40)
    with k.lanes(lambda at: at.warp < 2):
        k("BAR.SYNC 0x1, 0x40")
    with k.lanes(lambda at: at.warp >= 2):
        k("BAR.RED.POPC.DEFER_BLOCKING 0x2, 0x40, P0")
    seen = watch(k.workload(), gpu)
    assert seen.of(0)[-1] == seen.of(1)[-1] == 7 + gpu.sm.barrier_latency
    assert seen.of(2)[-1] == seen.of(3)[-1] == 40 + gpu.sm.barrier_latency


def test_producers_and_consumers_take_turns(watch, tiny):
    """Two producer warps fill one buffer that two consumer warps empty, four times.

    Barrier 1: full, barrier 2: empty. Each side arrives at one and waits at the other.
    """
    gpu = tiny()
    k = KernelBuilder("specialised", grid=1, block=160)
    with k.lanes(lambda at: at.warp < 2), k.loop(4):
        k("BAR.SYNC 0x2, 0x80")
        fill = [k("NOP") for _ in range(10)]
        k("BAR.ARV 0x1, 0x80")
    with k.lanes(lambda at: (at.warp == 2) | (at.warp == 3)):
        k("BAR.ARV 0x2, 0x80")
        with k.loop(4):
            k("BAR.SYNC 0x1, 0x80")
            use = [k("NOP") for _ in range(5)]
            k("BAR.ARV 0x2, 0x80")
    seen = watch(k.workload(), gpu)
    assert seen.run.stopped == ""
    filled = [t for t, _, _, static in seen.issues if static == fill[-1]]
    used = [t for t, _, _, static in seen.issues if static == use[0]]
    assert len(filled) == len(used) == 8
    for turn in range(4):
        last, first = max(filled[2 * turn : 2 * turn + 2]), min(used[2 * turn : 2 * turn + 2])
        assert first == last + 1 + gpu.sm.barrier_latency
    assert seen.of(4)[-1] < filled[0], "the fifth warp takes no part"


def test_stated_arrivals_are_counted_each(watch, tiny):
    """One warp may arrive twice, and may leave: its arrivals stay."""
    gpu = tiny()
    k = KernelBuilder("twice", grid=1, block=96)
    with k.lanes(lambda at: at.warp == 0):
        k("BAR.ARV 0x1, 0x60")
        k("BAR.ARV 0x1, 0x60")
    work(k, 1, 20)
    with k.lanes(lambda at: at.warp == 1):
        k("BAR.SYNC 0x1, 0x60")
    seen = watch(k.workload(), gpu)
    assert seen.of(0)[-1] < 20
    assert seen.of(1)[-1] == 20 + gpu.sm.barrier_latency


def test_a_barrier_that_opened_has_forgotten_its_count(watch, tiny):
    gpu = tiny()
    k = KernelBuilder("again", grid=1, block=96)
    with k.lanes(lambda at: at.warp < 2):
        k("BAR.SYNC 0x1, 0x40")
    work(k, 2, 50)
    k("BAR.SYNC 0x1")
    seen = watch(k.workload(), gpu)
    assert {seen.of(w)[-1] for w in range(3)} == {50 + gpu.sm.barrier_latency}


@settings(max_examples=25)
@given(
    st.lists(st.lists(st.integers(0, 6), min_size=3, max_size=3), min_size=2, max_size=6),
)
def test_no_warp_passes_before_all_have_arrived(watch, tiny, delays):
    """Every warp works for a while before each of three barriers."""
    gpu = tiny()
    warps = len(delays)
    k = KernelBuilder("random", grid=1, block=32 * warps)
    bars = []
    for phase in range(3):
        for w in range(warps):
            work(k, w, delays[w][phase])
        bars.append(k(f"BAR.SYNC {phase % 2:#x}"))
    seen = watch(k.workload(), gpu)
    assert seen.run.stopped == ""
    for bar in bars:
        arrivals = [t for t, _, _, static in seen.issues if static == bar]
        assert len(arrivals) == warps
        for w in range(warps):
            (own,) = [t for t, _, v, static in seen.issues if static == bar and v == w]
            after = min(t for t in seen.of(w) if t > own)
            assert after >= max(arrivals) + gpu.sm.barrier_latency


@pytest.mark.parametrize("interval", [0, 3])
def test_the_barrier_unit_takes_one_arrival_an_interval(watch, tiny, interval):
    gpu = tiny(sm__barrier_interval=interval)
    k = KernelBuilder("barrier", grid=1, block=128)
    k("BAR.SYNC 0x0")
    k("NOP")
    seen = watch(k.workload(), gpu)
    assert {seen.of(w)[1] for w in range(4)} == {4 * interval + gpu.sm.barrier_latency}


@pytest.mark.parametrize(
    ("text", "named"),
    [("BAR.SYNC 0x0", False), ("BAR.SYNC 0x3", True), ("BAR.SYNC 0x0, 0x40", True)],
)
def test_a_named_barrier_opens_later(watch, tiny, text, named):
    gpu = tiny(sm__named_barrier_latency=11)
    k = KernelBuilder("barrier", grid=1, block=64)
    k(text)
    k("NOP")
    opened = gpu.sm.barrier_latency + 11 * named
    assert watch(k.workload(), gpu).of(0)[1] == opened
