"""The call record: a program's calls with their data, to be executed again without it.

A directory with the file ``calls.lcr``: a magic word and the key of the calls' tables, then entries
in a stream of zstd. An entry is u32 connection, u32 call, u64 first field of the answer, u64 bytes
of the body, then the request's body. The body of ``WRITTEN`` goes on with the bytes that were
written, row after row without gaps. The last entry is all zeros. Calls that failed, and those that
change nothing, are left out. Memory that the program writes without a call (managed and host
memory) is noted before each launch, as ``WRITTEN``, where it has changed.
"""

import hashlib
import struct
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import zstandard

from lockstep.errors import InputError, LockstepError
from lockstep.frontend.cuda.calls import FORMS, LARGEST, Call, decode, encode_body, key

FILE = "calls.lcr"
MAGIC = b"LCKCALL1"
_HEAD = struct.Struct("<8sQ")
_ENTRY = struct.Struct("<IIQQ")
_LEFT_OUT = {Call.HELLO, Call.READ, Call.WRITE, Call.POINTER, Call.MEMORY}
_END = _ENTRY.pack(0, 0, 0, 0)
_CHUNK = 1 << 24  # bytes of managed memory hashed and noted at a time

Look = Callable[[int, int], memoryview]
"""Bytes of device memory: (address, size)."""


class Entry(NamedTuple):
    """One call of a record; ``result`` is the first field of its answer."""

    connection: int
    call: Call
    result: int
    fields: dict[str, int]
    data: bytes


class RecordWriter:
    """Writes a record into a directory, which is made."""

    def __init__(self, folder: Path):
        self.path = folder / FILE
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._file = self.path.open("wb")
        except OSError as error:
            raise LockstepError(f"{folder}: cannot write: {error.strerror}") from error
        self._file.write(_HEAD.pack(MAGIC, key()))
        self._stream = zstandard.ZstdCompressor(level=1).stream_writer(self._file)
        self._seen: dict[int, bytes] = {}  # hash of the content of memory that has no calls

    def add(self, connection: int, call: Call, result: int, body: bytes, look: Look) -> None:
        """Note a call that succeeded."""
        if call in _LEFT_OUT:
            return
        pieces = [body]
        if call == Call.WRITTEN:
            f, _ = decode(FORMS[call].request, body)
            rows = range(f["rows"])
            pieces += [look(f["address"] + r * f["pitch"], f["width"]) for r in rows]
        self._write(connection, call, result, pieces)

    def note(self, connection: int, ranges: Iterable[tuple[int, int]], look: Look) -> None:
        """Note the content of memory (address, bytes) where it is new."""
        for start, size in ranges:
            for address in range(start, start + size, _CHUNK):
                length = min(_CHUNK, start + size - address)
                content = look(address, length)
                digest = hashlib.blake2b(content, digest_size=16).digest()
                if self._seen.get(address) != digest:
                    self._seen[address] = digest
                    body = encode_body((address, length, length, 1))
                    self._write(connection, Call.WRITTEN, 0, [body, content])

    def _write(self, connection: int, call: Call, result: int, pieces: list) -> None:
        size = sum(len(piece) for piece in pieces)
        self._stream.write(_ENTRY.pack(connection, call, result, size))
        for piece in pieces:
            self._stream.write(piece)

    def close(self) -> None:
        """Finish the file."""
        self._stream.write(_END)
        self._stream.close()
        self._file.close()


def read_record(folder: Path) -> Iterator[Entry]:
    """The calls of a record, in order.

    Raises :class:`InputError` if there is none, it is damaged, or of another version of lockstep.
    """
    path = folder / FILE if folder.is_dir() else folder
    try:
        with path.open("rb") as file:
            yield from _entries(path, file)
    except OSError as error:
        raise InputError(path, "", f"cannot read: {error.strerror}") from error
    except zstandard.ZstdError as error:
        raise InputError(path, "", f"a damaged call record: {error}") from error


def _entries(path: Path, file) -> Iterator[Entry]:
    head = file.read(_HEAD.size)
    if len(head) < _HEAD.size or not head.startswith(MAGIC):
        raise InputError(path, "", "no call record")
    if _HEAD.unpack(head)[1] != key():
        raise InputError(path, "", "a call record of another version of lockstep")
    with zstandard.ZstdDecompressor().stream_reader(file) as stream:
        while (raw := _exactly(path, stream, _ENTRY.size)) != _END:
            connection, number, result, size = _ENTRY.unpack(raw)
            if number not in FORMS or size > LARGEST:
                raise InputError(path, "", f"a damaged call record: call {number}, {size} bytes")
            call = Call(number)
            body = _exactly(path, stream, size)
            yield Entry(connection, call, result, *decode(FORMS[call].request, body))


def _exactly(path: Path, stream, size: int) -> bytes:
    pieces, missing = [], size
    while missing:
        piece = stream.read(missing)
        if not piece:
            break
        pieces.append(piece)
        missing -= len(piece)
    if missing:
        raise InputError(path, "", "the call record ends within a call; it was cut off")
    return b"".join(pieces)
