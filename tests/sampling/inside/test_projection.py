"""What is estimated of a launch that was ended early, and under which names."""

import math

import pytest
from msgspec.structs import replace

from lockstep import simulate
from lockstep.engine.record import LeftOut
from lockstep.errors import WorkloadError
from lockstep.sampling.inside import Stability, project, trace_instructions


@pytest.fixture(scope="module")
def parts(small, steady):
    """A launch, whole and ended early: (GPU, whole, part, stable, instructions)."""
    gpu, rule = small(sm__ctas=4), Stability(window=3000)
    workload = steady(grid=1280).workload()
    (whole,) = simulate(workload, gpu).run.kernels
    (part,) = simulate(workload, gpu, stop=rule, stop_interval=50).run.kernels
    return gpu, whole, part, rule.stable[part.id], trace_instructions(workload.kernels[0])


@pytest.mark.long
def test_instructions_of_a_trace_are_those_that_run(parts):
    _, whole, _, _, instructions = parts
    assert instructions == whole.warp_instructions


@pytest.mark.long
def test_a_whole_launch_is_what_was_measured(parts):
    gpu, whole, *_ = parts
    p = project(whole)
    assert p.method == "whole" and p.estimated == p.measured
    assert (p.cycles, p.share) == (whole.cycles, 1.0)
    table = p.metrics(gpu)
    assert table["measured"].equals(table["estimated"])


def test_by_instructions_what_is_left_goes_on_at_the_steady_rates(parts):
    _, whole, part, stable, instructions = parts
    p = project(part, stable=stable, instructions=instructions)
    left = instructions - part.warp_instructions
    assert p.method == "instructions"
    assert p.cycles == pytest.approx(part.cycles + left / stable.ipc)
    gained = int(stable.end.counters.partition["l2_read_sectors"])
    gained -= int(stable.begin.counters.partition["l2_read_sectors"])
    done = stable.end.instructions - stable.begin.instructions
    now = int(part.partition["l2_read_sectors"].sum())
    assert p.estimated["l2_read_sectors"] == pytest.approx(now + gained * left / done)
    assert p.estimated["warp_instructions"] == instructions and p.estimated["ctas"] == whole.ctas


def test_by_ctas_all_since_the_first_dispatch_grows_alike(parts):
    _, whole, part, _, _ = parts
    p = project(part, by="ctas")
    factor = part.ctas / part.ctas_done
    assert p.cycles - (part.start - part.launched) == pytest.approx(
        (part.end - part.start) * factor
    )
    sectors = int(part.partition["l2_read_sectors"].sum())
    assert p.estimated["l2_read_sectors"] == pytest.approx(sectors * factor)
    assert p.estimated["issued"] == pytest.approx([n * factor for n in p.measured["issued"]])
    assert p.estimated["ctas"] == whole.ctas


def test_both_are_near_the_launch_that_ran_to_its_end(parts):
    """By instructions it is nearer: the CTAs that run when it ends count with what they did."""
    _, whole, part, stable, instructions = parts
    assert part.cycles < whole.cycles / 2
    fine = project(part, stable=stable, instructions=instructions)
    coarse = project(part, by="ctas")
    assert fine.cycles == pytest.approx(whole.cycles, rel=0.05)
    assert abs(fine.cycles - whole.cycles) < abs(coarse.cycles - whole.cycles)
    for name in ("l2_read_sectors", "dram_reads", "thread_instructions"):
        records = whole.sm if name in whole.sm.dtype.names else whole.partition
        assert fine.estimated[name] == pytest.approx(int(records[name].sum()), rel=0.05)


def test_measured_stays_measured(parts):
    gpu, _, part, stable, instructions = parts
    p = project(part, stable=stable, instructions=instructions)
    assert p.measured["cycles"] == part.cycles
    assert p.measured["warp_instructions"] == part.warp_instructions < instructions
    assert set(p.measured) == set(p.estimated)
    table = p.metrics(gpu)
    name = "sm__inst_executed.sum"
    assert table.loc[name, "measured"] == part.warp_instructions
    assert table.loc[name, "estimated"] == instructions


def test_rates_are_of_estimated_sums(parts):
    gpu, _, part, stable, instructions = parts
    p = project(part, stable=stable, instructions=instructions)
    hits, pending = p.estimated["l2_read_hits"], p.estimated["l2_read_pending"]
    assert (
        p.rate(["l2_read_hits", "l2_read_pending"], "l2_read_sectors")
        == (hits + pending) / (p.estimated["l2_read_sectors"])
    )
    assert p.rate("warp_instructions", "cycles") == instructions / p.cycles
    assert math.isnan(p.rate("cycles", "l1_atomic_sectors"))
    with pytest.raises(WorkloadError, match="'issued'"):
        p.rate("issued", "cycles")
    ipc = p.metrics(gpu)["estimated"]["sim__ipc"]
    assert ipc == pytest.approx(instructions / p.estimated["running"])


def test_what_cannot_be_projected_is_refused(parts):
    _, _, part, stable, instructions = parts
    with pytest.raises(WorkloadError, match="expected one of: instructions, ctas"):
        project(part, by="warps")
    for missing in ({"stable": stable}, {"instructions": instructions}):
        with pytest.raises(WorkloadError, match="give all that it has"):
            project(part, **missing)
    with pytest.raises(WorkloadError, match="of another launch"):
        project(part, stable=stable, instructions=part.warp_instructions - 1)
    project(part, stable=stable, instructions=part.warp_instructions)
    cut = replace(part, left_out=[LeftOut(4, 100, 10)])
    with pytest.raises(WorkloadError, match="CTAs were left out"):
        project(cut, by="ctas")
    with pytest.raises(WorkloadError, match="nothing to scale"):
        project(replace(part, ctas_done=0), by="ctas")
    nothing = stable._replace(end=stable.begin)
    with pytest.raises(WorkloadError, match="issued nothing"):
        project(part, stable=nothing, instructions=instructions)
