"""The file around the sections: header, footer, compression and checksums."""

import functools
import struct
import threading
import zlib

import zstandard

from lockstep.errors import InputError
from lockstep.frontend.tracefile.columns import LIMIT

MAGIC = b"\x89LST\r\n\x1a\n"  # as PNG's: shows 7-bit and line-end damage
END_MAGIC = b"LSTend\r\n"
VERSION = (2, 2)  # major and minor
WIDE = (3, 0)  # of a file with kernels whose warps do not have 32 threads
POINTS = {2: (2, 3), 3: (3, 1)}  # of live points, by major version
SCALAR_REGISTERS = (3, 2)  # of a file with kernels of compute units, which have scalar registers
HEADER = struct.Struct("<8sHH")  # magic, major and minor version
FOOTER = struct.Struct("<QII8s")  # index: offset, unpacked size, CRC-32 with header; end magic
LEVEL = 19  # of Zstandard
KEPT = 1 << 16  # bytes; a file no larger than that is kept in memory


def compress(payload: bytes) -> bytes:
    """A section's payload as one Zstandard frame that states its unpacked size."""
    return zstandard.ZstdCompressor(level=LEVEL).compress(payload)


def header(version: tuple[int, int]) -> bytes:
    """The first bytes of a file."""
    return HEADER.pack(MAGIC, *version)


def footer(head: bytes, offset: int, index: bytes, raw_size: int) -> bytes:
    """The last bytes of a file, whose compressed index begins at ``offset``."""
    return FOOTER.pack(offset, raw_size, _index_crc(head, index, offset, raw_size), END_MAGIC)


def _index_crc(head: bytes, index: bytes, offset: int, raw_size: int) -> int:
    """Covers everything that no other checksum does: header, index and footer."""
    return zlib.crc32(struct.pack("<QI", offset, raw_size), zlib.crc32(index, zlib.crc32(head)))


class File:
    """A trace file, open only while it is read; a small one is read once and kept in memory.

    Raises :class:`InputError`, also when it is made, for what cannot be read.
    """

    def __init__(self, path: str):
        self.path = path
        start, self.size = self._read(0, KEPT)
        self._whole = start if self.size <= KEPT else b""

    def _read(self, offset: int, size: int) -> tuple[bytes, int]:
        """What :meth:`read` returns, and the size of the file."""
        try:
            with open(self.path, "rb", buffering=0) as file:
                end = file.seek(0, 2)
                file.seek(offset)
                return file.read(size), end
        except OSError as problem:
            message = f"cannot be read: {problem.strerror or problem}"
            raise InputError(self.path, "", message) from None

    def read(self, offset: int, size: int) -> bytes:
        """``size`` bytes from ``offset`` on, or as many as there are."""
        if self._whole:
            return self._whole[offset : offset + size]
        return self._read(offset, size)[0]

    def index(self) -> tuple[bytes, int, tuple[int, int]]:
        """The payload of the index, where it lies, and the version that wrote it."""
        head = self.read(0, HEADER.size)
        version = _check_header(self.path, head)
        end = self.size - FOOTER.size
        if end < HEADER.size:
            raise self._wrong(self.size, "expected a footer; truncated")
        offset, raw_size, crc, magic = FOOTER.unpack(self.read(end, FOOTER.size))
        if magic != END_MAGIC:
            raise self._wrong(end, "expected the end mark; truncated or damaged")
        if not HEADER.size <= offset <= end:
            raise self._wrong(end, f"index at byte {offset}, outside the file")
        index = self.read(offset, end - offset)
        if _index_crc(head, index, offset, raw_size) != crc:
            raise self._wrong(offset, "checksum mismatch in the index or the header")
        return self._unpacked(offset, index, raw_size), offset, version

    def section(self, offset: int, size: int, raw_size: int, crc: int) -> bytes:
        """The payload of a section."""
        data = self.read(offset, size)
        if len(data) != size or zlib.crc32(data) != crc:
            raise self._wrong(offset, f"checksum mismatch in a section of {size} bytes")
        return self._unpacked(offset, data, raw_size)

    def _unpacked(self, offset: int, data: bytes, raw_size: int) -> bytes:
        """One frame of exactly ``raw_size`` bytes; what it claims is checked before unpacking."""
        try:
            if raw_size > LIMIT or zstandard.frame_content_size(data) != raw_size:
                raise self._wrong(offset, f"expected a Zstandard frame of {raw_size} bytes")
            return _decompressor(threading.get_ident()).decompress(data, allow_extra_data=False)
        except zstandard.ZstdError as problem:
            raise self._wrong(offset, f"expected a Zstandard frame: {problem}") from None

    def _wrong(self, offset: int, problem: str) -> InputError:
        return InputError(self.path, f"byte {offset}", problem)


def _check_header(path: str, head: bytes) -> tuple[int, int]:
    """The version."""
    if len(head) < HEADER.size or not head.startswith(MAGIC):
        raise InputError(path, "byte 0", "expected a lockstep trace, which begins with \\x89LST")
    _, major, minor = HEADER.unpack(head)
    if major not in (VERSION[0], WIDE[0]):
        message = (
            f"lockstep trace version {major}.{minor}; this program reads versions {VERSION[0]} "
            f"and {WIDE[0]}"
        )
        raise InputError(path, f"byte {len(MAGIC)}", message)
    return major, minor


@functools.cache
def _decompressor(thread: int) -> zstandard.ZstdDecompressor:
    """One for each thread: to make it costs ten times as much as to unpack a small section."""
    return zstandard.ZstdDecompressor()
