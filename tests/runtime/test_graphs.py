"""Graphs, without nvcc: a fat binary that is registered as a compiled program does."""

from itertools import pairwise

import pytest

import lockstep
from lockstep.runtime import Simulator

PREAMBLE = """
image = open({binary!r}, "rb").read()
class Wrapper(Structure):
    _fields_ = [("magic", c_int), ("version", c_int), ("data", c_void_p), ("unused", c_void_p)]
data = create_string_buffer(image)
wrapper = Wrapper(0x466243B1, 1, addressof(data), None)
rt.__cudaRegisterFatBinary.restype = c_void_p
module, stub, shadow = c_void_p(rt.__cudaRegisterFatBinary(byref(wrapper))), c_int(), c_int()
rt.__cudaRegisterFunction(module, byref(stub), None, b"count", -1, *[None] * 5)
rt.__cudaRegisterVar(module, byref(shadow), None, b"counter", 0, c_size_t(4), 0, 0)
def ok(status):
    assert status == 0, status
def nodes(*items):
    return (c_void_p * len(items))(*(item.value for item in items))
def kernel(by):
    by = c_int(by)
    places = (c_void_p * 1)(addressof(by))
    class Parameters(Structure):
        _fields_ = [("function", c_void_p), ("grid", c_uint * 3), ("block", c_uint * 3),
                    ("shared", c_uint), ("arguments", c_void_p), ("extra", c_void_p)]
    return Parameters(addressof(stub), (1, 1, 1), (1, 1, 1), 0, addressof(places), None), by, places
def counter():
    value = c_int()
    ok(rt.cudaMemcpyFromSymbol(byref(value), byref(shadow), c_size_t(4), c_size_t(0), 2))
    return value.value
graph, run, stream, address = c_void_p(), c_void_p(), c_void_p(), c_void_p()
ok(rt.cudaGetSymbolAddress(byref(address), byref(shadow)))
ok(rt.cudaStreamCreate(byref(stream)))
"""


@pytest.fixture
def run(run_python, repository):
    binary = str(repository / "tests/runtime/binaries/variables.fatbin")

    def run(text, library="libcudart.so.13", **options):
        outcome, out, simulator = run_python(
            PREAMBLE.replace("{binary!r}", repr(binary)) + text, library=library, **options
        )
        assert outcome.code == 0
        return out, simulator

    return run


@pytest.mark.parametrize("library", ["libcudart.so.11.0", "libcudart.so.12", "libcudart.so.13"])
def test_a_graph_is_built_node_by_node(run, library):
    edge = "None, " if library.endswith("13") else ""
    out, simulator = run(
        f"""
up, add, call, done = c_void_p(), c_void_p(), c_void_p(), []
hundred = c_int(100)
ok(rt.cudaGraphCreate(byref(graph), 0))
first = kernel(7)
ok(rt.cudaGraphAddKernelNode(byref(add), graph, None, c_size_t(0), byref(first[0])))
ok(rt.cudaGraphAddMemcpyNode1D(byref(up), graph, None, c_size_t(0), address, byref(hundred),
                               c_size_t(4), 1))
ok(rt.cudaGraphAddDependencies(graph, nodes(up), nodes(add), {edge}c_size_t(1)))
function = CFUNCTYPE(None, c_void_p)(lambda data: done.append(data))
host = (c_void_p * 2)(cast(function, c_void_p).value, 5)
ok(rt.cudaGraphAddHostNode(byref(call), graph, nodes(add), c_size_t(1), host))
count = c_size_t()
ok(rt.cudaGraphGetNodes(graph, None, byref(count)))
print(count.value, file=out)
ok(rt.cudaGraphInstantiate(byref(run), graph, None, None, c_size_t(0)))
ok(rt.cudaGraphLaunch(run, stream))
print(counter(), done, file=out)
second = kernel(8)
ok(rt.cudaGraphExecKernelNodeSetParams(run, add, byref(second[0])))
ok(rt.cudaGraphLaunch(run, stream))
print(counter(), done, file=out)
ok(rt.cudaGraphDestroyNode(call))
info = (c_void_p * 4)()
print(rt.cudaGraphExecUpdate(run, graph, info, info), file=out)
ok(rt.cudaGraphExecDestroy(run)), ok(rt.cudaGraphDestroy(graph))
""",
        library,
    )
    assert out.splitlines() == ["3", "107 [5]", "108 [5, 5]", "910"]
    assert simulator.kernels["count"].launches == 2 and not simulator.unsupported


def test_nodes_that_wait_for_each_other_cannot_be_instantiated(run):
    out, _ = run("""
a, b = c_void_p(), c_void_p()
ok(rt.cudaGraphCreate(byref(graph), 0))
ok(rt.cudaGraphAddEmptyNode(byref(a), graph, None, c_size_t(0)))
ok(rt.cudaGraphAddEmptyNode(byref(b), graph, nodes(a), c_size_t(1)))
ok(rt.cudaGraphAddDependencies(graph, nodes(b), nodes(a), None, c_size_t(1)))
print(rt.cudaGraphInstantiate(byref(run), graph, c_uint64(0)), file=out)
""")
    assert out == "1\n"


def test_streams_join_the_capture_of_those_they_wait_for(run):
    """And streams that do not are not captured."""
    out, simulator = run("""
stream, second, other, event = c_void_p(), c_void_p(), c_void_p(), c_void_p()
for place in (stream, second, other):
    ok(rt.cudaStreamCreateWithFlags(byref(place), 1))
ok(rt.cudaEventCreate(byref(event)))
class Dim3(Structure):
    _fields_ = [("x", c_uint), ("y", c_uint), ("z", c_uint)]
one = Dim3(1, 1, 1)
def launch(by, stream):
    by = c_int(by)
    places = (c_void_p * 1)(addressof(by))
    ok(rt.cudaLaunchKernel(byref(stub), one, one, places, c_size_t(0), stream))
ok(rt.cudaStreamBeginCapture(stream, 2))
launch(10, stream)
ok(rt.cudaEventRecord(event, stream)), ok(rt.cudaStreamWaitEvent(second, event, 0))
launch(100, second)
launch(1000, other)
state = c_int()
ok(rt.cudaStreamIsCapturing(second, byref(state)))
print(state.value, counter(), file=out)
ok(rt.cudaEventRecord(event, second)), ok(rt.cudaStreamWaitEvent(stream, event, 0))
ok(rt.cudaStreamEndCapture(stream, byref(graph)))
print(rt.cudaStreamSynchronize(second), counter(), file=out)
ok(rt.cudaGraphInstantiate(byref(run), graph, c_uint64(0)))
ok(rt.cudaGraphLaunch(run, stream)), ok(rt.cudaGraphLaunch(run, stream))
print(counter(), file=out)
""")
    assert out.splitlines() == ["1 1005", "0 1005", "1225"]
    assert simulator.kernels["count"].launches == 5


BRANCHES = """
a, b, c, d = (c_void_p() for _ in range(4))
ok(rt.cudaGraphCreate(byref(graph), 0))
def add(place, *before):
    parameters = kernel(1)
    before = nodes(*before) if before else None
    ok(rt.cudaGraphAddKernelNode(byref(place), graph, before, c_size_t(len(before or ())),
                                 byref(parameters[0])))
add(a)
add(b, a)
add(c, {c})
add(d, b, c)
ok(rt.cudaGraphInstantiate(byref(run), graph, c_uint64(0)))
for _ in range(2):
    ok(rt.cudaGraphLaunch(run, stream))
ok(rt.cudaStreamSynchronize(stream))
print(counter(), file=out)
ok(rt.cudaGraphExecDestroy(run)), ok(rt.cudaGraphDestroy(graph))
"""


@pytest.mark.parametrize("host", [False, True])
def test_branches_of_a_graph_run_at_the_same_time(run, host):
    """Where the host takes no time, and where it does."""
    times = {}
    for branches in ("a", "b"):
        out, simulator = run(
            BRANCHES.replace("{c}", branches),
            simulator=_timed(host),
        )
        assert out == "13\n"
        runs = [launch.run for launch in simulator.kernels["count"].timed]
        times[branches] = [(run.start, run.end) for run in runs]
        simulator.close()
    for first in (0, 4):
        a, b, c, d = times["a"][first : first + 4]
        assert a[1] <= min(b[0], c[0]) and max(b[1], c[1]) <= d[0]
        assert max(b[0], c[0]) < min(b[1], c[1])  # side by side
        chain = times["b"][first : first + 4]
        assert all(one[1] <= later[0] for one, later in pairwise(chain))
    assert times["a"][-1][1] < times["b"][-1][1]


def _timed(host):
    changes = ("host.copy=timed", "host.call_ns.launch=0", "host.call_ns.query=0") if host else ()
    return Simulator(lockstep.api.gpu("A100", ("sm.count=4", *changes)), timed=True)
