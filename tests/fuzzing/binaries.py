"""Targets: cubins, fat binaries, programs that hold them, line tables, and single instructions."""

import random
import struct
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import msgspec
import zstandard

from fuzzing import mutations
from fuzzing.ptx import Translated
from fuzzing.target import Target
from lockstep import Device
from lockstep.device.module import Module
from lockstep.isa.sass.binary import images_of, line_at, lines, listing, read_cubin
from lockstep.isa.sass.encoding import ARCHITECTURES, decode

TESTS = Path(__file__).parents[1]
FIXTURES = TESTS / "isa" / "sass" / "binary" / "fixtures"
CUBINS = TESTS / "device" / "cubins"
PATH = Path("k.cubin")
HEADER, SECTION = 64, 64  # bytes of an ELF file's header, and of a section's


@cache
def small_cubins() -> list[bytes]:
    """With and without line tables, calls, variables and relocations; of both ABIs."""
    paths = [FIXTURES / "scale_sm70.cubin", FIXTURES / "scale_sm90.cubin"]
    paths += [CUBINS / "calls.sm_80.cubin", CUBINS / "recorded.sm_80.cubin"]
    return [path.read_bytes() for path in paths]


def in_a_section(chance: random.Random, data: bytes, other: bytes) -> bytes:
    """An ELF file with one section changed, or the header of one, or its own header."""
    if len(data) < HEADER:
        return mutations.mutate(chance, data, other, mutations.BINARY)
    (table,), (count,) = struct.unpack_from("<Q", data, 40), struct.unpack_from("<H", data, 60)
    number = chance.randrange(count) if count else 0
    header = table + number * SECTION
    if header + SECTION > len(data):
        return mutations.mutate(chance, data, other, mutations.BINARY)
    offset, size = struct.unpack_from("<QQ", data, header + 24)
    start, end = chance.choice(
        ((0, HEADER), (header, header + SECTION), *[(offset, min(offset + size, len(data)))] * 6)
    )
    piece = data[start:end]
    changed = mutations.mutate(chance, piece, piece, mutations.BINARY)
    if len(changed) != len(piece) and chance.random() < 0.8:  # else all behind it moves
        changed = changed[: len(piece)].ljust(len(piece), b"\0")
    return data[:start] + changed + data[end:]


class _Elf(Target):
    def mutated(self, chance: random.Random, data: bytes, other: bytes) -> bytes:
        """Mostly inside a section."""
        if chance.random() < 0.8:
            return in_a_section(chance, data, other)
        return super().mutated(chance, data, other)


class Cubin(_Elf):
    """Everything in a cubin, with its lines and its disassembly."""

    name, sample = "cubin", 40

    def seeds(self) -> Sequence[bytes]:
        """Small ones."""
        return small_cubins()

    def read(self, data: bytes) -> object:
        """The cubin and what is derived from it."""
        cubin = read_cubin(data, PATH)
        table = lines(cubin)
        known = cubin.functions if cubin.architecture in ARCHITECTURES else ()
        texts = [list(listing(cubin, function, words=True)) for function in known]
        places = [line_at(rows, 16) for rows in table.values()]
        return msgspec.msgpack.encode(cubin), table, texts, places


class TranslatedCubin(_Elf, Translated):
    """Machine code to LLVM, and relocations into a device's memory."""

    name = "cubin-translate"

    def seeds(self) -> Sequence[bytes]:
        """Small ones."""
        return small_cubins()

    def load(self, device: Device, data: bytes) -> Module:
        """The module of a cubin."""
        return device.load_cubin(data)


class Fatbinary(_Elf):
    """Containers, packed in both ways, and an object that holds one."""

    name, sample = "fatbinary", 40

    def seeds(self) -> Sequence[bytes]:
        """One of each."""
        names = ("scale_zstd.fatbin", "scale_lz4.fatbin", "scale.o", "scale_sm90.cubin")
        return [(FIXTURES / name).read_bytes() for name in names]

    def read(self, data: bytes) -> object:
        """The images, and what is in those that are cubins."""
        images = images_of(data, PATH)
        for image in images:
            if image.kind == "cubin":
                read_cubin(image.data, PATH)
        return images


class LineTable(Target):
    """The rows of a table, those before the damage."""

    name, refuses = "line-table", False

    def prepare(self, folder: Path) -> None:
        """The cubin around the table."""
        super().prepare(folder)
        self._cubin = read_cubin(small_cubins()[0], PATH)

    def seeds(self) -> Sequence[bytes]:
        """The one of ``-lineinfo``."""
        return [read_cubin(small_cubins()[0], PATH).sections[".debug_line"]]

    def read(self, data: bytes) -> object:
        """The rows."""
        return lines(msgspec.structs.replace(self._cubin, sections={".debug_line": data}))


class Encoding(Target):
    """An architecture's number, and the 16 bytes of each instruction."""

    name, refuses, sample = "encoding", False, 40

    def seeds(self) -> Sequence[bytes]:
        """Instructions that nvdisasm knows: the tables say their names."""
        return _instructions()

    def read(self, data: bytes) -> object:
        """The texts."""
        architecture = ARCHITECTURES[data[0] % len(ARCHITECTURES)] if data else 0
        words = [int.from_bytes(data[i : i + 16], "little") for i in range(1, len(data), 16)]
        decoded = [decode(word, architecture, 16 * i) for i, word in enumerate(words)]
        return [(i.text(), i.control.text(), i.mnemonic) for i in decoded]


@cache
def _instructions() -> list[bytes]:
    found = []
    for number, architecture in enumerate(ARCHITECTURES):
        path = TESTS / "isa" / "sass" / "encoding" / "nvdisasm" / f"sm_{architecture}.txt.zst"
        rows = zstandard.ZstdDecompressor().decompress(path.read_bytes()).decode().split("\n")
        words = [bytes.fromhex(row[:32])[::-1] for row in rows[::20] if row]
        found += [bytes([number]) + b"".join(words[i : i + 4]) for i in range(0, len(words), 4)]
    return found


TARGETS = (Cubin, TranslatedCubin, Fatbinary, LineTable, Encoding)
