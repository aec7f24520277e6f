"""Textures and surfaces in device memory."""

from typing import TYPE_CHECKING, Any

import numpy as np

from lockstep.frontend.exec.textures import HEADER_BYTES, address_of, describe, place, remove

if TYPE_CHECKING:
    from lockstep.device.device import Device


class Texture:
    """A texture object, or a surface object: what a kernel takes as a 64-bit parameter.

    ``values``: (depth or layers,) (height,) width, and last the channels, if there are several.
    ``address`` is wrap, clamp, mirror or border, or a tuple with one for each of x, y, z.
    ``normalized_values``: integers are read as numbers from 0 (or -1) to 1.
    """

    def __init__(
        self,
        device: "Device",
        values: Any,
        filter: str = "point",
        address: str | tuple[str, ...] = "clamp",
        normalized: bool = False,
        *,
        channels: int = 1,
        layered: bool = False,
        normalized_values: bool = False,
    ):
        values = np.ascontiguousarray(values)
        shape = values.shape[:-1] if channels > 1 else values.shape
        modes = (address,) * 3 if isinstance(address, str) else (*address, "clamp", "clamp")[:3]
        record = describe(
            shape,
            values.dtype,
            channels=channels if channels == 1 or values.shape[-1] == channels else 0,
            layered=layered,
            filter=filter,
            address=modes,
            normalized=normalized,
            normalized_values=normalized_values,
        )
        self.device, self.shape, self.dtype = device, values.shape, values.dtype
        elements = np.zeros(-(-values.nbytes // 16) * 16, np.uint8)
        elements[: values.nbytes] = values.reshape(-1).view(np.uint8)
        device.synchronize()
        self.handle = place(device.memory, record, elements)
        self.address = address_of(device.memory, self.handle)
        device.copied(self.address, HEADER_BYTES + len(elements))

    def __repr__(self) -> str:
        return f"<Texture {self.dtype}{list(self.shape)} at {self.address:#x}>"

    def numpy(self) -> np.ndarray:
        """A copy of the elements on the host, after all launches so far."""
        self.device.synchronize()
        size = int(np.prod(self.shape)) * self.dtype.itemsize
        memory = self.device.memory.view(self.address + HEADER_BYTES, size)
        return memory.view(self.dtype).reshape(self.shape).copy()

    def __del__(self):
        if getattr(self, "handle", 0) and self.device.memory.base:
            remove(self.device.memory, self.handle)
