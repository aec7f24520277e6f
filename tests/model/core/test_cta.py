"""CTA slots: how warps are placed, and how a CTA ends."""

from types import SimpleNamespace

import numpy as np
import pytest

from lockstep.builder import KernelBuilder
from lockstep.model.core import cta, launch
from lockstep.model.counters import Stall
from lockstep.workload import WARP

pytestmark = pytest.mark.plain


@pytest.mark.parametrize(
    "limit, block, sizes, together",
    [
        ({"sm.ctas": 3}, 32, {}, 3),
        ({"sm.warps": 8}, 64, {}, 4),
        ({"sm.warps": 8}, 96, {}, 2),
        ({"sm.registers": 8192}, 32, {"registers": 64}, 4),
        ({"sm.registers": 8192}, 32, {"registers": 65}, 3),
        ({"shared.bytes": 4096}, 32, {"shared_bytes": 1024}, 4),
        ({"shared.bytes": 4096}, 32, {"shared_bytes": 1025}, 3),
        ({"shared.bytes": 4096, "shared.reserved_per_cta": 1024}, 32, {"shared_bytes": 1024}, 2),
    ],
)
def test_the_limits_hold_while_a_kernel_runs(watch, tiny, limit, block, sizes, together):
    k = KernelBuilder("limits", grid=7, block=block, **sizes)
    for _ in range(40):
        k("NOP")
    seen = watch(k.workload(), tiny(**limit), cta_events=True)
    events = seen.run.cta_events
    at_once = [((events["start"] <= t) & (t < events["end"])).sum() for t in events["start"]]
    assert max(at_once) == together
    assert seen.run.kernels[0].ctas_per_sm == together
    assert sorted(events["cta"]) == list(range(7))


def test_a_warp_of_64_threads_takes_the_registers_of_two(watch, tiny):
    k = KernelBuilder("wide", grid=7, block=128, registers=64, warp_size=64)
    for _ in range(40):
        k("NOP")
    for registers, together in ((16384, 2), (16383, 1), (8192, 1)):
        seen = watch(k.workload(), tiny(sm__warp_size=64, sm__registers=registers))
        assert seen.run.kernels[0].ctas_per_sm == together
        assert {w for _, _, w, _ in seen.issues} == set(range(2 * together))


@pytest.mark.parametrize("size", [32, 64])
def test_threads_of_a_cta_are_numbered_from_its_first_warp_slot_on(tiny, idle_sms, size):
    c = idle_sms(tiny(sm__warp_size=size))
    c.warps[0, 0].active = c.warps[0, 2].active = 1
    c.kernels[0].warps = 2
    message = SimpleNamespace(
        kernel=0, cycle=0, cta=0, runs=0, addresses=0, pool=0, warps=0, cluster=0, rank=0
    )
    slot = launch.launch(c, 0, message)
    assert c.ctas[0, slot].thread_base == size
    assert [c.warps[0, w].index for w in (1, 3)] == [0, 1]


def test_warps_go_to_sub_cores_in_turn(watch, tiny):
    k = KernelBuilder("placed", grid=1, block=192)
    k("NOP")
    seen = watch(k.workload(), tiny())
    first = {w: seen.of(w)[0] for w in range(6)}
    assert [first[w] for w in range(4)] == [0] * 4
    assert first[4] > 0 and first[5] > 0, "two warps share a sub-core"


def test_freed_warp_slots_are_used_again(watch, tiny):
    k = KernelBuilder("reuse", grid=5, block=96)
    with k.lanes(lambda at: at.cta == 0):
        for _ in range(200):
            k("NOP")
    k("NOP")
    seen = watch(k.workload(), tiny(sm__warps=6), cta_events=True)
    assert seen.run.stopped == ""
    assert {w for _, _, w, _ in seen.issues} == set(range(6))
    assert seen.counters["ctas"] == 5


def test_a_warp_without_instructions_ends(watch, tiny):
    workload = KernelBuilder("empty", grid=3, block=64).workload()
    kernel = workload.kernels[0]
    made = kernel.ctas

    def emptied():
        for c in made():
            c.warps[1] = np.zeros((), WARP)
            yield c

    kernel.ctas = emptied
    seen = watch(workload, tiny(), cta_events=True)
    assert seen.run.stopped == ""
    assert seen.counters["warp_instructions"] == 3
    assert seen.counters["ctas"] == 3
    assert seen.counters["active_cycles"] * 4 == seen.stalls.sum()


def test_warps_that_end_in_one_cycle_end_their_cta_once(watch, tiny):
    k = KernelBuilder("together", grid=6, block=128)
    seen = watch(k.workload(), tiny(), cta_events=True)
    assert sorted(seen.run.cta_events["cta"]) == list(range(6))
    assert seen.counters["ctas"] == 6


def test_the_order_of_warps_is_kept_when_one_leaves(tiny, idle_sms):
    c = idle_sms(tiny())
    sub = c.subcores[0, 0]
    c.order[0, 0, :4] = [4, 0, 8, 12]
    for place, w in enumerate([4, 0, 8, 12]):
        c.looks[0, w].place = place
    sub.count, sub.last, sub.awaiting = 4, 0, 0b1011
    cta.leave_order(c, 0, 0)
    assert c.order[0, 0, :3].tolist() == [4, 8, 12]
    assert c.looks["place"][0, [4, 0, 8, 12]].tolist() == [0, -1, 1, 2]
    assert (sub.count, sub.last, sub.awaiting) == (3, -1, 0b101)
    sub.last = 8
    cta.leave_order(c, 0, 4)
    assert c.order[0, 0, :2].tolist() == [8, 12] and sub.last == 8
    assert c.looks["place"][0, [8, 12]].tolist() == [0, 1] and sub.awaiting == 0b10


def test_resident_warps_are_counted_until_they_end(watch, tiny):
    k = KernelBuilder("warps", grid=1, block=64)
    with k.lanes(lambda at: at.warp == 1):
        for _ in range(30):
            k("NOP")
    seen = watch(k.workload(), tiny())
    ends = [seen.of(w)[-1] for w in range(2)]
    assert seen.counters["warp_cycles"] == sum(ends)
    assert seen.stalls[Stall.NO_WARP] == 2 * seen.counters["active_cycles"] + (
        seen.counters["active_cycles"] - ends[0] - 1
    )


@pytest.mark.parametrize(("interval", "starts"), [(0.0, [0, 0, 0, 0]), (2.5, [0, 2, 5, 7])])
def test_warps_of_an_sm_start_one_after_the_other(watch, tiny, interval, starts):
    k = KernelBuilder("starts", grid=1, block=128)
    k("NOP")
    seen = watch(k.workload(), tiny(launch__warp_interval=interval))
    assert [seen.of(w)[0] for w in range(4)] == starts


def test_the_next_cta_starts_when_the_warps_before_it_have(watch, tiny):
    k = KernelBuilder("starts", grid=2, block=64)
    k("NOP")
    seen = watch(k.workload(), tiny(launch__warp_interval=10.0))
    assert [seen.of(w)[0] for w in range(4)] == [0, 10, 20, 30]
