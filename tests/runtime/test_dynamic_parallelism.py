"""Kernels that launch kernels: refused in one line, and the program gets an error."""

import shutil
import subprocess
import sys

import pytest

PROGRAM = """
#include <cstdio>
__global__ void child(int *p) { p[threadIdx.x] = threadIdx.x; }
__global__ void parent(int *p) { child<<<1, 32>>>(p); }
int main() {
    int *p;
    cudaMalloc(&p, 128);
    parent<<<1, 1>>>(p);
    printf("%s\\n", cudaGetErrorName(cudaGetLastError()));
}
"""


@pytest.mark.skipif(not shutil.which("nvcc"), reason="needs nvcc")
def test_a_program_is_told_that_there_are_no_launches_from_kernels(tmp_path):
    source, program = tmp_path / "program.cu", tmp_path / "program"
    source.write_text(PROGRAM)
    options = ["-arch=sm_80", "-rdc=true", "-cudart", "shared", "-lcudadevrt"]
    built = subprocess.run(["nvcc", *options, source, "-o", program], capture_output=True)
    if b"cudadevrt" in built.stderr:
        pytest.skip("nvcc has no device runtime")
    assert built.returncode == 0, built.stderr
    command = [sys.executable, "-m", "lockstep", "run", "--timing", "none", "--gpu", "A100"]
    done = subprocess.run([*command, program], capture_output=True, text=True)
    assert done.stdout.splitlines() == ["cudaErrorInvalidKernelImage"]
    assert "kernels that launch kernels (dynamic parallelism) are not supported" in done.stderr
