"""Programs that use much of the API and check what they get; they are in ``programs``."""

import shutil
import subprocess

import pytest

from lockstep.frontend.cuda.build import libraries
from lockstep.runtime import run_program

LAUNCHES = ("launches.cu", "launched.cu", "-rdc=true", "-lcudadevrt")
PROGRAMS = {
    "device": ("device.cu",),
    "streams": ("streams.cu",),
    "streams-per-thread": ("streams.cu", "--default-stream=per-thread"),
    "memory": ("memory.cu",),
    "symbol-copies": ("symbol_copies.cu",),
    "pools": ("pools.cu",),
    "graphs": ("graphs.cu",),
    "captures": ("captures.cu",),
    "forks": ("forks.cu",),
    "threads": ("threads.cu", "-lcuda"),
    "thread-streams": ("thread_streams.cu", "--default-stream=per-thread", "-lcuda"),
    "updated-graphs": ("updated_graphs.cu",),
    "memory-operations": ("memory_operations.cu", "-lcuda"),
    "optimised": ("optimised.cu",),
    "host-functions": ("host_functions.cu", "-lcuda"),
    "graph-memory": ("graph_memory.cu",),
    "driver-graphs": ("driver_graphs.cu", "-lcuda"),
    "graph-conditions": ("graph_conditions.cu",),
    "graph-conditions-linked": ("graph_conditions.cu", "-rdc=true"),
    "functions": ("functions.cu",),
    "limits": ("limits.cu",),
    "textures": ("textures.cu",),
    "mipmaps": ("mipmaps.cu",),
    "driver-arrays": ("driver_arrays.cu", "-lcuda"),
    "virtual-memory": ("virtual_memory.cu", "-lcuda"),
    "graph-objects": ("graph_objects.cu",),
    "processes": ("processes.cu",),
    "printing": ("printing.cu",),
    "constants": ("constants.cu",),
    "queries": ("queries.cu", "-lcuda"),
    "launches": LAUNCHES,
    "linked": ("linked.cu", "linked_variables.cu", "-rdc=true"),
}
LINKED = PROGRAMS["linked"]
OPTIONS = ("-std=c++17", "-cudart=shared")


@pytest.fixture
def build(repository, tmp_path):
    """Function that builds a program and returns its path."""
    if not shutil.which("nvcc"):
        pytest.skip("needs nvcc, and there is none")
    folder = repository / "tests" / "runtime" / "programs"

    def build(sources, *options):
        files = [folder / name if name.endswith((".cu", ".cpp")) else name for name in sources]
        ours = f"-L{libraries()}"  # the toolkit has no library of the driver API
        command = ["nvcc", *OPTIONS, ours, "-w", "-o", tmp_path / "program", *files, *options]
        subprocess.run(command, check=True, capture_output=True, timeout=300)
        return tmp_path / "program"

    return build


@pytest.fixture
def run_path(make_simulator, capfd):
    """Function that runs a program and returns what it printed, and what it was told in vain."""

    def run(path, gpu=None, arguments=(), **options):
        simulator = make_simulator(gpu=gpu, **options)
        outcome = run_program(simulator, [str(path), *map(str, arguments)])
        assert not outcome.signal
        return capfd.readouterr().out, simulator

    return run


@pytest.fixture
def run_built(build, run_path):
    """Function that does both; it is built for sm_80 unless a GPU is named."""

    def run(sources, *options, gpu=None, **simulator):
        path = build(sources, *(options if gpu else ("-arch=sm_80", *options)))
        return run_path(path, gpu, **simulator)

    return run


@pytest.mark.long
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_gets_what_cuda_gives(run_built, name):
    out, simulator = run_built(PROGRAMS[name])
    assert out == "PASS\n"
    refused = {
        "device": {"cudaImportExternalMemory": 1},
        "functions": {"a launch with clusters": 1},
        "textures": {"cudaCreateTextureObject with sRGB": 1},
    }
    assert simulator.unsupported == refused.get(name, {})
    loads = {"graph-objects": {"PTX"}}.get(name, set())  # a library's kernel
    codes = {count.code for count in simulator.kernels.values()}
    assert codes <= {"machine code of sm_80", *loads}


@pytest.mark.long
@pytest.mark.parametrize(
    ("code", "gpu", "options"),
    [
        ("-arch=compute_80", "A100", {}),
        ("-arch=sm_80", "A100", {"ptx": True}),
        ("-arch=sm_80", "H100", {}),  # the machine code that was linked is for another GPU
    ],
)
def test_ptx_of_several_objects_is_linked(run_built, code, gpu, options):
    out, simulator = run_built(LINKED, code, gpu=gpu, **options)
    assert out == "PASS\n"
    assert {count.code for count in simulator.kernels.values()} == {"PTX"}


def test_the_linker_of_the_driver(run_built):
    out, simulator = run_built(("linking.cu", "-lcuda"))
    assert out == "PASS\n"
    assert simulator.unsupported == {"linking several inputs that are not all PTX": 1}


@pytest.mark.long
@pytest.mark.parametrize(
    "gpu, code", [("A100", "sm_80"), ("A100", "compute_80"), ("H100", "sm_90")]
)
def test_tiles_of_several_warps_have_memory_of_their_own(run_built, gpu, code):
    out, simulator = run_built(("large_tiles.cu",), f"-arch={code}", gpu=gpu, check="init,races")
    assert out == "PASS\n"
    assert not list(simulator.device.findings), "what CUDA's own code reads there is its own affair"


@pytest.mark.long
def test_conditions_that_ptx_sets(run_built):
    out, simulator = run_built(("graph_conditions.cu",), "-arch=compute_75", gpu="RTX2060")
    assert out == "PASS\n"
    assert {count.code for count in simulator.kernels.values()} == {"PTX"}


@pytest.mark.long
def test_a_program_for_sm_90a_alone(run_built):
    options = "-gencode=arch=compute_90a,code=sm_90a"
    out, simulator = run_built(("hopper.cu",), options, gpu="H100")
    assert out == "PASS\n"
    assert (simulator.unsupported, simulator.problems) == ({}, [])
    assert {count.code for count in simulator.kernels.values()} == {"machine code of sm_90"}


@pytest.mark.long
def test_kernels_launch_kernels_in_machine_code_for_hopper(run_built):
    options = ("-arch=sm_90", "--default-stream=per-thread")
    out, simulator = run_built(LAUNCHES, *options, gpu="H100")
    assert out == "PASS\n"
    assert (simulator.unsupported, simulator.problems) == ({}, [])
    assert {count.code for count in simulator.kernels.values()} == {"machine code of sm_90"}
    assert simulator.kernels["_Z6appendPii"].launches == 7 + 8


@pytest.mark.long
def test_kernels_launch_kernels_in_ptx(run_built):
    out, simulator = run_built(LAUNCHES, "-arch=compute_80", gpu="A100")
    assert out == "PASS\n"
    assert (simulator.unsupported, simulator.problems) == ({}, [])
    assert {count.code for count in simulator.kernels.values()} == {"PTX"}


@pytest.mark.long
def test_clusters(run_built):
    out, simulator = run_built(("clusters.cu",), "-arch=sm_90", gpu="H100")
    assert out == "PASS\n"
    assert simulator.unsupported == {}
    assert {count.code for count in simulator.kernels.values()} == {"machine code of sm_90"}
    problems = "\n".join(simulator.problems)
    assert "do not divide the grid (8, 1, 1)" in problems


@pytest.mark.long
def test_all_the_shared_memory_of_a_block(build, run_path):
    """CUDA C++ Programming Guide, technical specifications: KB a block and an SM.

    One program, with code for all: each GPU runs its own.
    """
    sizes = {
        "RTX2060": ("sm_75", 65536, 0, 65536),
        "A100": ("sm_80", 166912, 1024, 167936),
        "RTX3070": ("sm_86", 101376, 1024, 102400),
        "H100": ("sm_90", 232448, 1024, 233472),
    }
    targets = [code.removeprefix("sm_") for code, *_ in sizes.values()]
    path = build(["shared_memory.cu"], *(f"-gencode=arch=compute_{t},code=sm_{t}" for t in targets))
    for gpu, (code, *arguments) in sizes.items():
        out, simulator = run_path(path, gpu, arguments)
        assert out == "PASS\n", gpu
        assert {count.code for count in simulator.kernels.values()} == {f"machine code of {code}"}


@pytest.mark.long
def test_a_stream_that_nobody_lets_go_on(build, run_path):
    path = build(PROGRAMS["memory-operations"], "-arch=sm_80")
    out, simulator = run_path(path, arguments=("nobody",))
    assert out == "PASS\n" and simulator.stuck
    (problem,) = simulator.problems
    assert "cuStreamWaitValue32" in problem and "are 0 and shall be 0x4d, and nothing" in problem


@pytest.mark.long
def test_kernels_that_launch_graphs(run_built):
    out, simulator = run_built(("launched_graphs.cu", "-rdc=true", "-lcudadevrt"))
    assert out == "PASS\n"
    assert [problem.partition(": ")[0] for problem in simulator.problems] == [
        "<cubin>, kernel launch(CUgraphExec_st*)",
        "<cubin>, kernel stop(CUgraphDeviceUpdatableNode_st*)",
    ]
    assert all("launch the graph from the host" in problem for problem in simulator.problems)
    assert set(count.code for count in simulator.kernels.values()) == {"machine code of sm_80"}


@pytest.mark.parametrize(
    ("code", "gpu", "versions"),
    [
        ("-gencode=arch=compute_80,code=compute_80", "H100", "80 90"),  # made when it is loaded
        ("-gencode=arch=compute_80,code=sm_80", "RTX3070", "80 80"),
        ("-gencode=arch=compute_90,code=sm_90", "H100", "90 90"),
    ],
)
def test_libraries_find_what_a_kernel_was_compiled_for(build, run_path, code, gpu, versions):
    """CUB and Thrust choose among the architectures that they were compiled for by the first."""
    printed, _ = run_path(build(("versions.cu",), code), gpu=gpu)
    assert printed == f"{versions}\nPASS\n"
