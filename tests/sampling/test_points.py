"""Live points: recorded once, simulated without the program, and what they say of all launches."""

import dataclasses
import json
from pathlib import Path

import numpy as np
import pytest

import lockstep
from lockstep.errors import InputError, LockstepError
from lockstep.gpus import library
from lockstep.sampling import (
    LivePoints,
    Plan,
    PointRecorder,
    Profiler,
    TraceProfiler,
    estimate_points,
    write_points,
)
from lockstep.sampling.running import Follower
from lockstep.workload import Kernel
from lockstep.workload.warm import WarmSet

KERNELS = Path(__file__).with_name("kernels.ptx")
LAUNCHES = 9
ELEMENTS = 20_000
ROUNDS = (1, 5, 1, 40, 40, 5, 1, 1, 40)


def _run(device, rounds=ROUNDS):
    """Launches of two kernels in turns; what the second of a pair reads the first has written."""
    module = device.load_ptx(KERNELS)
    x, y = device.array(np.ones(ELEMENTS, "f4")), device.zeros(ELEMENTS)
    for number, times in enumerate(rounds):
        if number % 3 == 0:
            module["count"][4, 64](times)
        else:
            module["axpy"][-(-ELEMENTS // 256), 256](ELEMENTS, 2.0, x, y)


@pytest.fixture(scope="module")
def gpu():
    changes = {"sm.count": 4, "dram.channels": 2}
    return library.replace(lockstep.gpu("QV100"), **changes)


@pytest.fixture(scope="module")
def table(gpu):
    with lockstep.Device(gpu, profile=True) as device:
        profiler = Profiler(device, 1)
        _run(device)
        return profiler.table()


def _plan(table, chosen):
    stratum = (np.arange(LAUNCHES) % 3 > 0).astype(int)
    return Plan.of(table, "test", stratum, chosen, drawn=True)


def _record(gpu, plan, path, run=_run, **options):
    with (
        lockstep.Device(gpu, name="both") as device,
        device.attach(lambda: PointRecorder(device, path, plan, **options)),
    ):
        run(device)
    return lockstep.load(path)


@pytest.fixture(scope="module")
def plan(table):
    return _plan(table, [1, 3, 4, 6, 8])


@pytest.fixture(scope="module")
def points(gpu, plan, tmp_path_factory):
    return _record(gpu, plan, tmp_path_factory.mktemp("points") / "points.lst")


@pytest.fixture(scope="module")
def result(points, gpu):
    return lockstep.simulate(points, gpu)


def _lines(content):
    return {
        first + n: (sectors, dirty)
        for first, lines, sectors, dirty in content.runs.tolist()
        for n in range(lines)
    }


def test_the_chosen_launches_follow_what_the_l2_holds(points, plan):
    assert [type(c) for c in points.commands] == [WarmSet, Kernel] * 5
    assert [kernel.id for kernel in points.kernels] == [2, 4, 5, 7, 9]
    held = [_lines(content) for content in points.commands[::2]]
    arrays = 4 * ELEMENTS / 128
    assert len(held[0]) == arrays, "the copy to x"
    assert all(masks == (15, 0) for masks in held[0].values())
    assert all(len(lines) == 2 * arrays for lines in held[1:]), "y was written"
    assert sum(masks == (15, 15) for masks in held[1].values()) == arrays
    live = LivePoints.of(points)
    assert live.kernels == ["count", "axpy"] and live.kernel_of.tolist() == [0, 1, 1] * 3
    assert live.plan.chosen.tolist() == plan.chosen.tolist()
    assert live.plan.document() == plan.document()


def test_an_l2_of_another_size_holds_its_last_lines(gpu, plan, points, tmp_path):
    small = _record(gpu, plan, tmp_path / "small.lst", l2_bytes=100 * 128)
    assert LivePoints.of(small).l2_bytes == 12_800
    for few, many in zip(small.commands[::2], points.commands[::2]):
        assert len(_lines(few)) == 200, "twice what it holds, as its sets are not alike"
        assert list(_lines(few)) == list(_lines(many))[-200:]


def test_cycles_are_those_of_a_warmed_run(gpu, plan, result):
    follower = Follower(plan)
    with lockstep.Device(gpu, timing=True, choose=follower) as device:
        _run(device)
        warmed = device.result
    outcome = estimate_points(result)
    expected = follower.outcome()
    ours = np.array([run.cycles for run in result.run.kernels])
    theirs = np.array([run.cycles for run in warmed.run.kernels])
    assert ours.sum() == pytest.approx(theirs.sum(), rel=0.003)
    assert outcome.cycles.total == pytest.approx(expected.cycles.total, rel=0.003)
    cold = lockstep.simulate(dataclasses.replace(result.workload, points="", commands=[
        c for c in result.workload.commands if isinstance(c, Kernel)]), gpu)  # fmt: skip
    assert cold.run.kernels[0].cycles > 1.1 * ours[0], "x is in the L2"


def test_all_launches_are_estimated_from_the_file_alone(result, plan):
    outcome = estimate_points(result)
    document = outcome.document()
    assert document["launches"] == LAUNCHES and document["simulated"] == 5
    assert document["observed"]["launch"] == plan.chosen.tolist()
    cycles = np.array(document["observed"]["cycles"])
    count, axpy = cycles[[1, 3]].mean() * 3, cycles[[0, 2, 4]].mean() * 6
    assert document["cycles"]["estimated"] == pytest.approx(count + axpy)
    rows = [(row.kernel, row.launches, row.simulated) for row in outcome.by_kernel()]
    assert rows == [("count", 3, 2), ("axpy", 6, 3)]
    found = outcome.metrics().loc["sm__inst_executed.sum", "estimated"]
    assert found > 0


@pytest.mark.parametrize(("threads", "ranks"), [(2, 1), (1, 2)])
def test_threads_and_ranks_change_nothing(points, gpu, result, threads, ranks):
    assert lockstep.simulate(points, gpu, threads=threads, ranks=ranks).hash == result.hash


def test_some_points_are_what_they_are_and_say_nothing_of_all(points, gpu, result):
    some = lockstep.simulate(points, gpu, kernels=[4, 9])
    assert [run.id for run in some.run.kernels] == [4, 9]
    alone = [run.cycles for run in some.run.kernels]
    assert alone == pytest.approx([result.run.kernels[k].cycles for k in (1, 4)], rel=0.01)
    message = "3 of 5 live points were not simulated to their end, the first of them kernel 2"
    with pytest.raises(LockstepError, match=message):
        estimate_points(some)


def test_a_whole_program_has_no_points(gpu, tmp_path):
    with lockstep.Device(gpu, name="whole") as device, device.record(tmp_path / "whole.lst"):
        _run(device, ROUNDS[:1])
    with pytest.raises(LockstepError, match="whole is a whole program"):
        LivePoints.of(lockstep.load(tmp_path / "whole.lst"))


def _two_streams(device):
    _run(device, ROUNDS[:-1])
    device.load_ptx(KERNELS)["count"][1, 32, 0, device.stream()](1)


@pytest.mark.parametrize(
    ("run", "message"),
    [
        (lambda device: _run(device, ROUNDS[:-1]), "the plan is for 9 launches, and there are 8"),
        (lambda device: _run(device, ROUNDS + (1,)), "for 9 launches, and there are 10"),
        (lambda device: _run(device, (2, *ROUNDS[1:])), "made for other launches"),
        (lambda device: None, "the program launched nothing"),
    ],
)
def test_a_plan_of_another_program_is_refused(gpu, plan, tmp_path, run, message):
    with pytest.raises(LockstepError, match=message):
        _record(gpu, plan, tmp_path / "points.lst", run)
    assert not list(tmp_path.iterdir())


def test_launches_of_several_streams_are_refused(gpu, tmp_path):
    with lockstep.Device(gpu) as device:
        profiler = Profiler(device, 0)
        _two_streams(device)
        table = profiler.table()
    plan = _plan(table, [0, 1])
    with pytest.raises(LockstepError, match="streams 0 and 1 may run at the same time"):
        _record(gpu, plan, tmp_path / "points.lst", _two_streams)


def test_what_cannot_be_recorded_is_refused(gpu, plan, tmp_path):
    timed = pytest.raises(LockstepError, match="without timing=True")
    with lockstep.Device(gpu, timing=True) as device, timed:
        device.attach(lambda: PointRecorder(device, tmp_path / "p.lst", plan))
    folder = pytest.raises(LockstepError, match=r"one file, which ends in \.lst")
    with lockstep.Device(gpu) as device, folder:
        device.attach(lambda: PointRecorder(device, tmp_path / "folder", plan))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda d: d.clear(), "no live points: KeyError"),
        (lambda d: d.update({"lockstep points": 2}), "no live points of version 1"),
        (lambda d: d["plan"].update(chosen=[1, 3, 4, 6, 7]), "5 kernels are not the 5"),
        (lambda d: d["plan"].update(chosen=[99]), "plan"),
        (lambda d: d.update(kernel_of=[0]), "1 kernels of 9 launches"),
        (lambda d: d.update(kernel_of=[2] * 9), "without a name"),
        (lambda d: d.update(kernel_of="x"), "no live points: ValueError"),
        (lambda d: d.update(l2_bytes=None), "no live points: TypeError"),
    ],
)
def test_a_document_that_makes_no_sense_is_refused(points, change, message):
    document = json.loads(points.points)
    change(document)
    with pytest.raises(InputError, match=message):
        LivePoints.of(dataclasses.replace(points, points=json.dumps(document)))


@pytest.mark.parametrize("text", ["[]", "7", "{", "[" * 100_000])
def test_another_document_is_refused(points, text):
    with pytest.raises(InputError, match="no live points"):
        LivePoints.of(dataclasses.replace(points, points=text))


@pytest.fixture
def whole(gpu, tmp_path_factory):
    """A trace of all launches."""
    path = tmp_path_factory.mktemp("whole") / "both.lst"
    with lockstep.Device(gpu, name="both") as device, device.record(path):
        _run(device)
    return lockstep.load(path)


def _plan_of_trace(workload, chosen):
    profiler = TraceProfiler(workload, 0)
    profiler.read()
    return _plan(profiler.table(), chosen)


def test_points_of_a_trace_are_those_of_its_program(gpu, plan, points, whole, tmp_path):
    path = tmp_path / "points.lst"
    write_points(_plan_of_trace(whole, plan.chosen), whole, path, gpu)
    traced = lockstep.load(path)
    assert [k.id for k in traced.kernels] == [k.id for k in points.kernels]
    for mine, theirs in zip(*([c for c in w.commands if isinstance(c, WarmSet)]
                              for w in (traced, points)), strict=True):  # fmt: skip
        assert np.array_equal(mine.launches, theirs.launches)
        assert _lines(mine) == _lines(theirs)
    result, same = (lockstep.simulate(w, gpu) for w in (traced, points))
    cycles = [[run.cycles for run in each.run.kernels] for each in (result, same)]
    assert cycles[0] == pytest.approx(cycles[1], rel=0.01)
    found, expected = estimate_points(result), estimate_points(same)
    assert found.cycles.total == pytest.approx(expected.cycles.total, rel=0.01)
    assert found.kernels == expected.kernels


def test_kernels_of_a_trace_behind_the_last_point_are_not_read(gpu, whole, tmp_path):
    def unread():
        pytest.fail("it was read")

    for kernel in whole.kernels[6:]:
        kernel.ctas = unread
    write_points(_plan_of_trace(whole, [3, 5]), whole, tmp_path / "points.lst", gpu)
    assert len(lockstep.load(tmp_path / "points.lst").kernels) == 2


def test_an_l2_of_another_size_is_for_points_of_a_trace_too(gpu, whole, tmp_path):
    path = tmp_path / "points.lst"
    write_points(_plan_of_trace(whole, [3, 5]), whole, path, gpu, 4096)
    points = LivePoints.of(lockstep.load(path))
    assert points.l2_bytes == 4096
    *_, last = (c for c in lockstep.load(path).commands if isinstance(c, WarmSet))
    assert last.runs["lines"].sum() == 2 * 4096 // 128


def test_points_of_a_trace_that_cannot_be_are_refused(gpu, plan, points, whole, tmp_path):
    for workload, wanted, path, message in (
        (points, plan, "p.lst", "has chosen these live points already"),
        (whole, plan, "p.lst", "made for other launches"),
        (whole, _plan_of_trace(whole, [0, 1]), "folder", "in one file, which ends in .lst"),
    ):
        with pytest.raises(LockstepError, match=message):
            write_points(wanted, workload, tmp_path / path, gpu)
    assert list(tmp_path.iterdir()) == []


def test_a_trace_that_is_damaged_leaves_no_points(gpu, whole, tmp_path):
    def damaged():
        raise InputError("trace", "line 3", "damaged")

    plan = _plan_of_trace(whole, [1, 3])
    whole.kernels[2].ctas = damaged
    with pytest.raises(InputError, match="damaged"):
        write_points(plan, whole, tmp_path / "points.lst", gpu)
    assert list(tmp_path.iterdir()) == []
