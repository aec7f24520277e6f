"""Tensor maps as cuTensorMapEncodeTiled and cuTensorMapEncodeIm2col are asked for them."""

from typing import TypeVar

import numpy as np

from lockstep.errors import WorkloadError
from lockstep.execution.memory.tensor_maps import (
    FILLS,
    INTERLEAVES,
    MOST_AXES,
    SWIZZLES,
    Im2colColumn,
    Tensor,
    encode,
    replace_address,
)

Name = TypeVar("Name", int, str)

_TYPES = (  # CUtensorMapDataType
    "u8", "u16", "u32", "s32", "u64", "s64", "f16", "f32", "f64", "bf16", "f32.ftz", "tf32",
    "tf32.ftz",
)  # fmt: skip
_PACKED = 3  # further types, of packed numbers
_ATOMS = 3  # further swizzles, of larger atoms
_PROMOTIONS = ("none", "64 bytes", "128 bytes", "256 bytes")


def encoded(fields: dict[str, int], data: bytes) -> bytes:
    """The map that a call (``ENCODE_TENSOR_MAP``) describes.

    Raises :class:`WorkloadError` for what CUDA does not take.
    """
    if len(data) != 5 * 8 * MOST_AXES:
        raise WorkloadError(f"a tensor map of {len(data)} bytes of numbers")
    sizes, strides, steps, one, two = np.frombuffer(data, np.int64).reshape(-1, MOST_AXES).tolist()
    rank = fields["rank"]
    if not 1 <= rank <= MOST_AXES:
        raise WorkloadError(f"a tensor map of {rank} axes: 1 to {MOST_AXES}")
    _named("L2 promotion", fields["promotion"], _PROMOTIONS)
    tensor = Tensor(
        fields["address"],
        _named("data type", fields["type"], _TYPES, _PACKED),
        tuple(sizes[:rank]),
        tuple(strides[: rank - 1]),
        tuple(steps[:rank]),
        _named("interleave", fields["interleave"], INTERLEAVES),
        _named("swizzle", fields["swizzle"], SWIZZLES, _ATOMS),
        _named("fill", fields["fill"], FILLS),
    )
    if not fields["im2col"]:
        return encode(tensor, tuple(one[:rank]))
    lower, upper = (tuple(corner[: max(rank - 2, 0)]) for corner in (one, two))
    return encode(tensor, Im2colColumn(lower, upper, fields["channels"], fields["pixels"]))


def _named(what: str, number: int, names: tuple[Name, ...], later: int = 0) -> Name:
    if number < len(names):
        return names[number]
    since = " is one of sm_100 and later" if number < len(names) + later else " does not exist"
    raise WorkloadError(f"{what} {number} of a tensor map{since}")


def moved(fields: dict[str, int], data: bytes) -> bytes:
    """A map with another address; raises :class:`WorkloadError` for what is none."""
    return replace_address(data, fields["address"])
