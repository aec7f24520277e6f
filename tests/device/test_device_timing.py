import os
import signal
import threading

import numpy as np
import pytest

import lockstep
from lockstep.device import Stopped
from lockstep.errors import LockstepError


def axpy(device, ptx, n=4096, **launch):
    module = device.load_ptx(ptx)
    x, y = device.array(np.ones(n, "f4")), device.zeros(n)
    grid, stream = n // 128, launch.get("stream")
    return module["axpy"][grid, 128, 0, stream](n, 2.0, x, y), y


def test_results_and_cycles_of_one_run(timed, ptx):
    launch, y = axpy(timed, ptx)
    np.testing.assert_array_equal(y.numpy(), np.full(4096, 2.0))
    assert launch.cycles > timed.gpu.launch.overhead
    assert launch.seconds == launch.cycles / (timed.gpu.clock_mhz * 1e6)
    result = timed.result
    assert result.kernels.cycles.tolist() == [launch.cycles]
    assert result.metrics == [launch.metrics]
    assert timed.clock >= result.cycles


def test_the_profile_is_what_the_model_counts(timed, ptx):
    values = timed.array(np.arange(4000, dtype="u4"))
    launch = timed.load_ptx(ptx)["mixed"][8, 128](values, timed.empty(1024, "u4"))
    profile, metrics = launch.profile, launch.metrics
    assert profile["smsp__inst_executed.sum"] == metrics["sm__inst_executed.sum"]
    common = sorted(profile.keys() & metrics.keys())
    assert len(common) >= 7
    for name in common:
        assert profile[name] == metrics[name], name


def test_launches_follow_each_other_on_a_warm_cache(timed, ptx):
    module = timed.load_ptx(ptx)
    x, y = timed.array(np.ones(1024, "f4")), timed.zeros(1024)
    launches = [module["axpy"][8, 128](1024, 1.0, x, y) for _ in range(3)]
    np.testing.assert_array_equal(y.numpy(), np.full(1024, 3.0))
    runs = [launch.timed() for launch in launches]
    assert runs[0].end <= runs[1].launched and runs[1].end <= runs[2].launched
    assert runs[2].cycles == runs[1].cycles < runs[0].cycles


def test_what_things_say_of_themselves(timed, ptx):
    module, x = timed.load_ptx(ptx), timed.zeros((4, 8))
    stream = timed.stream()
    assert repr(module).startswith(f"<Module {module.name}, PTX: axpy, ")
    assert repr(module["axpy"]) == f"<Kernel axpy(u32, f32, u64, u64) of {module.name}, PTX>"
    assert repr(x) == f"<DeviceArray float32[4, 8] at {x.pointer:#x} of {timed.gpu.name}>"
    launch = module["axpy"][1, 32, 0, stream](32, 2.0, x, x)
    head = "<Launch 1: axpy[(1, 1, 1), (32, 1, 1)] in stream 1"
    assert repr(launch) == f"{head}, queued>", "nothing is waited for"
    cycles = launch.cycles
    assert repr(launch) == f"{head}, {cycles:,} cycles>"
    failing = module["axpy"][1, 32](32, 2.0, x, 0)
    with pytest.raises(lockstep.LaunchError):
        timed.synchronize()
    assert repr(failing).endswith(", failed>")
    assert repr(timed) == f"<Device {timed.gpu.name}, timed, 2 launches>"


def test_streams_overlap_and_events_measure(timed, ptx):
    a, b = timed.stream(), timed.stream()
    start = timed.event().record(a)
    first, _ = axpy(timed, ptx, stream=a)
    module = first.kernel.module
    x, y = first.arguments[2:]
    second = module["axpy"][16, 128, 0, b](2048, 2.0, x, y)
    middle, end = timed.event().record(a), timed.event().record(b)
    assert second.timed().launched < first.timed().end
    assert middle.cycle == first.timed().end and end.cycle == second.timed().end
    cycles = start.elapsed(middle) * timed.gpu.clock_mhz * 1e3
    assert round(cycles) == first.timed().end - start.cycle
    with pytest.raises(LockstepError, match="was not recorded"):
        _ = timed.event().cycle


def test_launches_of_one_kernel_at_the_same_time(small_gpu, ptx):
    """Two streams run the same kernel with the same geometry, each on its own data."""
    with lockstep.Device(small_gpu, timing=True) as device:
        module = device.load_ptx(ptx)
        x = device.array(np.ones(1 << 18, "f4"))
        outs = [device.zeros(1 << 18) for _ in range(2)]
        for k, out in enumerate(outs):
            module["axpy"][2048, 128, 0, device.stream()](1 << 18, k + 1.0, x, out)
        for k, out in enumerate(outs):
            np.testing.assert_array_equal(out.numpy(), np.full(1 << 18, k + 1.0))


def test_a_failing_launch_leaves_the_others_alone(timed, ptx):
    module = timed.load_ptx(ptx)
    before, y = axpy(timed, ptx)
    wild = module["wild"][2, 32](12345 * 4)
    after = module["axpy"][8, 128](1024, 1.0, y, y)
    with pytest.raises(LockstepError) as first:
        timed.synchronize()
    timed.synchronize()
    with pytest.raises(LockstepError) as again:
        wild.wait()
    assert again.value is first.value
    np.testing.assert_array_equal(y.numpy(), np.append(np.full(1024, 4.0), np.full(3072, 2.0)))
    assert before.cycles > 0 and after.cycles > 0
    assert timed.result.kernels.complete.tolist() == [True, False, True]


def test_threads_change_nothing(small_gpu, ptx):
    found = []
    for threads in (1, 2):
        with lockstep.Device(small_gpu, timing=True, threads=threads) as device:
            values = device.array(np.arange(4000, dtype="u4"))
            out = device.empty(1024, "u4")
            launch = device.load_ptx(ptx)["mixed"][8, 128](values, out)
            found.append((launch.cycles, device.result.hash, out.numpy().tolist()))
    assert found[0] == found[1]


def test_memory_of_arguments_lives_until_the_launch_is_done(timed, ptx):
    launch, y = axpy(timed, ptx)
    used = timed.memory.used
    del y
    assert timed.memory.used == used
    timed.synchronize()
    assert launch.arguments == ()
    assert timed.memory.used < used


def test_a_timeline_and_its_series(small_gpu, ptx):
    with lockstep.Device(small_gpu, timing=True, timeline=True, interval=500) as device:
        launch, _ = axpy(device, ptx)
        launch.wait()
        result = device.result
        assert len(result.run.cta_events) == 32
        assert result.series["end"].is_monotonic_increasing
        assert result.workload.digest and result.manifest["trace"] == "device"


def test_ctrl_c_says_where_a_kernel_spins_and_ends_the_device(timed):
    head = ".version 7.0\n.target sm_70\n.address_size 64\n"
    spin = timed.load_ptx(head + ".entry spin()\n{\nLOOP:\n    bra LOOP;\n}\n")["spin"]
    spin.executor(timed.recording)
    spin[1, 32]()
    threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
    with pytest.raises(Stopped, match=r"at cycle 0; kernel spin ran: CTA \(0, 0, 0\) at .*bra at "):
        timed.synchronize()
    later = spin[1, 32]()
    with pytest.raises(Stopped, match=r"at cycle 0; .*only a new device can go on after that"):
        timed.synchronize()
    with pytest.raises(LockstepError, match="the simulation ended before this launch"):
        _ = later.cycles


def hesitant(warps, first, count, last, now):
    for i in range(count if now % 8 == 0 else 0):
        if warps[first + i].ready:
            return i
    return -1


def test_a_policy_decides_and_the_manifest_has_it(ptx):
    cycles = {}
    for policies in ({}, {"scheduler": hesitant}):
        with lockstep.Device("QV100", timing=True, **policies) as device:
            launch, _ = axpy(device, ptx)
            cycles[len(policies)] = launch.cycles
            assert list(device.result.manifest["policies"]) == list(policies)
    assert cycles[0] < cycles[1]


def test_policies_need_timing_and_have_names():
    with pytest.raises(LockstepError, match="scheduler needs timing=True"):
        lockstep.Device("QV100", scheduler=hesitant)
    with pytest.raises(LockstepError, match="there is no policy 'schedular'"):
        lockstep.Device("QV100", timing=True, schedular=hesitant)


def small_l2(policy, *changes):
    """An L2 of 96 KB: 16 channels and two slices each, of three lines in each of eight sets."""
    return lockstep.gpu("QV100", ["sm.count=4", "dram.channels=16", "l2.slices_per_channel=2",
                                  "l2.sets=8", "l2.ways=3", f"launch.l2={policy}",
                                  *changes])  # fmt: skip


def reads_and_writes(policy, ptx, n, launches=1, changes=()):
    """DRAM sectors read and written by each launch of axpy: x from the host, y never."""
    with lockstep.Device(small_l2(policy, *changes), timing=True) as device:
        module = device.load_ptx(ptx)
        x, y = device.array(np.ones(n, "f4")), device.zeros(n)
        runs = [module["axpy"][n // 128, 128](n, 2.0, x, y) for _ in range(launches)]
        metrics = [run.timed() and run.metrics for run in runs]
        assert device.result.run.copies == [(x.pointer, 4 * n)], "what passes is no copy"
    return [tuple(m[f"dram__sectors_{x}.sum"] for x in ("read", "write")) for m in metrics]


def test_a_profiler_that_replays_displaces_what_a_program_left(ptx):
    n = 10 * 1024  # x and y take 80 of 96 KB; with copies they do not fit
    of_y = n // 8
    assert reads_and_writes("kept", ptx, n, 2) == [(of_y, 0), (0, 0)], "x came from the host"
    assert reads_and_writes("flush", ptx, n, 2) == [(2 * of_y, 0), (2 * of_y, 0)]
    first, second = reads_and_writes("replay", ptx, n, 2)
    assert of_y / 2 < first[0] <= of_y, "what is restored, y, is there again; of x little"
    assert second == first, "what a launch finds does not depend on the one before"


def test_a_profiler_that_replays_leaves_what_fits_four_times(ptx):
    assert reads_and_writes("replay", ptx, 1024) == [(0, 0)]


def test_with_nru_some_goes_that_would_fit_since_the_l2_was_full_before(ptx):
    n = 3 * 1024  # 60 of 96 KB, with what is kept elsewhere and written again
    nru = ["l2.replacement=nru", "l2.sets=2", "l2.ways=12"]
    assert reads_and_writes("replay", ptx, n, changes=nru[1:]) == [(0, 0)]
    [(read, _)] = reads_and_writes("replay", ptx, n, changes=nru)
    assert 0.01 < read / (2 * n // 8) < 0.5
    assert reads_and_writes("kept", ptx, n, changes=nru) == [(n // 8, 0)], "nothing was there"
