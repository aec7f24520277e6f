"""Kernels that launch kernels: what runs, when, and what a kernel is told.

The kernel ``k`` of ``ptx_twin.programs`` launches ``note``, which puts what it is given behind what
is in a word by then: digits in the order in which they came.
"""

import numpy as np
import pytest

import lockstep
from lockstep.device import Treatment
from lockstep.execution.launches.faults import LaunchError
from ptx_twin.programs import kernel

NULL, TAIL, FORGET = 0, 3, 4  # streams
STREAM, OTHER, EVENT = "%stream", "%other", "%event"
DECLARED = """
.extern .func (.param .b64 r) __cudaCDP2GetParameterBufferV2 (.param .b64 f,
    .param .align 4 .b8 g[12], .param .align 4 .b8 b[12], .param .b32 s);
.extern .func (.param .b32 r) __cudaCDP2LaunchDeviceV2 (.param .b64 p, .param .b64 s);
.extern .func (.param .b32 r) __cudaCDP2StreamCreateWithFlags (.param .b64 p, .param .b32 f);
.extern .func (.param .b32 r) __cudaCDP2EventCreateWithFlags (.param .b64 p, .param .b32 f);
.extern .func (.param .b32 r) __cudaCDP2EventRecord (.param .b64 e, .param .b64 s);
.extern .func (.param .b32 r) __cudaCDP2StreamWaitEvent (.param .b64 s, .param .b64 e,
    .param .b32 f);
.extern .func (.param .b32 r) __cudaCDP2MemcpyAsync (.param .b64 t, .param .b64 f, .param .b64 n,
    .param .b32 k, .param .b64 s);
.extern .func (.param .b32 r) __cudaCDP2MemsetAsync (.param .b64 t, .param .b32 v, .param .b64 n,
    .param .b64 s);
.extern .func (.param .b32 r) __cudaCDP2GetLastError ();
.visible .entry note(.param .u64 word, .param .align 8 .b8 digit[16])
{
    .reg .b32 %d, %x;
    .reg .b64 %w;
    ld.param.u64 %w, [word];
    ld.param.u32 %d, [digit+8];
    ld.global.u32 %x, [%w];
    mad.lo.u32 %x, %x, 10, %d;
    st.global.u32 [%w], %x;
    ret;
}
.visible .entry tally(.param .u64 word, .param .align 8 .b8 count[16])
{
    .reg .b32 %d;
    .reg .b64 %w;
    ld.param.u64 %w, [word];
    ld.param.u32 %d, [count+8];
    red.global.add.u32 [%w], %d;
    ret;
}
.visible .entry again(.param .u64 word, .param .align 8 .b8 depth[16])
{
    .reg .b32 %d, %a;
    .reg .b64 %out, %buffer, %f;
    ld.param.u64 %out, [word];
    ld.param.u32 %d, [depth+8];
    st.global.u32 [%out], %d;
    add.u32 %d, %d, 1;
    <again>
    call (%a), __cudaCDP2GetLastError, ();
    st.global.u32 [%out+4], %a;
    ret;
}
"""
OWN = """
    .reg .b64 %stream, %other, %event, %buffer, %f;
    .local .align 8 .b8 place[8];
    .reg .b64 %p0;
    mov.u64 %p0, place;
    cvta.local.u64 %p0, %p0;
"""


def launch(digit, stream=NULL, callee="note", word=0, grid=1, block=1):
    """PTX that launches a kernel with the address of a word of ``out`` and a structure."""
    return f"""
    {{ .param .b64 function; .param .align 4 .b8 grid[12]; .param .align 4 .b8 block[12];
    .param .b32 shared; .param .b64 got; .param .b64 queue; .param .b32 status; .reg .b64 %t;
    .reg .pred %none;
    mov.u64 %f, {callee};
    st.param.b64 [function], %f;
    st.param.b32 [grid], {grid}; st.param.b32 [grid+4], 1; st.param.b32 [grid+8], 1;
    st.param.b32 [block], {block}; st.param.b32 [block+4], 1; st.param.b32 [block+8], 1;
    st.param.b32 [shared], 0;
    call (got), __cudaCDP2GetParameterBufferV2, (function, grid, block, shared);
    ld.param.b64 %buffer, [got];
    setp.eq.u64 %none, %buffer, 0;
    @%none bra NONE;
    add.u64 %t, %out, {4 * word};
    st.u64 [%buffer], %t;
    st.u32 [%buffer+16], {digit};
    st.param.b64 [function], %buffer;
    st.param.b64 [queue], {stream};
    call (status), __cudaCDP2LaunchDeviceV2, (function, queue);
NONE:
    }}
"""


def made(what, register, flags):
    """PTX that makes a stream or an event."""
    return f"call (%a), __cudaCDP2{what}CreateWithFlags, (%p0, {flags}); ld.u64 {register}, [%p0];"


def ask(name, *arguments):
    return f"call (%a), __cudaCDP2{name}, ({', '.join(map(str, arguments))});"


DECLARED = DECLARED.replace("<again>", launch("%d", callee="again"))


def module(*body):
    return kernel("\n".join((OWN, *body, "ld.global.u32 %a, [%at];")), DECLARED)


@pytest.fixture(scope="module")
def device():
    with lockstep.Device("QV100") as device:
        yield device


@pytest.fixture
def run(device):
    """Function from PTX to the words that ``k`` and what it launches leave in ``out``."""

    def run(*body, block=1):
        out = device.zeros(64, np.uint32)
        device.load_ptx(module(*body))["k"][1, block](out)
        return out.numpy().tolist()

    return run


def error(place):
    return ask("GetLastError") + f"st.global.u32 [%out+{4 * place}], %a;"


@pytest.mark.parametrize("arguments", [{"grid": 2}, {"block": 2}])
def test_what_is_launched_gets_its_parameters_and_its_shape(run, arguments):
    assert run(launch(7, callee="tally", **arguments))[0] == 14


def test_a_blocks_stream_is_in_order_and_the_tail_comes_last(run):
    out = run(launch(9, TAIL), launch(1), launch(2), launch(8, TAIL), launch(3))
    assert out[0] == 12398


def test_a_tail_waits_for_what_children_launch(run):
    out = run(launch(5, TAIL), launch(1, callee="again"))
    assert out[0] == 24 * 10 + 5


def test_lanes_that_came_apart_launch_their_own(run):
    odd = "and.b32 %b, %i, 1; setp.eq.u32 %q, %b, 1; @!%q bra EVEN;"
    tally = {"callee": "tally"}
    out = run(odd, launch(1, FORGET, word=40, **tally), "EVEN:", launch(1, **tally), block=32)
    assert (out[0], out[40]) == (32, 16)


def test_streams_and_events_of_device_code(run):
    out = run(
        made("Stream", STREAM, 1),
        made("Stream", OTHER, 1),
        made("Event", EVENT, 2),
        launch(1, STREAM),
        launch(2, STREAM),
        ask("EventRecord", EVENT, STREAM),
        ask("StreamWaitEvent", OTHER, EVENT, 0),
        launch(3, OTHER),
        "add.u64 %f, %out, 4;",
        ask("MemcpyAsync", "%f", "%out", 4, 3, OTHER),
        launch(4, OTHER),
        "add.u64 %f, %out, 8;",
        ask("MemsetAsync", "%f", 255, 4, NULL),
    )
    assert out[:3] == [1234, 123, 2**32 - 1]


def test_errors_are_of_the_thread_until_they_are_asked_for(run):
    out = run(
        launch(1, grid=0),
        error(8),
        error(9),
        launch(1, block=2048),
        error(10),
        launch(1, 77),
        error(11),
        launch(1, callee="1"),
        error(12),
        made("Stream", STREAM, 0),
        error(13),
        ask("EventRecord", 5, NULL),
        error(14),
        ask("StreamWaitEvent", TAIL, 5, 0),
        error(15),
        ask("MemcpyAsync", "%out", "%out", 4, 1, NULL),
        error(16),
    )
    assert out[8:17] == [9, 0, 9, 400, 98, 1, 400, 1, 21] and out[0] == 0


def test_launches_are_nested_24_deep(capfd):
    with lockstep.Device("QV100") as device:
        out = device.zeros(64, np.uint32)
        device.load_ptx(module(launch(1, callee="again")))["k"][1, 1](out)
        assert out.numpy()[:2].tolist() == [24, 65]
    assert "it is 24 launches below one of the host" in capfd.readouterr().err


def test_so_many_launches_wait_as_the_limit_says(capfd):
    with lockstep.Device("QV100") as device:
        out = device.zeros(64, np.uint32)
        device.services.cuda.most_pending = 3
        device.load_ptx(module(*[launch(k) for k in range(1, 6)], error(8)))["k"][1, 1](out)
        assert out.numpy()[[0, 8]].tolist() == [123, 69]
        device.load_ptx(module(launch(4)))["k"][1, 1](out)
        assert out.numpy()[0] == 1234  # there is room again
    assert capfd.readouterr().err.count("a launch one too many: 3 of its block wait") == 1


def test_the_limit_is_one_of_each_block(capfd):
    with lockstep.Device("QV100") as device:
        out = device.zeros(64, np.uint32)
        device.services.cuda.most_pending = 2
        device.load_ptx(module(launch(1), launch(2), error(8)))["k"][3, 1](out)
        assert out.numpy()[8] == 0
    assert "a launch one too many" not in capfd.readouterr().err


def test_a_copy_that_leaves_an_allocation_ends_the_launch(device):
    out = device.zeros(64, np.uint32)
    wrong = device.load_ptx(module(ask("MemcpyAsync", "%out", 64, 4, 3, NULL)))["k"]
    with pytest.raises(LaunchError, match="kernel k: a copy or fill that it asked for: 4 bytes"):
        wrong[1, 1](out)


THREE = (launch(1), launch(2), made("Stream", STREAM, 1), launch(3, STREAM, word=1))


@pytest.mark.parametrize("at_issue", [False, True])
def test_launches_by_kernels_are_simulated_as_their_streams_allow(at_issue):
    with lockstep.Device("QV100", timing=True, at_issue=at_issue) as device:
        out = device.zeros(64, np.uint32)
        device.load_ptx(module(*THREE))["k"][1, 1](out)
        assert out.numpy()[:2].tolist() == [12, 3]
        runs = {run.id: run for run in device.result.run.kernels}
        assert [(r.name, r.launched_by) for r in runs.values()].count(("note", 1)) == 3
        parent, first, third, second = (runs[k] for k in (1, 2, 3, 4))
        assert parent.launched_by == 0
        assert parent.end <= first.launched == third.launched < first.end <= second.launched
        assert parent.stream == first.stream == second.stream != third.stream


def test_each_launch_is_treated_as_the_device_chooses():
    chosen = {1: Treatment.EXECUTE, 2: Treatment.SIMULATE}
    choose = lambda launch: chosen.get(launch.id, Treatment.EXECUTE)  # noqa: E731
    with lockstep.Device("QV100", timing=True, choose=choose) as device:
        out = device.zeros(64, np.uint32)
        device.load_ptx(module(*THREE))["k"][1, 1](out)
        assert out.numpy()[:2].tolist() == [12, 3]
        assert [run.id for run in device.result.run.kernels] == [2]


def test_a_recorded_trace_has_them_all_and_takes_the_same_time(tmp_path):
    with lockstep.Device("QV100", timing=True) as device:
        with device.record(tmp_path / "t.lst"):
            out = device.zeros(64, np.uint32)
            device.load_ptx(module(*THREE))["k"][1, 1](out)
        here = device.result
    there = lockstep.simulate(tmp_path / "t.lst", "QV100")
    assert [k.name for k in there.run.kernels] == ["k", "note", "note", "note"]
    assert [k.end - k.launched for k in there.run.kernels] == [
        k.end - k.launched for k in here.run.kernels
    ]


def test_they_have_no_time_where_the_host_takes_time():
    gpu = lockstep.gpu("QV100", ["host.copy=timed"])
    with lockstep.Device(gpu, timing=True) as device:
        out = device.zeros(64, np.uint32)
        parent = device.load_ptx(module(*THREE))["k"]
        with pytest.raises(lockstep.WorkloadError, match="kernel k: kernels that launch kernels"):
            parent[1, 1](out)
