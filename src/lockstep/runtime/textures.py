"""Textures and surfaces over elements that a program has in device memory."""

import struct

import numpy as np

from lockstep.device import Device
from lockstep.errors import WorkloadError
from lockstep.execution.memory.device_memory import DeviceMemoryError
from lockstep.execution.memory.textures import FILTERS, AddressMode, Sampling, describe, place

_KINDS = {0: "i", 1: "u", 2: "f"}  # cudaChannelFormatKind
LEVEL_BYTES = 256  # levels of detail begin at multiples of it: cudaMallocMipmappedArray in the shim


def create(device: Device, fields: dict[str, int]) -> int:
    """Write the records of a texture (the fields of ``CREATE_TEXTURE``); returns its handle.

    Raises :class:`WorkloadError` for what no texture can be.
    """
    floats = _KINDS.get(fields["kind"]) == "f"
    sizes = (16, 32) if floats else (8, 16, 32)
    if fields["kind"] not in _KINDS or fields["bits"] not in sizes:
        raise WorkloadError(f"a texture of {fields['bits']}-bit numbers of kind {fields['kind']}")
    axes = tuple(fields[name] for name in ("depth", "height", "width"))
    records, address, pitch = [], fields["address"], fields["pitch"]
    for level in range(fields["levels"]):
        width = axes[-1] * fields["channels"] * fields["bits"] // 8
        if level:
            axes = _halved(axes, bool(fields["layered"] or fields["cube"]))
            pitch = width = axes[-1] * fields["channels"] * fields["bits"] // 8
        rows = max(axes[1], 1) * max(axes[0], 1)
        _check_memory(device, address, pitch, width, rows)
        record = _record(fields, axes)
        record["data"], record["row_bytes"] = address, pitch
        record["slice_bytes"] = pitch * max(axes[1], 1)
        records.append(record)
        address += -(-pitch * rows // LEVEL_BYTES) * LEVEL_BYTES
    device.synchronize()
    return place(device.memory, np.concatenate(records))


def _check_memory(device: Device, address: int, pitch: int, width: int, rows: int) -> None:
    """Refuse elements outside the program's memory: reading a texture does not look."""
    if rows > 1 and pitch < width:
        raise WorkloadError(f"rows of {width} bytes that are {pitch} bytes apart")
    try:
        device.memory.view(address, (rows - 1) * pitch + width)
    except DeviceMemoryError as error:
        raise WorkloadError(f"a texture's elements: {error}") from None


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
            border=_border(fields),
        ),
        channels=fields["channels"],
        layered=bool(fields["layered"]),
        cube=bool(fields["cube"]),
        normalized_values=bool(fields["normalized_values"]),
    )


def _border(fields: dict[str, int]) -> tuple[int, int, int, int]:
    """The bits of what lies outside: zeros, unless the border is asked for on some axis."""
    if not any(fields[f"address_{axis}"] & 3 == AddressMode.BORDER for axis in "xyz"):
        return (0, 0, 0, 0)
    first, second, third, last = (fields[f"border_{channel}"] for channel in range(4))
    return (first, second, third, last)


def _single(bits: int) -> float:
    """The f32 that these bits are."""
    return struct.unpack("<f", struct.pack("<I", bits))[0]


def _mode(number: int) -> str:
    """An address mode by cudaTextureAddressMode, whose numbers the record shares."""
    return AddressMode(number & 3).name.lower()
