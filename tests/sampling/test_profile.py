"""What a profiler keeps of the launches of a device."""

from pathlib import Path

import numpy as np
import pytest

import lockstep
from lockstep.errors import LockstepError
from lockstep.sampling import LaunchTable, Profiler
from lockstep.sampling.features import INSTRUCTIONS

KERNELS = Path(__file__).with_name("kernels.ptx")


def _run(device, counts=(3, 3, 8)):
    module = device.load_ptx(KERNELS)
    x, y = device.zeros(300), device.zeros(300)
    module["axpy"][2, 128](200, 0.1, x, y)
    for n in counts:
        module["count"][1, 64](n)
    stream = device.stream()
    module["axpy"][(1, 1, 2), (32, 4), 256, stream](300, 2.0, y, x)


def _table(level, **options):
    with lockstep.Device(profile=level > 0, **options) as device:
        profiler = Profiler(device, level)
        _run(device)
        device.synchronize()
        return profiler.table()


@pytest.fixture(scope="module")
def table():
    return _table(2)


def test_level_0(table):
    light = _table(0)
    assert (light.level, len(light)) == (0, 5)
    frame = light.frame
    assert frame["name"].tolist() == ["axpy", "count", "count", "count", "axpy"]
    assert light.codes().tolist() == [0, 1, 1, 1, 0] and light.shapes().tolist() == [0, 1, 1, 2, 3]
    assert frame["arguments"].tolist() == ["200 0.1 @0 @1", "3", "3", "8", "300 2.0 @1 @0"]
    shape = ["grid_x", "grid_z", "block_x", "block_y", "shared_bytes", "stream"]
    assert frame[shape].iloc[0].tolist() == [2, 1, 128, 1, 0, 0]
    assert frame[shape].iloc[4].tolist() == [1, 2, 32, 4, 256, 1]
    assert (frame["registers"] > 0).all()
    assert light.digest == table.digest, "whatever is counted, the launches are the same"


def test_level_1_is_the_profile_of_each_launch(table):
    with lockstep.Device(profile=True) as device:
        _run(device)
        profiles = [launch.profile for launch in device.launches]
    for name in profiles[0]:
        np.testing.assert_array_equal(table.column(name), [profile[name] for profile in profiles])
    assert _table(1).level == 1


def test_level_2_has_the_blocks_that_ran(table):
    blocks, executions = table.frame["blocks"], table.frame["executions"]
    assert table.level == 2
    for k, turns in zip((1, 2, 3), (3, 3, 8)):  # two warps: the loop's test runs once more
        assert sorted(executions[k])[-2:] == [2 * turns, 2 * turns + 2]
    assert blocks[1] is blocks[2] and list(blocks[1]) == list(blocks[3])
    assert all((times > 0).all() for times in executions)


def test_a_second_run_gives_the_same_table(table):
    other = _table(2)
    assert other.digest == table.digest
    assert other.frame.equals(table.frame)


def test_the_cycles_of_a_timed_run_are_times(table, tmp_path):
    with lockstep.Device(profile=True, timing=True) as device:
        profiler = Profiler(device)
        _run(device)
        device.synchronize()
        timed, cycles = profiler.table(), device.result.kernels.cycles.tolist()
    assert timed.source == "simulated, QV100" and timed.times.tolist() == cycles
    assert timed.digest == table.digest
    np.testing.assert_array_equal(timed.column(INSTRUCTIONS), table.column(INSTRUCTIONS))
    timed.write(tmp_path / "t.csv")
    assert LaunchTable.read(tmp_path / "t.csv").times.tolist() == cycles


def test_a_launch_that_fails_is_left_out():
    with lockstep.Device(profile=True, limit_instructions=1000) as device:
        profiler = Profiler(device)
        with pytest.raises(LockstepError, match="empty"):
            profiler.table()
        _run(device, ())
        with pytest.raises(lockstep.LaunchError):
            device.load_ptx(KERNELS)["count"][1, 32](10_000)
        assert len(profiler.table()) == len(profiler) == 2


def test_what_is_not_counted_is_refused():
    with lockstep.Device() as device:
        with pytest.raises(LockstepError, match="needs a device with profile=True"):
            Profiler(device, 1)
        with pytest.raises(LockstepError, match="level 7; expected one of 0, 1, 2"):
            Profiler(device, 7)
    with lockstep.Device(profile=True) as device:
        Profiler(device)
        device.profiling = False
        with pytest.raises(LockstepError, match="was not profiled"):
            _run(device)
