"""When CTAs last as long as others, and when the last of them ends: against plain Python."""

import heapq
from types import SimpleNamespace

import numpy as np
import pytest

from lockstep import simulate
from lockstep.errors import LockstepError, WorkloadError
from lockstep.sampling.inside import Durations, Lasting, project_durations
from lockstep.sampling.inside.stability import Mark

K = SimpleNamespace(id=1, warps=4, cluster_ctas=1)


def asked(ended, **options):
    """The answer of a rule for 64 warps, 16 CTAs, that sees these CTAs."""
    rule = Durations(warps=64, **options)
    counters = SimpleNamespace(ended=ended, launched=0)
    return rule(K, 10_000, counters), rule


def lasting(duration):
    return [(10 * k, 10 * k + duration(k)) for k in range(32)]


def test_equal_durations_are_stable_once_the_first_window_has_passed():
    ended = lasting(lambda k: 500)
    answer, rule = asked(ended)
    assert answer == "CTAs last 500 cycles"
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
    answer, _ = asked([(s, s + d) for s, d in zip(starts, long)])
    assert bool(answer) is stable


def test_ctas_that_all_start_together_have_no_slope():
    assert asked([(0, 500)] * 32)[0] is False


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
        started=0, ended=[(0, end) for end in ends] + [(5, 99)], begun=done + here,
        ctas_done=done, ctas=done + here + left, wave=wave,
    )  # fmt: skip
    found = Lasting(Mark(1000, counters), duration, done).last_end()
    places = [max(end + duration, 1000) for end in ends[-here:]]
    if left:
        places += [1000] * (wave - here)
    assert found == pytest.approx(naive_end(places, left, duration))


def test_a_steady_launch_is_projected_near_its_end(small, steady):
    gpu, rule = small(sm__ctas=4), Durations(warps=256)
    workload = steady(grid=1280).workload()
    (whole,) = simulate(workload, gpu).run.kernels
    (part,) = simulate(workload, gpu, stop=rule, stop_interval=rule.bin).run.kernels
    assert part.stopped.startswith("CTAs last") and part.cycles < whole.cycles / 2
    p = project_durations(part, rule.lasting[part.id])
    assert p.method == "durations" and p.cycles == pytest.approx(whole.cycles, rel=0.1)
    assert p.estimated["ctas"] == 1280
    sectors = int(whole.partition["l2_read_sectors"].sum())
    assert p.estimated["l2_read_sectors"] == pytest.approx(sectors, rel=0.1)
    assert project_durations(whole, None).cycles == whole.cycles


def test_what_cannot_be_is_refused(small, steady):
    for options in ({"warps": 3}, {"tolerance": 0}, {"bin": 0}):
        with pytest.raises(LockstepError, match="expected at least"):
            Durations(**options)
    stop = lambda *seen: True  # noqa: E731
    (part,) = simulate(steady(grid=64).workload(), small(), stop=stop).run.kernels
    with pytest.raises(WorkloadError, match="not by how long"):
        project_durations(part, None)
