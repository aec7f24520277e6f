"""The file of a proxy: a header in JSON, then columns of integers, under one checksum.

Everything is one Zstandard frame: a length, the header, and the columns, each as
``tracefile/columns.py`` packs them, in groups. The header names the columns of each group and says
how long they are.
"""

import json
import struct
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import zstandard

from lockstep.errors import InputError, WorkloadError
from lockstep.files import replacing
from lockstep.frontend.tracefile.columns import LIMIT, Malformed, modular, pack, unpack

MAGIC = b"\x89LSP\r\n\x1a\n"  # as a trace's: shows 7-bit and line-end damage
VERSION = (1, 0)  # major and minor
SUFFIX = ".proxy"
HEAD = struct.Struct("<8sHHII")  # magic, version, unpacked size, CRC-32 of all else
LENGTH = struct.Struct("<I")  # of the JSON
MOST_JSON = 1 << 24  # bytes
MOST_COLUMNS = 1 << 20
LEVEL = 19  # of Zstandard
Groups = Sequence[Mapping[str, np.ndarray]]


def write(path: str | Path, document: Mapping[str, Any], groups: Groups) -> None:
    """Write a document and groups of columns; ``path`` is replaced only by a complete file.

    Raises :class:`WorkloadError` if they are too large.
    """
    data = encode(document, groups)
    with replacing(path) as temporary:
        temporary.write_bytes(data)


def encode(document: Mapping[str, Any], groups: Groups) -> bytes:
    """The bytes of a file."""
    lengths = [[[name, len(column)] for name, column in group.items()] for group in groups]
    text = json.dumps({**document, "columns": lengths}, separators=(",", ":")).encode()
    packed = [_packed(column) for group in groups for column in group.values()]
    payload = b"".join([LENGTH.pack(len(text)), text, *packed])
    if len(text) > MOST_JSON or len(packed) > MOST_COLUMNS or len(payload) > LIMIT:
        raise WorkloadError(f"a proxy of {len(payload)} bytes; expected at most {LIMIT}")
    return sealed(payload)


def sealed(payload: bytes) -> bytes:
    """A payload as the bytes of a file."""
    frame = zstandard.ZstdCompressor(level=LEVEL).compress(payload)
    return HEAD.pack(MAGIC, *VERSION, len(payload), _checksum(VERSION, len(payload), frame)) + frame


@modular
def _packed(column: np.ndarray) -> bytes:
    return pack(column)


def read(path: str | Path) -> tuple[dict[str, Any], list[dict[str, np.ndarray]]]:
    """The document and the groups of a file. Raises :class:`InputError`."""
    try:
        data = Path(path).read_bytes()
    except OSError as problem:
        message = f"cannot be read: {problem.strerror or problem}"
        raise InputError(path, "", message) from None
    payload = unsealed(path, data)
    try:
        return _decode(payload)
    except Malformed as problem:
        raise InputError(path, f"byte {HEAD.size}", str(problem)) from None


def is_proxy(path: str | Path) -> bool:
    """Whether a file is named as a proxy, or begins as one."""
    path = Path(path)
    if path.suffix == SUFFIX:
        return True
    try:
        with path.open("rb") as file:
            return file.read(len(MAGIC)) == MAGIC
    except OSError:
        return False


def _checksum(version: tuple[int, int], size: int, frame: bytes) -> int:
    return zlib.crc32(frame, zlib.crc32(struct.pack("<HHI", *version, size)))


def unsealed(path: str | Path, data: bytes) -> bytes:
    """The payload of a file with that content. Raises :class:`InputError`."""
    if len(data) < HEAD.size or not data.startswith(MAGIC):
        raise InputError(path, "byte 0", "expected a proxy, which begins with \\x89LSP")
    _, major, minor, size, checksum = HEAD.unpack_from(data)
    if major != VERSION[0]:
        message = f"proxy version {major}.{minor}; this program reads version {VERSION[0]}"
        raise InputError(path, f"byte {len(MAGIC)}", message)
    frame = data[HEAD.size :]
    where = f"byte {HEAD.size}"
    if _checksum((major, minor), size, frame) != checksum:
        raise InputError(path, where, f"checksum mismatch in {len(frame)} bytes")
    try:
        if size > LIMIT or zstandard.frame_content_size(frame) != size:
            raise InputError(path, where, f"expected a Zstandard frame of {size} bytes")
        return zstandard.ZstdDecompressor().decompress(frame, allow_extra_data=False)
    except zstandard.ZstdError as problem:
        raise InputError(path, where, f"expected a Zstandard frame: {problem}") from None


def _decode(payload: bytes) -> tuple[dict[str, Any], list[dict[str, np.ndarray]]]:
    begin = LENGTH.size
    end = begin + (LENGTH.unpack_from(payload)[0] if len(payload) >= begin else MOST_JSON)
    if end > min(len(payload), MOST_JSON):
        raise Malformed("expected a header in JSON")
    try:
        document = json.loads(payload[begin:end])
    except (ValueError, RecursionError):
        raise Malformed("expected a header in JSON") from None
    if not isinstance(document, dict):
        raise Malformed("expected a JSON object as the header")
    names = _names(document.pop("columns", None))
    counts = np.array([n for group in names for _, n in group], np.int64)
    values, end = unpack(np.frombuffer(payload, np.uint8), end, counts)
    if end != len(payload):
        raise Malformed(f"{len(payload) - end} bytes too many behind the columns")
    parts = iter(np.split(values, np.cumsum(counts)[:-1]) if len(counts) else [])
    return document, [{name: next(parts) for name, _ in group} for group in names]


def _names(columns: Any) -> list[list[tuple[str, int]]]:
    """The names and lengths of the columns of each group."""
    fine = isinstance(columns, list) and all(isinstance(group, list) for group in columns)
    found = [entry for group in columns for entry in group] if fine else [None]
    if len(found) > MOST_COLUMNS or not all(map(_is_name, found)):
        raise Malformed("header: expected the names and lengths of columns")
    return columns


def _is_name(entry: Any) -> bool:
    if not (isinstance(entry, list) and len(entry) == 2):
        return False
    name, count = entry
    return isinstance(name, str) and type(count) is int and 0 <= count <= LIMIT
