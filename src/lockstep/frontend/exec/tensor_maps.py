"""Tensor maps: the 128 bytes that tell bulk tensor copies what an array in memory looks like.

CUDA's encoding is not documented; this is one of our own. Each field stands alone, because a
kernel may replace it (``tensormap.replace``), and has the number that PTX has for its value. Axes
are innermost first here, as in the coordinates of PTX.
"""

from dataclasses import dataclass

import numpy as np

from lockstep.errors import WorkloadError

MAP_BYTES = 128
MAP_ALIGNMENT = MAP_BYTES // 2
MOST_AXES = 5
MAGIC = 0x4C544D31
TENSOR_MAP = np.dtype(
    {
        "names": [
            "magic",
            "rank",  # axes - 1, as tensormap.replace has it
            "kind",  # place in KINDS
            "mode",  # TILED or IM2COL
            "interleave",  # place in INTERLEAVES
            "data",  # address of the first element
            "strides",  # bytes from element to element on the axes but the innermost
            "sizes",  # elements of the tensor - 1
            "box",  # elements that a tile spans in the tensor
            "steps",  # every how manieth of them it takes
            "swizzle",  # place in SWIZZLES
            "fill",  # place in FILLS
            "lower",  # corners of the bounding box of im2col: W, H, D
            "upper",
            "channels",  # of a pixel that im2col takes
            "pixels",  # that it takes
        ],
        "formats": [
            "u4", "u1", "u1", "u1", "u1", "u8", ("u8", 4), ("u4", 5), ("u2", 5), ("u1", 5),
            "u1", "u1", ("i2", 3), ("i2", 3), "u2", "u2",
        ],
        # The second word is free: CUTLASS clears a bit of it in every map.
        "offsets": [0, 4, 5, 6, 7, 16, 24, 56, 76, 86, 91, 92, 94, 100, 106, 108],
        "itemsize": MAP_BYTES,
    }
)  # fmt: skip
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


@dataclass(frozen=True)
class Tensor:
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


@dataclass(frozen=True)
class Column:
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


def encode(tensor: Tensor, box: tuple[int, ...] | Column) -> bytes:
    """The 128 bytes; ``box``: elements that a tile spans, or what im2col takes.

    Raises :class:`WorkloadError` for what CUDA does not encode either.
    """
    _check(tensor)
    record = np.zeros(1, TENSOR_MAP)[0]
    rank = len(tensor.sizes)
    record["magic"], record["rank"] = MAGIC, rank - 1
    record["kind"], record["data"] = KINDS.index(tensor.kind), tensor.address
    record["sizes"][:rank] = [n - 1 for n in tensor.sizes]
    steps = tensor.steps if tensor.interleave else (1, *tensor.steps[1:])
    record["strides"][: rank - 1], record["steps"][:rank] = tensor.strides, steps
    record["interleave"] = INTERLEAVES.index(tensor.interleave)
    record["swizzle"] = SWIZZLES.index(tensor.swizzle)
    record["fill"] = FILLS.index(tensor.fill)
    if isinstance(box, Column):
        _check_column(tensor, box)
        record["mode"] = IM2COL
        record["lower"][: rank - 2], record["upper"][: rank - 2] = box.lower, box.upper
        record["channels"], record["pixels"] = box.channels, box.pixels
    else:
        _check_box(tensor, box)
        record["box"][:rank] = box
    return record.tobytes()


def replace_address(content: bytes, address: int) -> bytes:
    """A tensor map of the same kind of array somewhere else.

    Raises :class:`WorkloadError` for what is no tensor map, and for addresses that none can have.
    """
    if len(content) != MAP_BYTES:
        raise WorkloadError(f"{len(content)} bytes are no tensor map: it has {MAP_BYTES}")
    record = np.frombuffer(content, TENSOR_MAP).copy()
    if record["magic"][0] != MAGIC:
        raise WorkloadError(f"these {MAP_BYTES} bytes are no tensor map: nothing has encoded one")
    interleaved = record["interleave"][0] == INTERLEAVES.index(32)
    _check_address(address, _grain(32 if interleaved else 0))
    record["data"] = address
    return record.tobytes()


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


def _check_column(tensor: Tensor, column: Column) -> None:
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
