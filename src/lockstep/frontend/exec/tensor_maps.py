"""Tensor maps: the 128 bytes that tell bulk tensor copies what an array in memory looks like.

CUDA's encoding is not documented; this is one of our own. Axes are innermost first here, as in
the coordinates of PTX; axes that a tensor does not have are one element long.
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
            "rank", "magic",  # together one word
            "kind",  # place in KINDS
            "element_bytes",
            "data",  # address of the first element
            "last",  # address of the last byte
            "strides",  # bytes from element to element on the axes but the innermost
            "sizes",  # elements of the tensor
            "box",  # elements of a tile in shared memory
            "steps",  # elements of the tensor from one of a tile to the next
            "row_bytes",  # of a tile's innermost axis
            "rows",  # of a tile
            "swizzle",  # mask of the address bits 7 and up that change bits 4 and up
        ],
        "formats": [
            "u4", "u4", "u1", "u1", "u8", "u8", ("u8", 4), ("u4", 5), ("u2", 5), ("u1", 5),
            "u4", "u4", "u1",
        ],
        "offsets": [0, 4, 8, 9, 16, 24, 32, 64, 84, 94, 100, 104, 108],
        "itemsize": MAP_BYTES,
    }
)  # fmt: skip
KINDS = ("u8", "u16", "u32", "s32", "u64", "s64", "f16", "bf16", "f32", "f64")
SWIZZLES = (0, 32, 64, 128)  # bytes
CHUNK = 16  # bytes that are swizzled together
_NUMPY = {"u": "u", "i": "s", "f": "f"}
_MOST_BOX, _MOST_STEP = 256, 8


@dataclass(frozen=True)
class Tiling:
    """What a tensor map says besides where the array is; the axes are in NumPy's order.

    ``strides``: bytes, of all axes but the last, whose elements are adjacent. ``steps``: 1 takes
    every element, 2 every other. ``swizzle``: 0, 32, 64 or 128 bytes.
    """

    shape: tuple[int, ...]
    strides: tuple[int, ...]
    box: tuple[int, ...]
    steps: tuple[int, ...]
    swizzle: int = 0


def kind_of(dtype: np.dtype) -> str:
    """The element type of a NumPy type; raises :class:`WorkloadError` if there is none."""
    dtype = np.dtype(dtype)
    name = f"{_NUMPY.get(dtype.kind, '?')}{8 * dtype.itemsize}"
    if name not in KINDS:
        raise WorkloadError(f"a tensor map cannot have elements of type {dtype}")
    return name


def encode(address: int, kind: str, tiling: Tiling) -> bytes:
    """The 128 bytes. Raises :class:`WorkloadError` for what CUDA does not encode either."""
    if kind not in KINDS:
        raise WorkloadError(f"tensor map element type {kind!r}: expected one of {', '.join(KINDS)}")
    size = int(kind.lstrip("bsuf")) // 8
    _check(address, size, tiling)
    rank = len(tiling.shape)
    record = np.zeros(1, TENSOR_MAP)[0]
    record["magic"], record["rank"] = MAGIC, rank
    record["kind"], record["element_bytes"] = KINDS.index(kind), size
    extents = zip(tiling.shape, (*tiling.strides, size))
    record["data"] = address
    record["last"] = address + sum((n - 1) * stride for n, stride in extents) + size - 1
    record["strides"][: rank - 1] = tiling.strides[::-1]
    for name, values in (("sizes", tiling.shape), ("box", tiling.box), ("steps", tiling.steps)):
        record[name] = 1
        record[name][:rank] = values[::-1]
    record["row_bytes"] = tiling.box[-1] * size
    record["rows"] = int(np.prod(tiling.box[:-1], dtype=np.int64))
    record["swizzle"] = tiling.swizzle // CHUNK - 1 if tiling.swizzle else 0
    return record.tobytes()


def _check(address: int, size: int, tiling: Tiling) -> None:
    """Limits of cuTensorMapEncodeTiled (CUDA driver API, "Tensor Map Object Management")."""
    rank, row = len(tiling.shape), tiling.box[-1] * size if tiling.box else 0
    counts = {len(tiling.box), len(tiling.steps), len(tiling.strides) + 1}
    _demand(1 <= rank <= MOST_AXES and counts == {rank}, f"{rank} axes, and box or steps of others")
    _demand(min(tiling.shape) >= 1 and max(tiling.shape) <= 1 << 32, f"shape {tiling.shape}")
    _demand(all(1 <= n <= _MOST_BOX for n in tiling.box), f"box {tiling.box}: 1 to {_MOST_BOX}")
    _demand(all(1 <= n <= _MOST_STEP for n in tiling.steps), f"steps {tiling.steps}: 1 to 8")
    _demand(address % CHUNK == 0, f"address {address:#x}: a multiple of {CHUNK}")
    aligned = all(s > 0 and s % CHUNK == 0 for s in tiling.strides)
    _demand(aligned, f"strides {tiling.strides}: multiples of {CHUNK} bytes")
    _demand(row % CHUNK == 0, f"a box row of {row} bytes: a multiple of {CHUNK}")
    _demand(tiling.swizzle in SWIZZLES, f"swizzle {tiling.swizzle}: expected one of {SWIZZLES}")
    fits = tiling.swizzle in (0, row)
    _demand(fits, f"a box row of {row} bytes is not the {tiling.swizzle} of the swizzle")


def _demand(holds: bool, what: str) -> None:
    if not holds:
        raise WorkloadError(f"a tensor map cannot have {what}")
