"""Textures and surfaces over elements that a program has in device memory."""

import numpy as np

from lockstep.device import Device
from lockstep.errors import WorkloadError
from lockstep.frontend.exec.textures import FILTERS, Address, Sampling, describe, place

_KINDS = {0: "i", 1: "u", 2: "f"}  # cudaChannelFormatKind


def create(device: Device, fields: dict[str, int]) -> int:
    """Write the record of a texture (the fields of ``CREATE_TEXTURE``); returns its handle.

    Raises :class:`WorkloadError` for what no texture can be.
    """
    if fields["kind"] not in _KINDS or fields["bits"] not in (8, 16, 32):
        raise WorkloadError(f"a texture of {fields['bits']}-bit numbers of kind {fields['kind']}")
    dtype = np.dtype(f"{_KINDS[fields['kind']]}{fields['bits'] // 8}")
    axes = (fields["depth"], fields["height"], fields["width"])
    shape = tuple(size for size in axes if size)
    record = describe(
        shape,
        dtype,
        Sampling(
            filter=FILTERS[fields["filter"] & 1],
            address=tuple(_mode(fields[f"address_{axis}"]) for axis in "xyz"),
            normalized=bool(fields["normalized"]),
        ),
        channels=fields["channels"],
        layered=bool(fields["layered"]),
        normalized_values=bool(fields["normalized_values"]),
    )
    record["data"] = fields["address"]
    record["row_bytes"] = fields["pitch"]
    record["slice_bytes"] = fields["pitch"] * max(fields["height"], 1)
    device.synchronize()
    return place(device.memory, record)


def _mode(number: int) -> str:
    """An address mode by cudaTextureAddressMode, whose numbers the record shares."""
    return Address(number & 3).name.lower()
