"""Arrays of records that begin on a cache line of the host."""

import math

import numpy as np

_LINE = 64


def records(shape: int | tuple[int, ...], dtype: np.dtype) -> np.recarray:
    """Zeroed records; those of 64 bytes lie in one cache line each."""
    shape = shape if isinstance(shape, tuple) else (shape,)
    size = math.prod(shape) * dtype.itemsize
    memory = np.zeros(size + _LINE, np.uint8)
    first = -memory.ctypes.data % _LINE
    return memory[first : first + size].view(dtype).reshape(shape).view(np.recarray)
