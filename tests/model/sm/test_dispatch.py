"""CTA dispatch: round robin, one an interval, in launch order."""

import numpy as np
import pytest

from lockstep.builder import KernelBuilder, program
from lockstep.errors import WorkloadError
from lockstep.model.cache import tags
from lockstep.model.sm import dispatch

pytestmark = pytest.mark.plain


def busy(name="busy", grid=8, block=32, cycles=100, **needs):
    k = KernelBuilder(name, grid=grid, block=block, **needs)
    for _ in range(cycles):
        k("NOP")
    return k


def starts(seen):
    """(start, SM) by CTA."""
    events = np.sort(seen.run.cta_events, order="cta")
    return list(zip(events["start"].tolist(), events["sm"].tolist()))


@pytest.mark.parametrize("interval", [0.25, 1.0, 2.5, 10.0, 200.0])
def test_a_cta_is_dispatched_once_an_interval_round_robin(watch, tiny, interval):
    gpu = tiny(sm__count=3, launch__cta_interval=interval)
    seen = watch(busy().workload(), gpu, cta_events=True)
    assert starts(seen) == [(int(n * interval), n % 3) for n in range(8)]


def test_sms_without_room_are_passed_over(watch, tiny):
    gpu = tiny(sm__count=3, sm__warps=4)
    seen = watch(busy(grid=5, block=128, cycles=40).workload(), gpu, cta_events=True)
    first, later = starts(seen)[:3], starts(seen)[3:]
    assert first == [(0, 0), (1, 1), (2, 2)]
    window = gpu.interconnect.latency
    assert all(start % window <= 1 and start >= 40 for start, _ in later), "at a window's start"


def test_the_turn_goes_on_where_it_was(watch, tiny):
    gpu = tiny(sm__count=3)
    seen = watch(program(busy(grid=2), busy(grid=2)), gpu, cta_events=True)
    assert np.sort(seen.run.cta_events, order="start")["sm"].tolist() == [0, 1, 2, 0]


def test_a_later_kernel_gets_what_an_earlier_one_leaves(watch, tiny):
    gpu = tiny(sm__count=1, sm__warps=4)
    first = busy("first", grid=2, block=64, stream=1)
    second = busy("second", grid=1, block=32, stream=2)
    seen = watch(program(first, second), gpu, cta_events=True)
    events = seen.run.cta_events
    of = {k.name: events[events["kernel"] == i] for i, k in enumerate(seen.run.kernels)}
    assert of["first"]["start"].tolist() == [0, 1]
    assert of["second"]["start"][0] >= of["first"]["end"].min()


def test_a_small_kernel_runs_beside_a_large_one(watch, tiny):
    gpu = tiny(sm__count=1, sm__warps=4)
    large = busy("large", grid=3, block=96, stream=1)
    small = busy("small", grid=1, block=32, stream=2)
    seen = watch(program(large, small), gpu, cta_events=True)
    index = [k.name for k in seen.run.kernels].index("small")
    events = seen.run.cta_events
    assert events["start"][events["kernel"] == index].tolist() == [1]


def test_sms_outside_of_gpcs_are_first_and_have_a_turn_after_some(watch, tiny):
    gpu = tiny(sm__count=7, sm__gpcs=(2, 3), sm__outside_turns=3)
    seen = watch(busy(grid=21).workload(), gpu, cta_events=True)
    first = [0, 1, 2, 3, 4, 5, 6, 2, 3, 0, 1, 4, 5, 6]
    assert [sm for _, sm in starts(seen)] == [*first, 2, 3, 4, 5, 6, 0, 1]


def test_sms_outside_get_no_more_than_their_share(watch, tiny):
    gpu = tiny(sm__count=7, sm__gpcs=(2, 3), sm__outside_turns=1)
    seen = watch(busy(grid=12).workload(), gpu, cta_events=True)
    assert [sm for _, sm in starts(seen)] == [0, 1, 2, 3, 0, 1, 4, 5, 6, 2, 3, 4]


def test_a_kernel_begins_with_the_sms_outside(watch, tiny):
    gpu = tiny(sm__count=7, sm__gpcs=(2, 3), sm__outside_turns=3)
    kernels = program(busy("first", grid=3), busy("second", grid=3))
    seen = watch(kernels, gpu, cta_events=True)
    assert np.sort(seen.run.cta_events, order="start")["sm"].tolist() == [0, 1, 2, 0, 1, 4]


def clustered(seen, shape, grid):
    """[(start, SM) of each CTA] of each cluster, in the order of the grid."""
    events = np.sort(seen.run.cta_events, order="cta")
    members = {}
    for event in events:
        x, y = int(event["cta"]) % grid[0], int(event["cta"]) // grid[0]
        members.setdefault((y // shape[1], x // shape[0]), []).append(
            (int(event["start"]), int(event["sm"]))
        )
    return [members[key] for key in sorted(members)]


@pytest.mark.parametrize("interval", [1.0, 40.0])
@pytest.mark.parametrize(("shape", "grid"), [((4, 1), (8, 2)), ((2, 2), (4, 4)), ((1, 4), (2, 8))])
def test_the_ctas_of_a_cluster_start_together_in_one_gpc(watch, tiny, shape, grid, interval):
    gpu = tiny(sm__count=7, sm__gpcs=(3, 4), launch__cta_interval=interval)
    kernel = busy(grid=grid, cycles=20, cluster=shape)
    seen = watch(kernel.workload(), gpu, cta_events=True)
    found = clustered(seen, shape, grid)
    assert len(found) == 4
    groups = [{0 if sm < 3 else 1 for _, sm in cluster} for cluster in found]
    assert groups == [{0}, {1}, {0}, {1}], "round robin over the GPCs"
    for n, cluster in enumerate(found):
        assert {start for start, _ in cluster} == {int(4 * n * interval)}


def test_a_cluster_takes_the_least_busy_sms(watch, tiny):
    gpu = tiny(sm__count=4)
    seen = watch(busy(grid=8, cluster=2).workload(), gpu, cta_events=True)
    assert [sm for _, sm in starts(seen)] == [0, 1, 2, 3, 0, 1, 2, 3]


def test_a_cluster_waits_until_all_of_it_has_room(watch, tiny):
    """Two SMs of four warps: three CTAs of two warps leave room for one, not for a cluster."""
    gpu = tiny(sm__count=2, sm__warps=4)
    first = busy("first", grid=3, block=64, stream=1, cycles=200)
    second = busy("second", grid=2, block=64, stream=2, cluster=2)
    seen = watch(program(first, second), gpu, cta_events=True)
    index = [k.name for k in seen.run.kernels].index("second")
    events = seen.run.cta_events
    second = events[events["kernel"] == index]["start"]
    assert second[0] == second[1] >= events[events["kernel"] != index]["end"].min()


@pytest.mark.parametrize(
    ("cluster", "grid", "message"),
    [(2, 3, "do not divide the grid"), (32, 32, "at most 16"), (8, 8, "at most 6 of these")],
)
def test_clusters_that_can_never_run_are_refused(watch, tiny, cluster, grid, message):
    gpu = tiny(sm__count=4, sm__gpcs=(2, 2), sm__warps=12)
    if cluster == 32:
        gpu = tiny(sm__count=64)
    with pytest.raises(WorkloadError, match=message):
        watch(busy(grid=grid, block=128, cluster=cluster).workload(), gpu)


def test_nothing_is_dispatched_without_ctas(tiny, idle_sms):
    c = idle_sms(tiny())
    assert dispatch.dispatch(c, np.zeros(1, np.int64), 1, 0, 60) == 0
    assert dispatch.dispatch(c, np.zeros(1, np.int64), 0, 0, 60) == 0


def _fill(c):
    c.l1.tags.lines[...] = 5
    c.l1.caches.filled = 1


@pytest.mark.parametrize(
    "ways, flush, empty", [(4, True, True), (4, False, False), (2, False, True)]
)
def test_a_kernel_may_empty_the_l1(tiny, idle_sms, ways, flush, empty):
    gpu = tiny(sm__count=2, l1__bytes=2048, l1__carveouts=(), l1__sets=4)
    c = idle_sms(gpu)
    _fill(c)
    dispatch.prepare_l1(c, ways, flush)
    assert (c.l1.tags.lines == (tags.NO_LINE if empty else 5)).all()
    assert (c.l1.tags.caches.ways == ways).all()


def test_the_l1_takes_what_shared_memory_leaves(watch, tiny):
    """A loop over twelve lines; the unified memory has sixteen, or eight beside the carve-out."""

    def hits(shared):
        k = KernelBuilder("carve", grid=1, block=32, shared_bytes=shared)
        with k.loop(2):
            for n in range(12):
                k("LDG.E R1, [R2]", address=k.coalesced(0x7F0000000000 + 128 * n))
        shape = {"l1.bytes": 2048, "l1.sets": 1, "l1.carveouts": (0, 1024), "shared.bytes": 1024}
        seen = watch(k.workload(), tiny(**shape, **{"sm.ctas": 1}))
        return seen.counters["l1_global_read_hits"]

    assert hits(0) == 12 * 4
    assert hits(1024) == 0, "least recently used: each line is gone before it is used again"


@pytest.mark.parametrize("first", [0.0, 0.25, 7.0])
def test_sms_are_filled_once_at_a_rate_of_its_own(watch, tiny, first):
    """Four CTAs fit; the fifth, which follows the first wave, and the sixth come at the other."""
    gpu = tiny(sm__count=2, sm__ctas=2, launch__first_interval=first, launch__cta_interval=3.0)
    seen = watch(busy(grid=6, cycles=40).workload(), gpu, cta_events=True)
    at = [start for start, _ in starts(seen)]
    assert at[:4] == [int(n * (first or 3.0)) for n in range(4)]
    assert at[5] - at[4] >= 3


@pytest.mark.parametrize("refill", [100, 137, 200])
def test_a_place_is_filled_some_cycles_after_its_cta_has_ended(watch, tiny, refill):
    """To the cycle where that is no less than a window; meanwhile its SM is idle."""
    gpu = tiny(sm__ctas=2, launch__refill=refill)
    assert refill >= gpu.interconnect.latency
    seen = watch(busy(grid=5, cycles=40).workload(), gpu, cta_events=True)
    events = np.sort(seen.run.cta_events, order="cta")
    start, end = events["start"].tolist(), events["end"].tolist()
    assert start[:2] == [0, 1]
    assert start[2:] == [end[0] + refill, end[1] + refill, end[2] + refill]
    assert seen.run.kernels[0].end == end[4]
    busy_cycles = sum(b - a for a, b in ((start[0], end[1]), (start[2], end[3])))
    assert seen.counters["active_cycles"] == busy_cycles + end[4] - start[4]


def test_a_short_wait_ends_with_the_window(watch, tiny):
    gpu = tiny(sm__ctas=1, launch__refill=2)
    seen = watch(busy(grid=3, cycles=40).workload(), gpu, cta_events=True)
    events = np.sort(seen.run.cta_events, order="cta")
    gaps = (events["start"][1:] - events["end"][:-1]).tolist()
    assert all(2 <= gap <= 2 + gpu.interconnect.latency for gap in gaps)


@pytest.mark.parametrize("limit", ["sm.ctas", "sm.warps", "shared.bytes"])
def test_what_is_not_free_yet_is_no_room(watch, tiny, limit):
    sizes = {"sm.ctas": 3, "sm.warps": 6, "shared.bytes": 3072}
    gpu = tiny(**{limit: sizes[limit], "launch.refill": 150, "launch.cta_interval": 0.5})
    kernel = busy(grid=10, block=64, cycles=30, shared_bytes=1024)
    events = watch(kernel.workload(), gpu, cta_events=True).run.cta_events
    held = [((events["start"] <= t) & (t < events["end"] + 150)).sum() for t in events["start"]]
    assert max(held) == 3
