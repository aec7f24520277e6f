"""The call record: a program's calls with their data, to be executed again without it.

A directory with the file ``calls.lcr``: a magic word and the key of the calls' tables, then entries
in a stream of zstd. An entry is u32 connection, u32 call, u64 first field of the answer, u64 bytes
of the body, then the request's body. The body of ``WRITTEN`` goes on with the bytes that were
written, row after row without gaps. The last entry is all zeros but for the CRC-32 of the head and
the entries before, in the place of the answer. Calls that failed, and those that change nothing,
are left out.
Memory that the program writes without a call (managed and host memory) is noted before each launch,
as ``WRITTEN`` in a stream that there is not, where it has changed.
"""

import hashlib
import struct
import zlib
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import zstandard

from lockstep.errors import InputError
from lockstep.files import replacing
from lockstep.frontend.cuda.calls import (
    FORMS,
    LARGEST,
    Call,
    CallError,
    decode,
    encode_body,
    key,
)

FILE = "calls.lcr"
MAGIC = b"LCKCALL2"  # its last byte is the version
_HEAD = struct.Struct("<8sQ")
_ENTRY = struct.Struct("<IIQQ")
_LEFT_OUT = {Call.HELLO, Call.READ, Call.WRITE, Call.POINTER, Call.MEMORY}
_LEFT_OUT |= {Call.CHECK_PTX, Call.CODE_PROBLEM, Call.LIST_KERNELS, Call.PEEK}
_NO_STREAM = (1 << 64) - 1
_WHOLE = 1 << 30  # bytes that are written at a time; longer copies become several
_CHUNK = 1 << 24  # bytes of managed memory hashed and noted, and of an entry read, at a time

Look = Callable[[int, int], memoryview]
"""Bytes of device memory: (address, size)."""


class RecordEntry(NamedTuple):
    """One call of a record; ``result`` is the first field of its answer."""

    connection: int
    call: Call
    result: int
    fields: dict[str, int]
    data: bytes

    @property
    def is_note(self) -> bool:
        """Whether it is no call, but memory that the program wrote without one."""
        return self.call == Call.WRITTEN and self.fields["stream"] == _NO_STREAM


class RecordWriter:
    """Writes a record into a directory, which is made; until it is complete, an earlier one stays.

    What cannot be written is said when it is closed: the program's run goes on meanwhile.
    """

    def __init__(self, folder: Path):
        self.path = folder / FILE
        self._replacing = replacing(self.path)
        self._failure: OSError | None = None
        self._file = self._replacing.__enter__().open("wb")
        self._stream = zstandard.ZstdCompressor(level=1).stream_writer(self._file)
        head = _HEAD.pack(MAGIC, key())
        self._checksum = zlib.crc32(head)
        self._seen: dict[int, bytes] = {}  # hash of the content of memory that has no calls
        self._put(self._file.write, head)

    def add(self, connection: int, call: Call, result: int, body: bytes, look: Look) -> None:
        """Note a call that succeeded."""
        if call in _LEFT_OUT:
            return
        if call != Call.WRITTEN:
            self._write(connection, call, result, [body])
            return
        f, _ = decode(FORMS[call].request, body)
        if f["width"] * f["rows"] <= _WHOLE:
            rows = range(f["rows"])
            content = [look(f["address"] + r * f["pitch"], f["width"]) for r in rows]
            self._write(connection, call, result, [body, *content])
            return
        for row in range(f["rows"]):
            for start in range(0, f["width"], _WHOLE):
                address, size = f["address"] + row * f["pitch"] + start, f["width"] - start
                size = min(size, _WHOLE)
                part = encode_body((address, size, size, 1, f["stream"]))
                self._write(connection, call, result, [part, look(address, size)])

    def note(self, connection: int, ranges: Iterable[tuple[int, int]], look: Look) -> None:
        """Note the content of memory (address, bytes) where it is new."""
        for start, size in ranges:
            for address in range(start, start + size, _CHUNK):
                length = min(_CHUNK, start + size - address)
                content = look(address, length)
                digest = hashlib.blake2b(content, digest_size=16).digest()
                if self._seen.get(address) != digest:
                    self._seen[address] = digest
                    body = encode_body((address, length, length, 1, _NO_STREAM))
                    self._write(connection, Call.WRITTEN, 0, [body, content])

    def _write(self, connection: int, call: Call, result: int, pieces: list) -> None:
        size = sum(len(piece) for piece in pieces)
        for piece in (_ENTRY.pack(connection, call, result, size), *pieces):
            self._checksum = zlib.crc32(piece, self._checksum)
            self._put(self._stream.write, piece)

    def _put(self, write: Callable, piece) -> None:
        if self._failure is None:
            try:
                write(piece)
            except OSError as error:
                self._failure = error

    def close(self) -> None:
        """Finish the file. Raises :class:`InputError` if it could not be written as a whole."""
        self._put(self._stream.write, _ENTRY.pack(0, 0, self._checksum, 0))
        for end in (self._stream.close, self._file.close):
            try:
                end()
            except OSError as error:
                self._failure = self._failure or error
        failure = self._failure
        self._replacing.__exit__(type(failure) if failure else None, failure, None)


def read_record(folder: Path) -> Iterator[RecordEntry]:
    """The calls of a record, in order.

    Raises :class:`InputError` if there is none, it is damaged, or of another version of lockstep.
    """
    path = folder / FILE if folder.is_dir() else folder
    try:
        with path.open("rb") as file:
            yield from _entries(path, file)
    except OSError as error:
        raise InputError(path, "", f"cannot read: {error.strerror}") from error
    except CallError as error:
        raise InputError(path, "", f"a damaged call record: {error}") from error
    except zstandard.ZstdError as error:
        raise InputError(path, "", f"a damaged call record: {error}") from error


def _entries(path: Path, file) -> Iterator[RecordEntry]:
    head = file.read(_HEAD.size)
    if len(head) < _HEAD.size or not head.startswith(MAGIC[:-1]):
        raise InputError(path, "", "no call record")
    if head != _HEAD.pack(MAGIC, key()):
        raise InputError(path, "", "a call record of another version of lockstep")
    with zstandard.ZstdDecompressor().stream_reader(file) as stream:
        checksum = zlib.crc32(head)
        while True:
            raw = _exactly(path, stream, _ENTRY.size)
            connection, number, result, size = _ENTRY.unpack(raw)
            if number == 0:
                break
            if number not in FORMS or size > LARGEST:
                raise InputError(path, "", f"a damaged call record: call {number}, {size} bytes")
            body = _exactly(path, stream, size)
            checksum = zlib.crc32(body, zlib.crc32(raw, checksum))
            call = Call(number)
            yield RecordEntry(connection, call, result, *decode(FORMS[call].request, body))
        if raw != _ENTRY.pack(0, 0, checksum, 0) or stream.read(1):
            raise InputError(path, "", "a damaged call record: its checksum does not fit")


def _exactly(path: Path, stream, size: int) -> bytes:
    pieces, missing = [], size
    while missing:
        piece = stream.read(min(missing, _CHUNK))
        if not piece:
            break
        pieces.append(piece)
        missing -= len(piece)
    if missing:
        raise InputError(path, "", "the call record ends within a call; it was cut off")
    return b"".join(pieces)
