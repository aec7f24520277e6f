"""Kernels of numba.cuda, compiled ahead of time."""

import importlib

import numpy as np
import pytest

from lockstep.device.numba import NumbaKernel, _descriptor
from lockstep.errors import LockstepError


def test_an_array_is_passed_as_its_descriptor(device):
    array = device.zeros((4, 3, 5), "f8")
    assert _descriptor(array) == [0, 0, 60, 8, array, 4, 3, 5, 120, 40, 8]
    part = array[1:3]
    assert _descriptor(part) == [0, 0, 30, 8, part, 2, 3, 5, 120, 40, 8]


def axpy(a, x, y):
    i = cuda.grid(1)  # noqa: F821 (a global of numba's)
    if i < x.shape[0]:
        y[i] += a * x[i]


def test_a_kernel_of_the_real_compiler(device):
    try:
        axpy.__globals__["cuda"] = importlib.import_module("numba.cuda")
        kernel = device.load_numba(axpy, "void(float32, float32[::1], float32[::1])")
    except (ImportError, LockstepError) as error:
        pytest.skip(f"numba.cuda cannot compile here: {error}")
    finally:
        axpy.__globals__.pop("cuda", None)
    assert isinstance(kernel, NumbaKernel)
    x, y = np.arange(1000, dtype="f4"), device.array(np.ones(1000, "f4"))
    kernel[4, 256](2.0, device.array(x), y)
    np.testing.assert_array_equal(y.numpy(), 2 * x + 1)


def test_what_cannot_be_compiled_is_one_error(device, monkeypatch):
    def absent(name):
        raise ImportError(f"no {name}")

    monkeypatch.setattr(importlib, "import_module", absent)
    with pytest.raises(
        LockstepError, match=r"numba\.cuda: ImportError: no numba.cuda .*pip install"
    ):
        device.load_numba(axpy, "void(float32)")
