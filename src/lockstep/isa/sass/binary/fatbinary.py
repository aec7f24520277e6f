"""Fat binaries: containers of PTX and cubins for several architectures, alone or in a host program.

A container is a header and entries, each with a header of its own and a payload, raw or compressed.
nvcc puts containers into the section ``.nv_fatbin`` of objects, libraries and programs; what is to
be linked (``-rdc=true``) into ``__nv_relfatbin``, where a program still has it when it was.
"""

import struct
from pathlib import Path

import lz4.block
import msgspec
import zstandard

from lockstep.errors import InputError
from lockstep.isa.sass.binary.cubin import DAMAGE, architecture_of
from lockstep.isa.sass.binary.sections import MACHINE_CUDA, is_elf, machine, open_elf

MAGIC = 0xBA55ED50
MOST_BYTES = 1 << 30  # that an entry may expand to: nvcc's largest libraries have 100 MB
_CONTAINER = struct.Struct("<IHHQ")  # magic, version, header size, payload size
_ENTRY = struct.Struct("<HHIQIIHHIIIQQQ")
_KINDS = {1: "ptx", 2: "cubin"}
_ZSTD, _LZ4 = 0x8000, 0x2000
_SECTIONS = (".nv_fatbin", "__nv_relfatbin")  # the first one that has code counts


class Image(msgspec.Struct, frozen=True):
    """One program of a fat binary: ``kind`` is ``ptx`` or ``cubin``, ``data`` is decompressed."""

    kind: str
    architecture: int
    data: bytes


def read_images(path: Path) -> list[Image]:
    """The GPU programs in a cubin, a fat binary, or a host object, library or program."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise InputError(path, "", f"cannot read: {error.strerror}") from error
    return images_of(data, path)


def images_of(data: bytes, path: Path) -> list[Image]:
    """The GPU programs in the bytes of such a file; ``path`` is for messages."""
    if is_elf(data):
        if machine(data) == MACHINE_CUDA:
            return [Image("cubin", architecture_of(data, path), data)]
        return _in_program(data, path)
    if data[:4] == MAGIC.to_bytes(4, "little"):
        return [image for images in objects_of(data, path) for image in images]
    raise InputError(path, "", "neither a cubin nor a fat binary nor a program with one")


def _in_program(data: bytes, path: Path) -> list[Image]:
    elf = open_elf(data, path)
    try:
        kept = [s for s in elf.iter_sections() if s.name in _SECTIONS]
        if any(section.compressed for section in kept):
            raise ValueError("its code for GPUs is in a compressed section")
        sections = [(section.name, section.data()) for section in kept]
    except DAMAGE as error:
        raise InputError(path, "", f"damaged program: {error}") from error
    for wanted in _SECTIONS:
        code = [containers for name, containers in sections if name == wanted]
        found = [images for containers in code for images in objects_of(containers, path)]
        if any(found):
            return [image for images in found for image in images]
    raise InputError(path, "", "the program contains no code for GPUs (no .nv_fatbin section)")


def objects_of(data: bytes, path: Path) -> list[list[Image]]:
    """The entries of each of the containers that lie one after the other, perhaps with padding."""
    found: list[list[Image]] = []
    start = data.find(MAGIC.to_bytes(4, "little"))
    while start >= 0:
        if start + _CONTAINER.size > len(data):
            raise InputError(path, f"byte {start}", "a fat binary ends within its header")
        _, _, header, size = _CONTAINER.unpack_from(data, start)
        end = start + header + size
        if header < _CONTAINER.size or end > len(data):
            message = f"a fat binary of {header + size} bytes; only {len(data) - start} are there"
            raise InputError(path, f"byte {start}", message)
        found.append(_entries(data, start + header, end, path))
        start = data.find(MAGIC.to_bytes(4, "little"), end)
    return found


def _entries(data: bytes, start: int, end: int, path: Path) -> list[Image]:
    found: list[Image] = []
    while start + _ENTRY.size <= end:
        fields = _ENTRY.unpack_from(data, start)
        kind, header, size, compressed, architecture, flags, expanded = (
            fields[i] for i in (0, 2, 3, 4, 8, 11, 13)
        )
        if header < _ENTRY.size or start + header + size > end:
            raise InputError(path, f"byte {start}", "an entry is longer than its fat binary")
        if kind in _KINDS:
            payload = data[start + header : start + header + size]
            if flags & (_ZSTD | _LZ4):
                payload = _expand(payload[:compressed], flags, expanded, f"byte {start}", path)
            found.append(Image(_KINDS[kind], architecture, payload))
        start += header + size
    return found


def _expand(payload: bytes, flags: int, size: int, where: str, path: Path) -> bytes:
    if size > MOST_BYTES:
        raise InputError(path, where, f"an entry says it expands to {size} bytes")
    try:
        if flags & _ZSTD:
            with zstandard.ZstdDecompressor().stream_reader(payload) as stream:
                return stream.read(size)
        return lz4.block.decompress(payload, uncompressed_size=size)
    except (zstandard.ZstdError, lz4.block.LZ4BlockError, ValueError, MemoryError) as error:
        raise InputError(path, where, f"an entry does not decompress: {error}") from error


def best_image(images: list[Image], architecture: int) -> Image | None:
    """What a GPU of that architecture runs: its own code, else an older one's it can run, else PTX.

    Machine code runs on later GPUs of the same major version; PTX on all later ones.
    """
    major = architecture // 10
    code = [i for i in images if i.kind == "cubin" and i.architecture // 10 == major]
    code = [i for i in code if i.architecture <= architecture]
    text = [i for i in images if i.kind == "ptx" and i.architecture <= architecture]
    fitting = code or text
    return max(fitting, key=lambda image: image.architecture) if fitting else None
