"""Arrays in device memory."""

from typing import Any, Self

import numpy as np

from lockstep.device.owner import OwningDevice
from lockstep.errors import LockstepError


class DeviceArray:
    """``shape`` elements of ``dtype`` in device memory, C order.

    The memory is freed with the object, if the array owns it; a part of an array (``x[10:20]``)
    shares its memory and keeps it alive. ``np.asarray(x)`` copies it to the host, as ``numpy``
    does, so that every function of NumPy takes it. There is no ``__cuda_array_interface__``: no
    other library could use these addresses as a GPU's.
    """

    def __init__(
        self, device: OwningDevice, pointer: int, shape: Any, dtype: Any, owner: Any = None
    ):
        """``owner`` is kept; the array itself owns its memory if it is None."""
        self.device, self.pointer = device, pointer
        self.shape = (int(shape),) if isinstance(shape, (int, np.integer)) else tuple(shape)
        self.dtype = np.dtype(dtype)
        self._owner = owner

    @property
    def size(self) -> int:
        """Elements."""
        return int(np.prod(self.shape, dtype=np.int64))

    @property
    def nbytes(self) -> int:
        """Bytes."""
        return self.size * self.dtype.itemsize

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("an array without axes has no length")
        return self.shape[0]

    def __repr__(self) -> str:
        shape = ", ".join(map(str, self.shape))
        return f"<DeviceArray {self.dtype}[{shape}] at {self.pointer:#x} of {self.device.gpu.name}>"

    def __getitem__(self, part: int | slice) -> Self:
        """Elements of the first axis, in place: ``x[5]``, ``x[10:20]``; steps are not possible."""
        if isinstance(part, (int, np.integer)):
            first = int(part) + len(self) * (part < 0)
            if not 0 <= first < len(self):
                raise IndexError(f"{part} is outside the {len(self)} rows of the array")
            return self._part(first, self.shape[1:] or (1,))
        first, last, step = part.indices(len(self))
        if step != 1:
            raise LockstepError(f"a part of a device array has no steps; {part} has")
        return self._part(first, (max(last - first, 0), *self.shape[1:]))

    def _part(self, first: int, shape: tuple[int, ...]) -> Self:
        row = self.nbytes // max(len(self), 1)
        return type(self)(self.device, self.pointer + first * row, shape, self.dtype, owner=self)

    def view(self, dtype: Any) -> Self:
        """The same memory as a row of elements of another type."""
        dtype = np.dtype(dtype)
        if dtype.hasobject or not dtype.itemsize or self.nbytes % dtype.itemsize:
            raise LockstepError(f"{self.nbytes} bytes are no whole number of elements of {dtype}")
        count = self.nbytes // dtype.itemsize
        return type(self)(self.device, self.pointer, count, dtype, owner=self)

    def numpy(self) -> np.ndarray:
        """A copy on the host, after all launches so far."""
        self.device.synchronize()
        return self._view().copy()

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        """A copy on the host, after all launches so far; ``copy=False`` is refused, as by NumPy."""
        if copy is False:
            raise ValueError("an array in device memory cannot be read without a copy")
        values = self.numpy()
        return values if dtype is None else values.astype(dtype, copy=False)

    def copy_from(self, values: Any) -> None:
        """Fill the array after all launches so far; ``values`` must broadcast to its shape."""
        self.device.synchronize()
        self.fill(values)

    def fill(self, values: Any) -> None:
        """Fill the array now, whether or not queued launches still use it."""
        try:
            self._view()[...] = values
        except ValueError:
            given = np.shape(values)
            raise LockstepError(f"values of shape {given} do not fit {self.shape}") from None
        self.device.memory.written(self.pointer, self.nbytes)
        self.device.copied(self.pointer, self.nbytes)

    def _view(self) -> np.ndarray:
        raw = self.device.memory.view(self.pointer, self.nbytes)
        return raw.view(self.dtype).reshape(self.shape)

    def __del__(self) -> None:
        device = getattr(self, "device", None)
        if device is not None and self._owner is None and device.memory.base:
            device.memory.free(self.pointer)
