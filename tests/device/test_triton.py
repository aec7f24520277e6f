"""Kernels of Triton, compiled ahead of time; the stand-in is what its compiler returns."""

import sys
from types import SimpleNamespace

import numpy as np
import pytest

from lockstep.device.triton import TritonKernel
from lockstep.errors import LockstepError, WorkloadError

PTX = """
.version 8.0
.target sm_80
.address_size 64
.visible .entry fill(.param .u64 out, .param .u32 n, .param .u64 scratch, .param .u64 profile)
.reqntid 64
{
    .reg .pred %p<2>;
    .reg .b32 %r<6>;
    .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [out];
    ld.param.u32 %r1, [n];
    mov.u32 %r2, %ctaid.x;
    mov.u32 %r3, %tid.x;
    shl.b32 %r4, %r2, 6;
    add.u32 %r5, %r4, %r3;
    setp.ge.u32 %p1, %r5, %r1;
    mul.wide.u32 %rd2, %r5, 4;
    add.s64 %rd3, %rd1, %rd2;
    @!%p1 st.global.u32 [%rd3], %r5;
    ret;
}
"""


@pytest.fixture
def kernel(device):
    metadata = SimpleNamespace(name="fill", num_warps=2, shared=128)
    return TritonKernel(device.load_ptx(PTX), SimpleNamespace(metadata=metadata))


def test_the_block_is_tritons_and_scratch_pointers_are_added(device, kernel):
    out = device.zeros(100, "u4")
    for grid in (2, (2,), (2, 1), (2, device.stream())):
        launch = kernel[grid](out, 100)
        assert launch.geometry.block == (64, 1, 1) and launch.geometry.grid == (2, 1, 1)
        assert launch.geometry.dynamic_shared == 128
    np.testing.assert_array_equal(out.numpy(), np.arange(100))


def test_the_number_of_arguments(device, kernel):
    with pytest.raises(WorkloadError, match="kernel fill: 1 arguments; expected up to 4"):
        kernel[1](device.zeros(4))


def test_without_triton_the_message_says_what_to_install(device, monkeypatch):
    monkeypatch.setitem(sys.modules, "triton", None)
    with pytest.raises(LockstepError, match="pip install triton"):
        device.load_triton(None, {})


def test_a_kernel_of_the_real_compiler(device, tmp_path, monkeypatch):
    pytest.importorskip("triton", reason="Triton is not installed")
    path = tmp_path / "triton_kernels.py"  # Triton reads the source of what it compiles
    path.write_text(
        "import triton\nimport triton.language as tl\n\n"
        "@triton.jit\ndef add(x, y, n, B: tl.constexpr):\n"
        "    i = tl.program_id(0) * B + tl.arange(0, B)\n"
        "    tl.store(y + i, tl.load(x + i, mask=i < n) + tl.load(y + i, mask=i < n), mask=i < n)\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    from triton_kernels import add

    types = {"x": "*fp32", "y": "*fp32", "n": "i32"}
    kernel = device.load_triton(add, types, {"B": 256}, num_warps=4)
    x, y = np.arange(1000, dtype="f4"), device.zeros(1000)
    kernel[4](device.array(x), y, 1000)
    np.testing.assert_array_equal(y.numpy(), x)
    with pytest.raises(LockstepError, match="Triton: "):
        device.load_triton(add, types | {"x": "*nothing"}, {"B": 256})
