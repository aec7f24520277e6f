"""Machine code that is executed while it is simulated: what depends on time, and what does not."""

from functools import cache

import numpy as np
import pytest

import lockstep
from cubin_files import FOLDER, cubins
from lockstep.kernels import load

GPUS = {70: "QV100", 75: "RTX2060", 80: "A100", 90: "H100"}
LIVE = {"timing": True, "at_issue": True, "limit_instructions": 2_000_000}
TIMED = ("spin_lock", "grid_barrier", "hash_table", "reduce_lastblock")
PLAIN = ("bfs", "histogram_shared", "reduce_shuffle", "merge_sort", "needle", "gemm_mma")


@cache
def gpu(architecture):
    return lockstep.gpu(GPUS[architecture], ["sm.count=4"])


def run(device, architecture, name):
    kernel, module = load(name), device.load_cubin(cubins(f"sm_{architecture}")[name])
    checks = kernel._run(device, module, np.random.default_rng(0), kernel.small)
    for check in checks if hasattr(checks, "__iter__") else [checks]:
        check.verify()


@pytest.mark.long
@pytest.mark.parametrize(
    "architecture, name",
    [(80, name) for name in TIMED] + [(a, "spin_lock") for a in GPUS if a != 80],
)
def test_programs_that_wait_are_right_and_repeat(architecture, name):
    found = []
    for threads in (1, 3):
        with lockstep.Device(gpu(architecture), threads=threads, **LIVE) as device:
            run(device, architecture, name)
            found.append((device.result.hash, [x.cycles for x in device.launches]))
    assert found[0] == found[1]


@pytest.mark.long
@pytest.mark.parametrize("name", PLAIN)
def test_programs_without_races_take_the_same_time(name):
    found = []
    for at_issue in (False, True):
        options = LIVE | {"at_issue": at_issue, "profile": True}
        with lockstep.Device(gpu(80), **options) as device:
            run(device, 80, name)
            runs = [(x.timed().sm.tobytes(), x.profile) for x in device.launches]
            assert {x.timed().dependence for x in device.launches} == {"control"}
            found.append((device.result.cycles, runs))
    assert found[0] == found[1]


@pytest.mark.parametrize("name", ["spin_lock", "bfs"])
def test_what_is_recorded_takes_the_same_cycles(tmp_path, name):
    with lockstep.Device(gpu(80), **LIVE) as device:
        with device.record(tmp_path / "run.lst"):
            run(device, 80, name)
        live = device.result
    assert lockstep.simulate(tmp_path / "run.lst", gpu(80)).hash == live.hash


@pytest.fixture
def live():
    with lockstep.Device(gpu(80), **LIVE) as device:
        yield device, device.load_cubin(FOLDER / "time.sm_80.cubin")


def test_a_chain_of_loads_measures_the_latency_of_the_model(live):
    device, module = live
    at, cycles = device.zeros(1, "u8"), device.zeros(1, "i8")
    at.copy_from(np.array([at.pointer], "u8"))
    module["chain"][1, 1](at, cycles)
    assert int(cycles.numpy()[0]) / 16 == pytest.approx(device.gpu.l2.latency, rel=0.05)


def test_clocks_tell_cycles_of_the_simulation(live):
    device, module = live
    flag, value, times = device.zeros(1, "i4"), device.zeros(2, "i4"), device.zeros(2, "i8")
    run = module["handshake"][2, 1](flag, value, times).timed()
    sent, received = times.numpy().tolist()
    assert value.numpy().tolist() == [42, 42]
    assert run.start + 500 < sent < received < run.end
    assert received - sent < 6 * device.gpu.l2.latency


@pytest.mark.parametrize("at_issue", [True, False])
def test_the_global_timer_moves(at_issue):
    """By cycles of the simulation, or by instructions, so that who waits for it goes on."""
    with lockstep.Device(gpu(80), **LIVE | {"at_issue": at_issue}) as device:
        turns = device.zeros(1, "i4")
        launch = device.load_cubin(FOLDER / "time.sm_80.cubin")["timeout"][1, 1](3000, turns)
        assert turns.numpy()[0] > 10
        if at_issue:
            waited = 3000 * device.gpu.clock_mhz / 1000
            assert waited < launch.timed().end - launch.timed().start < waited + 2000


def test_lanes_that_hold_a_lock_leave_those_who_spin_behind(live):
    device, module = live
    lock, order = device.zeros(1, "i4"), device.zeros(65, "i4")
    module["turns"][1, 32](lock, order)
    count, *places = order.numpy().tolist()
    assert count == 16 and sorted(places[:16]) == list(range(0, 32, 2))
    assert places[32:] == list(range(32)) and lock.numpy().tolist() == [0]


def test_lanes_wait_no_longer_for_those_who_wait_at_a_barrier(live):
    device, module = live
    out = device.zeros(64, "i4")
    module["apart"][1, 64](out)
    own = np.arange(64) + np.where(np.arange(64) % 32 < 8, 100, 0)
    np.testing.assert_array_equal(out.numpy(), own[np.arange(64) ^ 1])


def test_services_of_the_host(capsys):
    with lockstep.Device(gpu(80), **LIVE) as device:
        module = device.load_cubin(FOLDER / "calls.sm_80.cubin")
        module["pr"][1, 2](3)
        values = device.array(np.arange(32, dtype="f4"))
        module["k"][1, 32](values, 10)
        lane = np.arange(32)
        called = np.where(lane & 1, lane + 1.0, lane * 2.0) + np.array([1, 2, 3, 4])[lane & 3]
        assert (values.numpy() == called).all()
    assert capsys.readouterr().out == "hello 0 4.500000\nhello 1 4.500000\n"
