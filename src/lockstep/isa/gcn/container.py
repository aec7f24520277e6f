"""Kernel binaries of AMD's OpenCL compiler for Southern Islands: an ELF that holds ELFs.

The outer file has three symbols for a kernel K: ``__OpenCL_K_metadata``, ``__OpenCL_K_header`` and
``__OpenCL_K_kernel``, the last a whole ELF. In that, a dictionary says which of its bytes are for
which machine: notes and sections of Tahiti's lie there. ``__OpenCL_N_global`` is the data of
constant buffer N.
"""

import re
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from lockstep.errors import InputError
from lockstep.isa.gcn.elf import MACHINE, Elf, ElfSymbol
from lockstep.isa.gcn.metadata import KernelArgument, Sampler, read_metadata
from lockstep.isa.gcn.notes import Program, UserElement, read_notes

DICTIONARY = 0x70000002  # the type of the segment that lists machines
TAHITI, KERNEL = 26, 4  # machine and type of the entry that is executed
NOTES = 4  # the type of a segment of notes
_ENTRY = struct.Struct("<5I")  # machine, type, offset, size, flags
_NAME = re.compile(r"__OpenCL_(?P<kernel>[A-Za-z_]\w*)_(?P<part>metadata|kernel)", re.ASCII)
_DATA = re.compile(r"__OpenCL_(?P<number>[0-9]{1,4})_global")

__all__ = ["Binary", "Kernel", "KernelArgument", "Sampler", "UserElement", "read", "read_file"]


@dataclass(frozen=True)
class Kernel:
    """A kernel: its code, its arguments, and what the hardware is set to before it runs.

    ``user_elements`` say what the first ``user_sgprs`` scalar registers hold; the ids of the group,
    of those dimensions that ``group_ids`` enables, follow. The first ``item_ids`` vector registers
    hold the work-item's id. ``lds_bytes`` is what the source declares, without ``__local``
    arguments; ``private_bytes`` a work-item's of scratch memory; ``required_size`` a work-group's,
    or None. ``constant_buffers`` are the sizes in bytes of those that the kernel reads, by number,
    ``uavs`` the numbers of those that it uses.
    """

    name: str
    code: bytes
    arguments: tuple[KernelArgument, ...]
    samplers: tuple[Sampler, ...]
    user_elements: tuple[UserElement, ...]
    vgprs: int
    sgprs: int
    float_mode: int
    user_sgprs: int
    group_ids: tuple[bool, bool, bool]
    item_ids: int
    lds_bytes: int
    private_bytes: int
    required_size: tuple[int, int, int] | None
    constant_buffers: Mapping[int, int]
    uavs: tuple[int, ...]


@dataclass(frozen=True)
class Binary:
    """A file: its kernels by name, and the data of constant buffers by number."""

    name: str
    kernels: Mapping[str, Kernel]
    constants: Mapping[int, bytes]


def read_file(path: Path) -> Binary:
    """The binary in a file; raises :class:`InputError` if it cannot be read, or is damaged."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise InputError(path, "", error.strerror or str(error)) from error
    return read(data, str(path))


def read(data: bytes, name: str) -> Binary:
    """The binary in some bytes; ``name`` is what errors call it."""
    elf = Elf(data, name)
    machine = int.from_bytes(data[18:20], "little")
    if machine != MACHINE:
        message = f"machine {machine:#x}; kernels of AMD's OpenCL compiler have {MACHINE:#x}"
        raise elf.error(18, message)
    texts, programs, data_symbols = _symbols(elf)
    if not programs:
        raise InputError(name, "", "there is no kernel in it")
    kernels = {}
    for kernel, symbol in programs.items():
        if kernel not in texts:
            raise elf.error(symbol.place, f"kernel {kernel} has no metadata")
        kernels[kernel] = _kernel(kernel, elf, symbol, texts[kernel])
    constants = {
        number: data[symbol.offset : symbol.offset + symbol.size]
        for number, symbol in data_symbols.items()
    }
    return Binary(name, kernels, constants)


def _symbols(elf: Elf) -> tuple[dict[str, ElfSymbol], dict[str, ElfSymbol], dict[int, ElfSymbol]]:
    """Metadata and programs by kernel, data by constant buffer.

    They do not overlap, so that what is read of a file is never more than the file.
    """
    texts: dict[str, ElfSymbol] = {}
    programs: dict[str, ElfSymbol] = {}
    constants: dict[int, ElfSymbol] = {}
    total = 0
    for symbol in elf.symbols():
        if match := _NAME.fullmatch(symbol.name):
            (texts if match["part"] == "metadata" else programs)[match["kernel"]] = symbol
        elif match := _DATA.fullmatch(symbol.name):
            constants[int(match["number"])] = symbol
        else:
            continue
        total += symbol.size
        if total > len(elf.data):
            raise elf.error(symbol.place, "symbols have more bytes than the file: they overlap")
    return texts, programs, constants


def _kernel(name: str, outer: Elf, symbol: ElfSymbol, text: ElfSymbol) -> Kernel:
    data = outer.data[symbol.offset : symbol.offset + symbol.size]
    elf = Elf(data, outer.path, symbol.offset)
    start, size = _range(elf, name)
    code = next(
        (s for s in elf.sections() if s.name == ".text" and start <= s.offset < start + size), None
    )
    if code is None:
        raise elf.error(0, f"kernel {name} has no code for Tahiti")
    program = Program()
    notes = (s for s in elf.segments() if s.kind == NOTES and start <= s.offset < start + size)
    if segment := next(notes, None):
        read_notes(elf, segment, program)
    words = outer.data[text.offset : text.offset + text.size]
    told = read_metadata(words, outer.path, text.offset)
    resources = program.resources
    return Kernel(
        name=name,
        code=data[code.offset : code.offset + code.size],
        arguments=tuple(told.arguments),
        samplers=tuple(told.samplers),
        user_elements=program.user_elements,
        vgprs=program.vgprs,
        sgprs=program.sgprs,
        float_mode=program.float_mode,
        user_sgprs=resources >> 1 & 0x1F,
        group_ids=(bool(resources & 0x80), bool(resources & 0x100), bool(resources & 0x200)),
        item_ids=min(resources >> 11 & 3, 2) + 1,
        lds_bytes=told.lds_bytes,
        private_bytes=told.private_bytes,
        required_size=told.required_size,
        constant_buffers=program.constant_buffers,
        uavs=program.uavs,
    )


def _range(elf: Elf, name: str) -> tuple[int, int]:
    """Where in the ELF of a kernel the bytes for Tahiti begin, and how many they are."""
    dictionary = next((s for s in elf.segments() if s.kind == DICTIONARY), None)
    if dictionary:
        for place in range(
            dictionary.offset, dictionary.offset + dictionary.size - 19, _ENTRY.size
        ):
            machine, kind, offset, size, _ = _ENTRY.unpack_from(elf.data, place)
            if (machine, kind) == (TAHITI, KERNEL):
                elf.read(offset, size, f"kernel {name}", place)
                return offset, size
    raise elf.error(0, f"kernel {name} has no code for Tahiti")
