"""Arrays in device memory."""

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from lockstep.device.device import Device


class DeviceArray:
    """``shape`` elements of ``dtype`` in device memory, C order.

    The memory is freed with the object, if the array owns it.
    """

    def __init__(self, device: "Device", pointer: int, shape, dtype, owns: bool):
        self.device, self.pointer = device, pointer
        self.shape = (shape,) if isinstance(shape, int) else tuple(shape)
        self.dtype = np.dtype(dtype)
        self._owns = owns

    @property
    def size(self) -> int:
        """Elements."""
        return int(np.prod(self.shape, dtype=np.int64))

    @property
    def nbytes(self) -> int:
        """Bytes."""
        return self.size * self.dtype.itemsize

    def __len__(self) -> int:
        return self.shape[0]

    def __repr__(self) -> str:
        return f"<DeviceArray {self.dtype}{list(self.shape)} at {self.pointer:#x}>"

    def numpy(self) -> np.ndarray:
        """A copy on the host, after all launches so far."""
        self.device.synchronize()
        return self._view().copy()

    def copy_from(self, values: np.ndarray) -> None:
        """Fill the array; ``values`` must broadcast to its shape."""
        self.device.synchronize()
        self._view()[...] = values
        self.device.copied(self.pointer, self.nbytes)

    def _view(self) -> np.ndarray:
        raw = self.device.memory.view(self.pointer, self.nbytes)
        return raw.view(self.dtype).reshape(self.shape)

    def __del__(self):
        if getattr(self, "_owns", False) and self.device.memory.base:
            self.device.release(self.pointer)
