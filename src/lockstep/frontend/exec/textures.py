"""Textures and surfaces: the record that describes one, in device memory before its elements.

A handle says how many records would lie before it in device memory, plus one: machine code has 32
bits for it. Elements lie row after row, as in an array of the host.
"""

from enum import IntEnum

import numpy as np

from lockstep.errors import WorkloadError
from lockstep.frontend.exec.memory import DeviceMemory

TEXTURE = np.dtype(
    [
        ("magic", "i8"),  # MAGIC
        ("data", "i8"),  # address of the first element
        ("width", "i8"),  # in elements, of at least one
        ("height", "i8"),
        ("depth", "i8"),  # or layers
        ("row_bytes", "i8"),
        ("slice_bytes", "i8"),
        ("channels", "i8"),  # numbers of an element: 1, 2 or 4
        ("number_bytes", "i8"),  # 1, 2 or 4
        ("number", "i8"),  # Number
        ("scale", "f8"),  # of integers that are read as floats; 0 = they are not
        ("linear", "i8"),  # 1 = values between elements are interpolated
        ("normalized", "i8"),  # 1 = coordinates go from 0 to 1
        ("address_x", "i8"),  # Address
        ("address_y", "i8"),
        ("address_z", "i8"),
        ("layered", "i8"),
        ("dimensions", "i8"),  # without layers
    ]
)
MAGIC = 0x6C6F636B_74657874
HEADER_BYTES = 256  # before the elements; every allocation begins at a multiple of it


class Number(IntEnum):
    """How the numbers of an element are stored."""

    UNSIGNED = 0
    SIGNED = 1
    FLOAT = 2


class Address(IntEnum):
    """What coordinates outside mean (CUDA C++ Programming Guide, texture addressing modes)."""

    WRAP = 0
    CLAMP = 1
    MIRROR = 2
    BORDER = 3  # zero


def place(memory: DeviceMemory, record: np.ndarray, elements: np.ndarray | None = None) -> int:
    """The handle of a record that is put into device memory; nobody may be running.

    ``elements`` (uint8), if given, follow it, and ``data`` becomes their address.
    """
    more = 0 if elements is None else len(elements)
    address = memory.allocate(HEADER_BYTES + more)
    if elements is not None:
        record["data"] = address + HEADER_BYTES
        memory.view(address + HEADER_BYTES, more)[:] = elements
    memory.view(address, record.nbytes)[:] = record.view(np.uint8)
    return (address - memory.base) // HEADER_BYTES + 1


def address_of(memory: DeviceMemory, handle: int) -> int:
    """Where the record of a handle lies."""
    return memory.base + (handle - 1) * HEADER_BYTES


def remove(memory: DeviceMemory, handle: int) -> None:
    """Free a record, so that no texture has its handle any more."""
    address = address_of(memory, handle)
    memory.view(address, TEXTURE.itemsize)[:] = 0
    memory.free(address)


_NUMBERS = {"u": Number.UNSIGNED, "i": Number.SIGNED, "f": Number.FLOAT}
FILTERS = ("point", "linear")


def describe(
    shape: tuple[int, ...],
    dtype: np.dtype,
    *,
    channels: int,
    layered: bool,
    filter: str,
    address: tuple[str, ...],
    normalized: bool,
    normalized_values: bool,
) -> np.ndarray:
    """The record of a texture of these elements, but for ``data``.

    ``shape`` is that of the elements: (depth or layers,) (height,) width. Raises
    :class:`WorkloadError` for what no texture can be.
    """
    dtype = np.dtype(dtype)
    if dtype.kind not in _NUMBERS or dtype.itemsize not in (1, 2, 4):
        raise WorkloadError(f"a texture cannot hold {dtype}; it takes 8 to 32-bit numbers")
    if channels not in (1, 2, 4):
        raise WorkloadError(f"a texture's elements have 1, 2 or 4 channels, not {channels}")
    dimensions = len(shape) - layered
    if not 1 <= dimensions <= 3 - layered or min(shape) < 1:
        raise WorkloadError(f"a texture cannot have shape {shape}")
    if filter not in FILTERS:
        raise WorkloadError(f"texture filter {filter!r}: expected {' or '.join(FILTERS)}")
    integer = dtype.kind in "iu"
    if normalized_values and not (integer and dtype.itemsize < 4):
        raise WorkloadError(
            f"{dtype} cannot be read as normalized values; 8 or 16-bit integers can"
        )
    if filter == "linear" and integer and not normalized_values:
        raise WorkloadError("the linear filter needs floats, or integers as normalized values")
    modes = [_mode(a, normalized) for a in address]
    depth = shape[0] if layered or dimensions == 3 else 1
    height = shape[-2] if dimensions > 1 else 1
    record = np.zeros(1, TEXTURE)
    row_bytes = shape[-1] * channels * dtype.itemsize
    limits = np.iinfo(dtype).max if integer else 1
    record[0] = (
        MAGIC, 0, shape[-1], height, depth, row_bytes, row_bytes * height,
        channels, dtype.itemsize, _NUMBERS[dtype.kind],
        1 / limits if normalized_values else 0,
        filter == "linear", normalized, *modes, layered, dimensions,
    )  # fmt: skip
    return record


def _mode(name: str, normalized: bool) -> Address:
    """Only normalized coordinates can wrap around or be mirrored; others are clamped instead."""
    try:
        mode = Address[name.upper()]
    except KeyError:
        names = ", ".join(a.name.lower() for a in Address)
        raise WorkloadError(f"texture address mode {name!r}: expected one of {names}") from None
    return mode if normalized or mode == Address.BORDER else Address.CLAMP
