"""Stop rules on a device: launches are simulated in part, and executed whole."""

import numpy as np
import pytest

import lockstep
from lockstep.errors import LockstepError
from lockstep.sampling import Plan, Profiler, inside
from lockstep.sampling.running import Follower

CTAS = 1200
N = CTAS * 128


def early(kernel, cycle, counters):
    """A rule that ends each kernel when 100 CTAs have ended."""
    return counters.ctas_done >= 100 and "100 are enough"


def run(device, ptx, launches=3):
    """Launches each of which needs what the one before it has left; all are queued together."""
    axpy = device.load_ptx(ptx)["axpy"]
    x, y = device.array(np.ones(N, "f4")), device.zeros(N)
    done = [axpy[CTAS, 128](N, 1.0, y if k % 2 else x, x if k % 2 else y) for k in range(launches)]
    device.synchronize()
    return done, x.numpy(), y.numpy()


def test_what_is_not_simulated_is_executed(small_gpu, ptx):
    with lockstep.Device(small_gpu, timing=True, profile=True) as device:
        whole, *expected = run(device, ptx)
    with lockstep.Device(small_gpu, timing=True, profile=True, stop=early, stop_interval=100) as d:
        cut, *found = run(d, ptx)
        result = d.result
    for some, all_ in zip(found, expected):
        np.testing.assert_array_equal(some, all_)
    assert [k.stopped for k in result.run.kernels] == ["100 are enough"] * 3
    assert not any(launch.run.complete for launch in cut)
    assert all(a.cycles < 0.5 * b.cycles for a, b in zip(cut, whole))
    assert [launch.profile for launch in cut] == [launch.profile for launch in whole]


def test_it_is_what_a_trace_does(small_gpu, ptx, tmp_path):
    """The same rule on the trace of the program, which is read and not executed."""
    found = []
    with lockstep.Device(small_gpu) as device, device.record(tmp_path / "t.lst"):
        run(device, ptx)
    for simulate in (True, False):
        rule = inside.Windows(3)
        options = {"stop": rule, "stop_interval": rule.bin}
        if simulate:
            result = lockstep.simulate(tmp_path / "t.lst", small_gpu, **options)
        else:
            with lockstep.Device(small_gpu, timing=True, **options) as device:
                run(device, ptx)
                result = device.result
        runs = result.run.kernels
        assert runs[0].skipped > CTAS / 4
        found.append([(r.cycles, r.skipped, len(rule.units[r.id]), r.sm.tobytes()) for r in runs])
    assert found[0] == found[1]


def test_a_rule_sees_nothing_of_what_is_executed_at_issue(small_gpu, ptx):
    asked = []

    def rule(kernel, cycle, counters):
        asked.append(kernel.id)
        return True

    options = {"stop": rule, "stop_interval": 50}
    with lockstep.Device(small_gpu, timing=True, at_issue=True, **options) as device:
        (launch,), *_ = run(device, ptx, launches=1)
    assert launch.run.complete and not asked
    with lockstep.Device(small_gpu, timing=True, **options) as device:
        (launch,), *_ = run(device, ptx, launches=1)
    assert not launch.run.complete and set(asked) == {1}


def test_an_error_of_a_cta_that_was_not_to_run_is_one_of_the_launch(small_gpu, ptx):
    with lockstep.Device(small_gpu, timing=True, stop=early, stop_interval=100) as device:
        x = device.array(np.ones(N, "f4"))
        device.load_ptx(ptx)["axpy"][CTAS + 8, 128](N + 1024, 1.0, x, x)
        with pytest.raises(LockstepError, match="axpy"):
            device.synchronize()


def test_a_launch_that_was_cut_has_no_time(small_gpu, ptx):
    with lockstep.Device(small_gpu, timing=True, stop=early, stop_interval=100) as device:
        profiler = Profiler(device, 0)
        run(device, ptx)
        table = profiler.table()
    assert len(table) == 3 and not table.has_times
    follower = Follower(Plan.of(table, "all", [0, 0, 0], [0, 1, 2], drawn=True))
    options = {"choose": follower, "stop": early, "stop_interval": 100}
    with lockstep.Device(small_gpu, timing=True, **options) as device:
        run(device, ptx)
        with pytest.raises(LockstepError, match="launch 1 was simulated in part"):
            follower.outcome()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "stop needs timing=True"),
        ({"timing": True, "stop_interval": 0}, "stop_interval = 0: expected at least 1"),
    ],
)
def test_what_is_no_rule_of_a_device(small_gpu, options, message):
    with pytest.raises(LockstepError, match=message):
        lockstep.Device(small_gpu, stop=early, **options)
