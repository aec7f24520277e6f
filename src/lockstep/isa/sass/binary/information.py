"""The attributes in a cubin's ``.nv.info`` sections: parameters, register counts, stack sizes.

Numbers and layouts of the attributes: found in cubins of CUDA 12 and 13, and in the names that
``readelf``-like tools of NVIDIA's print (EIATTR_KPARAM_INFO and so on).
"""

import struct
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from lockstep.errors import InputError

MOST_THREADS = 0x05  # u32 x, y, z of the largest block: __launch_bounds__
CBANK = 0x0A  # u32 symbol, u16 first byte of the parameters in constant bank 0, u16 their size
FRAME_SIZE = 0x11  # u32 symbol, u32 bytes of local memory a thread
MIN_STACK_SIZE = 0x12  # the same with callees
UNKNOWN = 0xFFFFFFFF  # such a size where functions call themselves, or what registers tell
PARAMETER = 0x17  # u32 index, u16 ordinal, u16 offset, u32 with the size above bit 18
REGISTERS = 0x2F  # u32 symbol, u32 count
CLUSTER = 0x3D  # u32 x, y, z: CTAs of a cluster that it must be launched with
# Instead of PARAMETER, of kernels with more than 4 KB of them: u32 index, u16 ordinal, offset, size
LARGE_PARAMETER = 0x45
BARRIERS = 0x4C
_SIZED = 4  # the format of attributes that have a length and a payload


class Attribute(NamedTuple):
    """One attribute: its number and its payload, or the two bytes that it has instead."""

    number: int
    payload: bytes

    def words(self) -> tuple[int, ...]:
        """The payload as 32-bit numbers."""
        count = len(self.payload) // 4
        return struct.unpack_from(f"<{count}I", self.payload)


class CubinParameter(NamedTuple):
    """A kernel parameter: where it is from the first byte of the parameters, and its bytes."""

    ordinal: int
    offset: int
    size: int


def attributes(data: bytes, section: str, path: Path) -> Iterator[Attribute]:
    """The attributes of a section, in order."""
    place = 0
    while place + 4 <= len(data):
        form, number, size = struct.unpack_from("<BBH", data, place)
        length = size if form == _SIZED else 0
        if place + 4 + length > len(data):
            message = f"attribute {number:#x} of {section} is longer than its section"
            raise InputError(path, f"byte {place} of {section}", message)
        start = place + 4 if form == _SIZED else place + 2
        yield Attribute(number, data[start : place + 4 + length])
        place += 4 + length


def parameter(attribute: Attribute) -> CubinParameter | None:
    """The parameter that an attribute describes; None if it describes none, or is cut short."""
    if attribute.number not in (PARAMETER, LARGE_PARAMETER) or len(attribute.payload) < 12:
        return None
    if attribute.number == LARGE_PARAMETER:
        return CubinParameter(*struct.unpack_from("<4x3H", attribute.payload))
    _, ordinal, offset, word = struct.unpack_from("<IHHI", attribute.payload)
    return CubinParameter(ordinal, offset, word >> 18)
