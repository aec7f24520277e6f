"""Images of OpenCL kernels: arrays with the descriptors that their code reads."""

import struct
from typing import Any

import numpy as np

from lockstep.device.array import DeviceArray
from lockstep.device.owner import OwningDevice
from lockstep.errors import LockstepError

ALIGNMENT = 256  # bytes of which an image's address is a multiple
IMAGE_BYTES = 32  # of a descriptor, and of an image in constant buffer 1
LARGEST = (8192, 16384, 16384)  # depth, height, width
_DATA_FORMATS = {  # by bytes and number of channels
    (1, 1): 1, (2, 1): 2, (1, 2): 3, (4, 1): 4, (2, 2): 5, (1, 4): 10, (4, 2): 11, (2, 4): 12,
    (4, 4): 14,
}  # fmt: skip
_NUMBERS = {"u": 4, "i": 5, "f": 7}
_NORMALIZED = {"u": 0, "i": 1}
_PLANE, _VOLUME, _LINEAR = 9, 10, 8  # types of images; elements in rows
_IDENTITY = 4 | 5 << 3 | 6 << 6 | 7 << 9  # each channel is itself
# OpenCL's headers: what a sampler does outside (none, repeat, edge, clamp, mirror), to hardware's.
_OUTSIDE = (2, 0, 2, 6, 1)
_NEAREST, _LINEAR_FILTER = 0x10, 0x20
_FILTERS = {_NEAREST: 0, _LINEAR_FILTER: 1 << 20 | 1 << 22 | 2 << 24}  # planes near, far; depth


class ImageArray(DeviceArray):
    """Elements of 1, 2 or 4 channels: (depth,) height, width, channels; one channel has no axis
    in a plane.

    ``normalized``: integers are read and written as numbers from 0 (or -1) to 1.
    """

    def __init__(self, device: OwningDevice, pointer: int, shape: Any, dtype: Any, owner: Any):
        super().__init__(device, pointer, shape, dtype, owner)
        self.normalized = False
        self.extent, self.channels = _layout(self.shape)
        kind = (self.dtype.itemsize, self.channels)
        known = kind in _DATA_FORMATS and self.dtype.kind in _NUMBERS
        if not known or self.dtype == np.float64:
            raise LockstepError(
                f"no image has {self.channels} channels of {self.dtype}; expected 1, 2 or 4 of "
                "8 to 32 bits"
            )
        if any(not 0 < size <= most for size, most in zip(self.extent, LARGEST)):
            raise LockstepError(f"an image of {self.extent} elements; at most {LARGEST} fit")

    @property
    def is_volume(self) -> bool:
        """Whether it has a depth."""
        return len(self.shape) == 4

    def descriptor(self) -> bytes:
        """The eight words that code reads."""
        depth, height, width = (size - 1 for size in self.extent)
        numbers = _NORMALIZED if self.normalized else _NUMBERS
        data = _DATA_FORMATS[self.dtype.itemsize, self.channels]
        kind = _VOLUME if self.is_volume else _PLANE
        return struct.pack(
            "<8I",
            self.pointer >> 8 & 0xFFFFFFFF,
            self.pointer >> 40 | data << 20 | numbers[self.dtype.kind] << 26,
            width | height << 14,
            _IDENTITY | _LINEAR << 20 | kind << 28,
            depth | width << 13,
            *(0, 0, 0),
        )


def _layout(shape: tuple[int, ...]) -> tuple[tuple[int, int, int], int]:
    """Depth, height and width, and how many channels."""
    if not 2 <= len(shape) <= 4:
        raise LockstepError(
            f"an image of shape {shape}; expected (depth,) height, width and channels"
        )
    if len(shape) == 2:
        return (1, shape[0], shape[1]), 1
    *depth, height, width, channels = shape
    return (depth[0] if depth else 1, height, width), channels


def sizes_of(descriptor: bytes) -> bytes:
    """What constant buffer 1 holds of an image: width, height, depth."""
    words = struct.unpack("<8I", descriptor)
    sizes = (words[2] & 0x3FFF, words[2] >> 14 & 0x3FFF, words[4] & 0x1FFF)
    return struct.pack("<3I", *(size + 1 for size in sizes)).ljust(IMAGE_BYTES, b"\0")


def image(device: Any, values: Any, normalized: bool = False) -> ImageArray:
    """An image of an array-like, copied to the device; see :meth:`lockstep.Device.image`.

    Raises :class:`LockstepError` where ``normalized`` is asked of numbers that have no such form.
    """
    array = device.array(values)
    made = ImageArray(device, array.pointer, array.shape, array.dtype, owner=array)
    if normalized and made.dtype.kind not in _NORMALIZED:
        raise LockstepError(f"an image of {made.dtype} has no normalized values")
    made.normalized = normalized
    return made


def sampler(value: int) -> bytes:
    """The four words of a sampler that OpenCL's headers encode as a number.

    Raises :class:`LockstepError` for a number that stands for none.
    """
    outside, filtered = value >> 1 & 7, value & 0x30
    if filtered not in _FILTERS or outside >= len(_OUTSIDE) or value >> 6:
        raise LockstepError(
            f"sampler {value:#x}: expected CLK_NORMALIZED_COORDS_, CLK_ADDRESS_ and CLK_FILTER_ "
            "values of OpenCL's headers, one of each"
        )
    clamp = _OUTSIDE[outside]
    word = clamp | clamp << 3 | clamp << 6 | (~value & 1) << 15
    return struct.pack("<4I", word, 0, _FILTERS[filtered], 0)
