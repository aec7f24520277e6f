"""Targets: cubins, fat binaries, programs that hold them, line tables, and single instructions."""

import random
import struct
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from unittest import mock

import msgspec
import zstandard

from fuzzing import mutations
from fuzzing.ptx import Translated
from fuzzing.target import Target
from lockstep import Device
from lockstep.device import cubin
from lockstep.device.module import Module
from lockstep.execution.programs.program import Program, Recording
from lockstep.execution.sass.source import Source
from lockstep.isa.sass.binary import images_of, line_at, lines, listing, read_cubin
from lockstep.isa.sass.encoding import ARCHITECTURES, decode

TESTS = Path(__file__).parents[1]
FIXTURES = TESTS / "isa" / "sass" / "binary" / "fixtures"
CUBINS = TESTS / "device" / "cubins"
PATH = Path("k.cubin")
HEADER, SECTION = 64, 64  # bytes of an ELF file's header, and of a section's
INSTRUCTION = 16  # bytes
EXECUTABLE = 4  # flag of a section
TRANSLATE = cubin.translate


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


def in_code(chance: random.Random, data: bytes, other: bytes) -> bytes:
    """A cubin in which instructions of one function change, or others take their places."""
    start, end = chance.choice(code_of(data))
    code = [data[i : i + INSTRUCTION] for i in range(start, end, INSTRUCTION)]
    known = instructions(images_of(data, PATH)[0].architecture)
    for _ in range(chance.choice((1, 1, 1, 2, 4))):
        a, b = chance.randrange(len(code)), chance.randrange(len(code))
        match chance.randrange(6):
            case 0:
                code[a], code[b] = code[b], code[a]
            case 1:
                code[a] = code[b]
            case 2:
                code[a] = chance.choice(known)
            case 3:
                code[a] = mutations.flip(chance, chance.choice(known), b"")
            case 4:
                code[a] = mutations.number(chance, code[a], b"")
            case _:
                code[a] = mutations.flip(chance, code[a], b"")
    return data[:start] + b"".join(code) + data[end:]


def code_of(data: bytes) -> list[tuple[int, int]]:
    """Where the code of each function of a whole cubin is."""
    (table,), (count,) = struct.unpack_from("<Q", data, 40), struct.unpack_from("<H", data, 60)
    found = []
    for header in range(table, table + count * SECTION, SECTION):
        flags, _, offset, size = struct.unpack_from("<4Q", data, header + 8)
        if flags & EXECUTABLE:
            found.append((offset, offset + size))
    return found


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
        whole = read_cubin(data, PATH)
        table = lines(whole)
        known = whole.functions if whole.architecture in ARCHITECTURES else ()
        texts = [list(listing(whole, function, words=True)) for function in known]
        places = [line_at(rows, 16) for rows in table.values()]
        return msgspec.msgpack.encode(whole), table, texts, places


class TranslatedCubin(_Elf, Translated):
    """Machine code to LLVM, and relocations into a device's memory."""

    name, sample = "cubin-translate", 16

    def prepare(self, folder: Path) -> None:
        """The programs of whole kernels: an input seldom changes more than one."""
        super().prepare(folder)
        self._whole: list[tuple[Source, Program]] = []
        with mock.patch.object(cubin, "translate", self._first):
            for seed in self.seeds():
                super().read(seed)

    def seeds(self) -> Sequence[bytes]:
        """Small ones."""
        return small_cubins()

    def mutated(self, chance: random.Random, data: bytes, other: bytes) -> bytes:
        """Half of the time other instructions in a whole file."""
        change = in_code if chance.random() < 0.5 else super().mutated
        return change(chance, data, other)

    def read(self, data: bytes) -> object:
        """The programs of all kernels; those that are as in a whole cubin were made before."""
        with mock.patch.object(cubin, "translate", self._again):
            return super().read(data)

    def _first(self, source: Source, key: str, recording: Recording) -> Program:
        self._whole.append((source, TRANSLATE(source, key, recording)))
        return self._whole[-1][1]

    def _again(self, source: Source, key: str, recording: Recording) -> Program:
        for whole, program in self._whole:
            if source == whole:
                return program
        return TRANSLATE(source, key, recording)

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
        return _several()

    def read(self, data: bytes) -> object:
        """The texts."""
        architecture = ARCHITECTURES[data[0] % len(ARCHITECTURES)] if data else 0
        words = [int.from_bytes(data[i : i + 16], "little") for i in range(1, len(data), 16)]
        decoded = [decode(word, architecture, 16 * i) for i, word in enumerate(words)]
        return [(i.text(), i.control.text(), i.mnemonic) for i in decoded]


@cache
def _several() -> list[bytes]:
    found = []
    for number, architecture in enumerate(ARCHITECTURES):
        words = instructions(architecture)[::20]
        found += [bytes([number]) + b"".join(words[i : i + 4]) for i in range(0, len(words), 4)]
    return found


@cache
def instructions(architecture: int) -> list[bytes]:
    """Those whose disassembly by nvdisasm is known."""
    path = TESTS / "isa" / "sass" / "encoding" / "nvdisasm" / f"sm_{architecture}.txt.zst"
    rows = zstandard.ZstdDecompressor().decompress(path.read_bytes()).decode().split("\n")
    return [bytes.fromhex(row[:32])[::-1] for row in rows if row]


TARGETS = (Cubin, TranslatedCubin, Fatbinary, LineTable, Encoding)
