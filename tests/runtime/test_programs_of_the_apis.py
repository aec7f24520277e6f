"""Programs that use much of the API and check what they get; they are in ``programs``."""

import shutil
import subprocess

import pytest

from lockstep.runtime import run_program

PROGRAMS = {
    "device": ("device.cu",),
    "streams": ("streams.cu",),
    "streams-per-thread": ("streams.cu", "--default-stream=per-thread"),
    "memory": ("memory.cu",),
    "graphs": ("graphs.cu",),
    "functions": ("functions.cu",),
    "textures": ("textures.cu",),
    "mipmaps": ("mipmaps.cu",),
    "linked": ("linked.cu", "linked_variables.cu", "-rdc=true"),
}
OPTIONS = ("-std=c++17", "-arch=sm_80", "-cudart=shared")


@pytest.fixture
def run_built(repository, make_simulator, tmp_path, capfd):
    """Function that builds a program and returns what it printed, and what it was told in vain."""
    if not shutil.which("nvcc"):
        pytest.skip("needs nvcc, and there is none")
    folder = repository / "tests" / "runtime" / "programs"

    def run(sources, *options):
        files = [folder / name if name.endswith((".cu", ".cpp")) else name for name in sources]
        command = ["nvcc", *OPTIONS, "-w", "-o", tmp_path / "program", *files, *options]
        subprocess.run(command, check=True, capture_output=True, timeout=300)
        simulator = make_simulator()
        outcome = run_program(simulator, [str(tmp_path / "program")])
        assert not outcome.signal
        return capfd.readouterr().out, simulator

    return run


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_gets_what_cuda_gives(run_built, name):
    out, simulator = run_built(PROGRAMS[name])
    assert out == "PASS\n"
    refused = {"device": {"cudaIpcGetMemHandle": 1}, "functions": {"a launch with clusters": 1}}
    assert simulator.unsupported == refused.get(name, {})
    assert {count.code for count in simulator.kernels.values()} <= {"machine code of sm_80"}
