"""Sampling the kernels of a trace."""

from dataclasses import replace

import numpy as np
import pytest

import lockstep
from lockstep import simulate
from lockstep.builder import KernelBuilder
from lockstep.errors import LockstepError
from lockstep.sampling import Plan, TraceProfiler
from lockstep.sampling.inside.choice import simulation_options
from lockstep.sampling.running import Everything, Follower, Online, SampledTrace, Warmth
from lockstep.workload import Workload
from lockstep.workload.warm import L2_RUN, LAUNCHED, WarmSet

GPU = "QV100"


def kernel(number, spread, stream=0):
    """Reads what all read, what is left of the one before it, and something of its own."""
    k = KernelBuilder(f"k{number % 2}", grid=8, block=64)
    for place in (0, number, number + 1):
        k("LDG.E R1, [R2]", address=k.coalesced(0x7F0000000000 + place * spread))
    return replace(k.kernel(number + 1), stream=stream)


@pytest.fixture(scope="module")
def workload():
    return Workload("six", [kernel(n, 4096) for n in range(6)])


@pytest.fixture(scope="module")
def plan(workload):
    return planned(workload, [0, 1, 0, 1, 0, 1], [0, 1, 3, 4])


def planned(workload, strata, chosen):
    profiler = TraceProfiler(workload, 0)
    profiler.read()
    return Plan.of(profiler.table(), "test", strata, chosen, drawn=True)


def test_what_a_plan_chooses_is_simulated_and_what_is_before_it_warms(workload, plan):
    sampled = SampledTrace(Follower(plan))
    result = simulate(workload, GPU, sample=sampled)
    same = simulate(workload, GPU, kernels=[1, 2, 4, 5], warm=[3])
    assert result.hash == same.hash
    assert [k.id for k in result.run.kernels] == [1, 2, 4, 5]
    cycles = [k.cycles for k in result.run.kernels]
    outcome = sampled.outcome()
    assert outcome.cycles.total == 3 * (cycles[0] + cycles[3]) / 2 + 3 * (cycles[1] + cycles[2]) / 2
    assert [(row.kernel, row.launches, row.simulated) for row in outcome.by_kernel()] == [
        ("k0", 3, 2), ("k1", 3, 2),
    ]  # fmt: skip


def test_without_warming_it_is_as_if_the_others_were_not_there(workload, plan):
    sampled = SampledTrace(Follower(plan, warm=Warmth.NOTHING))
    result = simulate(workload, GPU, sample=sampled)
    assert result.hash == simulate(workload, GPU, kernels=[1, 2, 4, 5]).hash
    warmed = SampledTrace(Follower(plan))
    assert result.hash != simulate(workload, GPU, sample=warmed).hash


def test_kernels_behind_the_last_chosen_one_are_not_read(workload):
    def unread():
        pytest.fail("it was read")

    commands = [replace(k, ctas=unread) if k.id > 3 else k for k in workload.kernels]
    few = planned(workload, [0, 1, 0, 1, 0, 1], [0, 1, 2])
    sampled = SampledTrace(Follower(few))
    assert simulate(Workload("six", commands), GPU, sample=sampled).run.kernels[-1].id == 3
    assert sampled.outcome().cycles.total > 0


@pytest.mark.parametrize("options", [{"every": 2}, {"error": 0.05}])
def test_in_one_pass_each_kernel_runs_once(options):
    many = Workload("many", [replace(kernel(n % 4, 4096), id=n + 1) for n in range(60)])
    sampled = SampledTrace(Online(**options))
    result = simulate(many, GPU, sample=sampled)
    ran = [k.id for k in result.run.kernels]
    assert ran == sorted(set(ran)) and ran[0] == 1 and len(ran) < 60
    outcome = sampled.outcome()
    assert outcome.plan.chosen.tolist() == [number - 1 for number in ran]
    truth = sum(k.cycles for k in simulate(many, GPU).run.kernels)
    assert outcome.cycles.low <= truth <= outcome.cycles.high
    assert len(outcome.plan) == 60


@pytest.mark.parametrize("ranks", [1, 2, 3])
@pytest.mark.parametrize("threads", [1, 2])
def test_ranks_and_threads_change_nothing(workload, plan, ranks, threads):
    alone, others = SampledTrace(Follower(plan)), SampledTrace(Follower(plan))
    result = simulate(workload, GPU, sample=alone)
    again = simulate(workload, GPU, sample=others, ranks=ranks, threads=threads)
    assert result.hash == again.hash
    assert alone.outcome().document() == others.outcome().document()


def test_a_rule_inside_launches_estimates_those_that_it_ends(workload):
    rules = simulation_options("windows:speed_up=2")
    sampled = SampledTrace(Everything(), rules["stop"])
    result = simulate(workload, GPU, sample=sampled, **rules)
    whole = sum(k.cycles for k in simulate(workload, GPU).run.kernels)
    assert len(result.run.kernels) == 6
    assert sampled.outcome().cycles.total == pytest.approx(whole, rel=0.5)


def test_nothing_is_estimated_of_a_run_that_ended_early(workload, plan):
    sampled = SampledTrace(Follower(plan))
    result = simulate(workload, GPU, sample=sampled, limit_cycles=9000)
    assert result.stopped and len(result.run.kernels) < 4
    with pytest.raises(LockstepError, match="was to be simulated, and was not: the run ended"):
        sampled.outcome()


def test_a_limit_ends_a_sample_that_waits_for_times():
    many = Workload("many", [replace(kernel(n % 4, 4096), id=n + 1) for n in range(60)])
    sampled = SampledTrace(Online(error=0.001))
    result = simulate(many, GPU, sample=sampled, limit_cycles=15_000)
    assert result.stopped and 0 < len(result.run.kernels) < 60
    with pytest.raises(LockstepError, match="the run ended early"):
        sampled.outcome()


def test_ctrl_c_between_kernels_leaves_what_there_is(workload):
    class Interrupted(Online):
        def __call__(self, launch):
            if launch.id == 4:
                launch.device.synchronize()
                raise KeyboardInterrupt
            return super().__call__(launch)

    result = simulate(workload, GPU, sample=SampledTrace(Interrupted(every=1)))
    assert result.stopped.startswith("interrupted")
    assert [run.id for run in result.run.kernels] == [1, 2, 3]


def refused(workload, chooser, message):
    for k in workload.kernels:
        k.ctas = lambda: pytest.fail("it was read")
    with pytest.raises(LockstepError, match=message):
        simulate(workload, GPU, sample=SampledTrace(chooser))


def test_what_cannot_be_estimated_is_refused_before_anything_runs(plan):
    few = Workload("five", [kernel(n, 4096) for n in range(5)])
    refused(few, Follower(plan), "the plan is for 6 launches, and there are 5")
    others = Workload("six", [kernel(n + 1, 4096) for n in range(6)])
    refused(others, Follower(plan), "made for other launches")
    streams = Workload("two", [kernel(0, 4096, stream=1), kernel(1, 4096, stream=2)])
    refused(streams, Online(every=2), "streams 1 and 2 may run at the same time")
    points = Workload(
        "points", [WarmSet(np.zeros(0, L2_RUN), np.zeros(1, LAUNCHED)), kernel(0, 4096)]
    )
    refused(points, Online(every=2), "a plan has chosen these live points")


@pytest.mark.parametrize(
    "options", [{"kernels": [1]}, {"warm": [1]}, {"checkpoint": "x"}, {"resume": "x"}]
)
def test_nobody_else_chooses(workload, plan, options, tmp_path):
    options = {k: tmp_path if v == "x" else v for k, v in options.items()}
    with pytest.raises(LockstepError, match="a sample chooses kernels as they come"):
        simulate(workload, GPU, sample=SampledTrace(Follower(plan)), **options)


def test_a_trace_and_the_program_that_it_is_of_give_the_same(tmp_path):
    from lockstep import kernels
    from lockstep.device import Device

    path = tmp_path / "bitonic.lst"
    known = kernels.load("bitonic_sort")
    with Device(GPU, timing=True, choose=(online := Online(every=3, seed=5))) as device:
        known.run(device, known.small)
        expected = [run.cycles for run in device.result.run.kernels]
    with Device(GPU) as device, device.record(path):
        known.run(device, known.small)
    sampled = SampledTrace(Online(every=3, seed=5))
    result = lockstep.simulate(path, GPU, sample=sampled)
    assert [run.cycles for run in result.run.kernels] == expected
    found, theirs = sampled.outcome(), online.outcome()
    assert found.cycles.total == theirs.cycles.total
    assert found.plan.chosen.tolist() == theirs.plan.chosen.tolist()
