"""Several devices of one host: memory, peers, streams and events, in time and without it."""

import re

import numpy as np
import pytest

import lockstep
from gpu_systems import NVLINK, NVSWITCH, PCIE, small_system
from lockstep.device.peers import PeerError
from lockstep.engine.host.costs import Costs
from lockstep.errors import LockstepError

PTX = """
.version 7.0
.target sm_70
.address_size 64
.visible .entry double(.param .u64 y, .param .u64 x)
{
    .reg .b32 %r<4>; .reg .b64 %rd<5>; .reg .f32 %f<2>;
    mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x;
    mad.lo.u32 %r1, %r1, %r2, %r3; mul.wide.u32 %rd1, %r1, 4;
    ld.param.u64 %rd2, [y]; ld.param.u64 %rd3, [x];
    add.u64 %rd2, %rd2, %rd1; add.u64 %rd3, %rd3, %rd1;
    ld.global.f32 %f1, [%rd3]; add.f32 %f1, %f1, %f1; st.global.f32 [%rd2], %f1;
    ret;
}
"""
N = 1 << 15


@pytest.fixture(params=[False, True], ids=["functional", "timed"])
def system(request):
    with lockstep.System(small_system(3), timing=request.param) as system:
        yield system


@pytest.fixture
def timed():
    with lockstep.System(small_system(3), timing=True) as system:
        yield system


def values(seed=0):
    return np.random.default_rng(seed).random(N, np.float32)


def test_a_system_has_its_devices():
    with lockstep.System("DGX_1V", 4) as system:
        assert len(system) == 4 and [d.index for d in system] == [0, 1, 2, 3]
        assert {d.gpu.name for d in system} == {"QV100"}
        assert repr(system) == "<System DGX_1V, 4 GPUs, functional>"
        for index in (4, -1, slice(0, 1), "0"):
            told = re.escape(f"GPU {index} of DGX_1V: it has 0 to 3")
            with pytest.raises(LockstepError, match=told):
                system[index]


def test_memories_lie_one_behind_the_other(system):
    first, second = system[0].array(values()), system[1].array(values())
    assert second.pointer - first.pointer == system[0].memory.capacity
    assert system[0].memory.find(second.pointer) is None


def test_each_memory_is_checked_for_bytes_that_nobody_wrote():
    """What tells of them lies behind the memories of all."""
    with lockstep.System(small_system(3), check="init", memory_bytes=100_001) as system:
        for device in system:
            found = device.load_ptx(PTX)["double"]
            y, x = device.empty(32), device.array(np.ones(32, np.float32))
            found[1, 32](y, x)
            assert y.numpy().tolist() == [2.0] * 32 and not device.findings
        room = device.memory.allocate(128, unwritten=True)
        found[1, 32](y, room)
        assert "unwritten_read" in [finding.kind for finding in device.findings]


def test_data_go_from_device_to_device(system):
    system.enable_peers()
    x, y, z = (device.array(values(k)) for k, device in enumerate(system))
    y.copy_from(x)
    z.copy_from(y)
    assert np.array_equal(z.numpy(), values()) and np.array_equal(x.numpy(), values())


def test_each_device_launches_its_kernels(system):
    results = []
    for k, device in enumerate(system):
        x, y = device.array(values(k)), device.empty(N)
        device.load_ptx(PTX)["double"][N // 128, 128](y, x)
        results.append(y)
    system.synchronize()
    assert all(np.array_equal(y.numpy(), 2 * values(k)) for k, y in enumerate(results))


def test_kernels_access_the_memory_of_peers_and_of_no_others(system):
    x, y = system[1].array(values()), system[0].empty(N)
    double = system[0].load_ptx(PTX)["double"]
    system.peers.enable(0, 1)
    double[N // 128, 128](y, x)
    system.synchronize()
    assert np.array_equal(y.numpy(), 2 * values())
    if system[0].timing is not None:
        (metrics,) = system.result.gpus[0].metrics
        assert metrics["sim__peer_load_bytes.sum"] == 4 * N, "a load of each warp, no store"
        assert system.result.to_dict()["untimed_peer_accesses"] == 0
    system.peers.disable(0, 1)
    with pytest.raises(lockstep.LaunchError, match="of another GPU, to which this one"):
        double[N // 128, 128](y, x)
        system.synchronize()


def test_access_is_given_once_and_only_where_links_are(system):
    table = system.peers
    assert table.can_access(0, 1) and not table.can_access(1, 1)
    table.enable(0, 1)
    assert table.has_access(0, 1) and not table.has_access(1, 0)
    with pytest.raises(PeerError, match="GPU 0 has access to the memory of GPU 1 already"):
        table.enable(0, 1)
    table.disable(0, 1)
    with pytest.raises(PeerError, match="GPU 0 has no access to the memory of GPU 1"):
        table.disable(0, 1)
    with lockstep.System("DGX_1V") as mesh, pytest.raises(PeerError, match="nothing of DGX_1V"):
        mesh.peers.enable(0, 7)


@pytest.mark.parametrize("pair", [(0, 9), (-1, 0), ("0", 1)])
def test_peers_are_gpus_of_the_system(system, pair):
    table = system.peers
    wrong = next(one for one in pair if one not in (0, 1))
    for ask in (table.can_access, table.has_access, table.enable, table.disable):
        with pytest.raises(PeerError, match=f"GPU {wrong!r} of SMALL: it has 0 to 2"):
            ask(*pair)


def test_a_copy_takes_a_stream_of_either_device(system):
    x, y = system[0].array(values()), system[1].empty(N)
    with lockstep.Device("QV100") as other:
        for stream in (system[2].stream(), other.stream(), 5):
            with pytest.raises(LockstepError, match="is no stream of a device whose memory"):
                y.copy_from(x, stream)
            with pytest.raises(LockstepError, match="is no stream of a device whose memory"):
                y.copy_from(values(), stream)
            with pytest.raises(LockstepError, match="is no stream of a device whose memory"):
                y.copy_to(values(), stream)
    for device in (system[0], system[1]):
        y.copy_from(x, device.stream())


@pytest.mark.parametrize("count", ["two", 1.5])
def test_gpus_are_a_number(count):
    with pytest.raises(LockstepError, match="expected a number of GPUs"):
        lockstep.System("DGX_1V", gpus=count)


def test_without_access_a_copy_goes_by_way_of_the_host(timed):
    x, y = timed[0].array(values()), timed[1].empty(N)
    y.copy_from(x)
    timed.peers.enable(1, 0)
    y.copy_from(x)
    assert [copy.staged for copy in timed.result.host.peers] == [True, False]


def test_an_idle_copy_takes_its_bytes_and_a_round_trip(timed):
    timed.enable_peers()
    x, y = timed[0].array(values()), timed[1].empty(N)
    y.copy_from(x)
    result, (copy,) = timed.result, timed.result.host.peers
    in_l2 = Costs(timed[0].gpu).in_l2(timed.spec.spec.fabric.packet_bytes)
    assert copy.end - copy.start == 4 * N * 40 + 2 * in_l2 + 2 * 500_000
    (link,) = [link for link in result.links if link["link"] == "GPU 0 > GPU 1"]
    assert (link["bytes"], link["busy_ps"]) == (4 * N, 4 * N * 40)
    assert link["utilisation"] == pytest.approx(4 * N * 40 / result.host.end)


def test_kernels_of_several_devices_overlap(timed):
    kernels, arrays = [d.load_ptx(PTX)["double"] for d in timed], []
    for device in timed:
        arrays.append((device.empty(N), device.array(values())))
    timed.synchronize()
    launches = [k[N // 128, 128](*both) for k, both in zip(kernels, arrays)]
    timed.synchronize()
    cycles = [launch.run.cycles for launch in launches]
    assert max(cycles) < 1.05 * min(cycles), "other addresses, other channels"
    first, last = launches[0].run, launches[-1].run
    assert last.launched < first.end, "the second one began before the first one had ended"


def test_a_kernel_waits_for_a_copy_and_that_for_a_kernel(timed):
    """Double on GPU 0, to GPU 1, double there: in streams, joined by events."""
    timed.enable_peers()
    one, two = timed[0], timed[1]
    x, y = one.array(values()), one.empty(N)
    there, out = two.empty(N), two.empty(N)
    streams = [d.stream(blocking=False) for d in (one, two)]
    before = one.load_ptx(PTX)["double"][N // 128, 128, 0, streams[0]](y, x)
    there.copy_from(y, streams[0])
    arrived = one.event().record(streams[0])
    streams[1].wait(arrived)
    after = two.load_ptx(PTX)["double"][N // 128, 128, 0, streams[1]](out, there)
    assert np.array_equal(out.numpy(), 4 * values())
    (copy,) = timed.result.host.peers
    cycle = timed[0].gpu.clock_mhz * 1e-6
    assert before.run.end <= copy.start * cycle + 1
    gap = after.run.launched - copy.end * cycle
    assert 0 <= gap < 200, "a window at most"


def test_an_event_is_recorded_in_a_stream_of_its_device(timed):
    with pytest.raises(LockstepError, match="an event of GPU 0 in a stream of GPU 1"):
        timed[0].event().record(timed[1].default_stream)


def test_copies_fit_and_are_between_devices_of_one_system(timed):
    x = timed[0].array(values())
    with pytest.raises(LockstepError, match="does not fit one of"):
        timed[1].empty(N // 2).copy_from(x)
    wrong = pytest.raises(LockstepError, match="they are no devices of one system")
    with lockstep.Device("QV100") as other, wrong:
        other.empty(N).copy_from(x)


@pytest.mark.parametrize(
    ("option", "value"), [("ranks", 2), ("checkpoint", "here"), ("resume", "here")]
)
def test_what_only_one_device_has(option, value):
    with pytest.raises(LockstepError, match=f"{option} is for one device"):
        lockstep.System("DGX_1V", timing=True, **{option: value})


def test_more_memory_than_addresses():
    with pytest.raises(LockstepError, match="bytes of memory together; at most"):
        lockstep.System("DGX_1V", memory_bytes=1 << 38)


def program(system):
    """Copies and kernels on all devices, in several streams."""
    system.enable_peers()
    count = len(system)
    kernels = [device.load_ptx(PTX)["double"] for device in system]
    rows = [[device.array(values(3 * k + j)) for j in range(3)] for k, device in enumerate(system)]
    streams = [[d.stream(blocking=False) for _ in range(2)] for d in system]
    for step in range(3):
        for k in range(count):
            right, stream = (k + 1) % count, streams[k][step % 2]
            kernels[k][N // 256, 256, 0, stream](rows[k][1], rows[k][0])
            rows[right][2].copy_from(rows[k][1], stream)
            there = system[k].event().record(stream)
            streams[right][1 - step % 2].wait(there)
            kernels[right][N // 256, 256, 0, streams[right][1 - step % 2]](
                rows[right][0], rows[right][2]
            )
    return system.result


@pytest.mark.long
@pytest.mark.parametrize("fabric", [NVLINK, NVSWITCH, PCIE], ids=["nvlink", "nvswitch", "pcie"])
def test_the_result_does_not_depend_on_threads(fabric):
    hashes = set()
    for threads in (1, 2, 3):
        with lockstep.System(small_system(3, **fabric), timing=True, threads=threads) as system:
            result = program(system)
            hashes.add(result.hash)
            assert len(result.host.peers) == 9 and result.seconds > 0
    assert len(hashes) == 1


def test_a_system_of_one_gpu_takes_as_long_as_a_device():
    ends = []
    for make in (
        lambda gpu: lockstep.System(small_system(1, **PCIE), timing=True)[0],
        lambda gpu: lockstep.Device(gpu, timing=True),
    ):
        device = make(small_system(1, **PCIE).gpus[0])
        x, y = device.array(values()), device.empty(N)
        launch = device.load_ptx(PTX)["double"][N // 128, 128](y, x)
        y.numpy()
        ends.append((launch.run.launched, launch.run.end, device.timing.host_run().end))
        device.close()
    assert ends[0] == ends[1]


def test_a_failed_launch_of_any_device_is_raised_once(timed):
    double = timed[2].load_ptx(PTX)["double"]
    y = timed[2].empty(N // 2)
    double[N // 128, 128](y, y)
    with pytest.raises(lockstep.LaunchError):
        timed[0].synchronize()
    timed.synchronize()


def test_gpus_of_different_clocks_keep_one_time():
    """A kernel of the slower one, a copy, a kernel of the faster one: in that order of time."""
    spec = small_system(2, gpus=("QV100", "A100"))
    with lockstep.System(spec, timing=True) as system:
        system.enable_peers()
        one, two = system
        x, y, z, out = (d.empty(N) for d in (one, one, two, two))
        x.fill(values())
        stream = one.stream(blocking=False)
        first = one.load_ptx(PTX)["double"][N // 128, 128, 0, stream](y, x)
        z.copy_from(y, stream)
        after = one.event().record(stream)
        two.default_stream.wait(after)
        second = two.load_ptx(PTX)["double"][N // 128, 128](out, z)
        assert np.array_equal(out.numpy(), 4 * values())
        (copy,) = system.result.host.peers
        assert one.gpu.clock_mhz != two.gpu.clock_mhz
        ended = first.run.end * 1e6 / one.gpu.clock_mhz
        began = second.run.launched * 1e6 / two.gpu.clock_mhz
        assert ended <= copy.start + 1000 and copy.end <= began + 1000
        assert copy.start - ended < 100_000 and began - copy.end < 100_000, "windows"


def test_a_limit_ends_all_of_a_system():
    with lockstep.System(small_system(2), timing=True, limit_instructions=10) as system:
        x, y = system[1].array(values()), system[1].empty(N)
        system[1].load_ptx(PTX)["double"][N // 128, 128](y, x)
        with pytest.raises(lockstep.LaunchError):
            system.synchronize()
