"""Parameters of the kernels as C++ lays them out: structs of views, numbers and pointers."""

import ctypes

import numpy as np


def struct(*fields):
    """A C++ struct of its fields, in order: structs, device arrays, ints and floats."""
    kinds, values = [], []
    for field in fields:
        if isinstance(field, Strided):
            field = field.view
        if isinstance(field, ctypes.Structure):
            kinds.append(type(field))
        elif hasattr(field, "pointer"):
            kinds.append(ctypes.c_void_p)
            field = int(field.pointer)
        else:
            kinds.append(ctypes.c_int if isinstance(field, int) else ctypes.c_double)
        values.append(field)
    named = [(f"field_{n}", kind) for n, kind in enumerate(kinds)]
    made = type("Parameters", (ctypes.Structure,), {"_fields_": named})(*values)
    made.kept = fields  # what they point to lives as long
    return made


class Strided:
    """An array of one to three dimensions on a device: the first index is the fastest.

    ``step`` is the stride of the first index, ``pad`` so many more elements in each column.
    """

    def __init__(self, device, values, step=1, pad=0):
        values = np.asarray(values)
        self.shape, strides = values.shape, [step]
        for n in self.shape[:-1]:
            strides.append(strides[-1] * n + (pad if len(strides) == 1 else 0))
        self.strides = tuple(strides)
        self._flat = np.zeros(strides[-1] * self.shape[-1], values.dtype)
        self._logical(self._flat)[...] = values
        self.array = device.array(self._flat)

    @property
    def view(self):
        """As the kernels take it."""
        return struct(self.array, *self.shape, *self.strides)

    def numpy(self):
        """What it holds now."""
        return self._logical(self.array.numpy()).copy()

    def _logical(self, flat):
        strides = [n * flat.itemsize for n in self.strides]
        return np.lib.stride_tricks.as_strided(flat, self.shape, strides)
