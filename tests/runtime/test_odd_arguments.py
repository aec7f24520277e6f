"""Calls with arguments that mean nothing: they fail as documented, and the program goes on."""

import shutil
import subprocess

import pytest
from elftools.elf.elffile import ELFFile

from lockstep.frontend.cuda.build import DRIVER, RUNTIMES, compiler, libraries
from lockstep.runtime import run_program

# What zeros are for these is documented: nothing to do, the default stream, or wrong.
OF_ZEROS = {
    "cudaFree": 0,
    "cudaFreeHost": 0,
    "cudaMemcpy": 0,
    "cudaMemsetAsync": 0,
    "cudaStreamSynchronize": 0,
    "cudaDeviceSynchronize": 0,
    "cudaMalloc": 1,
    "cudaMemGetInfo": 1,
    "cudaGetDeviceCount": 1,
    "cudaStreamGetFlags": 1,
    "cudaGraphLaunch": 1,
    "cudaGraphAddHostNode": 1,
    "cudaMemcpy3D": 1,
    "cudaLaunchKernel": 98,
    "cudaStreamDestroy": 400,
    "cudaEventRecord": 400,
    "cuMemAlloc_v2": 1,
    "cuMemcpy2D_v2": 1,
    "cuModuleLoadData": 1,
    "cuStreamSynchronize": 0,
    "cuCtxSynchronize": 0,
    "cuLaunchKernel": 400,
    "cuFuncLoad": 400,
    "cuStreamDestroy_v2": 400,
    "cuArrayDestroy": 400,
}


def exported(path):
    with path.open("rb") as file:
        symbols = ELFFile(file).get_section_by_name(".dynsym").iter_symbols()
        names = {s.name for s in symbols if s["st_shndx"] != "SHN_UNDEF"}
    return sorted(name for name in names if name.removeprefix("__").startswith("cu"))


@pytest.mark.parametrize("library", [*RUNTIMES.values(), DRIVER])
def test_no_function_ends_the_program_that_calls_it_with_zeros(
    make_simulator, tmp_path, repository, library, capfd
):
    if not any(map(shutil.which, ("cc", "gcc", "clang"))):
        pytest.skip("needs a C compiler, and there is none")
    program = tmp_path / "program"
    source = repository / "tests/runtime/programs/zero_arguments.c"
    subprocess.run([compiler(), "-w", "-o", program, source, "-ldl"], check=True, timeout=60)
    names = exported(libraries() / library)
    assert len(names) > 400
    assert run_program(make_simulator(), [str(program), library, *names]).code == 0
    answers = dict(line.split(": ") for line in capfd.readouterr().out.splitlines())
    assert set(answers) == set(names)
    assert [name for name in names if answers[name].startswith("signal")] == []
    known = [name for name in OF_ZEROS if name in answers]
    assert len(known) > 8
    assert {name: int(answers[name]) for name in known} == {name: OF_ZEROS[name] for name in known}


PREAMBLE = """
import signal
signal.alarm(60)  # what never ends, ends
class Extent(Structure):
    _fields_ = [("width", c_size_t), ("height", c_size_t), ("depth", c_size_t)]
class Pitched(Structure):
    _fields_ = [("address", c_void_p), ("pitch", c_size_t), ("w", c_size_t), ("h", c_size_t)]
def ok(status):
    assert status == 0, status
def made(create, *arguments):
    handle = c_void_p()
    ok(create(byref(handle), *arguments))
    return handle
memory = made(rt.cudaMalloc, c_size_t(4096))
host, place = create_string_buffer(4096), create_string_buffer(4096)
HUGE = c_size_t(-1)
def say(*statuses):
    print(*statuses, file=out)
"""


@pytest.fixture
def run(run_python):
    """Function that runs Python text and returns the lines that it printed."""

    def run(text):
        outcome, out, _ = run_python(PREAMBLE + text)
        assert (outcome.code, outcome.signal) == (0, "")
        return out.splitlines()

    return run


@pytest.mark.parametrize("how", ["never was", "is gone"])
def test_what_is_enqueued_in_a_stream_that_is_none_is_refused(run, how):
    stream = "stream = c_void_p(0x123456)\n"
    if how == "is gone":
        stream = "stream = made(rt.cudaStreamCreate)\nok(rt.cudaStreamDestroy(stream))\n"
    lines = run(
        stream
        + """
size, event, fresh, number = c_size_t(64), made(rt.cudaEventCreate), c_void_p(), c_uint64()
call = CFUNCTYPE(None, c_void_p)(lambda data: say("called"))
copy = (memory, host, size, 1, stream)
say(rt.cudaMemcpyAsync(*copy), rt.cudaMemcpyAsync(memory, host, c_size_t(0), 1, stream),
    rt.cudaMemcpy2DAsync(memory, size, host, size, size, c_size_t(2), 1, stream),
    rt.cudaMemcpyPeerAsync(memory, 0, memory, 0, size, stream))
say(rt.cudaMemsetAsync(memory, 0, size, stream),
    rt.cudaMemset2DAsync(memory, size, 0, size, c_size_t(2), stream),
    rt.cudaMallocAsync(byref(fresh), size, stream), rt.cudaFreeAsync(memory, stream))
say(rt.cudaLaunchHostFunc(stream, call, None), rt.cudaEventRecord(event, stream),
    rt.cudaStreamWaitEvent(stream, event, 0), rt.cudaStreamSynchronize(stream),
    rt.cudaStreamQuery(stream), rt.cudaStreamDestroy(stream))
say(rt.cudaStreamBeginCapture(stream, 2), rt.cudaStreamIsCapturing(stream, byref(number)),
    rt.cudaStreamGetFlags(stream, byref(number)), rt.cudaStreamGetPriority(stream, byref(number)),
    rt.cudaStreamGetId(stream, byref(number)))
say(cu.cuMemcpyAsync(memory, memory, size, stream),
    cu.cuMemcpyHtoDAsync_v2(memory, host, size, stream),
    cu.cuMemsetD8Async(memory, 0, size, stream), cu.cuStreamSynchronize(stream),
    cu.cuMemAllocAsync(byref(number), size, stream), cu.cuLaunchHostFunc(stream, call, None))
ok(rt.cudaGetLastError() - 400)
"""
    )
    assert lines == [
        "400 400 400 400",
        "400 400 400 400",
        "400 400 400 400 400 400",
        "400 400 400 400 400",
        "400 400 400 400 400 400",
    ]


def test_default_streams_are_numbers(run):
    assert (
        run("""
for stream in (None, c_void_p(1), c_void_p(2)):
    say(rt.cudaMemcpyAsync(memory, host, c_size_t(64), 1, stream), rt.cudaStreamSynchronize(stream))
""")
        == ["0 0"] * 3
    )


def test_events_that_are_none_are_refused_also_where_a_stream_is_captured(run):
    assert run("""
stream, event = made(rt.cudaStreamCreate), made(rt.cudaEventCreate)
ok(rt.cudaEventDestroy(event))
def all_of(event):
    return (rt.cudaEventRecord(event, stream), rt.cudaStreamWaitEvent(stream, event, 0),
            cu.cuEventRecord(event, stream), rt.cudaEventSynchronize(event),
            rt.cudaEventDestroy(event))
say(*all_of(event), *all_of(c_void_p(0x123456)))
ok(rt.cudaStreamBeginCapture(stream, 2))
say(*all_of(event), *all_of(c_void_p(0x123456)))
graph = c_void_p()
ok(rt.cudaStreamEndCapture(stream, byref(graph)))
say(rt.cudaGraphAddEventRecordNode(byref(c_void_p()), graph, None, c_size_t(0), event))
""") == ["400 " * 9 + "400"] * 2 + ["1"]


def test_graphs_and_nodes_that_are_none_are_refused(run):
    """Also a graph where one that can be launched is asked for, and the other way round."""
    assert run("""
graph, run, node, none = made(rt.cudaGraphCreate, 0), c_void_p(), c_void_p(), c_size_t(0)
ok(rt.cudaGraphAddEmptyNode(byref(node), graph, None, none))
ok(rt.cudaGraphInstantiate(byref(run), graph, c_uint64(0)))
number, fresh, one, whole = c_size_t(), c_void_p(), c_size_t(1), made(rt.cudaGraphCreate, 0)
def of_graph(graph):
    return (rt.cudaGraphGetNodes(graph, None, byref(number)),
            rt.cudaGraphClone(byref(fresh), graph),
            rt.cudaGraphInstantiate(byref(fresh), graph, c_uint64(0)),
            rt.cudaGraphAddEmptyNode(byref(fresh), graph, None, none),
            rt.cudaGraphAddChildGraphNode(byref(fresh), whole, None, none, graph),
            cu.cuGraphGetRootNodes(graph, None, byref(number)), rt.cudaGraphDestroy(graph))
def of_run(run):
    return (rt.cudaGraphLaunch(run, None), rt.cudaGraphUpload(run, None),
            rt.cudaGraphExecGetFlags(run, byref(number)), rt.cudaGraphExecDestroy(run))
def of_node(node):
    return (rt.cudaGraphNodeGetType(node, byref(number)), rt.cudaGraphDestroyNode(node),
            rt.cudaGraphKernelNodeGetParams(node, place),
            rt.cudaGraphMemsetNodeGetParams(node, place),
            rt.cudaGraphAddEmptyNode(byref(fresh), graph, byref(node), one),
            rt.cudaGraphNodeGetDependencies(node, None, None, byref(number)))
strange = c_void_p(addressof(place))
say(*of_graph(run), *of_graph(strange), *of_graph(node))
say(*of_run(graph), *of_run(strange), *of_run(node))
say(*of_node(graph), *of_node(strange), *of_node(c_void_p(64)))
ok(rt.cudaGraphDestroyNode(node))
say(*of_node(node))
ok(rt.cudaGraphLaunch(run, None)), ok(rt.cudaGraphExecDestroy(run)), ok(rt.cudaGraphDestroy(graph))
say(*of_graph(graph), *of_run(run))
""") == [" ".join(["1"] * count) for count in (21, 12, 18, 6, 11)]


def test_graphs_that_are_in_use_are_not_destroyed(run):
    """Those of nodes go with them; those into which a stream is captured can be ended."""
    assert run("""
graph, whole = made(rt.cudaGraphCreate, 0), made(rt.cudaGraphCreate, 0)
node, none = c_void_p(), c_size_t(0)
ok(rt.cudaGraphAddChildGraphNode(byref(node), whole, None, none, graph))
child, stream, end = c_void_p(), made(rt.cudaStreamCreate), c_void_p()
ok(rt.cudaGraphChildGraphNodeGetGraph(node, byref(child)))
ok(rt.cudaStreamBeginCaptureToGraph(stream, graph, None, None, none, 2))
ok(rt.cudaMemsetAsync(memory, 0, c_size_t(64), stream))
ok(rt.cudaGraphGetNodes(graph, byref(end), byref(c_size_t(1))))
say(rt.cudaGraphDestroy(child), rt.cudaGraphDestroy(graph), rt.cudaGraphDestroyNode(end))
ok(rt.cudaMemsetAsync(memory, 0, c_size_t(64), stream))
ok(rt.cudaStreamEndCapture(stream, byref(end)))
say(rt.cudaGraphDestroy(graph), rt.cudaGraphDestroy(whole), rt.cudaGraphDestroy(child))
""") == ["1 1 1", "0 0 1"]


def test_nodes_are_of_one_graph_and_no_graph_is_within_itself(run):
    assert run("""
graph, other = made(rt.cudaGraphCreate, 0), made(rt.cudaGraphCreate, 0)
none, one, node, fresh, inner = c_size_t(0), c_size_t(1), c_void_p(), c_void_p(), c_void_p()
ok(rt.cudaGraphAddEmptyNode(byref(node), graph, None, none))
say(rt.cudaGraphAddEmptyNode(byref(fresh), other, byref(node), one),
    rt.cudaGraphAddDependencies(other, byref(node), byref(node), None, one))
child = (c_uint64 * 32)(4, 0, graph.value, 1)  # moved, not copied
def move(to):
    return rt.cudaGraphAddNode(byref(fresh), to, None, None, none, child)
say(move(graph), move(other), move(other))
child[2] = other.value
ok(rt.cudaGraphChildGraphNodeGetGraph(fresh, byref(inner)))
say(move(graph), inner.value == graph.value)
ok(rt.cudaGraphAddDependencies(graph, byref(node), byref(node), None, one))  # no order is left
say(rt.cudaGraphClone(byref(fresh), graph), rt.cudaGraphClone(byref(fresh), other),
    rt.cudaGraphInstantiate(byref(fresh), other, c_uint64(0)))
""") == ["1 1", "1 0 1", "1 True", "1 1 1"]


def test_a_graph_that_is_gone_is_not_that_which_takes_its_place(run):
    assert run("""
one, none, node = made(rt.cudaGraphCreate, 0), c_size_t(0), c_void_p()
gone = [made(rt.cudaGraphCreate, 0) for _ in range(20)]  # more than malloc keeps of a thread's
for graph in gone:
    ok(rt.cudaGraphDestroy(graph))
say(*{rt.cudaGraphAddChildGraphNode(byref(node), graph, None, none, one) for graph in gone})
""") == ["1"]


def test_arrays_modules_and_functions_that_are_none_are_refused(run):
    assert run("""
class Format(Structure):
    _fields_ = [(name, c_int) for name in "xyzwk"]
one, size = Format(32, 0, 0, 0, 2), c_size_t(64)
array = made(rt.cudaMallocArray, byref(one), c_size_t(16), c_size_t(0), 0)
levels = made(rt.cudaMallocMipmappedArray, byref(one), Extent(16, 16, 0), 2, 0)
level = made(rt.cudaGetMipmappedArrayLevel, levels, 0)
strange = c_void_p(addressof(place))
def of(array):
    return (rt.cudaMemcpyToArray(array, c_size_t(0), c_size_t(0), host, size, 1),
            rt.cudaArrayGetInfo(None, None, None, array),
            cu.cuMemcpyHtoA_v2(array, c_size_t(0), host, size),
            cu.cuArrayGetDescriptor_v2(place, array), rt.cudaFreeArray(array))
say(*of(strange), *of(c_void_p(64)), cu.cuArrayDestroy(strange))
say(rt.cudaFreeArray(level), *of(array), *of(array))
say(rt.cudaFreeMipmappedArray(levels), rt.cudaFreeMipmappedArray(levels), *of(level))
say(rt.cudaFreeMipmappedArray(strange), rt.cudaMallocArray(byref(level), None, size, size, 0),
    rt.cudaMallocArray(byref(level), byref(Format(-8, 0, 0, 0, 0)), size, size, 0))
for none in (strange, c_void_p(64)):
    say(cu.cuModuleGetFunction(byref(level), none, b"add"), cu.cuModuleUnload(none),
        cu.cuModuleGetGlobal_v2(byref(level), None, none, b"x"), cu.cuFuncLoad(none),
        cu.cuFuncGetAttribute(place, 0, none),
        cu.cuLaunchKernel(none, *[1] * 6, 0, None, None, None),
        cu.cuLinkDestroy(none), rt.cudaLibraryUnload(none), cu.cuMemRelease(none))
""") == [
        "1 1 1 400 1 1 1 1 400 1 400",
        "1 0 0 0 0 0 1 1 1 400 1",
        "0 1 1 1 1 400 1",
        "1 1 1",
        "400 400 400 400 400 400 400 400 1",
        "400 400 400 400 400 400 400 400 1",
    ]


def test_a_handle_is_of_one_kind(run):
    """What is known of one by its number or address is not taken for another's."""
    assert run("""
pinned = made(rt.cudaMallocHost, c_size_t(64))
stream, event = made(rt.cudaStreamCreate), made(rt.cudaEventCreate)
say(rt.cudaFuncGetAttributes(place, pinned), rt.cudaGetSymbolSize(byref(c_size_t()), pinned),
    rt.cudaGetTextureObjectResourceDesc(place, stream), rt.cudaEventQuery(stream),
    rt.cudaStreamQuery(event), cu.cuFuncLoad(stream), cu.cuCtxSetCurrent(pinned))
""") == ["98 13 1 400 400 400 201"]


def test_sizes_that_cannot_be_are_refused(run):
    assert run("""
one, pitch, fresh, none = c_size_t(1), c_size_t(), c_void_p(), c_size_t(0)
half = c_size_t(1 << 63)
say(rt.cudaMalloc(byref(fresh), HUGE), rt.cudaMallocPitch(byref(fresh), byref(pitch), HUGE, one),
    rt.cudaMallocPitch(byref(fresh), byref(pitch), one, half),
    rt.cudaMalloc3D(byref(Pitched()), Extent(1 << 32, 1 << 32, 1 << 32)),
    cu.cuMemAllocPitch_v2(byref(fresh), byref(pitch), HUGE, one, 4),
    rt.cudaMallocHost(byref(fresh), HUGE),
    cu.cuMemAddressReserve(byref(fresh), c_size_t(-1 << 21), *[none] * 3))
say(rt.cudaMemcpy(memory, host, HUGE, 1), rt.cudaMemset(memory, 0, HUGE),
    cu.cuMemsetD32_v2(memory, 0, c_size_t(1 << 62)), cu.cuMemcpyDtoD_v2(memory, host, one),
    cu.cuMemcpyHtoD_v2(host, host, one), rt.cudaMemset2D(memory, one, 0, c_size_t(2), one))
say(rt.cudaMemset3D(Pitched(memory.value, 1, 1, 1), 0, Extent(0, 1, -1)),
    rt.cudaMemset3D(Pitched(memory.value, 1, 1, 1), 0, Extent(1, 1, -1)))
ok(rt.cudaMemcpy(memory, host, one, 1))
""") == ["2 2 2 2 2 2 2", "1 1 1 1 1 0", "0 1"]


CAPTURING = """
stream, graph, fresh = made(rt.cudaStreamCreateWithFlags, 1), c_void_p(), c_void_p()
size, state, mode, pinned = c_size_t(64), c_int(), c_int(), made(rt.cudaMallocHost, c_size_t(64))
spare, other = made(rt.cudaMalloc, size), made(rt.cudaMalloc, size)
def attempt(how, call):
    ok(rt.cudaStreamBeginCapture(stream, how))
    ok(rt.cudaMemsetAsync(memory, 0, size, stream))
    status = call()
    ok(rt.cudaStreamIsCapturing(stream, byref(state)))
    return status, state.value, rt.cudaStreamEndCapture(stream, byref(graph))
def exchange(to):
    mode.value = to
    ok(rt.cudaThreadExchangeStreamCaptureMode(byref(mode)))
    return mode.value
calls = [
    lambda: rt.cudaMalloc(byref(fresh), size),
    lambda: rt.cudaMallocHost(byref(fresh), size),
    lambda: rt.cudaMallocManaged(byref(fresh), size, 1),
    lambda: rt.cudaFree(spare),
    lambda: rt.cudaMemcpy(memory, host, size, 1),
    lambda: rt.cudaMemcpy2D(memory, size, host, size, size, c_size_t(2), 1),
    lambda: cu.cuMemAlloc_v2(byref(fresh), size),
    lambda: cu.cuMemFree_v2(other),
    lambda: cu.cuMemcpyHtoD_v2(memory, host, size),
    lambda: rt.cudaFreeHost(pinned),
]
"""


def test_calls_that_may_wait_spoil_a_capture(run):
    """Unless capturing began in relaxed mode."""
    assert run(
        CAPTURING
        + """
for how in (0, 1, 2):
    say(*{attempt(how, call) for call in calls})
say(rt.cudaStreamBeginCapture(stream, 3), rt.cudaStreamBeginCapture(stream, -1))
say(*attempt(2, rt.cudaDeviceSynchronize), *attempt(2, cu.cuCtxSynchronize))
ok(rt.cudaMemcpy(memory, host, size, 1)), ok(rt.cudaDeviceSynchronize())
"""
    ) == ["(900, 2, 901)", "(900, 2, 901)", "(0, 1, 0)", "1 1", "900 2 901 900 2 901"]


def test_the_mode_of_a_thread_allows_them(run):
    """In relaxed mode all, in that of the thread what captures of others would forbid."""
    assert run(
        CAPTURING
        + """
import threading
def elsewhere(to, call):
    got = []
    def work():
        before = exchange(to)
        got.extend((before, call()))
    thread = threading.Thread(target=work)
    thread.start(), thread.join()
    return tuple(got)
call = lambda: rt.cudaMemcpy(memory, host, size, 1)
say(exchange(2), exchange(2), *attempt(0, call), exchange(1), *attempt(0, call), exchange(0))
for how in (0, 1, 2):
    say(*(attempt(how, lambda: elsewhere(to, call)) for to in (0, 1, 2)))
say(rt.cudaThreadExchangeStreamCaptureMode(None),
    rt.cudaThreadExchangeStreamCaptureMode(byref(c_int(3))))
"""
    ) == [
        "0 2 0 1 0 2 900 2 901 1",
        "((0, 900), 2, 901) ((0, 0), 1, 0) ((0, 0), 1, 0)",
        "((0, 0), 1, 0) ((0, 0), 1, 0) ((0, 0), 1, 0)",
        "((0, 0), 1, 0) ((0, 0), 1, 0) ((0, 0), 1, 0)",
        "1 1",
    ]
