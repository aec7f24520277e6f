"""The file around the sections: header, footer, compression and checksums."""

import functools
import struct
import threading
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO

import zstandard

from lockstep.errors import InputError
from lockstep.frontend.tracefile.columns import LIMIT

MAGIC = b"\x89LST\r\n\x1a\n"  # as PNG's: shows 7-bit and line-end damage
END_MAGIC = b"LSTend\r\n"
MAJOR, MINOR = 2, 0
HEADER = struct.Struct("<8sHH")  # magic, major and minor version
FOOTER = struct.Struct("<QII8s")  # index: offset, unpacked size, CRC-32 with header; end magic
LEVEL = 19  # of Zstandard


def compress(payload: bytes) -> bytes:
    """A section's payload as one Zstandard frame that states its unpacked size."""
    return zstandard.ZstdCompressor(level=LEVEL).compress(payload)


def header() -> bytes:
    """The first bytes of a file."""
    return HEADER.pack(MAGIC, MAJOR, MINOR)


def footer(offset: int, index: bytes, raw_size: int) -> bytes:
    """The last bytes of a file whose compressed index begins at ``offset``."""
    return FOOTER.pack(offset, raw_size, _index_crc(header(), index, offset, raw_size), END_MAGIC)


def _index_crc(head: bytes, index: bytes, offset: int, raw_size: int) -> int:
    """Covers everything that no other checksum does: header, index and footer."""
    return zlib.crc32(struct.pack("<QI", offset, raw_size), zlib.crc32(index, zlib.crc32(head)))


def read_index(path: str) -> tuple[bytes, int, bool]:
    """The payload of the index, where it lies, and whether a newer minor version wrote it."""
    with opened(path) as file:
        head = file.read(HEADER.size)
        minor = _check_header(path, head)
        end = file.seek(0, 2) - FOOTER.size
        if end < HEADER.size:
            raise InputError(path, f"byte {end + FOOTER.size}", "expected a footer; truncated")
        file.seek(end)
        offset, raw_size, crc, magic = FOOTER.unpack(file.read(FOOTER.size))
        if magic != END_MAGIC:
            raise InputError(path, f"byte {end}", "expected the end mark; truncated or damaged")
        if not HEADER.size <= offset <= end:
            raise InputError(path, f"byte {end}", f"index at byte {offset}, outside the file")
        file.seek(offset)
        index = file.read(end - offset)
    if _index_crc(head, index, offset, raw_size) != crc:
        raise InputError(path, f"byte {offset}", "checksum mismatch in the index or the header")
    return decompress(path, offset, index, raw_size), offset, minor > MINOR


def _check_header(path: str, head: bytes) -> int:
    """The minor version."""
    if len(head) < HEADER.size or not head.startswith(MAGIC):
        raise InputError(path, "byte 0", "expected a lockstep trace, which begins with \\x89LST")
    _, major, minor = HEADER.unpack(head)
    if major != MAJOR:
        message = f"lockstep trace version {major}.{minor}; this program reads version {MAJOR}"
        raise InputError(path, f"byte {len(MAGIC)}", message)
    return minor


def read_section(path: str, offset: int, size: int, raw_size: int, crc: int) -> bytes:
    """The payload of a section."""
    with opened(path) as file:
        file.seek(offset)
        data = file.read(size)
    if len(data) != size or zlib.crc32(data) != crc:
        raise InputError(path, f"byte {offset}", f"checksum mismatch in a section of {size} bytes")
    return decompress(path, offset, data, raw_size)


def decompress(path: str, offset: int, data: bytes, raw_size: int) -> bytes:
    """One frame of exactly ``raw_size`` bytes; what it claims is checked before it is unpacked."""
    where = f"byte {offset}"
    try:
        if raw_size > LIMIT or zstandard.frame_content_size(data) != raw_size:
            raise InputError(path, where, f"expected a Zstandard frame of {raw_size} bytes")
        return _decompressor(threading.get_ident()).decompress(data, allow_extra_data=False)
    except zstandard.ZstdError as problem:
        raise InputError(path, where, f"expected a Zstandard frame: {problem}") from None


@functools.cache
def _decompressor(thread: int) -> zstandard.ZstdDecompressor:
    """One for each thread: to make it costs ten times as much as to unpack a small section."""
    return zstandard.ZstdDecompressor()


@contextmanager
def opened(path: str) -> Iterator[BinaryIO]:
    """The file, open for reading; what the system refuses is an :class:`InputError`."""
    try:
        with open(path, "rb", buffering=0) as file:
            yield file
    except OSError as problem:
        raise InputError(path, "", f"cannot be read: {problem.strerror or problem}") from None
