"""Values of points: the same as other ways to simulate have them."""

import subprocess
import sys

import pytest

import lockstep
from lockstep import kernels
from lockstep.campaigns import SweepPoint, evaluate
from lockstep.errors import LockstepError
from lockstep.kernels import WrongResult
from lockstep.sampling import Plan, PointRecorder, Profiler, TraceProfiler
from lockstep.sampling.inside.choice import inside_by
from lockstep.sampling.running import estimate_all

SMALL = {"sm.count": 4, "dram.channels": 2, "launch.overhead": 100}


def test_a_trace_has_the_totals_of_its_simulation(trace):
    gpu = lockstep.gpu("QV100", [f"{name}={value}" for name, value in SMALL.items()])
    assert repr(evaluate(SweepPoint(str(trace), "QV100", SMALL))) == repr(
        lockstep.simulate(trace, gpu).total
    )


def test_a_whole_trace_needs_nothing_of_sampling(trace):
    code = (
        "import sys\n"
        "from lockstep.campaigns import SweepPoint, evaluate\n"
        f"evaluate(SweepPoint({str(trace)!r}, 'QV100', {SMALL}))\n"
        "print(*(m for m in sys.modules if m.startswith(('lockstep.sampling', 'scipy'))))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""


def test_a_built_in_program_is_run_with_its_seed_and_checked(monkeypatch):
    point = SweepPoint("saxpy", "QV100", SMALL, seed=5, size=100)
    assert evaluate(point)["cycles"] > 0
    seen, run = [], kernels.BuiltinKernel.run

    def wrong(self, device, size, seed):
        seen.append((size, seed))
        first, *_ = run(self, device, size, seed)
        first.actual.copy_from(first.expected() + 1)
        return (first,)

    monkeypatch.setattr(kernels.BuiltinKernel, "run", wrong)
    with pytest.raises(WrongResult, match="100 of 100 values differ"):
        evaluate(point)
    assert seen == [(100, 5)]


def test_where_the_host_takes_time_results_are_copied_back_and_nothing_more():
    """As of ``lockstep run``: what compares results asks the modelled host for nothing."""
    changes = {**SMALL, "host.copy": "timed"}
    gpu = lockstep.gpu("QV100", [f"{name}={value}" for name, value in changes.items()])
    with lockstep.Device(gpu, timing=True) as device:
        (check,) = kernels.load("vecadd").run(device, 100, 0)
        check.actual.numpy()
        device.drain()
        expected = device.result.cycles
    assert evaluate(SweepPoint("vecadd", "QV100", changes, size=100))["cycles"] == expected


def test_a_sample_gives_estimates_under_names_of_their_own():
    values = evaluate(SweepPoint("bitonic_sort", "QV100", SMALL, size=8192, timing="sample:2"))
    whole = evaluate(SweepPoint("bitonic_sort", "QV100", SMALL, size=8192))
    assert "cycles" not in values and not set(values) & set(whole)
    assert 0 < values["simulated_launches"] < values["launches"]
    assert values["low.cycles"] <= values["estimated.cycles"] <= values["high.cycles"]
    issued = "sm__inst_executed.sum"
    assert values[f"estimated.{issued}"] == pytest.approx(whole[issued], rel=0.2)


def test_a_rule_inside_launches_gives_estimates():
    rule = "windows:speed_up=2"
    values = evaluate(SweepPoint("vecadd", "QV100", SMALL, size=200_000, inside=rule))
    whole = evaluate(SweepPoint("vecadd", "QV100", SMALL, size=200_000))
    assert "cycles" not in values and values["launches"] == values["simulated_launches"] == 1
    assert values["estimated.cycles"] != whole["cycles"], "a part of the launch ran"
    assert values["estimated.cycles"] == pytest.approx(whole["cycles"], rel=0.1)


def test_a_rule_inside_launches_of_a_trace(trace):
    gpu = lockstep.gpu("QV100", [f"{name}={value}" for name, value in SMALL.items()])
    rule = inside_by("tbpoint", lockstep.load(trace))
    result = lockstep.simulate(trace, gpu, stop=rule, stop_interval=rule.bin)
    values = evaluate(SweepPoint(str(trace), "QV100", SMALL, inside="tbpoint"))
    assert values["estimated.cycles"] == estimate_all(result, rule).cycles.total


def test_a_rule_that_needs_a_trace_says_so():
    with pytest.raises(LockstepError, match="known of a trace alone"):
        evaluate(SweepPoint("vecadd", "QV100", SMALL, size=1000, inside="tbpoint"))


def live_points(tmp_path):
    """A file of live points of a program, beside the plan that chose them."""
    program = kernels.load("bitonic_sort")
    with lockstep.Device("QV100", profile=True) as device:
        profiler = Profiler(device, 1)
        program.run(device, 1024)
        table = profiler.table()
    plan = Plan.of(table, "test", [0, 1, 0], [0, 1], drawn=True)
    plan.write(tmp_path / "plan.json")
    path = tmp_path / "points.lst"
    with (
        lockstep.Device("QV100", name="points") as device,
        device.attach(lambda: PointRecorder(device, path, plan)),
    ):
        program.run(device, 1024)
    return path


def test_live_points_give_the_estimates_of_their_plan(tmp_path):
    values = evaluate(SweepPoint(str(live_points(tmp_path)), "QV100", SMALL))
    followed = SweepPoint(
        "bitonic_sort", "QV100", SMALL, size=1024, timing=f"plan:{tmp_path / 'plan.json'}"
    )
    assert (values["launches"], values["simulated_launches"]) == (3, 2)
    assert evaluate(followed).keys() == values.keys()
    assert evaluate(followed)["estimated.cycles"] == pytest.approx(
        values["estimated.cycles"], rel=0.2
    )


def test_a_sampled_trace_gives_estimates(trace, tmp_path):
    values = evaluate(SweepPoint(str(trace), "QV100", SMALL, timing="sample:1"))
    whole = evaluate(SweepPoint(str(trace), "QV100", SMALL))
    launches = lockstep.load(trace).kernels
    assert values["launches"] == values["simulated_launches"] == len(launches)
    assert values["estimated.cycles"] == pytest.approx(whole["cycles"], rel=0.01)
    assert "cycles" not in values
    profiler = TraceProfiler(lockstep.load(trace), 0)
    profiler.read()
    plan = Plan.of(profiler.table(), "test", [0] * len(launches), [0], drawn=True)
    plan.write(tmp_path / "plan.json")
    for warm in ("", ",warm=none"):
        point = SweepPoint(
            str(trace), "QV100", SMALL, timing=f"plan:{tmp_path / 'plan.json'}{warm}"
        )
        assert evaluate(point)["simulated_launches"] == 1
        assert point.digest != SweepPoint(str(trace), "QV100", SMALL).digest


def test_live_points_are_not_sampled_again(tmp_path):
    path = live_points(tmp_path)
    with pytest.raises(LockstepError, match="a plan has chosen these live points"):
        evaluate(SweepPoint(str(path), "QV100", SMALL, timing="sample:2"))


def test_a_program_is_run_and_must_launch_something_and_end_well(tmp_path):
    script = tmp_path / "app"
    script.write_text("#!/bin/sh\nexit $1\n")
    script.chmod(0o755)
    with pytest.raises(LockstepError, match="app launched no kernel"):
        evaluate(SweepPoint(str(script), "QV100", SMALL, arguments=("0",)))
    with pytest.raises(LockstepError, match="app ended with status 3"):
        evaluate(SweepPoint(str(script), "QV100", SMALL, arguments=("3",)))
