"""CTA dispatch: round robin, one an interval, in launch order."""

from types import SimpleNamespace

import numpy as np
import pytest

from lockstep.builder import KernelBuilder, program
from lockstep.errors import WorkloadError
from lockstep.model import control
from lockstep.model.clock import NEVER
from lockstep.model.dispatch import dispatcher, state

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


@pytest.fixture
def idle(tiny):
    """A scheduler of two SMs of four warps without kernels."""
    gpu = tiny(sm__count=2, sm__warps=4)
    return state.build(gpu, control.build(gpu))


def test_nothing_is_dispatched_without_ctas(idle):
    assert dispatcher.dispatch(idle, 0, 60) == 0
    idle.state[0].kernels = 1
    assert dispatcher.dispatch(idle, 0, 60) == 0
    assert dispatcher.next_dispatch(idle, 60) == NEVER


def needs(**sizes):
    """What one CTA needs."""
    return SimpleNamespace(**{"warps": 1, "registers": 1, "shared": 0} | sizes)


@pytest.mark.parametrize("name", ["warps", "registers", "shared"])
def test_a_cta_fits_up_to_the_limit_and_not_beyond(idle, name):
    grid = needs(**{name: 4})
    idle.slots[1][name] = idle.spec[0][name] - 4
    assert dispatcher.fits(idle, 1, grid) and dispatcher.room(idle, 1, grid) == 1
    idle.slots[1][name] += 1
    assert not dispatcher.fits(idle, 1, grid) and dispatcher.room(idle, 1, grid) == 0


def test_no_more_ctas_than_slots(idle):
    idle.slots[0].ctas = idle.spec[0].ctas - 1
    assert dispatcher.fits(idle, 0, needs())
    idle.slots[0].ctas += 1
    assert not dispatcher.fits(idle, 0, needs())


def test_what_is_reserved_is_given_back(idle):
    used = idle.slots[0]
    before = used.copy()
    grid = needs(warps=3, registers=4096, shared=512)
    dispatcher.reserve(used, grid, 1)
    assert (used.ctas, used.warps, used.registers, used.shared) == (1, 3, 4096, 512)
    dispatcher.reserve(used, grid, -1)
    assert used == before


def queue(d, ctas, warps=2, **needs):
    """Queue CTAs of ten and twenty instructions in kernel slot 0, which is served."""
    grid = d.grids[0]
    grid.warps, grid.cluster, grid.ctas, grid.queued = warps, 1, ctas, ctas
    for name, value in needs.items():
        grid[name] = value
    d.progress[0].started = -1
    for n in range(ctas):
        d.pending[0, n] = (7 + n, 10 * n, 20 * n, 30 * n, 40 * n, 10, 20)
    d.state[0].kernels = 1


def test_a_launch_says_what_where_and_when(idle):
    queue(idle, 3)
    assert dispatcher.dispatch(idle, 120, 180) == 3
    told = idle.control
    assert told.n_launches.tolist() == [2, 1]
    assert told.launches[0, 1].tolist() == (0, 9, 122, 20, 40, 60, 80, -1, 0)
    progress = idle.progress[0]
    assert (progress.taken, progress.started) == (3, 120)
    assert (progress.warp_instructions, progress.thread_instructions) == (30, 60)
    dispatcher.clear_sent(idle)
    assert not told.n_launches.any()


def ended(d, s, cta, left=0, end=200):
    told = d.control
    told.ended[s, told.n_ended[s]] = (0, cta, 120, end, left, 0)
    told.n_ended[s] += 1


def test_room_is_what_messages_tell(idle):
    """Both SMs are full until one tells that a CTA has ended; no state of an SM is looked at."""
    queue(idle, 5)
    assert dispatcher.dispatch(idle, 120, 180) == 4
    assert dispatcher.dispatch(idle, 180, 240) == 0
    ended(idle, 1, 8)
    dispatcher.retire(idle)
    dispatcher.clear_sent(idle)
    assert dispatcher.dispatch(idle, 240, 300) == 1
    assert idle.control.n_launches.tolist() == [0, 1]
    assert idle.retired[0].tolist() == (0, 8, 1, 120, 200, 0) and idle.state[0].retired == 1


def test_a_kernel_is_over_when_its_stores_are_acknowledged(idle):
    queue(idle, 2)
    dispatcher.dispatch(idle, 120, 180)
    ended(idle, 0, 7, left=3)
    dispatcher.retire(idle)
    assert not dispatcher.needs_engine(idle, True) and idle.progress[0].storing == 1
    idle.control.n_ended[:] = 0
    ended(idle, 1, 8)
    dispatcher.retire(idle)
    assert not dispatcher.needs_engine(idle, True)
    idle.control.n_ended[:] = 0
    ended(idle, 0, control.STORED)
    dispatcher.retire(idle)
    assert dispatcher.needs_engine(idle, True) and idle.progress[0].storing == 0
    assert not dispatcher.needs_engine(idle, False), "nothing has ended since"


@pytest.mark.parametrize(("more", "queued", "wanted"), [(1, 0, True), (0, 0, False), (1, 1, False)])
def test_the_engine_reads_ctas_before_a_window_may_lack_them(idle, more, queued, wanted):
    low = int(idle.spec[0].low)
    queue(idle, low - 1 + queued, more=more)
    assert dispatcher.needs_engine(idle, False) == wanted


def test_a_kernel_that_is_executed_asks_for_the_engine_whenever_a_cta_ends(idle):
    queue(idle, 2, executed=1)
    assert dispatcher.needs_engine(idle, True) and not dispatcher.needs_engine(idle, False)


def test_what_has_ended_is_kept_until_the_engine_takes_it(idle):
    idle.state[0].retired = idle.spec[0].most_retired + 1
    assert dispatcher.needs_engine(idle, False)


@pytest.mark.parametrize(
    ("moves", "page", "told", "wanted"),
    [(1, 8, 0, True), (1, 8, 1, False), (1, 0, 0, False), (0, 8, 0, False)],
)
def test_the_engine_hears_of_a_page_once(idle, moves, page, told, wanted):
    idle.spec[0].pages_move = moves
    idle.control.asks[1].page, idle.control.asks[1].told = page, told
    assert dispatcher.needs_engine(idle, False) == wanted


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
