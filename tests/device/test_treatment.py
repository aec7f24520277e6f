"""What becomes of launches: simulated, warmed, or executed only."""

import numpy as np
import pytest

import lockstep
from lockstep.device import Treatment
from lockstep.errors import LockstepError

SIMULATE, WARM, EXECUTE = Treatment


def run(gpu, ptx, choose, launches=4, n=2048, **options):
    """Launches of one kernel on the same data; the device is open until the next one."""
    device = lockstep.Device(gpu, timing=True, choose=choose, **options)
    module = device.load_ptx(ptx)
    x, y = device.array(np.ones(n, "f4")), device.zeros(n)
    done = [module["axpy"][n // 128, 128](n, 1.0, x, y) for _ in range(launches)]
    np.testing.assert_array_equal(y.numpy(), np.full(n, float(launches)))
    return device, done


def only(number, others):
    """Simulate one launch."""
    return lambda launch: SIMULATE if launch.id == number else others


def test_a_launch_after_warmed_ones_takes_as_long_as_after_simulated_ones(small_gpu, ptx):
    _, full = run(small_gpu, ptx, None)
    device, warmed = run(small_gpu, ptx, only(3, WARM))
    _, cold = run(small_gpu, ptx, only(3, EXECUTE))
    assert warmed[2].cycles == full[2].cycles < cold[2].cycles == full[0].cycles
    assert device.launches == [warmed[2]]
    assert device.result.kernels.id.tolist() == [3]


def test_warming_takes_no_time_and_is_not_counted(small_gpu, ptx):
    device, _ = run(small_gpu, ptx, lambda launch: WARM)
    assert device.clock == 0
    counters = device.result.run
    assert not counters.kernels
    for counted in (counters.sm, counters.partition):
        copies = counted["copy_sectors"].sum() if "copy_sectors" in counted.dtype.names else 0
        words = counted.copy().view(np.int64)
        assert words.sum() == copies, "the copy of x was counted, and nothing else"


def test_it_is_asked_of_each_launch_in_order(small_gpu, ptx):
    asked = []

    def choose(launch):
        asked.append((launch.id, launch.kernel.name, launch.geometry.grid, launch.run))
        return (WARM, EXECUTE, SIMULATE, WARM)[launch.id - 1]

    _, done = run(small_gpu, ptx, choose)
    assert asked == [(k, "axpy", (16, 1, 1), None) for k in range(1, 5)]
    assert [launch.treatment for launch in done] == [WARM, EXECUTE, SIMULATE, WARM]
    assert [launch.run is not None for launch in done] == [False, False, True, False]
    with pytest.raises(LockstepError, match="was not simulated: its treatment is WARM"):
        _ = done[0].cycles


def test_choosing_needs_timing(small_gpu):
    with pytest.raises(LockstepError, match="choose needs timing=True"):
        lockstep.Device(small_gpu, choose=lambda launch: WARM)


def test_an_event_after_warmed_launches_is_that_of_the_last_simulated_one(small_gpu, ptx):
    device, done = run(small_gpu, ptx, only(1, WARM))
    assert device.event().record().cycle == device.clock >= done[0].timed().end


def test_a_warmed_launch_that_fails_says_so_and_the_others_go_on(small_gpu, ptx):
    with lockstep.Device(small_gpu, timing=True, choose=only(2, WARM)) as device:
        module, y = device.load_ptx(ptx), device.zeros(1024)
        with pytest.raises(lockstep.LaunchError):
            module["wild"][2, 32](12345 * 4)
        assert module["axpy"][8, 128](1024, 1.0, y, y).cycles > 0


@pytest.mark.parametrize("options", [{"threads": 2}, {"at_issue": True}])
def test_options_of_the_simulation_leave_what_was_warmed_as_it_is(small_gpu, ptx, options):
    def choose(launch):
        return SIMULATE if launch.id == 4 else WARM

    usual = run(small_gpu, ptx, choose)[1][3]
    other = run(small_gpu, ptx, choose, **options)[1][3]
    assert other.cycles == usual.cycles
