"""Sleeps of a time that the code or a register names: ``cubins/sleep.cu``."""

import numpy as np
import pytest

import lockstep
from cubin_files import cubins


@pytest.fixture(params=["sm_80", "sm_90", "ptx"])
def load(request):
    """The module, on a device."""
    code = cubins("sleep")[request.param]

    def load(device):
        if request.param == "ptx":
            return device.load_ptx(code.decode())
        return device.load_cubin(code)

    return load


def elapsed(device, module, names):
    """How long each thread slept, by a register and by the code."""
    threads = len(names)
    given, times = device.array(np.array(names, np.uint32)), device.zeros((2, threads), "u4")
    launch = module["sleeps"][1, threads](times, given)
    return launch, times.numpy()


@pytest.mark.parametrize("name", [0, 7, 500, 40_000])
def test_a_warp_sleeps_as_long_as_a_register_says(load, name):
    with lockstep.Device("A100") as device:
        _, times = elapsed(device, load(device), [name] * 64)
    assert (name <= times[0]).all() and (times[0] <= name + 200).all()
    assert (times[1] >= 3000).all() and (times[1] <= 3200).all()


def test_a_warp_sleeps_as_long_as_the_lane_that_names_most_and_a_millisecond_at_most(load):
    names = [(t * 37 % 32) * 100 for t in range(32)] + [1 << 31] * 32
    with lockstep.Device("A100") as device:
        _, times = elapsed(device, load(device), names)
    assert set(times[0, :32] // 1000) == {3}
    assert set(times[0, 32:] // 1000) == {1000}


def test_who_waits_for_a_sleeping_warp_sleeps_longer_and_longer(load):
    with lockstep.Device("A100") as device:
        flag, rounds = device.zeros(1, "u4"), device.zeros(128, "u4")
        load(device)["backs_off"][1, 128](flag, rounds)
        n = rounds.numpy()
    assert set(n[96:]) == {0}
    assert ((n[:96] >= 4) & (n[:96] <= 8)).all()  # 100 + 200 + ... up to 6400


@pytest.mark.parametrize("at_issue", [False, True])
def test_the_model_lets_a_warp_sleep_for_that_time(load, small_gpu, at_issue):
    cycles = []
    for name in (0, 2000, 12_000):
        with lockstep.Device(small_gpu, timing=True, at_issue=at_issue) as device:
            launch, times = elapsed(device, load(device), [name] * 32)
            cycles.append(launch.cycles)
            if at_issue:
                assert (name <= times[0]).all() and (times[0] <= name + 300).all()
    per_nanosecond = small_gpu.clock_mhz / 1000
    assert abs(cycles[1] - cycles[0] - 2000 * per_nanosecond) <= 40
    assert abs(cycles[2] - cycles[1] - 10_000 * per_nanosecond) <= 2


def test_traces_keep_the_time_of_a_register(load, small_gpu, tmp_path):
    with lockstep.Device(small_gpu, timing=True) as device:
        with device.record(tmp_path / "own.lst"):
            launch, _ = elapsed(device, load(device), [5000] * 32)
        cycles = launch.cycles
    assert lockstep.simulate(tmp_path / "own.lst", small_gpu).cycles == cycles
    with lockstep.Device(small_gpu) as device, device.record(tmp_path / "traces"):
        elapsed(device, load(device), [5000] * 32)
    read = lockstep.simulate(tmp_path / "traces", small_gpu).cycles
    assert abs(read - cycles) < 2000 * small_gpu.clock_mhz / 1000
