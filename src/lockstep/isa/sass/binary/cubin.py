"""Cubins: ELF files with the machine code of one architecture, and what launching it takes."""

import math
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec
from elftools.common.exceptions import ELFError
from elftools.elf.elffile import ELFFile
from elftools.elf.relocation import RelocationSection
from elftools.elf.sections import Section, SymbolTableSection
from elftools.elf.sections import Symbol as RawSymbol

from lockstep.errors import InputError
from lockstep.isa.instruction import RESERVED_SHARED
from lockstep.isa.sass.binary import information
from lockstep.isa.sass.binary.information import CubinParameter
from lockstep.isa.sass.binary.sections import (
    MACHINE_CUDA,
    SYMBOL_BYTES,
    is_elf,
    machine,
    open_elf,
)
from lockstep.names import demangled

DAMAGE = (ELFError, ValueError, KeyError, IndexError, AttributeError, TypeError, OverflowError)
SECOND_LAYOUT = 8  # ABI version from which the architecture is in bits 8-15 of the flags
OTHER = 5  # byte of a symbol: its other field
ENTRY = 0x10  # bit of a symbol's other field: the function is a kernel
# From sm_90 on, addresses of shared memory begin with what the system keeps for itself: a kernel's
# section counts it, variables follow it. (Sections of nvcc 13.0 and of Triton's ptxas 12.8.)
FIRST_RESERVED = 90
_TEXT, _SHARED, _CONSTANT = ".text.", ".nv.shared.", ".nv.constant"
_REGISTER_SHIFT, _BARRIER_SHIFT = 24, 20
_FUNCTION, _OBJECT, _LOCAL = "STT_FUNC", "STT_OBJECT", "STB_LOCAL"

_Table = tuple[SymbolTableSection, list[RawSymbol]]


class CubinSymbol(msgspec.Struct, frozen=True):
    """A function or variable: its section, its place there and its bytes."""

    name: str
    kind: str
    section: str
    offset: int
    size: int


class Relocation(msgspec.Struct, frozen=True):
    """A place in a section that becomes the address of a symbol, plus ``addend``."""

    section: str
    offset: int
    kind: int
    symbol: str
    addend: int = 0


class Function(msgspec.Struct, frozen=True):
    """A kernel, or a function that kernels call (``is_kernel``), with its code.

    ``most_threads``: in a block, if it was compiled for that many. ``cluster``: the CTAs of the
    clusters that it must be launched in.
    ``parameter_base`` is where in constant bank 0 the parameters begin, ``constants`` the
    function's own banks by number. Sizes are bytes: ``shared_bytes`` a CTA, after the first
    ``reserved_shared``, which are the system's; ``local_bytes`` and ``stack_bytes`` a thread, the
    latter 0 where calls may be nested to any depth.
    """

    name: str
    code: bytes
    registers: int
    is_kernel: bool = True
    barriers: int = 0
    shared_bytes: int = 0
    reserved_shared: int = 0
    local_bytes: int = 0
    stack_bytes: int = 0
    parameter_base: int = 0
    parameter_bytes: int = 0
    parameters: tuple[CubinParameter, ...] = ()
    constants: dict[int, bytes] = {}
    most_threads: int | None = None
    cluster: tuple[int, int, int] | None = None

    @property
    def title(self) -> str:
        """The name in C++."""
        return demangled(self.name)


class Cubin(msgspec.Struct, frozen=True):
    """A cubin: functions in the order of their sections, and what they share.

    ``constants`` are the banks of the module, 3 for ``__constant__``. ``initial`` is the contents
    of its initialised global variables, ``global_bytes`` the size of those that begin as zero.
    """

    architecture: int
    functions: tuple[Function, ...]
    constants: dict[int, bytes]
    initial: bytes
    global_bytes: int
    symbols: tuple[CubinSymbol, ...]
    relocations: tuple[Relocation, ...]
    sections: dict[str, bytes]

    @property
    def for_debuggers(self) -> bool:
        """Whether it was built for debuggers (``-G``): not optimised, every variable in memory."""
        return ".debug_info" in self.sections

    @property
    def kernels(self) -> tuple[Function, ...]:
        """The functions that can be launched."""
        return tuple(f for f in self.functions if f.is_kernel)


def architecture_of(data: bytes, path: Path) -> int:
    """80 for sm_80."""
    if not is_elf(data) or machine(data) != MACHINE_CUDA or len(data) < 64:
        raise InputError(path, "", "not a cubin: expected an ELF file for the machine CUDA")
    flags = int.from_bytes(data[48:52], "little")
    return flags >> 8 & 0xFF if data[8] >= SECOND_LAYOUT else flags & 0xFF


def read_cubin(data: bytes, path: Path) -> Cubin:
    """Everything in a cubin; ``path`` is for messages. InputError if it is damaged."""
    architecture = architecture_of(data, path)
    elf = open_elf(data, path)
    try:
        return _read(elf, architecture, path)
    except DAMAGE as error:
        raise InputError(path, "", f"damaged cubin: {error}") from error


def _read(elf: ELFFile, architecture: int, path: Path) -> Cubin:
    ordered = list(elf.iter_sections())
    if packed := [section.name for section in ordered if section.compressed]:
        raise ValueError(f"section {packed[0]} is compressed")
    sections = {section.name: section for section in ordered}
    tables = [(s, list(s.iter_symbols())) for s in ordered if isinstance(s, SymbolTableSection)]
    names = _names(tables)
    symbols = _symbols(tables, names, [section.name for section in ordered])
    kernels = _kernel_names(tables)
    numbers = {number: name for table in names for number, name in enumerate(table)}
    values = _values(_info(sections, ".nv.info", path), numbers)
    functions = tuple(
        _function(section, sections, kernels, values, path, architecture)
        for name, section in sections.items()
        if name.startswith(_TEXT)
    )
    empty = sections.get(".nv.global")
    return Cubin(
        architecture,
        functions,
        _banks(sections, ""),
        sections[".nv.global.init"].data() if ".nv.global.init" in sections else b"",
        empty["sh_size"] if empty is not None else 0,
        symbols,
        tuple(_relocations(ordered, numbers)),
        {n: s.data() for n, s in sections.items() if n.startswith((".debug_", ".nv_debug_"))},
    )


def _function(
    section: Section,
    sections: dict[str, Section],
    kernels: set[str],
    values: dict[tuple[int, str], int],
    path: Path,
    architecture: int,
) -> Function:
    name = section.name.removeprefix(_TEXT)
    own = _info(sections, f".nv.info.{name}", path)
    shared = sections.get(_SHARED + name)
    size_of_shared = shared["sh_size"] if shared is not None else 0
    reserved = min(RESERVED_SHARED, size_of_shared) if architecture >= FIRST_RESERVED else 0
    found = {a.number: a for a in own}
    cbank = found.get(information.CBANK)
    place = int.from_bytes(cbank.payload[4:6], "little") if cbank else 0
    size = int.from_bytes(cbank.payload[6:8], "little") if cbank else 0
    parameters = map(information.parameter, own)
    counted = found.get(information.BARRIERS)
    return Function(
        name,
        section.data(),
        values.get((information.REGISTERS, name), 0) or section["sh_info"] >> _REGISTER_SHIFT,
        name in kernels,
        counted.payload[0] if counted else section["sh_flags"] >> _BARRIER_SHIFT & 0x7F,
        size_of_shared - reserved,
        reserved,
        values.get((information.FRAME_SIZE, name), 0),
        values.get((information.MIN_STACK_SIZE, name), 0) % information.UNKNOWN,
        place,
        size,
        tuple(sorted((p for p in parameters if p), key=lambda p: p.ordinal)),
        _banks(sections, f".{name}"),
        _product(found.get(information.MOST_THREADS)),
        _three(found.get(information.CLUSTER)),
    )


def _product(attribute: information.Attribute | None) -> int | None:
    return math.prod(attribute.words()) if attribute is not None else None


def _three(attribute: information.Attribute | None) -> tuple[int, int, int] | None:
    words = attribute.words() if attribute is not None else ()
    return (words[0], words[1], words[2]) if len(words) >= 3 else None


def _info(sections: dict[str, Section], name: str, path: Path) -> list[information.Attribute]:
    section = sections.get(name)
    return list(information.attributes(section.data(), name, path)) if section is not None else []


def _values(
    info: list[information.Attribute], numbers: dict[int, str]
) -> dict[tuple[int, str], int]:
    """What the module's attributes say of single functions: pairs of a symbol and a value."""
    found: dict[tuple[int, str], int] = {}
    for attribute in info:
        words = attribute.words()
        if len(words) == 2 and words[0] in numbers:
            found.setdefault((attribute.number, numbers[words[0]]), words[1])
    return found


def _banks(sections: dict[str, Section], suffix: str) -> dict[int, bytes]:
    names = {f"{_CONSTANT}{n}{suffix}": n for n in range(32)}
    return {n: sections[name].data() for name, n in names.items() if name in sections}


def _kernel_names(tables: Sequence[_Table]) -> set[str]:
    """Functions whose symbols are marked as entries."""
    return {
        symbol.name
        for table, symbols in tables
        for symbol, raw in zip(symbols, _raw_symbols(table), strict=True)
        if symbol["st_info"]["type"] == _FUNCTION and raw[OTHER] & ENTRY
    }


def _raw_symbols(table: SymbolTableSection) -> list[bytes]:
    data = table.data()
    return [data[i : i + SYMBOL_BYTES] for i in range(0, len(data), SYMBOL_BYTES)]


def _names(tables: Sequence[_Table]) -> list[list[str]]:
    """The names of the symbols of each table.

    Objects that were linked may each have a local variable of the same name, such as a string:
    all but the first get their number behind an apostrophe.
    """
    found = []
    for _, symbols in tables:
        names: list[str] = []
        taken: set[str] = set()
        for number, symbol in enumerate(symbols):
            name, info = symbol.name, symbol["st_info"]
            if info["type"] == _OBJECT and info["bind"] == _LOCAL and name in taken:
                name = f"{name}'{number}"
            taken.add(name)
            names.append(name)
        found.append(names)
    return found


def _symbols(
    tables: Sequence[_Table], names: Sequence[Sequence[str]], sections: Sequence[str]
) -> tuple[CubinSymbol, ...]:
    found = []
    for (_, symbols), own in zip(tables, names, strict=True):
        for name, symbol in zip(own, symbols, strict=True):
            place, kind = symbol["st_shndx"], symbol["st_info"]["type"]
            if kind in (_FUNCTION, _OBJECT) and isinstance(place, int) and place < len(sections):
                value, size = symbol["st_value"], symbol["st_size"]
                found.append(CubinSymbol(name, kind[4:].lower(), sections[place], value, size))
    return tuple(found)


def _relocations(sections: Sequence[Section], numbers: dict[int, str]) -> Iterator[Relocation]:
    for section in sections:
        if isinstance(section, RelocationSection) and section["sh_entsize"] in (16, 24):
            target = section.name.removeprefix(".rela").removeprefix(".rel")
            for entry in section.iter_relocations():
                info = entry["r_info"]
                addend = entry["r_addend"] if section.is_RELA() else 0
                symbol = numbers.get(info >> 32, "")
                yield Relocation(target, entry["r_offset"], info & 0xFFFFFFFF, symbol, addend)
