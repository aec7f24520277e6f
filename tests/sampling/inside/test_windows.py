"""CTA windows: what is left out and when, and what is estimated of it."""

from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pytest

from lockstep import simulate
from lockstep.builder import KernelBuilder, program
from lockstep.engine.record import LeftOut
from lockstep.errors import LockstepError, WorkloadError
from lockstep.sampling.inside import Windows, project_windows
from lockstep.sampling.inside.projection import SAME_TRAFFIC, _share_of_later

A = 0x7F0000000000


@pytest.mark.parametrize("speed_up", [2, 4, 10])
@pytest.mark.parametrize("waves", [5, 10, 20, 50.5, 400])
def test_gaps_leave_room_for_a_unit_behind_each(counters, speed_up, waves):
    rule = Windows(speed_up)
    ramp, unit, warm_up = rule.lengths(waves)
    begun = round(10 * (ramp + 1))
    gaps = rule.gaps(counters(1000, 10, ctas=int(waves * 10), wave=10, begun=begun))
    assert gaps or waves == 5, "of a short grid nothing is left out"
    ran = ramp + unit + (warm_up + unit) * gaps + 0.75
    assert waves - ran >= gaps, "each leaves out a wave or more"
    if gaps > 1:
        assert ran <= waves / speed_up


def test_all_lengths_take_what_the_speed_up_leaves_room_for():
    rule = Windows(4, ramp=(1, 3), unit=(1, 2), warm_up=(0.5, 2))
    assert rule.lengths(10) == (1, 1, 0.5) == rule.lengths(4 * (0.75 + 3.5))
    assert rule.lengths(400) == (3, 2, 2) == rule.lengths(4 * (0.75 + 9))
    ramp, unit, warm_up = rule.lengths(24)
    assert 1 < ramp < 3 and 1 < unit < 2 and 0.5 < warm_up < 2
    assert ramp + 2 * unit + warm_up + 0.75 == pytest.approx(24 / 4)
    assert Windows(4, ramp=(2, 2), unit=(1, 1), warm_up=(1, 1)).lengths(24) == (2, 1, 1)


def test_more_waves_are_measured_more_often(counters):
    def number(ctas):
        return Windows(4).gaps(counters(0, 10, ctas=ctas, wave=10, begun=20))

    assert number(100) == number(150) == 1 < number(800) < number(2000)


def test_a_rule_that_overshoots_leaves_out_less(counters):
    """CTAs that end together begin together: what is left shrinks, and gaps with it."""
    rule, kernel = Windows(4), SimpleNamespace(id=1, cluster_ctas=1)
    skipped, begun, cycle = 0, 10, 0
    while begun + skipped < 300:
        cycle += 1000
        begun = min(begun + 17, 300 - skipped)
        seen = counters(100 * begun, begun - 10, ctas=300, begun=begun, skipped=skipped)
        answer = rule(kernel, cycle, seen)
        if answer:
            assert answer.ctas % 10 == 0 and answer.ctas <= 300 - begun - skipped
            skipped += answer.ctas
    assert skipped >= 100 and rule.units[1]


def test_a_grid_that_is_too_short_runs_as_without_a_rule(small, steady):
    gpu, rule = small(sm__ctas=4), Windows()
    workload = steady(grid=60).workload()
    free, asked = simulate(workload, gpu), simulate(workload, gpu, stop=rule, stop_interval=50)
    (k,) = asked.run.kernels
    assert asked.hash == free.hash and k.complete and rule.units[k.id] == []
    p = project_windows(k, rule.units[k.id])
    assert (p.method, p.cycles) == ("whole", k.cycles)


def test_each_kernel_of_a_run_has_gaps_of_its_own(small, steady):
    gpu, rule = small(sm__ctas=4), Windows()
    workload = program(steady("a", grid=800), steady("b", grid=12), steady("c", grid=400))
    run = simulate(workload, gpu, stop=rule, stop_interval=rule.bin).run
    a, b, c = run.kernels
    assert b.complete and not a.complete and not c.complete
    for k in (a, c):
        units = rule.units[k.id]
        assert k.skipped % 16 == 0 and k.skipped > 0 and k.ctas_done + k.skipped == k.ctas
        assert len(units) == len({u.end.counters.skipped for u in units}) >= 2
        for unit in units:
            assert unit.end.counters.begun - unit.begin.counters.begun >= 8
    assert a.skipped > c.skipped


def test_kernels_that_run_beside_others_run_whole(small, steady):
    gpu, rule = small(sm__ctas=4), Windows()
    workload = program(steady("a", grid=400, stream=1), steady("b", grid=400, stream=2))
    run = simulate(workload, gpu, stop=rule, stop_interval=rule.bin).run
    assert all(k.complete for k in run.kernels), "also when one is alone at last"


def test_clusters_run_whole(counters):
    rule = Windows()
    for number, size in ((1, 2), (2, 1)):
        kernel = SimpleNamespace(id=number, cluster_ctas=size)
        seen = [counters(100 * n, n, ctas=1000, begun=n + 10) for n in range(1, 100)]
        answers = [rule(kernel, 5000 * number + 50 * n, each) for n, each in enumerate(seen)]
        assert any(answers) == (size == 1)


@pytest.fixture(scope="module")
def parts(small, steady):
    """A steady launch, whole and in windows: (whole, part, units)."""
    gpu, rule = small(sm__ctas=4), Windows()
    workload = steady(grid=1280).workload()
    (whole,) = simulate(workload, gpu).run.kernels
    (part,) = simulate(workload, gpu, stop=rule, stop_interval=rule.bin).run.kernels
    return whole, part, rule.units[part.id]


@pytest.mark.long
def test_a_steady_launch_is_near_and_its_instructions_are_exact(parts):
    whole, part, units = parts
    p = project_windows(part, units)
    assert part.cycles < whole.cycles / 3
    assert p.cycles == pytest.approx(whole.cycles, rel=0.04)
    assert p.estimated["warp_instructions"] == whole.warp_instructions
    assert p.estimated["ctas"] == whole.ctas
    for name in ("l2_read_sectors", "thread_instructions", "memory_instructions"):
        records = whole.sm if name in whole.sm.dtype.names else whole.partition
        assert p.estimated[name] == pytest.approx(int(records[name].sum()), rel=0.03)


def test_gaps_take_what_the_units_around_them_took(parts):
    """The sum written out: nothing but the gaps is estimated."""
    _, part, units = parts
    p = project_windows(part, units)
    expected, skipped = part.cycles, [u.end.counters.skipped for u in units] + [part.skipped]
    ends = np.cumsum([each.ctas for each in part.left_out])
    cpi = [
        (u.end.cycle - u.begin.cycle) / (u.end.instructions - u.begin.instructions) for u in units
    ]
    low = high = part.cycles
    for k, (first, last) in enumerate(pairwise(skipped)):
        gap = [e for e, end in zip(part.left_out, ends) if first < end <= last]
        instructions = sum(each.warp_instructions for each in gap)
        around = cpi[k : k + 2]
        low, high = low + instructions * min(around), high + instructions * max(around)
    assert low - 1e-6 <= p.cycles <= high + 1e-6 and high > low > expected


def test_an_estimate_has_an_interval_and_what_ran_whole_needs_none(parts):
    whole, part, units = parts
    p = project_windows(part, units)
    low, high = p.interval()
    assert low <= whole.cycles <= high and high - low == pytest.approx(2 * (p.cycles - low))
    narrower = p.interval(0.5)
    assert low < narrower[0] < p.cycles < narrower[1] < high
    assert project_windows(whole, []).interval() == (whole.cycles, whole.cycles)
    assert np.isnan(project_windows(part, units, like_earlier=True).interval()).all()


def rates(fills, instructions=100.0):
    return {"l2_fills": fills, "l2_writebacks": 0.0, "warp_instructions": instructions}


def test_the_share_of_the_later_unit_follows_what_moves_to_the_memory():
    first = [LeftOut(10, 1000, 100)] * 3  # as much an instruction as the unit before
    second = [LeftOut(10, 1000, 500)]  # as the one behind
    between = [LeftOut(10, 1000, 300)]
    near, far = rates(10.0), rates(50.0)
    assert _share_of_later(first, near, far) == 0
    assert _share_of_later(second, near, far) == 1
    assert _share_of_later(between, near, far) == pytest.approx(0.5)
    assert _share_of_later(first + second, near, far) == pytest.approx(0.25)
    assert _share_of_later([LeftOut(10, 1000, 5000)], near, far) == 1, "beyond is as far as that"
    assert _share_of_later([LeftOut(10, 0, 50)], near, far) == 1


def test_what_does_not_tell_them_apart_is_not_asked():
    gap = [LeftOut(10, 1000, 100)]
    assert _share_of_later(gap, rates(100.0), rates(100.0 * (1 + SAME_TRAFFIC / 2))) == 1
    assert _share_of_later(gap, rates(10.0), rates(10.0 * (1 + 4 * SAME_TRAFFIC))) == 0


@pytest.mark.long
def test_an_l2_that_fills_up_with_what_was_written_does_so_in_its_gap(small):
    """Writes to memory begin when the L2 is full of them: the launch is faster before."""
    gpu = small(sm__ctas=8, l2__sets=16)
    k = KernelBuilder("stores", grid=1600, block=128)
    k("LDG.E R4, [R2]", address=k.broadcast(A))
    for n in range(4):
        k("STG.E.128 [R2], R4", address=k.coalesced(A + (n << 28), 16))
    k("EXIT")
    rule = Windows()
    (whole,) = simulate(k.workload(), gpu).run.kernels
    (part,) = simulate(k.workload(), gpu, stop=rule, stop_interval=rule.bin).run.kernels
    p = project_windows(part, rule.units[part.id])
    assert p.cycles == pytest.approx(whole.cycles, rel=0.05)
    written = int(whole.partition["dram_writes"].sum())
    assert p.estimated["dram_writes"] == pytest.approx(written, rel=0.1)


def test_what_cannot_be_is_refused(parts):
    _, part, _ = parts
    with pytest.raises(WorkloadError, match="no unit measured"):
        project_windows(part, [])
    for options in (
        {"speed_up": 1},
        {"unit": (0, 1)},
        {"ramp": (0, 1)},
        {"warm_up": (2, 1)},
        {"bin": 0},
    ):
        with pytest.raises(LockstepError, match="expected above"):
            Windows(**options)
