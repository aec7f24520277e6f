"""Tensor maps: the 128 bytes that tell bulk tensor copies what an array in memory looks like.

CUDA does not document its encoding. What ``tensormap.replace`` writes is where the code that ptxas
13.0 makes of it for sm_90a writes, because machine code has no other trace of it; the rest, behind
the first 64 bytes, is our own. Fields have the numbers that PTX has for their values. Axes are
innermost first here, as in the coordinates of PTX.
"""

from collections.abc import Sequence
from typing import NamedTuple

import msgspec
import numpy as np

from lockstep.errors import WorkloadError

MAP_BYTES = 128
MAP_ALIGNMENT = MAP_BYTES // 2
MOST_AXES = 5
MAGIC = 0x4C544D31


class MapField(NamedTuple):
    """Bits of a tensor map; element k begins ``each`` bits behind the one before it.

    ``base`` is what zero stands for. No element crosses a word of 32 bits, but for an address.
    """

    first: int
    bits: int
    count: int = 1
    each: int = 0
    base: int = 0
    signed: bool = False

    def at(self, place: int) -> int:
        """The lowest bit of an element."""
        return self.first + place * self.each


FIELDS = {
    "data": MapField(0, 64),  # address of the first element
    "rank": MapField(8 * 0x08 + 4, 3),  # axes - 1, as tensormap.replace has it
    "kind": MapField(8 * 0x08 + 7, 4),  # place in KINDS
    "interleave": MapField(8 * 0x08 + 11, 2),  # place in INTERLEAVES
    "swizzle": MapField(8 * 0x08 + 13, 2),  # place in SWIZZLES
    "fill": MapField(8 * 0x08 + 15, 1),  # place in FILLS
    # Units of 16 bytes from element to element on the axes but the innermost.
    "strides": MapField(8 * 0x0C, 32, 4, 32),
    "strides_high": MapField(8 * 0x1C, 4, 4, 4),
    "sizes": MapField(8 * 0x20, 32, MOST_AXES, 32),  # elements of the tensor - 1
    "steps": MapField(8 * 0x34, 3, MOST_AXES, 3, base=1),  # every how manieth of them a tile takes
    "box": MapField(8 * 0x37, 8, MOST_AXES, 8, base=1),  # elements that a tile spans in the tensor
    # Our own; kernels that make maps of zeros leave them zero.
    "magic": MapField(8 * 0x40, 32),  # MAGIC in a map that the host has encoded
    "mode": MapField(8 * 0x44, 8),  # TILED or IM2COL
    "channels": MapField(8 * 0x48, 16),  # of a pixel that im2col takes
    "pixels": MapField(8 * 0x4A, 16),  # that it takes
    "lower": MapField(8 * 0x4C, 16, 3, 16, signed=True),  # corners of its bounding box: W, H, D
    "upper": MapField(8 * 0x54, 16, 3, 16, signed=True),
}
STRIDE_SHIFT = 4  # log2 of a stride's unit
TILED, IM2COL = 0, 1
KINDS = (
    "u8", "u16", "u32", "s32", "u64", "s64", "f16", "f32", "f32.ftz", "f64", "bf16", "tf32",
    "tf32.ftz",
)  # fmt: skip
INTERLEAVES = (0, 16, 32)  # bytes of a slice of channels
SWIZZLES = (0, 32, 64, 128)  # bytes
FILLS = ("zero", "nan")  # what elements outside the tensor are read as
OOB_NAN = 0x7FF7  # in every 16 bits of an element, whatever its type: DEVIATIONS.md
CHUNK = 16  # bytes that are swizzled together
FLOATS = ("f16", "f32", "f32.ftz", "f64", "bf16", "tf32", "tf32.ftz")
_NUMPY = {"u": "u", "i": "s", "f": "f"}
_MOST_BOX, _MOST_STEP, _MOST_PIXELS = 256, 8, 1024
_LONGEST_STRIDE = 1 << 40
_CORNERS = {3: 15, 4: 7, 5: 4}  # by axes: bits of a corner of the bounding box


class Tensor(msgspec.Struct, frozen=True):
    """An array, and how its elements come and go.

    ``strides``: bytes, of all axes but the innermost, whose elements are adjacent. ``steps``: 1
    takes every element, 2 every other. ``interleave``: with 16 or 32 bytes, so much of each
    element's channels is adjacent, and the axes are W (its elements are such slices), H and D if
    they exist, channels, N. ``swizzle``: 0, 32, 64 or 128 bytes. ``fill``: zero or nan.
    """

    address: int
    kind: str
    sizes: tuple[int, ...]
    strides: tuple[int, ...]
    steps: tuple[int, ...]
    interleave: int = 0
    swizzle: int = 0
    fill: str = "zero"


class Im2colColumn(msgspec.Struct, frozen=True):
    """What im2col takes: ``pixels`` of a bounding box, ``channels`` of each.

    ``lower`` and ``upper``: its corners in W, H, D, from the first and the last element on.
    """

    lower: tuple[int, ...]
    upper: tuple[int, ...]
    channels: int
    pixels: int


def kind_of(dtype: np.dtype) -> str:
    """The element type of a NumPy type; raises :class:`WorkloadError` if there is none."""
    dtype = np.dtype(dtype)
    name = f"{_NUMPY.get(dtype.kind, '?')}{8 * dtype.itemsize}"
    if name not in KINDS:
        raise WorkloadError(f"a tensor map cannot have elements of type {dtype}")
    return name


def bytes_of(kind: str) -> int:
    """Bytes of an element."""
    return int(kind.partition(".")[0].lstrip("bsutf")) // 8 if kind[:2] != "tf" else 4


def extent(tensor: Tensor) -> int:
    """Bytes from a tensor's first to behind its last element."""
    unit, sizes = tensor.interleave or bytes_of(tensor.kind), list(tensor.sizes)
    if tensor.interleave:
        sizes[-2] = -(-sizes[-2] * bytes_of(tensor.kind) // tensor.interleave)
    return unit + sum((n - 1) * s for n, s in zip(sizes, (unit, *tensor.strides)))


def field_of(content: bytes, name: str) -> list[int]:
    """The elements of a field; strides in bytes."""
    field, number = FIELDS[name], int.from_bytes(content, "little")
    values = [number >> field.at(k) & (1 << field.bits) - 1 for k in range(field.count)]
    if field.signed:
        values = [v - (v >> field.bits - 1 << field.bits) for v in values]
    if name == "strides":
        high = field_of(content, "strides_high")
        return [(h << 32 | v) << STRIDE_SHIFT for v, h in zip(values, high, strict=True)]
    return [v + field.base for v in values]


def _with_fields(content: bytes, **fields: Sequence[int]) -> bytes:
    """A map with the first elements of fields replaced; strides are in bytes."""
    number = int.from_bytes(content, "little")
    if "strides" in fields:
        units = [n >> STRIDE_SHIFT for n in fields["strides"]]
        fields["strides"] = [n & (1 << 32) - 1 for n in units]
        fields["strides_high"] = [n >> 32 for n in units]
    for name, values in fields.items():
        field, mask = FIELDS[name], (1 << FIELDS[name].bits) - 1
        for place, value in enumerate(values):
            at = field.at(place)
            number = number & ~(mask << at) | (value - field.base & mask) << at
    return number.to_bytes(MAP_BYTES, "little")


def encode(tensor: Tensor, box: tuple[int, ...] | Im2colColumn) -> bytes:
    """The 128 bytes; ``box``: elements that a tile spans, or what im2col takes.

    Raises :class:`WorkloadError` for what CUDA does not encode either.
    """
    _check(tensor)
    fields: dict[str, Sequence[int]] = {
        "magic": [MAGIC],
        "rank": [len(tensor.sizes) - 1],
        "kind": [KINDS.index(tensor.kind)],
        "data": [tensor.address],
        "sizes": [n - 1 for n in tensor.sizes],
        "strides": tensor.strides,
        "steps": tensor.steps if tensor.interleave else (1, *tensor.steps[1:]),
        "interleave": [INTERLEAVES.index(tensor.interleave)],
        "swizzle": [SWIZZLES.index(tensor.swizzle)],
        "fill": [FILLS.index(tensor.fill)],
    }
    if isinstance(box, Im2colColumn):
        _check_column(tensor, box)
        fields |= {"mode": [IM2COL], "channels": [box.channels], "pixels": [box.pixels]}
        fields |= {"lower": box.lower, "upper": box.upper}
    else:
        _check_box(tensor, box)
        fields["box"] = box
    return _with_fields(bytes(MAP_BYTES), **fields)


def replace_address(content: bytes, address: int) -> bytes:
    """A tensor map of the same kind of array somewhere else.

    Raises :class:`WorkloadError` for what is no tensor map, and for addresses that none can have.
    """
    if len(content) != MAP_BYTES:
        raise WorkloadError(f"{len(content)} bytes are no tensor map: it has {MAP_BYTES}")
    if field_of(content, "magic") != [MAGIC]:
        raise WorkloadError(f"these {MAP_BYTES} bytes are no tensor map: nothing has encoded one")
    [interleave] = field_of(content, "interleave")
    _check_address(address, _grain(32 if interleave == INTERLEAVES.index(32) else 0))
    return _with_fields(content, data=[address])


def _check(tensor: Tensor) -> None:
    """Limits of every tensor map (CUDA driver API, "Tensor Map Object Management")."""
    _demand(tensor.kind in KINDS, f"element type {tensor.kind!r}: one of {', '.join(KINDS)}")
    rank = len(tensor.sizes)
    counts = {len(tensor.steps), len(tensor.strides) + 1}
    _demand(1 <= rank <= MOST_AXES, f"{rank} axes: 1 to {MOST_AXES}")
    _demand(counts == {rank}, f"{rank} axes, and strides or steps of others")
    _demand(tensor.interleave in INTERLEAVES, f"interleave {tensor.interleave}: 0, 16 or 32 bytes")
    _demand(tensor.swizzle in SWIZZLES, f"swizzle {tensor.swizzle}: expected one of {SWIZZLES}")
    _demand(tensor.fill in FILLS, f"fill {tensor.fill!r}: zero or nan")
    _demand(all(1 <= n <= 1 << 32 for n in tensor.sizes), f"sizes {tensor.sizes}: 1 to 2^32")
    used = tensor.steps if tensor.interleave else tensor.steps[1:]
    _demand(all(1 <= n <= _MOST_STEP for n in used), f"steps {tensor.steps}: 1 to {_MOST_STEP}")
    grain = _grain(tensor.interleave)
    _check_address(tensor.address, grain)
    fits = all(s % grain == 0 and 0 <= s < _LONGEST_STRIDE for s in tensor.strides)
    _demand(fits, f"strides {tensor.strides}: multiples of {grain} bytes, less than 2^40")
    nan = tensor.fill == "nan" and tensor.kind not in FLOATS
    _demand(not nan, f"a fill of nan and elements of type {tensor.kind}")
    if tensor.interleave:
        _demand(rank >= 3, f"{rank} axes and an interleave: 3 to {MOST_AXES}")
        _demand(tensor.interleave != 32 or tensor.swizzle == 32, "interleave 32 without swizzle 32")


def _grain(interleave: int) -> int:
    """What addresses and strides are multiples of, in bytes."""
    return 32 if interleave == 32 else CHUNK


def _check_address(address: int, grain: int) -> None:
    fits = address % grain == 0 and 0 <= address < 1 << 63
    _demand(fits, f"address {address:#x}: a multiple of {grain}")


def _check_box(tensor: Tensor, box: tuple[int, ...]) -> None:
    _demand(len(box) == len(tensor.sizes), f"{len(tensor.sizes)} axes, and a box of {len(box)}")
    _demand(all(1 <= n <= _MOST_BOX for n in box), f"box {box}: 1 to {_MOST_BOX}")
    if not tensor.interleave:
        _check_row(tensor, box[0] * bytes_of(tensor.kind))


def _check_column(tensor: Tensor, column: Im2colColumn) -> None:
    """Limits of cuTensorMapEncodeIm2col."""
    rank = len(tensor.sizes)
    _demand(rank in _CORNERS, f"{rank} axes in im2col: 3 to {MOST_AXES}")
    _demand(len(column.lower) == len(column.upper) == rank - 2, f"corners not of {rank - 2} axes")
    most = 1 << _CORNERS[rank]
    for name, corner in (("lower", column.lower), ("upper", column.upper)):
        fits = all(-most <= c < most for c in corner)
        _demand(fits, f"{name} corner {corner}: {-most} to {most - 1} with {rank} axes")
    first = 0 if tensor.interleave else 1
    spatial = zip(tensor.sizes[first:], column.lower, column.upper)
    _demand(all(n - 1 + up >= low for n, low, up in spatial), "a bounding box without an element")
    _demand(1 <= column.channels <= _MOST_BOX, f"{column.channels} channels: 1 to {_MOST_BOX}")
    _demand(1 <= column.pixels <= _MOST_PIXELS, f"{column.pixels} pixels: 1 to {_MOST_PIXELS}")
    if not tensor.interleave:
        _check_row(tensor, column.channels * bytes_of(tensor.kind))


def _check_row(tensor: Tensor, row: int) -> None:
    _demand(row % CHUNK == 0, f"a box row of {row} bytes: a multiple of {CHUNK}")
    fits = not tensor.swizzle or row <= tensor.swizzle
    _demand(fits, f"a box row of {row} bytes, more than the {tensor.swizzle} of the swizzle")


def _demand(holds: bool, what: str) -> None:
    if not holds:
        raise WorkloadError(f"a tensor map cannot have {what}")
