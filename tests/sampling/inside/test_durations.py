"""When CTAs last as long as others, and when the last of them ends: against plain Python."""

import heapq
from types import SimpleNamespace

import numpy as np
import pytest

from lockstep import simulate
from lockstep.builder import KernelBuilder
from lockstep.errors import LockstepError, WorkloadError
from lockstep.sampling.inside import Durations, Lasting, project_durations
from lockstep.sampling.inside.evidence import Mark

K = SimpleNamespace(id=1, warps=4, cluster_ctas=1)


def asked(ended, **options):
    """The answer of a rule for 64 warps, 16 CTAs, that sees these CTAs (start, end, lasted)."""
    rule = Durations(levels=["warps"], warps=64, **options)
    counters = SimpleNamespace(ended=ended, launched=0, begun=40, ctas_done=len(ended), ctas=100)
    return rule(K, 10_000, counters), rule


def lasting(duration):
    return [cta(10 * k, duration(k)) for k in range(32)]


def cta(start, *durations):
    """Of so many warps, 4 if all take as long as one."""
    each = durations if len(durations) > 1 else 4 * durations
    return start, start + max(each), sum(each)


def test_equal_durations_are_stable_once_the_first_window_has_passed():
    ended = lasting(lambda k: 500)
    answer, rule = asked(ended)
    assert answer == "warps last 500 cycles"
    assert rule.lasting[1].duration == 500 and rule.lasting[1].ended == 32
    assert asked(ended[:31])[0] is False


@pytest.mark.parametrize(("growth", "stable"), [(0.2, True), (0.4, False), (-0.4, False)])
def test_the_slope_of_ends_on_starts_is_one(growth, stable):
    """Durations that grow by ``growth`` a CTA, 10 cycles apart: a slope of 1 + growth / 10."""
    answer, _ = asked(lasting(lambda k: 500 + growth * k))
    assert bool(answer) is stable


@pytest.mark.parametrize(("late", "stable"), [(3, True), (4, False)])
def test_the_two_windows_have_the_same_mean(late, stable):
    """The later half takes longer by ``late`` of 50; starts are far apart: the slope is near 1."""
    long = [50] * 16 + [50 - late] * 8 + [50 + late] * 8
    starts = [1000 * k for k in range(32)]
    answer, rule = asked([cta(s, d) for s, d in zip(starts, long)])
    assert bool(answer) is stable
    if stable:
        assert rule.lasting[1].duration == 50 + late, "of the last 512"


def test_ctas_that_all_start_together_have_no_slope():
    assert asked([cta(0, 500)] * 32)[0] is False


def test_durations_are_those_of_warps_not_of_ctas():
    """One warp of four takes as long as its CTA, the others half of it."""
    ended = [cta(10 * k, 400, 200, 200, 200) for k in range(32)]
    found = asked(ended)[1].lasting[1]
    assert (found.duration, found.kept) == (250, 1.6), "their CTAs keep their places longer"


def test_the_fit_is_that_of_single_warps():
    """Against least squares of the starts and ends of all warps, which the rule never sees."""
    rng = np.random.default_rng(3)
    for slope in (0.96, 0.98, 1.0, 1.02, 1.04):
        starts = np.arange(0, 32_000, 1000)
        ends = 9000 + slope * starts[:, None] + rng.integers(-300, 300, (32, 4))
        ended = [(s, int(e.max()), int((e - s).sum())) for s, e in zip(starts.tolist(), ends)]
        x, y = np.repeat(starts[16:], 4), ends[16:].ravel()
        exact = np.polyfit(x, y, 1)[0]
        assert bool(asked(ended, tolerance=0.03)[0]) == (abs(exact - 1) <= 0.03), exact


def naive_end(places, left, duration):
    """A CTA after the other takes the place that is free first."""
    heapq.heapify(places)
    last = max(places)
    for _ in range(left):
        end = heapq.heappop(places) + duration
        heapq.heappush(places, end)
        last = max(last, end)
    return last


@pytest.mark.parametrize("seed", range(20))
def test_the_last_end_is_that_of_places_taken_in_turn(seed):
    rng = np.random.default_rng(seed)
    wave, duration = int(rng.integers(1, 9)), float(rng.integers(100, 200))
    done, left = int(rng.integers(wave, 40)), int(rng.integers(0, 40))
    here = int(rng.integers(1, wave + 1))
    ends = sorted(int(n) for n in rng.integers(800, 1000, done))
    counters = SimpleNamespace(
        started=0, ended=[(0, end, 0) for end in ends] + [(5, 99, 0)], begun=done + here,
        ctas_done=done, ctas=done + here + left, wave=wave,
    )  # fmt: skip
    found = Lasting(Mark(1000, counters), "warps", duration / 2, 2, done).last_end("ctas")
    places = [max(end + duration, 1000) for end in ends[-here:]]
    if left:
        places += [1000] * (wave - here)
    assert found == pytest.approx(naive_end(places, left, duration))


def test_ctas_that_are_left_take_what_their_own_blocks_take():
    """Two places, 1,100 and 1,200: from there to 1,150 and 1,450, and to 1,210 and 1,220."""
    counters = SimpleNamespace(
        started=0, ended=[(0, 900, 0), (0, 950, 0)], begun=4, ctas_done=2, ctas=8, wave=2
    )
    streams = SimpleNamespace(durations=[200, 250, 50, 300, 10, 10])
    found = Lasting(Mark(1000, counters), "blocks", 7, 1.0, 2, streams)
    assert found.last_end("ctas") == 1450


@pytest.mark.long
@pytest.mark.parametrize("level", ["warps", "blocks"])
def test_a_steady_launch_is_projected_near_its_end(small, steady, level):
    gpu, rule = small(sm__ctas=4), Durations(levels=[level], warps=256, executions=1024, slope=0.1)
    workload = steady(grid=1280).workload()
    (whole,) = simulate(workload, gpu).run.kernels
    (part,) = simulate(workload, gpu, stop=rule, stop_interval=rule.bin).run.kernels
    assert part.stopped and part.cycles < whole.cycles / 2
    p = rule.projection(part)
    assert p.method == level and p.cycles == pytest.approx(whole.cycles, rel=0.1)
    assert p.estimated["ctas"] == 1280
    assert p.estimated["warp_instructions"] == pytest.approx(whole.warp_instructions)
    sectors = int(whole.partition["l2_read_sectors"].sum())
    assert p.estimated["l2_read_sectors"] == pytest.approx(sectors, rel=0.1)
    assert rule.projection(whole).cycles == whole.cycles


@pytest.mark.long
def test_warps_of_several_types_are_predicted_by_their_blocks(small):
    """Every second CTA has twice the work: no type is dominant, and all blocks are steady."""
    gpu = small(sm__ctas=4)
    k = KernelBuilder("two", grid=1280, block=128)
    with k.loop(lambda site: np.full(32, 4 if site.cta % 2 else 8)):
        for _ in range(40):
            k("FFMA R8, R6, R5, R8")
    k("EXIT")
    options = {"warps": 256, "executions": 1024, "slope": 0.1}
    warps = Durations(levels=["warps"], **options)
    assert (
        not simulate(k.workload(), gpu, stop=warps, stop_interval=warps.bin).run.kernels[0].stopped
    )
    rule = Durations(**options)
    part = simulate(k.workload(), gpu, stop=rule, stop_interval=rule.bin).run.kernels[0]
    whole = simulate(k.workload(), gpu).run.kernels[0]
    assert rule.lasting[part.id].level == "blocks" and part.cycles < whole.cycles / 2
    p = rule.projection(part)
    assert p.cycles == pytest.approx(whole.cycles, rel=0.1)
    assert p.estimated["warp_instructions"] == pytest.approx(whole.warp_instructions)


def test_what_cannot_be_is_refused(small, steady):
    for options in (
        {"warps": 3}, {"tolerance": 0}, {"bin": 0}, {"executions": 3}, {"slope": 0},
        {"levels": []}, {"levels": ["ctas"]}, {"places": "blocks"}, {"dominant": 2},
        {"coverage": 0},
    ):  # fmt: skip
        with pytest.raises(LockstepError, match="expected"):
            Durations(**options)
    stop = lambda *seen: True  # noqa: E731
    (part,) = simulate(steady(grid=64).workload(), small(), stop=stop).run.kernels
    with pytest.raises(WorkloadError, match="not by how long"):
        project_durations(part, None)
