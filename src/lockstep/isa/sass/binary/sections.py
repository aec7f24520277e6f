"""ELF files, opened so that no damage in them can cost more than their size."""

import io
import struct
from pathlib import Path

from elftools.common.exceptions import ELFError
from elftools.elf.elffile import ELFFile

from lockstep.errors import InputError

MACHINE_CUDA = 190
SYMBOL_BYTES = 24
_HEADER = struct.Struct("<16sHHIQQQIHHHHHH")
_SECTION = struct.Struct("<IIQQQQIIQQ")
_NOBITS, _SYMBOLS = 8, (2, 11)  # section types: no bytes in the file; symbol tables


def is_elf(data: bytes) -> bool:
    """Whether the bytes begin as an ELF file."""
    return data[:4] == b"\x7fELF"


def machine(data: bytes) -> int:
    """The ELF machine number, 190 for CUDA; 0 if the header is cut short."""
    return int.from_bytes(data[18:20], "little")


def open_elf(data: bytes, path: Path) -> ELFFile:
    """An ELF file all of whose sections lie within it; InputError for any other."""
    if len(data) < _HEADER.size:
        raise InputError(path, "", f"an ELF file of {len(data)} bytes: it is truncated")
    if data[4:6] != b"\x02\x01":
        raise InputError(path, "byte 4", "expected a 64-bit little-endian ELF file")
    fields = _HEADER.unpack_from(data)
    start, size, count, names = fields[6], fields[11], fields[12], fields[13]
    if size != _SECTION.size or start + count * size > len(data) or not names < count:
        raise InputError(path, "byte 40", "the section table lies outside of the file: truncated?")
    for i in range(count):
        _check(data, i, start + i * size, path)
    try:
        return ELFFile(io.BytesIO(data))
    except (ELFError, ValueError, KeyError, struct.error) as error:
        raise InputError(path, "", f"damaged ELF file: {error}") from error


def _check(data: bytes, number: int, place: int, path: Path) -> None:
    _, kind, _, _, offset, size, _, _, _, entry = _SECTION.unpack_from(data, place)
    if kind != _NOBITS and offset + size > len(data):
        message = f"section {number} lies outside of the file: truncated?"
        raise InputError(path, f"byte {place}", message)
    if kind in _SYMBOLS and entry != SYMBOL_BYTES:
        message = f"section {number} has symbols of {entry} bytes; expected {SYMBOL_BYTES}"
        raise InputError(path, f"byte {place}", message)
