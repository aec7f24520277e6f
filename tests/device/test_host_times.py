"""Copies in streams and events of a device whose host takes time."""

import numpy as np
import pytest

import lockstep
from lockstep import api
from lockstep.engine.host.costs import Costs
from lockstep.errors import LockstepError
from lockstep.host_calls import Direction

PTX = """
.version 7.0
.target sm_70
.address_size 64
.visible .entry double(.param .u64 x)
{
    .reg .b32 %r<4>; .reg .b64 %rd<3>; .reg .f32 %f<2>;
    mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x;
    mad.lo.u32 %r1, %r1, %r2, %r3;
    ld.param.u64 %rd1, [x]; mul.wide.u32 %rd2, %r1, 4; add.u64 %rd1, %rd1, %rd2;
    ld.global.f32 %f1, [%rd1]; add.f32 %f1, %f1, %f1; st.global.f32 [%rd1], %f1;
    ret;
}
"""
SMALL = ("sm.count=4", "dram.channels=2", "launch.overhead=100", "host.call_ns.copy=100",
         "host.call_ns.launch=100")  # fmt: skip
N = 4096


@pytest.fixture(scope="module")
def gpu():
    return api.gpu("SST_VOLTA", SMALL)


@pytest.fixture
def device(gpu):
    with lockstep.Device(gpu, timing=True) as device:
        yield device


def test_a_copy_a_kernel_and_a_copy_back_follow_each_other(device):
    kernel, x = device.load_ptx(PTX)["double"], device.array(np.arange(N, dtype=np.float32))
    launch = kernel[N // 128, 128](x)
    assert np.array_equal(x.numpy(), 2 * np.arange(N))
    run, costs = device.result.run, Costs(device.gpu)
    there, back = run.host.copies
    assert (there.direction, back.direction) == (Direction.TO_DEVICE, Direction.TO_HOST)
    assert there.bytes == back.bytes == 4 * N
    assert there.end < costs.clock.time(launch.run.launched)
    assert costs.clock.time(launch.run.end) <= back.start and run.host.end == back.end
    assert sum(device.result.parts.values()) == pytest.approx(run.host.end * 1e-12)


def test_streams_copy_while_others_run(device):
    """Two halves of an array, each copied, doubled and copied back in a stream of its own."""
    kernel, values = device.load_ptx(PTX)["double"], np.arange(2 * N, dtype=np.float32)
    x, out = device.empty(2 * N), np.zeros(2 * N, np.float32)
    streams = [device.stream(blocking=False) for _ in range(2)]
    for k, stream in enumerate(streams):
        half = slice(k * N, (k + 1) * N)
        x[half].copy_from(values[half], stream)
        kernel[N // 128, 128, 0, stream](x[half])
        x[half].copy_to(out[half], stream)
    assert not out.any(), "nothing was waited for yet"
    device.synchronize()
    assert np.array_equal(out, 2 * values)
    run, clock = device.result.run, Costs(device.gpu).clock
    copies = {(c.stream, c.direction): c for c in run.host.copies}
    first = min(run.kernels, key=lambda k: k.stream)
    other = copies[streams[1].number, Direction.TO_DEVICE]
    assert other.start < clock.time(first.end) < copies[streams[1].number, Direction.TO_HOST].start


def test_what_a_copy_of_a_stream_brings_is_that_of_its_call(device):
    x, values, out = device.zeros(4), np.ones(4, np.float32), np.zeros(4, np.float32)
    stream = device.stream()
    x.copy_from(values, stream)
    values[:] = 7
    x.copy_to(out, stream)
    stream.synchronize()
    assert out.tolist() == [1, 1, 1, 1]


def test_events_happen_in_the_time_of_their_stream(device):
    x, stream, other = device.zeros(N), device.stream(), device.stream()
    begin = device.event().record(stream)
    x.copy_from(np.ones(N, np.float32), stream)
    end = device.event().record(stream)
    other.wait(end)
    behind = device.event().record(other)
    end.synchronize()
    (copy,) = device.result.run.host.copies
    assert end.cycle == Costs(device.gpu).clock.cycle(copy.end) == behind.cycle
    assert begin.elapsed(end) == pytest.approx((end.cycle - begin.cycle) / 1200e3)
    with pytest.raises(LockstepError, match="the event was not recorded"):
        other.wait(device.event())


def test_without_such_a_host_a_copy_in_a_stream_is_done_at_once():
    gpu = api.gpu("SST_VOLTA", (*SMALL, "host.copy=instant"))
    with lockstep.Device(gpu, timing=True) as device:
        x, out, stream = device.zeros(4), np.zeros(4, np.float32), device.stream()
        x.copy_from(np.ones(4), stream)
        x.copy_to(out, stream)
        assert out.tolist() == [1, 1, 1, 1] and device.result.run.host is None
        with pytest.raises(LockstepError, match=r"an array of shape \(2,\) for values"):
            x.copy_to(out[:2])


def test_managed_arrays_migrate_to_kernels_and_back():
    more = ("host.memory=migrating", "host.migration_bytes=4096", "host.fault_ns=1000")
    with lockstep.Device(api.gpu("SST_VOLTA", (*SMALL, *more)), timing=True) as device:
        kernel, x = device.load_ptx(PTX)["double"], device.managed(np.arange(N, dtype=np.float32))
        pages = x.nbytes // 4096
        for _ in range(2):
            kernel[N // 128, 128](x)
        assert np.array_equal(x.numpy(), 4 * np.arange(N))
        kernel[1, 128](x)
        run = device.result.run
        assert run.host.pages.faults == run.host.pages.thrash + pages > pages
        assert run.host.pages.returned_bytes == 4096 * pages
        assert not any(copy.engine >= 0 for copy in run.host.copies), "nothing is copied"
        x.copy_from(0)
        assert device.result.run.host.pages.returned_bytes > 4096 * pages


@pytest.mark.parametrize("memory", ["discrete", "coherent"])
def test_elsewhere_managed_arrays_are_as_others(memory):
    gpu = api.gpu("SST_VOLTA", (*SMALL, f"host.memory={memory}"))
    with lockstep.Device(gpu, timing=True) as device:
        x = device.managed(np.ones(64, np.float32))
        assert x.numpy().sum() == 64
        assert [copy.bytes for copy in device.result.run.host.copies] == [256, 256]
