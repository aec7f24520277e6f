"""Programs whose path depends on time, executed while they are simulated."""

import itertools

import numpy as np
import pytest

import lockstep
from lockstep import kernels
from lockstep.device import Stopped
from lockstep.errors import LockstepError
from lockstep.execution.launches.at_issue import AtIssue
from signals_from_code import Interrupted

HEADER = ".version 7.0\n.target sm_70\n.address_size 64\n"

# out[0] = cycles of a chain of eight loads, each of the address that the one before gave.
CHAIN = """
.visible .entry chain(.param .u64 at, .param .u64 out)
{
    .reg .b64 %%rd<5>;
    .reg .b64 %%t<4>;
    .shared .align 8 .b8 own[8];
    ld.param.u64 %%rd1, [at];
    ld.param.u64 %%rd2, [out];
    mov.u64 %%rd3, 0;
    st.shared.u64 [own], %%rd3;
    %(load)s %%rd4, [%(first)s];
    mov.u64 %%rd4, %(first)s;
    add.u64 %%rd4, %%rd4, %%rd3;
    mov.u64 %%t1, %%clock64;
%(loads)s
    add.u64 %%rd4, %%rd4, 0;
    mov.u64 %%t2, %%clock64;
    sub.u64 %%t3, %%t2, %%t1;
    st.global.u64 [%%rd2], %%t3;
    ret;
}
"""

# A CTA takes items until there are none: item k needs work[k] turns, and owner[k] is who did it.
QUEUE = """
.visible .entry queue(.param .u32 n, .param .u64 next, .param .u64 work, .param .u64 owner)
{
    .reg .pred %p<3>;
    .reg .b32 %r<8>;
    .reg .b64 %rd<8>;
    ld.param.u32 %r1, [n];
    ld.param.u64 %rd1, [next];
    ld.param.u64 %rd2, [work];
    ld.param.u64 %rd3, [owner];
    mov.u32 %r2, %ctaid.x;
TAKE:
    atom.global.add.u32 %r3, [%rd1], 1;
    setp.ge.u32 %p1, %r3, %r1;
    @%p1 bra DONE;
    mul.wide.u32 %rd4, %r3, 4;
    add.u64 %rd5, %rd2, %rd4;
    ld.global.u32 %r4, [%rd5];
TURN:
    sub.u32 %r4, %r4, 1;
    setp.ne.u32 %p2, %r4, 0;
    @%p2 bra TURN;
    add.u64 %rd6, %rd3, %rd4;
    st.global.u32 [%rd6], %r2;
    bra TAKE;
DONE:
    ret;
}
"""

# CTA 1 works for a while and writes a value and a flag, at times[0]; CTA 0 waits for the flag, and
# reads the value at times[1].
HANDSHAKE = """
.visible .entry handshake(.param .u64 flag, .param .u64 value, .param .u64 times)
{
    .reg .pred %p<3>;
    .reg .b32 %r<8>;
    .reg .b64 %rd<6>;
    ld.param.u64 %rd1, [flag];
    ld.param.u64 %rd2, [value];
    ld.param.u64 %rd3, [times];
    mov.u32 %r1, %ctaid.x;
    setp.eq.u32 %p1, %r1, 0;
    @%p1 bra WAIT;
    mov.u32 %r2, 500;
TURN:
    sub.u32 %r2, %r2, 1;
    setp.ne.u32 %p2, %r2, 0;
    @%p2 bra TURN;
    mov.u64 %rd4, %clock64;
    st.global.u32 [%rd2], 42;
    membar.gl;
    st.volatile.global.u32 [%rd1], 1;
    st.global.u64 [%rd3], %rd4;
    ret;
WAIT:
    ld.volatile.global.u32 %r3, [%rd1];
    setp.eq.u32 %p2, %r3, 0;
    @%p2 bra WAIT;
    mov.u64 %rd4, %clock64;
    ld.volatile.global.u32 %r4, [%rd2];
    st.global.u64 [%rd3+8], %rd4;
    st.global.u32 [%rd2+4], %r4;
    ret;
}
"""

STUCK = """
.visible .entry stuck()
{
    .reg .pred %p<2>;
    .reg .b32 %r<2>;
    mov.u32 %r1, %tid.x;
    setp.lt.u32 %p1, %r1, 32;
    @%p1 bra FIRST;
    barrier.sync 1;
    ret;
FIRST:
    barrier.sync 2;
    ret;
}

.visible .entry forever()
{
LOOP:
    bra LOOP;
}

.visible .entry trapped(.param .u64 out)
{
    .reg .b32 %r<2>;
    .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [out];
    mov.u32 %r1, 7;
    st.global.u32 [%rd1], %r1;
    trap;
}
"""


# Each thread allocates a word, writes its number there, and stores what it reads back.
HOST = """
.extern .func (.param .b64 result) malloc(.param .b64 size);
.extern .func (.param .b32 result) vprintf(.param .b64 format, .param .b64 arguments);
.global .align 1 .b8 text[7] = {116, 37, 117, 33, 10, 0, 0};

.visible .entry host(.param .u64 out)
{
    .local .align 8 .b8 packed[8];
    .reg .pred %p<2>;
    .reg .b32 %r<6>;
    .reg .b64 %rd<9>;
    ld.param.u64 %rd1, [out];
    mov.u32 %r1, %tid.x;
    mov.u64 %rd2, 4;
    {
        .param .b64 size;
        .param .b64 result;
        st.param.b64 [size], %rd2;
        call.uni (result), malloc, (size);
        ld.param.b64 %rd3, [result];
    }
    st.u32 [%rd3], %r1;
    ld.u32 %r2, [%rd3];
    mul.wide.u32 %rd4, %r1, 4;
    add.u64 %rd5, %rd1, %rd4;
    st.global.u32 [%rd5], %r2;
    setp.ne.u32 %p1, %r1, 65;
    @%p1 bra DONE;
    mov.u64 %rd6, packed;
    cvta.local.u64 %rd6, %rd6;
    st.u32 [%rd6], %r1;
    mov.u64 %rd7, text;
    cvta.global.u64 %rd7, %rd7;
    {
        .param .b64 format;
        .param .b64 arguments;
        .param .b32 result;
        st.param.b64 [format], %rd7;
        st.param.b64 [arguments], %rd6;
        call.uni (result), vprintf, (format, arguments);
        ld.param.b32 %r3, [result];
    }
DONE:
    ret;
}
"""


@pytest.fixture
def live(small_gpu):
    """A device that executes what it simulates as it issues."""
    with lockstep.Device(small_gpu, timing=True, at_issue=True, profile=True) as device:
        yield device


def chain(load, first, count=8):
    loads = "\n".join(f"    {load} %rd4, [%rd4];" for _ in range(count))
    return HEADER + CHAIN % {"load": load, "first": first, "loads": loads}


@pytest.mark.parametrize(
    "load, first, latency",
    [
        ("ld.global.u64", "%rd1", lambda gpu: gpu.l1.latency),
        ("ld.global.cg.u64", "%rd1", lambda gpu: gpu.l2.latency),
        ("ld.shared.u64", "%rd3", lambda gpu: gpu.shared.latency),
    ],
)
def test_a_chain_of_loads_measures_the_latency_of_the_model(live, load, first, latency):
    at, out = live.zeros(1, "u8"), live.zeros(1, "u8")
    at.copy_from(np.array([at.pointer], "u8"))
    live.load_ptx(chain(load, first))["chain"][1, 1](at, out)
    cycles = int(out.numpy()[0]) / 8
    assert cycles == pytest.approx(latency(live.gpu), rel=0.05)


def test_clocks_tell_cycles_of_the_simulation(live):
    flag, value, times = live.zeros(1, "u4"), live.zeros(2, "u4"), live.zeros(2, "u8")
    launch = live.load_ptx(HEADER + HANDSHAKE)["handshake"][2, 1](flag, value, times)
    sent, received = times.numpy().tolist()
    assert value.numpy().tolist() == [42, 42]
    run = launch.timed()
    assert run.start + 500 < sent < received < run.end
    assert received - sent < 4 * live.gpu.l2.latency


def test_items_of_a_queue_go_to_who_is_free(live, small_gpu):
    def owners(device):
        work = np.full(64, 100, "u4")
        work[0] = 4000
        owner = device.zeros(64, "u4")
        counter = device.zeros(1, "u4")
        module = device.load_ptx(HEADER + QUEUE)
        module["queue"][4, 1](64, counter, device.array(work), owner)
        return np.bincount(owner.numpy(), minlength=4), owner.numpy()[0]

    taken, busy = owners(live)
    free = np.delete(taken, busy)
    assert taken[busy] < free.min() and free.max() - free.min() <= 2
    with lockstep.Device(small_gpu, timing=True) as before:
        taken, busy = owners(before)
        assert taken[busy] == taken.max(), "what it costs is not known when it is executed"


@pytest.mark.parametrize("name", ["spin_lock", "grid_barrier", "hash_table", "reduce_lastblock"])
def test_programs_that_wait_are_right_and_repeat(small_gpu, name):
    found = []
    for threads in (1, 3):
        options = {"timing": True, "at_issue": True, "threads": threads}
        with lockstep.Device(small_gpu, **options) as device:
            program = kernels.load(name)
            for check in program.run(device, program.small):
                check.verify()
            found.append((device.result.hash, [x.cycles for x in device.launches]))
    assert found[0] == found[1]


@pytest.mark.long
@pytest.mark.parametrize(
    "name", ["gemm_tiled", "reduce_shared", "histogram_shared", "bfs", "gemm_mma", "needle"]
)
def test_programs_without_races_take_the_same_time(small_gpu, name):
    found = []
    for at_issue in (False, True):
        options = {"timing": True, "at_issue": at_issue, "profile": True}
        with lockstep.Device(small_gpu, **options) as device:
            program = kernels.load(name)
            for check in program.run(device, program.small):
                check.verify()
            runs = [(x.cycles, x.timed().sm.tobytes(), x.profile) for x in device.launches]
            found.append((device.result.cycles, runs))
    assert found[0] == found[1]


def test_launches_of_a_kernel_overlap_in_streams(live, ptx):
    kernel = live.load_ptx(ptx)["axpy"]
    x, results = live.array(np.ones(2048, "f4")), [live.zeros(2048), live.zeros(2048)]
    launches = [kernel[16, 128, 0, live.stream()](2048, 3.0, x, y) for y in results]
    for y in results:
        np.testing.assert_array_equal(y.numpy(), np.full(2048, 3.0))
    assert launches[1].timed().launched < launches[0].timed().end


def test_a_stream_comes_after_an_event_of_another(live, ptx):
    kernel = live.load_ptx(ptx)["axpy"]
    x, y = live.array(np.ones(2048, "f4")), live.zeros(2048)
    streams = live.stream(), live.stream()
    launches = []
    for k in range(4):
        launches.append(kernel[16, 128, 0, streams[k & 1]](2048, 3.0, x, y))
        streams[~k & 1].wait(live.event().record(streams[k & 1]))
    np.testing.assert_array_equal(y.numpy(), np.full(2048, 12.0))
    for first, second in itertools.pairwise(launches):
        assert first.timed().end <= second.timed().launched


def test_a_stream_waits_for_no_event_that_it_comes_after_anyway(live, ptx):
    kernel = live.load_ptx(ptx)["axpy"]
    x, y = live.array(np.ones(2048, "f4")), live.zeros(2048)
    one, other = live.stream(), live.stream()
    own = kernel[16, 128, 0, one](2048, 3.0, x, y)
    one.wait(live.event().record(one))
    another = kernel[16, 128, 0, other](2048, 3.0, x, live.zeros(2048))
    assert another.timed().launched < own.timed().end


def test_a_fault_ends_its_launch_only(live, ptx):
    module = live.load_ptx(ptx)
    x, y = live.array(np.ones(1024, "f4")), live.zeros(1024)
    before = module["axpy"][8, 128](1024, 2.0, x, y)
    wild = module["wild"][64, 32](12345 * 4)
    after = module["axpy"][8, 128](1024, 1.0, x, y)
    with pytest.raises(lockstep.LaunchError, match="wild") as raised:
        live.synchronize()
    assert raised.value.kind == "illegal_address" and raised.value.address == 12345 * 4
    assert wild.error is raised.value
    assert before.cycles > 0 and after.cycles > 0
    np.testing.assert_array_equal(y.numpy(), np.full(1024, 3.0))
    assert live.result.kernels.complete.tolist() == [True, False, True]


def test_a_launch_with_a_fault_ends_when_its_stores_are_there():
    late = """
.visible .entry late(.param .u64 out, .param .u64 wild)
{
    .reg .pred %p, %q; .reg .b32 %i, %n; .reg .b64 %o, %w;
    ld.param.u64 %o, [out]; ld.param.u64 %w, [wild];
    mov.u32 %i, %ctaid.x; setp.eq.u32 %q, %i, 0; selp.u32 %n, 10, 1, %q;
L:  add.u32 %n, %n, -1; setp.gt.s32 %p, %n, 0; @%p bra L;
    @%q st.global.u32 [%w], %i;
    st.global.u32 [%o], %i;
    ret;
}"""
    with lockstep.Device("H100_SXM", timing=True, at_issue=True) as device:
        device.load_ptx(HEADER + late)["late"][2, 32](device.zeros(1, "i4"), 1 << 20)
        with pytest.raises(lockstep.LaunchError, match="late"):
            device.synchronize()


@pytest.mark.parametrize("name, kind", [("stuck", "deadlock"), ("forever", "limit")])
def test_a_launch_that_never_ends(small_gpu, name, kind):
    options = {"timing": True, "at_issue": True, "limit_instructions": 10_000}
    with lockstep.Device(small_gpu, **options) as device:
        device.load_ptx(HEADER + STUCK)[name][2, 64]()
        with pytest.raises(lockstep.LaunchError, match=name) as raised:
            device.synchronize()
        assert raised.value.kind == kind


def test_a_trap_keeps_what_was_written(live):
    out = live.zeros(1, "u4")
    live.load_ptx(HEADER + STUCK)["trapped"][1, 1](out)
    with pytest.raises(lockstep.LaunchError) as raised:
        live.synchronize()
    assert raised.value.kind == "trap" and out.numpy().tolist() == [7]


def test_services_of_the_host(live, capsys):
    out = live.zeros(96, "u4")
    live.load_ptx(HEADER + HOST)["host"][1, 96](out)
    np.testing.assert_array_equal(out.numpy(), np.arange(96))
    assert capsys.readouterr().out == "t65!\n"


def test_an_interrupt_in_a_service_stops_the_simulation(live, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(live.services, "perform", interrupted)
    launch = live.load_ptx(HEADER + HOST)["host"][1, 96](live.zeros(96, "u4"))
    with pytest.raises(Stopped, match="interrupted at cycle"):
        live.synchronize()
    assert launch.error is None and live.partial_result().kernels.complete.tolist() == [False]


def test_an_interrupt_right_before_a_service_stops_the_simulation(live, monkeypatch):
    """Python does nothing while windows run, and hears of it when a service is asked for."""
    begin = AtIssue._begin

    def interrupted(self, kilohertz):
        begin(self, kilohertz)
        self.interrupted = Interrupted(int(self._progress[0].python))
        self._progress[0].python = self.interrupted.address

    monkeypatch.setattr(AtIssue, "_begin", interrupted)
    launch = live.load_ptx(HEADER + HOST)["host"][1, 96](live.zeros(96, "u4"))
    with pytest.raises(Stopped, match="interrupted at cycle"):
        live.synchronize()
    assert launch.error is None and live.partial_result().kernels.complete.tolist() == [False]


def test_it_needs_timing(small_gpu):
    with pytest.raises(LockstepError, match="timing=True"):
        lockstep.Device(small_gpu, at_issue=True)
