"""Textures and surfaces over elements that a program has in device memory."""

import struct

import numpy as np

from lockstep.device import Device
from lockstep.errors import WorkloadError
from lockstep.frontend.exec.textures import FILTERS, Address, Sampling, describe, place

_KINDS = {0: "i", 1: "u", 2: "f"}  # cudaChannelFormatKind
LEVEL_BYTES = 256  # levels of detail begin at multiples of it: cudaMallocMipmappedArray in the shim


def create(device: Device, fields: dict[str, int]) -> int:
    """Write the records of a texture (the fields of ``CREATE_TEXTURE``); returns its handle.

    Raises :class:`WorkloadError` for what no texture can be.
    """
    if fields["kind"] not in _KINDS or fields["bits"] not in (8, 16, 32):
        raise WorkloadError(f"a texture of {fields['bits']}-bit numbers of kind {fields['kind']}")
    axes = tuple(fields[name] for name in ("depth", "height", "width"))
    records, address, pitch = [], fields["address"], fields["pitch"]
    for level in range(fields["levels"]):
        if level:
            axes = _halved(axes, bool(fields["layered"] or fields["cube"]))
            pitch = axes[-1] * fields["channels"] * fields["bits"] // 8
        record = _record(fields, axes)
        record["data"], record["row_bytes"] = address, pitch
        record["slice_bytes"] = pitch * max(axes[1], 1)
        records.append(record)
        size = pitch * max(axes[1], 1) * max(axes[0], 1)
        address += -(-size // LEVEL_BYTES) * LEVEL_BYTES
    device.synchronize()
    return place(device.memory, np.concatenate(records))


def _halved(axes: tuple[int, ...], has_slices: bool) -> tuple[int, ...]:
    depth, *plane = (n and max(n // 2, 1) for n in axes)
    return (axes[0] if has_slices else depth, *plane)


def _record(fields: dict[str, int], axes: tuple[int, ...]) -> np.ndarray:
    """One level of detail."""
    levels = [_single(fields[f"level_{name}"]) for name in ("bias", "least", "most")]
    return describe(
        tuple(size for size in axes if size),
        np.dtype(f"{_KINDS[fields['kind']]}{fields['bits'] // 8}"),
        Sampling(
            filter=FILTERS[fields["filter"] & 1],
            address=tuple(_mode(fields[f"address_{axis}"]) for axis in "xyz"),
            normalized=bool(fields["normalized"]),
            level_filter=FILTERS[fields["level_filter"] & 1],
            level_bias=levels[0],
            level_limits=(levels[1], levels[2]),
        ),
        channels=fields["channels"],
        layered=bool(fields["layered"]),
        cube=bool(fields["cube"]),
        normalized_values=bool(fields["normalized_values"]),
    )


def _single(bits: int) -> float:
    """The f32 that these bits are."""
    return struct.unpack("<f", struct.pack("<I", bits))[0]


def _mode(number: int) -> str:
    """An address mode by cudaTextureAddressMode, whose numbers the record shares."""
    return Address(number & 3).name.lower()
