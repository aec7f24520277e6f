"""Programs in Python that use CUDA by the driver interface."""

from pathlib import Path

KERNELS = Path(__file__).parents[1] / "sampling" / "kernels.ptx"


def driver(text):
    """A Python program that launches ``count`` by the driver interface."""
    return f"""
import ctypes, sys, time
cu = ctypes.CDLL('libcuda.so.1'); p = ctypes.c_void_p
cu.cuInit(0); context, module, kernel = p(), p(), p()
cu.cuCtxCreate_v2(ctypes.byref(context), 0, 0)
assert cu.cuModuleLoadData(ctypes.byref(module), open({str(KERNELS)!r}, 'rb').read() + b'\\0') == 0
assert cu.cuModuleGetFunction(ctypes.byref(kernel), module, b'count') == 0
def launch(n):
    value = ctypes.c_uint(n); values = (p * 1)(ctypes.addressof(value))
    assert cu.cuLaunchKernel(kernel, 1, 1, 1, 64, 1, 1, 0, None, values, None) == 0
{text}
"""
