"""Textures and surfaces: the record that describes one, in device memory before its elements.

A handle says how many records would lie before it in device memory, plus one: machine code has 32
bits for it. Elements lie row after row, as in an array of the host.
"""

import math
from collections.abc import Sequence
from enum import IntEnum

import msgspec
import numpy as np

from lockstep.errors import WorkloadError
from lockstep.execution.memory.device_memory import DeviceMemory

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
        ("scale", "f8"),  # by it integers are divided that are read as floats; 0 = they are not
        ("linear", "i8"),  # 1 = values between elements are interpolated
        ("normalized", "i8"),  # 1 = coordinates go from 0 to 1
        ("address_x", "i8"),  # Address
        ("address_y", "i8"),
        ("address_z", "i8"),
        ("layered", "i8"),
        ("dimensions", "i8"),  # without layers
        ("cube", "i8"),  # 1 = six layers each are the faces of a cube
        ("levels", "i8"),  # of detail; the records of all lie one after the other
        ("level_linear", "i8"),  # 1 = values between levels are interpolated
        ("level_bias", "f8"),  # added to the level that is asked for
        ("level_least", "f8"),  # and then its limits
        ("level_most", "f8"),
        ("compare", "i8"),  # place in COMPARISONS: when a depth that is asked for passes
        ("samples", "i8"),  # of each element
        ("border_0", "i8"),  # bits of the first channel outside, where the address is BORDER
        ("border_1", "i8"),
        ("border_2", "i8"),
        ("border_3", "i8"),
    ]
)
MAGIC = 0x6C6F636B_74657874
ELEMENT_BYTES = 16  # of the largest element
SAMPLER_MAGIC = 0x6C6F636B_73616D70  # of a record that only says how others are read
HEADER_BYTES = 256  # of a record; every allocation begins at a multiple of it


class Number(IntEnum):
    """How the numbers of an element are stored."""

    UNSIGNED = 0
    SIGNED = 1
    FLOAT = 2


class AddressMode(IntEnum):
    """What coordinates outside mean (CUDA C++ Programming Guide, texture addressing modes)."""

    WRAP = 0
    CLAMP = 1
    MIRROR = 2
    BORDER = 3  # another value, by default zero


def place(memory: DeviceMemory, records: np.ndarray, elements: Sequence[np.ndarray] = ()) -> int:
    """The handle of records that are put into device memory, one for each level of detail.

    ``elements`` (uint8 each), if given, follow them, and ``data`` becomes their addresses. Nobody
    may be running.
    """
    records["levels"] = len(records)
    sizes = [-(-len(own) // ELEMENT_BYTES) * ELEMENT_BYTES for own in elements]
    address = memory.allocate(HEADER_BYTES * len(records) + sum(sizes))
    start = address + HEADER_BYTES * len(records)
    for record, own, size in zip(records, elements, sizes):
        record["data"] = start
        memory.view(start, len(own))[:] = own
        start += size
    for k, record in enumerate(records):
        raw = np.frombuffer(record.tobytes(), np.uint8)
        memory.view(address + k * HEADER_BYTES, len(raw))[:] = raw
    return (address - memory.base) // HEADER_BYTES + 1


def address_of(memory: DeviceMemory, handle: int) -> int:
    """Where the record of a handle lies."""
    return memory.base + (handle - 1) * HEADER_BYTES


def remove(memory: DeviceMemory, handle: int) -> None:
    """Free the records of a handle, so that nothing has it any more."""
    address = address_of(memory, handle)
    levels = int(memory.view(address, TEXTURE.itemsize).view(TEXTURE)["levels"][0])
    memory.view(address, levels * HEADER_BYTES)[:] = 0
    memory.free(address)


_NUMBERS = {"u": Number.UNSIGNED, "i": Number.SIGNED, "f": Number.FLOAT}
FILTERS = ("point", "linear")
COMPARISONS = (  # bits 0 to 2: whether what is less, equal, greater passes
    "never", "less", "equal", "less_equal", "greater", "not_equal", "greater_equal", "always",
)  # fmt: skip
FACES = 6  # of a cube


class Sampling(msgspec.Struct, frozen=True):
    """How elements are read: what a sampler says.

    ``address`` is for x, y and z. ``level_filter``, ``level_bias`` and ``level_limits`` are for
    textures with several levels of detail. ``compare`` is how a depth that an instruction names
    must be to the texture's elements; PTX leaves it open, the default is OpenGL's. ``border`` has
    the bits (32 each) of the channels outside, of an f32 or an integer as the elements are read.
    """

    filter: str = "point"
    address: tuple[str, ...] = ("clamp",) * 3
    normalized: bool = False
    level_filter: str = "point"
    level_bias: float = 0.0
    level_limits: tuple[float, float] = (0.0, math.inf)
    compare: str = "less_equal"
    border: tuple[int, int, int, int] = (0, 0, 0, 0)

    def write(self, record: np.ndarray) -> None:
        """Set a record's fields. Raises :class:`WorkloadError` for names that there are not."""
        for name in (self.filter, self.level_filter):
            if name not in FILTERS:
                raise WorkloadError(f"texture filter {name!r}: expected {' or '.join(FILTERS)}")
        if self.compare not in COMPARISONS:
            names = ", ".join(COMPARISONS)
            raise WorkloadError(f"texture comparison {self.compare!r}: expected one of {names}")
        record["compare"] = COMPARISONS.index(self.compare)
        modes = [_mode(a, self.normalized) for a in self.address]
        record["linear"], record["normalized"] = self.filter == "linear", self.normalized
        for axis, mode in zip("xyz", modes, strict=True):
            record[f"address_{axis}"] = mode
        record["level_linear"], record["level_bias"] = (
            self.level_filter == "linear",
            self.level_bias,
        )
        record["level_least"], record["level_most"] = self.level_limits
        for channel, bits in enumerate(self.border):
            record[f"border_{channel}"] = bits


def sampler(sampling: Sampling) -> np.ndarray:
    """The record of a sampler."""
    record = np.zeros(1, TEXTURE)
    record["magic"] = SAMPLER_MAGIC
    sampling.write(record)
    return record


def describe(
    shape: tuple[int, ...],
    dtype: np.dtype,
    sampling: Sampling,
    *,
    channels: int,
    layered: bool,
    normalized_values: bool,
    cube: bool = False,
    samples: int = 1,
) -> np.ndarray:
    """The record of a texture of these elements, but for ``data`` and ``levels``.

    ``shape`` is that of the elements: (depth, layers or faces,) (height,) width. ``samples`` of
    each element lie one after the other. Raises :class:`WorkloadError` for what no texture can be.
    """
    dtype = np.dtype(dtype)
    if dtype.kind not in _NUMBERS or dtype.itemsize not in (1, 2, 4):
        raise WorkloadError(f"a texture cannot hold {dtype}; it takes 8 to 32-bit numbers")
    if channels not in (1, 2, 4):
        raise WorkloadError(f"a texture's elements have 1, 2 or 4 channels, not {channels}")
    slices = layered or cube
    dimensions = len(shape) - slices
    if not 1 <= dimensions <= 3 - slices or min(shape) < 1:
        raise WorkloadError(f"a texture cannot have shape {shape}")
    if cube and (dimensions < 2 or shape[1] != shape[2] or shape[0] % FACES):
        raise WorkloadError(f"a cube has six square faces, or a multiple of them, not {shape}")
    if samples < 1 or (samples > 1 and (dimensions != 2 or cube)):
        raise WorkloadError(f"textures of two dimensions can have samples, not {shape}")
    integer = dtype.kind in "iu"
    if normalized_values and not (integer and dtype.itemsize < 4):
        raise WorkloadError(
            f"{dtype} cannot be read as normalized values; 8 or 16-bit integers can"
        )
    if sampling.filter == "linear" and integer and not normalized_values:
        raise WorkloadError("the linear filter needs floats, or integers as normalized values")
    depth = shape[0] if slices or dimensions == 3 else 1
    height = shape[-2] if dimensions > 1 else 1
    row_bytes = shape[-1] * samples * channels * dtype.itemsize
    record = np.zeros(1, TEXTURE)
    sampling.write(record)
    record["magic"], record["levels"] = MAGIC, 1
    record["width"], record["height"], record["depth"] = shape[-1], height, depth
    record["row_bytes"], record["slice_bytes"] = row_bytes, row_bytes * height
    record["channels"], record["number_bytes"] = channels, dtype.itemsize
    record["number"], record["samples"] = _NUMBERS[dtype.kind], samples
    record["scale"] = np.iinfo(dtype).max if normalized_values else 0
    record["layered"], record["dimensions"], record["cube"] = layered, dimensions, cube
    return record


def _mode(name: str, normalized: bool) -> AddressMode:
    """Only normalized coordinates can wrap around or be mirrored; others are clamped instead."""
    try:
        mode = AddressMode[name.upper()]
    except KeyError:
        names = ", ".join(a.name.lower() for a in AddressMode)
        raise WorkloadError(f"texture address mode {name!r}: expected one of {names}") from None
    return mode if normalized or mode == AddressMode.BORDER else AddressMode.CLAMP
