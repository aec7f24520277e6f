"""What a kept file looks like: who made it, for what, and a checksum before the content.

=======  =============================================================
bytes
=======  =============================================================
0-7      ``LOCKSTEP``
8-11     version of this format, little-endian as all numbers
12-15    length of the name
16-23    length of the content
24-55    BLAKE2b-256 of bytes 0-23 and of everything from byte 56 on
56-      the name (``kind/key``, UTF-8), then the content, then nothing
=======  =============================================================
"""

import hashlib
import struct

_MAGIC = b"LOCKSTEP"
_FORMAT = 1
_LENGTHS = struct.Struct("<8sIIQ")
_CHECKSUM = 32
HEAD = _LENGTHS.size + _CHECKSUM


class Damaged(Exception):
    """A file is no whole entry, or not the one that was looked for."""


def _checksum(lengths: bytes, rest: memoryview | bytes) -> bytes:
    digest = hashlib.blake2b(lengths, digest_size=_CHECKSUM)
    digest.update(rest)
    return digest.digest()


def pack(name: str, content: bytes) -> bytes:
    """The bytes of an entry."""
    written = name.encode()
    lengths = _LENGTHS.pack(_MAGIC, _FORMAT, len(written), len(content))
    rest = written + content
    return lengths + _checksum(lengths, rest) + rest


def unpack(data: bytes) -> tuple[str, bytes]:
    """Name and content of an entry. Raises :class:`Damaged`."""
    if not data:
        raise Damaged("it is empty")
    if len(data) < HEAD:
        raise Damaged(f"it ends after {len(data)} bytes")
    magic, version, name, content = _LENGTHS.unpack_from(data)
    if magic != _MAGIC:
        raise Damaged("it does not begin as one of lockstep's")
    if version != _FORMAT:
        raise Damaged(f"its format is {version}, not {_FORMAT}")
    if len(data) != HEAD + name + content:
        raise Damaged(f"it has {len(data)} bytes where {HEAD + name + content} were written")
    rest = memoryview(data)[HEAD:]
    if _checksum(data[: _LENGTHS.size], rest) != data[_LENGTHS.size : HEAD]:
        raise Damaged("its checksum is wrong")
    return bytes(rest[:name]).decode(), bytes(rest[name:])
