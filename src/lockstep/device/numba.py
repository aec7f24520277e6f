"""Numba kernels: compiled to PTX ahead of time, which needs libNVVM but no GPU."""

import importlib
from typing import Any

import numpy as np

from lockstep.device.array import DeviceArray
from lockstep.device.module import Kernel, Launcher
from lockstep.device.ptx import PtxKernel, PtxModule
from lockstep.errors import LockstepError


class NumbaKernel(PtxKernel):
    """A Numba kernel: ``kernel[grid, block, shared_bytes, stream](*arguments)``."""

    def flatten(self, arguments: tuple) -> tuple:
        """Arrays as Numba's kernels take them: a parameter for each field of a descriptor."""
        flat: list[Any] = []
        for value in arguments:
            flat += _descriptor(value) if isinstance(value, DeviceArray) else [value]
        return tuple(flat)


def _descriptor(array: DeviceArray) -> list[Any]:
    """meminfo, parent, items, bytes of an item, data, shape, strides (numba.np.arrayobj)."""
    strides = np.cumprod([array.dtype.itemsize, *array.shape[:0:-1]])[::-1].tolist()
    return [0, 0, array.size, array.dtype.itemsize, array, *array.shape, *strides]


def load(device: Launcher, kernel: Any, signature: Any, arch: tuple[int, int] = (8, 0)) -> Kernel:
    """Compile a function, or a ``numba.cuda.jit`` kernel, for argument types.

    ``signature`` is Numba's: ``"void(float32[::1], float32[::1], float32)"``; ``arch`` the compute
    capability to compile for. Raises
    :class:`LockstepError` if numba.cuda cannot compile here, or refuses.
    """
    function = getattr(kernel, "py_func", kernel)
    try:
        cuda = importlib.import_module("numba.cuda")
        types = importlib.import_module("numba.core.sigutils").normalize_signature(signature)[0]
        text, _ = cuda.compile_ptx(function, types, cc=arch)
    except Exception as error:  # Numba's errors have no common class
        raise LockstepError(
            f"numba.cuda: {type(error).__name__}: {error} (it needs numba-cuda and libNVVM: "
            "pip install numba-cuda nvidia-cuda-nvcc-cu12)"
        ) from error
    module = device.load_ptx(text)
    assert isinstance(module, PtxModule)
    return NumbaKernel(module, module.tree.functions[module.entries[0]])
