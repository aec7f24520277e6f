"""The ELF files of AMD's OpenCL compiler: 32 bits, one inside of the other.

pyelftools does not read them: their symbol table is linked with no names, and the ELF of a kernel
holds the sections of two machines, whose names are the same. So sections are found by where they
lie in the file. Nothing is read outside of the bytes given.
"""

import struct
from collections.abc import Iterator
from dataclasses import dataclass

from lockstep.errors import InputError

MACHINE = 0x3FD  # of the outer file
HEADER_BYTES = 52
_SECTION, _SEGMENT, _SYMBOL = (
    struct.Struct("<10I"),
    struct.Struct("<8I"),
    struct.Struct("<3I2BH"),
)
_SECTION_TABLE, _SEGMENT_TABLE = (32, 46), (28, 42)  # places of offset, and of size and count
_NAMES_AT = 50
_NOBITS = 8
_MOST_NAME = 1024  # characters of the name of a symbol
_MOST_SECTION_NAME = 32  # more are not kept: those that are looked for are shorter


@dataclass(frozen=True, slots=True)
class ElfSection:
    """A section: where its header is, and which bytes it has, both in the file."""

    place: int
    name: str
    kind: int
    offset: int
    size: int


@dataclass(frozen=True, slots=True)
class ElfSegment:
    """A segment of a program header."""

    place: int
    kind: int
    offset: int
    size: int


@dataclass(frozen=True, slots=True)
class ElfSymbol:
    """A symbol: which bytes it names."""

    place: int
    name: str
    offset: int
    size: int


class Elf:
    """An ELF file of 32 bits; ``base`` is where its bytes lie in the file that is read."""

    def __init__(self, data: bytes, path: str, base: int = 0):
        self.data, self.path, self.base = data, path, base
        if data[:4] != b"\x7fELF":
            raise self.error(0, "expected an ELF file")
        if len(data) < HEADER_BYTES:
            raise self.error(0, f"an ELF file of {len(data)} bytes: it is truncated")
        if data[4:6] != b"\x01\x01":
            raise self.error(4, "expected a 32-bit little-endian ELF file")

    def error(self, offset: int, message: str) -> InputError:
        """What is wrong at a byte of this ELF."""
        return InputError(self.path, f"byte {self.base + offset}", message)

    def read(self, offset: int, size: int, what: str, place: int) -> bytes:
        """Some bytes; InputError, said of ``place``, if they are not in the file."""
        self.check(offset, size, what, place)
        return self.data[offset : offset + size]

    def check(self, offset: int, size: int, what: str, place: int) -> None:
        """InputError, said of ``place``, if some bytes are not in the file."""
        if offset + size > len(self.data):
            raise self.error(
                place,
                f"{what} has {size} bytes at byte {self.base + offset}, but they end at byte "
                f"{self.base + len(self.data)}: truncated?",
            )

    def sections(self) -> list[ElfSection]:
        """All sections, with their names."""
        headers = list(self._table(_SECTION_TABLE, _SECTION, "the section table"))
        (number,) = struct.unpack_from("<H", self.data, _NAMES_AT)
        if not number < len(headers):
            raise self.error(_NAMES_AT, f"section {number} names the others, of {len(headers)}")
        place, header = headers[number]
        names = self.read(header[4], header[5], "the section of names", place)
        found = []
        for place, (name, kind, _, _, offset, size, *_) in headers:
            if kind == _NOBITS:
                size = 0
            self.check(offset, size, "a section", place)
            label = names[name : name + _MOST_SECTION_NAME].split(b"\0")[0].decode("latin-1")
            found.append(ElfSection(place, label, kind, offset, size))
        return found

    def segments(self) -> list[ElfSegment]:
        """All segments."""
        found = []
        for place, (kind, offset, _, _, size, *_) in self._table(
            _SEGMENT_TABLE, _SEGMENT, "the program header"
        ):
            self.check(offset, size, "a segment", place)
            found.append(ElfSegment(place, kind, offset, size))
        return found

    def symbols(self) -> Iterator[ElfSymbol]:
        """The symbols whose bytes are in a section, by the names of ``.strtab``."""
        sections = self.sections()
        by_name = {section.name: section for section in sections}
        for needed in (".symtab", ".strtab"):
            if needed not in by_name:
                raise self.error(_SECTION_TABLE[0], f"there is no section {needed}")
        table, strings = by_name[".symtab"], by_name[".strtab"]
        names = self.data[strings.offset : strings.offset + strings.size]
        for place in range(table.offset, table.offset + table.size - 15, _SYMBOL.size):
            name, value, size, _, _, number = _SYMBOL.unpack_from(self.data, place)
            if not 0 < number < len(sections):
                continue
            section = sections[number]
            if value + size > section.size:
                raise self.error(place, f"a symbol lies outside of its section {section.name}")
            label = self._name(names, name, place)
            yield ElfSymbol(place, label, section.offset + value, size)

    def _table(
        self, where: tuple[int, int], entry: struct.Struct, what: str
    ) -> Iterator[tuple[int, tuple]]:
        """Places and fields of the entries of a table of the header."""
        (offset,) = struct.unpack_from("<I", self.data, where[0])
        size, count = struct.unpack_from("<2H", self.data, where[1])
        if count and size != entry.size:
            raise self.error(where[1], f"entries of {size} bytes in {what}; expected {entry.size}")
        self.check(offset, count * size, what, where[0])
        for k in range(count):
            yield offset + k * size, entry.unpack_from(self.data, offset + k * size)

    def _name(self, names: bytes, start: int, place: int) -> str:
        end = names.find(b"\0", start, start + _MOST_NAME)
        if end < 0:
            raise self.error(place, f"a name at byte {start} of {len(names)} bytes of names")
        return names[start:end].decode("latin-1")


def is_elf_of_amd(data: bytes) -> bool:
    """Whether the bytes begin as a kernel binary of AMD's OpenCL compiler."""
    return data[:5] == b"\x7fELF\x01" and int.from_bytes(data[18:20], "little") == MACHINE
