"""``.tracez`` files: the instruction lines of each warp in zstd frames, found by an index.

Layout, all numbers little-endian: the header as text, ended by a zero byte; u32 bytes of the
zstd dictionary, u32 instructions of a full frame; the dictionary; for each warp u32 instructions,
u32 frames and the frames, each behind its u32 size; the index: u32 thread blocks, and for each
block ten u32 (its place in the grid, its cluster's, its place in that, its rank there), u32 warps,
and for each warp u32 instructions, u32 frames, u64 offset, and u32 instructions of each frame;
at the end the u64 offset of the index.
"""

import io
import struct
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import zstandard

from lockstep.errors import InputError
from lockstep.frontend.accelsim.blocks import BlockReader
from lockstep.frontend.accelsim.header import MOST_BYTES, Header, parse_header
from lockstep.frontend.accelsim.statics import Statics
from lockstep.workload import Cta

MOST_LINE = 1 << 14  # bytes of a line on average: 32 values of 13 registers need 4000
MOST_FRAME = 1 << 28  # bytes of text in a frame
_WINDOW = 1 << 27  # bytes of history a frame may ask for; the zstd default is 8 MiB at most


class TracezFile:
    """A ``.tracez`` file opened for reading, with every length checked against its size."""

    def __init__(self, path: Path):
        self.path = path
        try:
            self._file = open(path, "rb")  # noqa: SIM115  (closed by __exit__)
        except OSError as error:
            raise InputError(path, "", f"cannot be opened: {error.strerror or error}") from None
        self.size = self._file.seek(0, io.SEEK_END)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._file.close()

    def fail(self, offset: int, message: str):
        """Raise the error for a place in the file."""
        raise InputError(self.path, f"byte {max(0, offset)}", message)

    def read(self, offset: int, count: int, limit: int, what: str) -> bytes:
        """``count`` bytes from ``offset`` on, which must end before ``limit``."""
        if offset < 0 or offset + count > limit:
            self.fail(offset, f"expected {count} bytes of {what}, found {max(0, limit - offset)}")
        try:
            self._file.seek(offset)
            data = self._file.read(count)
        except OSError as error:
            raise InputError(self.path, "", f"cannot be read: {error.strerror or error}") from None
        if len(data) != count:
            self.fail(offset, f"expected {count} bytes of {what}, found {len(data)}")
        return data

    def numbers(self, layout: str, offset: int, limit: int, what: str) -> tuple[int, ...]:
        """Unpack little-endian numbers at ``offset``."""
        return struct.unpack(
            "<" + layout, self.read(offset, struct.calcsize("<" + layout), limit, what)
        )

    def header(self) -> Header:
        """The header text at the start."""
        text = self.read(0, min(self.size, MOST_BYTES), self.size, "header")
        end = text.find(b"\0")
        if end < 0:
            self.fail(len(text), "the header is not ended by a zero byte")
        return parse_header(text[:end], self.path)

    def header_size(self) -> int:
        """Bytes of the header text and the zero behind it."""
        return self.read(0, min(self.size, MOST_BYTES), self.size, "header").find(b"\0") + 1


def read_header(path: Path) -> Header:
    """The header of the trace."""
    with TracezFile(path) as file:
        return file.header()


def read_blocks(path: Path, header: Header, statics: Statics) -> Iterator[Cta]:
    """Serve the blocks in the order of the index."""
    with TracezFile(path) as file:
        reader = _Reader(file, header, statics)
        yield from reader.blocks()
    reader.require_all()


class _Reader(BlockReader):
    """A block reader fed with decompressed frames."""

    def __init__(self, file: TracezFile, header: Header, statics: Statics):
        super().__init__(file.path, header, statics)
        self._file, self._offset = file, 0
        start = file.header_size()
        (self._index,) = file.numbers("Q", file.size - 8, file.size, "the index's offset")
        dictionary, _ = file.numbers("II", start, file.size, "dictionary size")
        data = file.read(start + 8, dictionary, file.size, "dictionary")
        self._decoder = zstandard.ZstdDecompressor(
            dict_data=zstandard.ZstdCompressionDict(data) if data else None,
            max_window_size=_WINDOW,
        )

    def where(self) -> str:
        """The frame's offset; the line in it is part of the message."""
        return f"byte {self._offset}"

    def blocks(self) -> Iterator[Cta]:
        """Walk the index."""
        file, end = self._file, self._file.size - 8
        (count,) = file.numbers("I", self._index, end, "the index")
        if count != self.header.blocks:
            message = f"expected {self.header.blocks} thread blocks (the grid), found {count}"
            file.fail(self._index, message)
        self._offset = self._index + 4
        for _ in range(count):
            yield self._block(end)
        if self._offset != end:
            self.fail("expected the end of the index")

    def _block(self, end: int) -> Cta:
        """The block whose index entry is at ``self._offset``, which moves behind it."""
        entry = self._offset
        x, y, z, *_, warps = self._file.numbers("11I", entry, end, "a thread block's index")
        if not all(n < limit for n, limit in zip((x, y, z), self.header.grid)):
            self.fail(f"thread block {x},{y},{z} lies outside the grid {self.header.grid}")
        if warps != self.header.warps:
            self.fail(f"expected {self.header.warps} warps in the block, found {warps}")
        self.open_block(x, y, z)
        entry += 44
        for warp in range(warps):
            lines, frames, offset = self._file.numbers("IIQ", entry, end, "a warp's index")
            counts = self._file.read(entry + 16, 4 * frames, end, "instruction counts")
            self._offset = entry
            self._warp(warp, lines, offset, np.frombuffer(counts, "<u4").astype(np.int64))
            entry += 16 + 4 * frames
        self._offset = entry
        return self.take()

    def _warp(self, warp: int, lines: int, offset: int, counts: np.ndarray) -> None:
        """Parse the frames of a warp, whose own header must agree with the index."""
        if int(counts.sum()) != lines:
            self.fail(f"the frames have {int(counts.sum())} instructions, the warp {lines}")
        self._offset = offset
        stored = self._file.numbers("II", offset, self._index, "a warp's header")
        if stored != (lines, len(counts)):
            self.fail(f"expected {lines} instructions in {len(counts)} frames, found {stored}")
        offset += 8
        self.open_warp(warp)
        for count in counts:
            (size,) = self._file.numbers("I", offset, self._index, "a frame's size")
            self._offset = offset
            data = self._file.read(offset + 4, size, self._index, "a frame")
            self._frame(data, int(count))
            offset += 4 + size
        self.close_warp()

    def _frame(self, data: bytes, count: int) -> None:
        """Parse the ``count`` lines of one frame."""
        before, self.state.line = int(self.state.instructions), 1
        text = bytearray(self._decompress(data, count))
        if not text.endswith(b"\n"):
            text += b"\n"
        self.feed(np.frombuffer(text, np.uint8), 0, len(text))
        read = int(self.state.instructions) - before
        if read != count:
            self.fail(f"expected {count} instructions in the frame, found {read}")

    def _decompress(self, data: bytes, count: int) -> bytes:
        """The text of a frame, which must not be longer than ``count`` lines can be."""
        try:
            size = zstandard.frame_content_size(data)
            if not 0 <= size <= min(count * MOST_LINE, MOST_FRAME):
                self.fail(f"expected a frame of up to {count} lines, found {size} bytes")
            return self._decoder.decompress(data)
        except (zstandard.ZstdError, MemoryError) as error:
            self.fail(f"the compressed data is damaged: {error}")

    def fail(self, message: str):
        """Raise the error for the frame, and the line in it."""
        line = int(self.state.line)
        super().fail(f"line {line} of the frame: {message}" if line else message)
