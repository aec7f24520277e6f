"""Bytes of a trace file as a stream: plain, or decompressed on the way with bounded memory."""

import gzip
import io
import lzma
import zlib
from pathlib import Path

from lockstep.errors import InputError

XZ_MEMORY = 1 << 28  # bytes; xz -9 needs 65 MiB to decompress, a hostile header asks for more
_CHUNK = 1 << 18


class TextSource:
    """A file opened for one pass: ``read_into`` fills a buffer with text."""

    def __init__(self, path: Path):
        self.path = path
        try:
            self._file = open_stream(path)
        except OSError as error:
            raise InputError(path, "", f"cannot be opened: {error.strerror or error}") from None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._file.close()

    def read_into(self, target: memoryview) -> int:
        """Fill ``target`` from its start as far as the file goes; returns the bytes read."""
        filled = 0
        try:
            while filled < len(target):
                count = self._file.readinto(target[filled:])
                if not count:
                    break
                filled += count
        except (lzma.LZMAError, EOFError, zlib.error, gzip.BadGzipFile) as error:
            where = f"byte {self._position()}"
            raise InputError(self.path, where, f"the compressed data is damaged: {error}") from None
        except OSError as error:
            raise InputError(self.path, "", f"cannot be read: {error.strerror or error}") from None
        return filled

    def read_start(self, most: int) -> bytes:
        """Up to ``most`` bytes from where the stream stands."""
        buffer = bytearray(most)
        return bytes(buffer[: self.read_into(memoryview(buffer))])

    def _position(self) -> int:
        """How far the file itself, not the text in it, has been read."""
        for name in ("compressed", "fileobj"):  # of an XzStream, of a GzipFile
            if hasattr(self._file, name):
                return getattr(self._file, name).tell()
        return self._file.tell()


def open_stream(path: Path) -> io.BufferedIOBase | io.RawIOBase:
    """Open ``path`` for reading; its name says whether it is compressed."""
    if path.suffix == ".xz":
        return XzStream(path)
    if path.suffix == ".gz":
        return gzip.open(path, "rb")
    return open(path, "rb", buffering=0)


class XzStream(io.RawIOBase):
    """Decompresses an .xz file as it is read. Unlike ``lzma.open`` it bounds the memory."""

    def __init__(self, path: Path):
        self.compressed = open(path, "rb", buffering=0)  # noqa: SIM115  (closed by close)
        self._decoder = self._new_decoder()
        self._fresh = True  # no byte of the current xz stream has been seen
        self._pending = b""

    @staticmethod
    def _new_decoder() -> lzma.LZMADecompressor:
        return lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=XZ_MEMORY)

    def readable(self) -> bool:
        """Streams of this kind are for reading."""
        return True

    def close(self) -> None:
        """Close the file."""
        self.compressed.close()
        super().close()

    def readinto(self, target) -> int:
        """Decompress up to ``len(target)`` bytes; 0 at the end of the file."""
        while True:
            if self._decoder.eof:
                self._next_stream()
            if self._decoder.needs_input and not self._pending:
                self._pending = self.compressed.read(_CHUNK)
                if not self._pending:
                    return self._at_end()
                if self._fresh:  # there may be zeros between streams
                    self._pending = self._pending.lstrip(b"\0")
                    continue
            self._fresh = False
            data = self._decoder.decompress(self._pending, len(target))
            self._pending = b""
            if data:
                target[: len(data)] = data
                return len(data)

    def _next_stream(self) -> None:
        """An .xz file may be several streams in a row."""
        self._pending = self._decoder.unused_data.lstrip(b"\0")
        self._decoder, self._fresh = self._new_decoder(), True

    def _at_end(self) -> int:
        if not self._fresh:
            raise EOFError("it ends before its end marker")
        return 0
