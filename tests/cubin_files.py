"""Machine code that tests execute, made where NVIDIA's tools are: msgpack under zstd."""

from functools import cache
from pathlib import Path

import msgspec
import zstandard

FOLDER = Path(__file__).parent / "device" / "cubins"


def pack(content):
    """The bytes of a file."""
    return zstandard.ZstdCompressor(19).compress(msgspec.msgpack.encode(content))


@cache
def unpack(path):
    """What a file holds; nobody changes it."""
    return msgspec.msgpack.decode(zstandard.ZstdDecompressor().decompress(path.read_bytes()))


def cubins(name):
    """What ``device/cubins/NAME.zst`` holds: see README.md there."""
    return unpack(FOLDER / f"{name}.zst")


def load(device, name, form):
    """The module that an architecture's cubin in a file is, or its PTX (``ptx``)."""
    code = cubins(name)[form]
    return device.load_ptx(code.decode()) if form == "ptx" else device.load_cubin(code)
