"""Whole programs: Python that calls the replaced libraries by ctypes, and CUDA programs."""

import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

import lockstep
from lockstep import kernels
from lockstep.errors import LockstepError
from lockstep.frontend.cuda.record import RecordWriter
from lockstep.runtime import Simulator, run_program
from lockstep.runtime.choice import gpu_for_program
from lockstep.runtime.connection import Connection
from lockstep.runtime.linkage import hidden_libraries
from lockstep.runtime.replay import replay
from lockstep.runtime.server import Server

DRIVER = '''
PTX = b"""%s"""
def ok(status):
    assert status == 0, status
def kernel(name, module=c_void_p()):
    ok(cu.cuModuleLoadData(byref(module), PTX))
    function = c_void_p()
    ok(cu.cuModuleGetFunction(byref(function), module, name))
    return function
def add(x, n, a, function, grid=1, block=128):
    values = c_uint64(x), c_uint32(n), c_float(a)
    places = (c_void_p * 3)(*(addressof(v) for v in values))
    return cu.cuLaunchKernel(function, grid, 1, 1, block, 1, 1, 0, None, places, None)
ok(cu.cuInit(0))
'''


@pytest.fixture
def run(run_python):
    from_conftest = run_python.ptx

    def run(text, **options):
        return run_python(DRIVER % from_conftest + text, **options)

    return run


def test_a_kernel_through_the_driver_api(run):
    outcome, out, simulator = run("""
host = (c_float * 100)(*range(100))
x, back = c_uint64(), (c_float * 100)()
ok(cu.cuMemAlloc_v2(byref(x), c_size_t(400)))
ok(cu.cuMemcpyHtoD_v2(x, host, c_size_t(400)))
ok(add(x.value, 100, 0.5, kernel(b"add")))
ok(cu.cuCtxSynchronize())
ok(cu.cuMemcpyDtoH_v2(back, x, c_size_t(400)))
print(list(back) == [k + 0.5 for k in range(100)], file=out)
""")
    assert (outcome.code, out) == (0, "True\n")
    assert simulator.copies["to device"].bytes == simulator.copies["to host"].bytes == 400
    assert not simulator.unsupported


def test_more_shared_memory_than_48_kb_must_be_asked_for(run):
    _, out, simulator = run("""
function, x, value = kernel(b"add"), c_uint64(), c_int()
ok(cu.cuMemAlloc_v2(byref(x), c_size_t(400)))
values = c_uint64(x.value), c_uint32(100), c_float(1)
places = (c_void_p * 3)(*(addressof(v) for v in values))
def launch(shared):
    return cu.cuLaunchKernel(function, 1, 1, 1, 128, 1, 1, shared, None, places, None)
print(launch(48 << 10), launch((48 << 10) + 1), file=out)
ok(cu.cuFuncGetAttribute(byref(value), 8, function))
print(value.value, cu.cuFuncSetAttribute(function, 8, 164 << 10), file=out)
print(cu.cuFuncSetAttribute(function, 8, 60 << 10), launch(60 << 10), launch(61 << 10), file=out)
""")
    assert out.splitlines() == ["0 1", "49152 1", "0 0 1"]
    assert simulator.launches == 2


@pytest.mark.parametrize("library", ["libcudart.so.11.0", "libcudart.so.12", "libcudart.so.13"])
def test_what_the_runtime_says_of_the_device(run_python, library):
    properties = {"libcudart.so.12": "cudaGetDeviceProperties_v2"}.get(
        library, "cudaGetDeviceProperties"
    )
    outcome, out, _ = run_python(
        f"""
count, value, raw = c_int(), c_int(), create_string_buffer(2048)
assert rt.cudaGetDeviceCount(byref(count)) == 0
assert rt.cudaDeviceGetAttribute(byref(value), 16, 0) == 0
assert rt.{properties}(raw, 0) == 0
print(count.value, value.value, raw.value.decode(), file=out)
print(c_size_t.from_buffer(raw, 288).value >> 30, c_size_t.from_buffer(raw, 296).value, file=out)
rt.cudaGetErrorName.restype = rt.cudaGetErrorString.restype = c_char_p
print(rt.cudaSetDevice(1), rt.cudaGetErrorName(101).decode(), rt.cudaPeekAtLastError(), file=out)
print(rt.cudaGetLastError(), rt.cudaGetLastError(), rt.cudaGetErrorString(700).decode(), file=out)
""",
        library=library,
    )
    assert outcome.code == 0
    assert out.splitlines() == [
        "1 4 A100 (lockstep)",
        "80 49152",
        "101 cudaErrorInvalidDevice 101",
        "101 0 an illegal memory access was encountered",
    ]


def test_memory_of_the_runtime(run_python):
    outcome, out, _ = run_python("""
a, b, host = c_void_p(), c_void_p(), create_string_buffer(bytes(range(64)), 64)
assert rt.cudaMalloc(byref(a), c_size_t(64)) == 0
assert rt.cudaMallocManaged(byref(b), c_size_t(64), 1) == 0
assert rt.cudaMemcpy(a, host, c_size_t(64), 1) == 0
assert rt.cudaMemcpy(b, a, c_size_t(64), 3) == 0
print(string_at(b, 64) == host.raw, file=out)
assert rt.cudaMemset2D(b, c_size_t(16), 7, c_size_t(3), c_size_t(4)) == 0
print(string_at(b, 20).hex(), file=out)
pitch, p = c_size_t(), c_void_p()
assert rt.cudaMallocPitch(byref(p), byref(pitch), c_size_t(5), c_size_t(3)) == 0
arguments = p, pitch, host, c_size_t(5), c_size_t(5), c_size_t(3), 4
assert rt.cudaMemcpy2D(*arguments) == 0
print(pitch.value, string_at(p.value + 2 * pitch.value, 5).hex(), file=out)
print(rt.cudaMemcpy(host, host, c_size_t(8), 1), rt.cudaFree(c_void_p(a.value + 1)), file=out)
print(rt.cudaMalloc(byref(p), c_size_t(1 << 50)), rt.cudaMemcpy(b, a, c_size_t(65), 4), file=out)
nowhere, some = c_void_p(), c_size_t(8)
print(rt.cudaMemcpy(nowhere, a, some, 2), rt.cudaMemcpy(a, nowhere, some, 1), file=out)
print(rt.cudaMemcpy(nowhere, nowhere, c_size_t(0), 2), file=out)
""")
    assert outcome.code == 0
    assert out.splitlines() == [
        "True",
        "070707030405060708090a0b0c0d0e0f07070713",
        "512 0a0b0c0d0e",
        "1 1",
        "2 1",
        "1 1",
        "0",
    ]


def test_kernels_reach_registered_memory(run):
    """Its pages become a view of device memory, and the program's own again at the end."""
    _, out, simulator = run("""
host = (c_float * 3000)(*range(3000))
start = addressof(host) + 40
device = c_uint64()
print(cu.cuMemHostGetDevicePointer_v2(byref(device), c_void_p(start), 0), file=out)
ok(cu.cuMemHostRegister_v2(c_void_p(start), c_size_t(8000), 0))
print(rt.cudaHostRegister(c_void_p(start + 4000), c_size_t(8000), 0), file=out)
ok(cu.cuMemHostGetDevicePointer_v2(byref(device), c_void_p(start + 400), 0))
ok(add(device.value, 100, 0.5, kernel(b"add")))
ok(cu.cuCtxSynchronize())
print([k for k in range(3000) if host[k] != k] == list(range(110, 210)), host[110], file=out)
host[0] = 7
print(cu.cuMemHostUnregister(c_void_p(start)), cu.cuMemHostUnregister(c_void_p(start)), file=out)
print([k for k in range(3000) if host[k] != k] == [0, *range(110, 210)], host[209], file=out)
""")
    assert out.splitlines() == ["1", "712", "True 110.5", "0 713", "True 209.5"]
    assert not simulator.unsupported


def test_unsupported_functions_say_so(run_python):
    _, out, simulator = run_python("""
a, b = rt.cudaImportExternalMemory(), rt.cudaImportExternalMemory()
print(a, b, cu.cuTensorMapEncodeIm2colWide(), file=out)
""")
    assert out == "801 801 801\n"
    counts = {"cudaImportExternalMemory": 2, "cuTensorMapEncodeIm2colWide": 1}
    assert simulator.unsupported == counts


def test_functions_by_name(run_python):
    _, out, _ = run_python("""
function = c_void_p()
for name, version in ((b"cuMemAlloc", 3020), (b"cuGetProcAddress", 12000), (b"cuNone", 1)):
    status = cu.cuGetProcAddress_v2(name, byref(function), version, c_uint64(0), None)
    print(status, bool(function.value), file=out)
""")
    assert out.splitlines() == ["0 True", "0 True", "500 False"]


def test_a_name_means_the_function_of_the_version(run_python):
    _, out, _ = run_python("""
function, how, info = c_void_p(), c_int(), "cuStreamGetCaptureInfo"
for version in (10010, 11030, 12030):
    cu.cuGetProcAddress_v2(info.encode(), byref(function), version, c_uint64(0), None)
    for name in (info, info + "_v2", info + "_v3"):
        if cast(getattr(cu, name), c_void_p).value == function.value:
            print(name, file=out)
rt.cudaGetDriverEntryPoint(b"cuGraphAddNode", byref(function), c_uint64(0), byref(how))
print(cast(cu.cuGraphAddNode_v2, c_void_p).value == function.value, file=out)
""")
    info = "cuStreamGetCaptureInfo"
    assert out.splitlines() == [info, f"{info}_v2", f"{info}_v3", "True"]


def test_forking_after_and_before_the_first_call(run_python):
    _, out, _ = run_python("""
count = c_int()
for moment in ("before", "after"):
    if os.fork() == 0:
        print(moment, rt.cudaGetDeviceCount(byref(count)), count.value, file=out)
        os._exit(0)
    os.wait()
    rt.cudaGetDeviceCount(byref(count))
print("parent", count.value, file=out)
""")
    assert out.splitlines() == ["before 0 1", "after 3 0", "parent 1"]


def test_threads_share_the_connection(run):
    _, out, simulator = run("""
import threading
function, x = kernel(b"add"), c_uint64()
ok(cu.cuMemAlloc_v2(byref(x), c_size_t(400)))
ok(cu.cuMemsetD8_v2(x, 0, c_size_t(400)))
def work():
    for _ in range(50):
        ok(add(x.value, 100, 1.0, function))
threads = [threading.Thread(target=work) for _ in range(4)]
[t.start() for t in threads], [t.join() for t in threads]
back = (c_float * 100)()
ok(cu.cuMemcpyDtoH_v2(back, x, c_size_t(400)))
print(set(back), file=out)
""")
    assert (out, simulator.launches) == ("{200.0}\n", 200)


def test_the_exit_code_and_a_signal(run_python, capfd):
    outcome, _, _ = run_python("sys.exit(7)")
    assert (outcome.code, outcome.signal) == (7, "")
    outcome, _, _ = run_python("os.kill(os.getpid(), 9)")
    assert (outcome.code, outcome.signal) == (137, "SIGKILL")


KILL = "import time; time.sleep(0.5); os.kill(os.getpid(), 9)"
FOREVER = """
ok(cu.cuLaunchKernel(kernel(b"forever"), 1, 1, 1, 1, 1, 1, 0, None, None, None))
"""


@pytest.mark.parametrize("timed", [False, True])
def test_a_program_that_is_killed_within_a_kernel(run, timed):
    outcome, _, simulator = run(FOREVER + KILL, timed=timed)  # which returns
    assert (outcome.code, simulator.launches) == (137, 1)


@pytest.mark.parametrize("timed", [False, True])
def test_ctrl_c_ends_a_kernel_and_its_program(run, make_simulator, capfd, timed):
    simulator = make_simulator(timed)

    def interrupt():
        while not simulator.device.services.launches:  # while LLVM works, exceptions are lost
            time.sleep(0.05)
        time.sleep(0.5)
        signal.raise_signal(signal.SIGINT)

    thread = threading.Thread(target=interrupt, daemon=True)
    thread.start()
    outcome, _, _ = run(FOREVER + "ok(cu.cuCtxSynchronize())", simulator=simulator)
    thread.join(10)
    assert outcome.interrupted and outcome.code != 0
    assert simulator.launches == 1
    assert "kernel forever ran: CTA (0, 0, 0) at pc 0x0: bra" in capfd.readouterr().err


def test_the_programs_without_a_simulator(run_python, tmp_path):
    """The libraries work without `lockstep run` only to say that they need it."""
    _, out, _ = run_python("""
import subprocess
del os.environ["LOCKSTEP_SOCKET"]
code = "import ctypes; print(ctypes.CDLL('libcudart.so.13').cudaFree(ctypes.c_void_p(64)))"
done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
print(done.stdout, done.stderr, file=out)
""")
    assert out.startswith("100\n") and "start the program with `lockstep run`" in out


def test_a_program_that_is_none(make_simulator, tmp_path):
    with pytest.raises(LockstepError, match="no such program"):
        run_program(make_simulator(), ["./absent"])


@pytest.mark.parametrize(
    ("end", "status"), [("", 0), ("; os.kill(os.getpid(), 9)", -9), ("; os._exit(3)", 3)]
)
def test_a_program_is_served_in_any_thread(run_python, make_simulator, end, status):
    """Workers of Dask are threads; signals come to the main one alone."""
    text = "p = c_void_p(); print(rt.cudaMalloc(byref(p), c_size_t(64)), file=out)" + end
    simulator = make_simulator()
    with ThreadPoolExecutor(1) as threads:
        outcome, out, _ = threads.submit(run_python, text, simulator=simulator).result(60)
    assert (outcome.status, outcome.interrupted, out) == (status, False, "0\n")


def test_launches_of_a_killed_program_are_given_up_in_any_thread(make_simulator, monkeypatch):
    """It is seen that the program was killed before its connection is seen to have ended."""
    finished = []
    monkeypatch.setattr(Connection, "finish", finished.append)
    server = Server(make_simulator())
    text = "import os, socket, sys; socket.socket(socket.AF_UNIX).connect('\\0' + sys.argv[1])"
    program = subprocess.Popen(
        [sys.executable, "-c", f"{text}; os.kill(os.getpid(), 9)", server.name]
    )
    os.waitid(os.P_PID, program.pid, os.WEXITED | os.WNOWAIT)
    with ThreadPoolExecutor(1) as threads:
        threads.submit(server.serve, program).result(60)
    server.close()
    assert (program.wait(), finished) == (-9, [])


# CUDA programs: where nvcc is

# LOCKSTEP_ALL_PROGRAMS=1 runs those of all built-in kernels: some minutes.
FEW = ("vecadd", "texture", "grid_barrier", "histogram_shared", "histogram_cluster")
HOSTS = kernels.names() if os.environ.get("LOCKSTEP_ALL_PROGRAMS") else FEW


@pytest.fixture(scope="module")
def built(repository, tmp_path_factory):
    if not shutil.which("nvcc"):
        pytest.skip("needs nvcc, and there is none")
    folder = tmp_path_factory.mktemp("programs")

    def build(name, *options):
        source = repository / "examples" / "kernels" / name / "main.cu"
        arch = f"-arch={arch_of(name)}"
        command = ["nvcc", "-std=c++17", arch, "-o", folder / name, source, *options]
        subprocess.run(command, check=True, capture_output=True, timeout=300)
        return folder / name

    return build


def arch_of(name):
    """What a program is compiled for: clusters need sm_90."""
    return "sm_90" if kernels.load(name).arch == "sm_90" else "sm_75"


@pytest.mark.long
@pytest.mark.parametrize("name", HOSTS)
def test_host_programs_of_the_built_in_kernels(built, make_simulator, capfd, name):
    path, suits = built(name, "-cudart", "shared"), {"sm_75": "RTX2060", "sm_90": "H100"}
    gpu = gpu_for_program(path).name
    assert gpu == suits[arch_of(name)]
    simulator = make_simulator(gpu=gpu) if gpu == "H100" else make_simulator()
    assert run_program(simulator, [str(path)]).code == 0
    assert capfd.readouterr().out == "PASS\n"


def test_a_program_is_executed_and_recorded_at_issue(built, tmp_path, capfd):
    """Its machine code; the trace of the path that it took then takes the same cycles."""
    path, gpu = built("spin_lock", "-cudart", "shared"), lockstep.api.gpu("RTX2060")
    simulator = Simulator(gpu, True, at_issue=True, limit_instructions=1_000_000)
    with simulator.device.record(tmp_path / "run.lst"):
        assert run_program(simulator, [str(path), "300"]).code == 0
    count, result = simulator.kernels["spin_lock"], simulator.device.result
    simulator.close()
    assert capfd.readouterr().out == "PASS\n"
    assert count.code == "machine code of sm_75" and len(count.cycles) == 1
    again = lockstep.simulate(tmp_path / "run.lst", gpu)
    assert again.hash == result.hash and again.cycles == count.cycles[0] > 0


def test_a_program_is_recorded_and_replayed(built, tmp_path, capfd):
    path, cycles = built("vecadd", "-cudart", "shared"), []
    simulator = Simulator(lockstep.api.gpu("A100", ("sm.count=4",)), True)
    writer = RecordWriter(tmp_path / "rec")
    assert run_program(simulator, [str(path), "3000"], writer).code == 0
    writer.close()
    cycles.append(simulator.kernels["vecadd"].cycles)
    simulator.close()
    simulator = Simulator(lockstep.api.gpu("A100", ("sm.count=4",)), True)
    assert replay(simulator, tmp_path / "rec")
    cycles.append(simulator.kernels["vecadd"].cycles)
    simulator.close()
    assert cycles[0] == cycles[1] != []


GRAPH = """
#include <cstdio>
#include <cuda_runtime.h>
__global__ void add(int *p, int k) { p[threadIdx.x] += k; }
int main() {
    int *p, out[32];
    cudaStream_t s;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaMalloc(&p, sizeof out);
    cudaStreamCreate(&s);
    cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal);
    cudaMemsetAsync(p, 0, 64, s);
    for (int k = 1; k < 4; k++) add<<<1, 32, 0, s>>>(p, k);
    cudaMemcpyAsync(out, p, sizeof out, cudaMemcpyDeviceToHost, s);
    cudaStreamEndCapture(s, &graph);
    cudaMemset(p, 1, sizeof out);
    cudaGraphInstantiate(&exec, graph, 0);
    for (int k = 0; k < 5; k++) cudaGraphLaunch(exec, s);
    cudaStreamSynchronize(s);
    std::printf("%d %d %d\\n", out[0], out[31] - 0x01010101, cudaGetLastError());
}
"""


def test_a_graph_is_captured_and_launched(make_simulator, tmp_path, capfd):
    if not shutil.which("nvcc"):
        pytest.skip("needs nvcc, and there is none")
    source, path = tmp_path / "graph.cu", tmp_path / "graph"
    source.write_text(GRAPH)
    rpath = ("-Xlinker", "--disable-new-dtags,-rpath,/nowhere")  # the old form of a run path
    command = ["nvcc", "-cudart", "shared", "-arch=sm_80", *rpath, "-o", path, source]
    subprocess.run(command, check=True, capture_output=True, timeout=300)
    assert hidden_libraries(path) == ["libcudart.so.13"]
    simulator = make_simulator()
    assert run_program(simulator, [str(path)]).code == 0
    assert capfd.readouterr().out == "6 30 0\n"
    assert simulator.launches == 15
