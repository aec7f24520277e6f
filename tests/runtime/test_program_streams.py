"""Streams of programs keep the order that CUDA gives them, also where kernels run at issue."""

import pytest

import lockstep

ADD = """
module, function, place = c_void_p(), c_void_p(), c_void_p()
n, a, count = c_uint(256), c_float(1), 4
rt.cudaMalloc(byref(place), c_size_t(1024))
rt.cudaMemset(place, 0, c_size_t(1024))
cu.cuModuleLoadData(byref(module), {ptx!r}.encode())
cu.cuModuleGetFunction(byref(function), module, b"add")
places = (c_void_p * 3)(addressof(place), addressof(n), addressof(a))
streams, event = [c_void_p(), c_void_p()], c_void_p()
for stream in streams:
    assert rt.cudaStreamCreateWithFlags(byref(stream), {flags}) == 0
assert rt.cudaEventCreate(byref(event)) == 0


def add(stream):
    assert cu.cuLaunchKernel(function, 2, 1, 1, 128, 1, 1, 0, stream, places, None) == 0


{body}
found = (c_float * 256)()
assert rt.cudaDeviceSynchronize() == 0
rt.cudaMemcpy(found, place, c_size_t(1024), 2)
print(*set(found), file=out)
"""
EVENTS = """
for k in range(count):
    add(streams[k % 2])
    assert rt.cudaEventRecord(event, streams[k % 2]) == 0
    assert rt.cudaStreamWaitEvent(streams[~k % 2], event, 0) == 0
"""
DEFAULT = """
for k in range(count):
    add(streams[0] if k % 2 else None)
"""
DESTROYED = """
add(streams[0])
assert rt.cudaStreamDestroy(streams[0]) == 0
add(None)
"""
NON_BLOCKING = 1


@pytest.mark.parametrize(
    "body, flags, expected",
    [(EVENTS, NON_BLOCKING, 4), (DEFAULT, 0, 4), (DESTROYED, 0, 2)],
    ids=["events", "default", "destroyed"],
)
def test_kernels_see_what_those_before_them_wrote(
    run_python, make_simulator, body, flags, expected
):
    simulator = make_simulator(timed=True, at_issue=True)
    text = ADD.format(ptx=run_python.ptx, flags=flags, body=body)
    outcome, out, _ = run_python(text, simulator=simulator)
    assert outcome.code == 0
    assert out == f"{expected}.0\n"


@pytest.mark.parametrize(
    "body, flags", [(EVENTS, NON_BLOCKING), (DEFAULT, 0)], ids=["events", "default"]
)
def test_a_trace_keeps_the_order_of_streams(run_python, make_simulator, tmp_path, body, flags):
    """Where the kernels are executed and not simulated: in the trace none overlaps another."""
    text = ADD.format(ptx=run_python.ptx, flags=flags, body=body)
    simulator = make_simulator()
    recorder = simulator.device.record(tmp_path / "add.lst")
    assert run_python(text, simulator=simulator)[0].code == 0
    recorder.stop()
    trace = lockstep.load(tmp_path / "add.lst")
    kernels = lockstep.simulate(trace, simulator.device.gpu).kernels
    assert len(kernels) == 4 and set(kernels.stream) == ({1, 2} if flags else {0, 1})
    assert all(kernels.end[:3].to_numpy() <= kernels.launched[1:].to_numpy())
