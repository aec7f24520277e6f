"""CUDA C++ through NVRTC; most of it needs the library."""

from pathlib import Path

import numpy as np
import pytest

from lockstep.device import cuda
from lockstep.errors import LockstepError

SOURCE = """
#include <cuda_fp16.h>
#include <mma.h>
template <int N> __device__ float scaled(float x) { return N * x; }
__global__ void scale(float *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] = scaled<FACTOR>(__half2float(__float2half(x[i])));
}
"""


@pytest.fixture
def nvrtc():
    try:
        cuda._library()
    except LockstepError as error:
        pytest.skip(str(error))


@pytest.fixture
def bare(monkeypatch):
    """A machine without any part of CUDA."""
    for function in (cuda.roots, cuda._library, cuda.include_folders):
        function.cache_clear()
    monkeypatch.setattr(cuda.importlib.util, "find_spec", lambda name: None)
    monkeypatch.delenv("CUDA_HOME", raising=False)
    monkeypatch.delenv("CUDA_PATH", raising=False)
    yield monkeypatch
    for function in (cuda.roots, cuda._library, cuda.include_folders):
        function.cache_clear()


def test_without_a_compiler_the_message_says_what_to_install(device, bare):
    with pytest.raises(
        LockstepError, match=r"pip install 'lockstep-gpu\[cuda\]', or set CUDA_HOME"
    ):
        device.compile(SOURCE)


def test_a_toolkit_is_found_in_cuda_home(bare, tmp_path):
    for name in ("include/cuda_fp16.h", "include/cuda/std/version", "lib64/libnvrtc.so.12"):
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("")
    bare.setenv("CUDA_HOME", str(tmp_path))
    assert cuda.include_folders() == (tmp_path / "include",)
    assert cuda._places("lib*/libnvrtc.so*") == [tmp_path / "lib64" / "libnvrtc.so.12"]


def test_a_template_with_headers_and_options(device, nvrtc):
    module = device.compile(SOURCE, arch="sm_75", options=("-DFACTOR=3",))
    x = device.array(np.arange(100, dtype="f4"))
    module["scale"][1, 128](x, 100)
    np.testing.assert_array_equal(x.numpy(), 3 * np.arange(100, dtype="f4"))


def test_the_compilers_log_is_in_the_error(device, nvrtc):
    with pytest.raises(cuda.CompileError, match=r"source\.cu\(\d+\): error: identifier") as caught:
        device.compile(SOURCE, arch="sm_75")
    assert "FACTOR" in caught.value.log
    with pytest.raises(LockstepError, match="invalid value for --gpu-architecture"):
        device.compile(SOURCE, arch="sm_3")


def test_every_source_of_the_kernels_compiles(nvrtc, repository):
    """NVRTC takes the very files that nvcc made the committed PTX of."""
    for file in sorted((Path(repository) / "examples/kernels").glob("[rs]*/*.cu")):
        if file.name != "main.cu" and '#include "' not in file.read_text():
            assert ".visible .entry" in cuda.compile_cuda(file.read_text(), "sm_80")
