"""Object code of Linux on x86-64 in this process, without LLVM.

LLVM places object code too, but to import it takes a tenth of a short run. What machine code of
ours consists of is little: instructions and constants, and relocations of a few kinds (System V
ABI, AMD64 supplement, 4.4). Anything else is :class:`Unknown`, and LLVM's.
"""

import ctypes
import mmap
from collections.abc import Mapping

import numpy as np

from lockstep._jit import perf_map

_HEADER = np.dtype([("ident", "S16"), ("type", "<u2"), ("machine", "<u2"), ("version", "<u4"),
                    ("entry", "<u8"), ("program", "<u8"), ("sections", "<u8"), ("flags", "<u4"),
                    ("sizes", "<u2", 4), ("count", "<u2"), ("names", "<u2")])  # fmt: skip
_SECTION = np.dtype([("name", "<u4"), ("type", "<u4"), ("flags", "<u8"), ("address", "<u8"),
                     ("offset", "<u8"), ("size", "<u8"), ("link", "<u4"), ("info", "<u4"),
                     ("alignment", "<u8"), ("entry", "<u8")])  # fmt: skip
_SYMBOL = np.dtype([("name", "<u4"), ("info", "u1"), ("other", "u1"), ("section", "<u2"),
                    ("value", "<i8"), ("size", "<u8")])  # fmt: skip
_RELOCATION = np.dtype([("offset", "<i8"), ("kind", "<u4"), ("symbol", "<u4"), ("addend", "<i8")])

_BEGINNING = b"\x7fELF\x02\x01\x01"  # 64 bits, little-endian, version 1
_OBJECT, _X86_64 = 1, 62
_BITS, _SYMBOLS, _RELOCATIONS = 1, 2, 4  # types of sections
_WRITTEN, _LOADED, _EXECUTED, _OF_THREADS = 1, 2, 4, 1024  # their flags
_UNWINDING = b".eh_frame\0"  # nothing here throws
_FUNCTION = 2  # a type of symbols
_SPECIAL = 0xFF00  # numbers of sections from here on stand for other things

_ABSOLUTE, _RELATIVE, _CALL, _SLOT = 1, 2, 3, 4
_MANNERS = np.zeros(256, np.uint8)  # what a kind of relocation wants; 0: it is not known
_MANNERS[1] = _ABSOLUTE  # R_X86_64_64
_MANNERS[2] = _RELATIVE  # R_X86_64_PC32
_MANNERS[4] = _CALL  # R_X86_64_PLT32
_MANNERS[[9, 41, 42]] = _SLOT  # R_X86_64_GOTPCREL, _GOTPCRELX, _REX_GOTPCRELX
_REACH = 1 << 31

_JUMP = np.frombuffer(b"\xff\x25\0\0\0\0\xcc\xcc", np.uint8)  # jmp *distance(%rip)
_DISTANCE, _AFTER = 2, 6  # where the distance is in it, and from where it counts
_WORD = 8

_process = ctypes.CDLL(None, use_errno=True)


class Unknown(Exception):
    """The object code has something that is not known here; the message says what."""


class Placed:
    """Object code in memory of its own, which is there as long as the object lives.

    First comes what is executed, ending with a jump for each symbol that is called from too far;
    then, in pages of its own, what is read, ending with the addresses of those symbols.
    """

    def __init__(self, code: bytes, numbers: Mapping[str, int]):
        """``numbers``: what symbols stand for that are neither defined nor of the C library.

        Raises :class:`Unknown`.
        """
        try:
            file = _File(code)
        except (ValueError, IndexError) as error:
            raise Unknown(f"it is cut: {error}") from None
        flags = file.sections["flags"]
        executed = [k for k in file.loaded if flags[k] & _EXECUTED]
        read = [k for k in file.loaded if not flags[k] & _EXECUTED]
        places = np.zeros(len(flags), np.int64)
        jumps = _align(_follow(file.sections, executed, places, 0), _WORD)
        middle = _align(jumps + _WORD * len(file.slotted), mmap.PAGESIZE)
        slots = _align(_follow(file.sections, read, places, middle), _WORD)
        end = _align(slots + _WORD * max(len(file.slotted), 1), mmap.PAGESIZE)

        self._memory = mmap.mmap(-1, end, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        image = np.frombuffer(self._memory, np.uint8)
        base = int(image.ctypes.data)
        for number in file.loaded:
            section, place = file.sections[number], places[number]
            image[place : place + int(section["size"])] = file.content(section)
        values = file.values(base + places, numbers)
        if len(file.relocations):
            _relocate(image, base, file, places, values, jumps, slots)
        _protect(base, middle, mmap.PROT_READ | mmap.PROT_EXEC)
        _protect(base + middle, end - middle, mmap.PROT_READ)
        self.addresses = {name: int(values[number]) for name, number in file.numbers.items()}
        """Where symbols are that others may see, by name."""
        if perf_map.WANTED:
            perf_map.tell(file.functions(values))


class _File:
    """An object file, as far as it is needed."""

    def __init__(self, code: bytes):
        self._code = code
        header = np.frombuffer(code, _HEADER, 1)[0]
        if not code.startswith(_BEGINNING) or header["type"] != _OBJECT:
            raise Unknown("it is no object code of ELF")
        if header["machine"] != _X86_64:
            raise Unknown(f"it is for machine {header['machine']}")
        count, begin = int(header["count"]), int(header["sections"])
        self.sections = np.frombuffer(code, _SECTION, count, begin)
        self.loaded = self._loaded(self.sections[int(header["names"])])
        types = self.sections["type"].tolist()
        if types.count(_SYMBOLS) != 1:
            raise Unknown(f"it has {types.count(_SYMBOLS)} tables of symbols")
        table = self.sections[types.index(_SYMBOLS)]
        self.symbols = self._records(_SYMBOL, table)
        self._names = bytes(self.content(self.sections[int(table["link"])]))
        shared = np.flatnonzero(self.symbols["info"] >> 4)  # not local
        self.numbers = dict(zip(self._named(shared), shared.tolist()))
        self._read_relocations(types)

    def _named(self, symbols: np.ndarray) -> list[str]:
        begins = self.symbols["name"][symbols].tolist()
        return [self._names[b : self._names.index(b"\0", b)].decode() for b in begins]

    def functions(self, values: np.ndarray) -> list[tuple[int, int, str]]:
        """Address, bytes and name of each function, where symbols have these values."""
        chosen = np.flatnonzero(self.symbols["info"] & 15 == _FUNCTION)
        sizes = self.symbols["size"][chosen].tolist()
        return list(zip(values[chosen].tolist(), sizes, self._named(chosen)))

    def content(self, section: np.void) -> np.ndarray:
        """The bytes of a section."""
        return self._records(np.dtype(np.uint8), section)

    def _records(self, dtype: np.dtype, section: np.void) -> np.ndarray:
        count = int(section["size"]) // dtype.itemsize
        return np.frombuffer(self._code, dtype, count, int(section["offset"]))

    def _loaded(self, names: np.void) -> list[int]:
        """The sections that have a place in memory."""
        found = []
        begin, flags = int(names["offset"]), self.sections["flags"]
        for number in np.flatnonzero(flags & _LOADED).tolist():
            section = self.sections[number]
            if self._code.startswith(_UNWINDING, begin + int(section["name"])):
                continue
            if section["type"] != _BITS or flags[number] & (_WRITTEN | _OF_THREADS):
                raise Unknown(f"section {number} has type {section['type']}, flags {flags[number]}")
            found.append(number)
        return found

    def _read_relocations(self, types: list[int]) -> None:
        """All relocations of what is loaded, and which section each changes."""
        of = [
            (int(section["info"]), self._records(_RELOCATION, section))
            for section, kind in zip(self.sections, types)
            if kind == _RELOCATIONS and int(section["info"]) in self.loaded
        ]
        self.relocations = np.concatenate([np.zeros(0, _RELOCATION), *[r for _, r in of]])
        self.changed = np.repeat([k for k, _ in of], [len(r) for _, r in of]).astype(np.int64)
        kinds, used = self.relocations["kind"], self.relocations["symbol"]
        self.manners = _MANNERS[np.minimum(kinds, len(_MANNERS) - 1)]
        if not self.manners.all():
            raise Unknown(f"it has relocations of kind {kinds[self.manners == 0][0]}")
        sections = self.symbols["section"][used]
        if (sections >= _SPECIAL).any():
            raise Unknown("a symbol is neither defined nor undefined")
        slotted = (self.manners == _SLOT) | (self.manners == _CALL) & (sections == 0)
        self.slotted = np.array(sorted({*used[slotted].tolist()}), np.int64)
        """Symbols whose addresses are wanted in memory."""

    def values(self, places: np.ndarray, numbers: Mapping[str, int]) -> np.ndarray:
        """The address of each symbol, where sections are at ``places``."""
        sections = self.symbols["section"]
        ordinary = np.where(sections < _SPECIAL, sections, 0)
        values = places[ordinary] + self.symbols["value"]
        for name, number in self.numbers.items():
            if sections[number] == 0:
                values[number] = _outside(name, numbers)
        return values


def _outside(name: str, numbers: Mapping[str, int]) -> int:
    """What a symbol stands for that is not defined, as a signed number."""
    number = numbers.get(name)
    if number is None and (found := getattr(_process, name, None)):
        number = ctypes.cast(found, ctypes.c_void_p).value
    if number is None:
        raise Unknown(f"nobody defines {name}")
    return ctypes.c_int64(number).value


def _relocate(
    image: np.ndarray,
    base: int,
    file: _File,
    places: np.ndarray,
    values: np.ndarray,
    jumps: int,
    slots: int,
) -> None:
    """Write addresses and distances into the image, whose first byte is at ``base``."""
    order = _WORD * np.arange(len(file.slotted))
    image[jumps : jumps + _WORD * len(order)] = np.tile(_JUMP, len(order))
    _write(image, jumps + order + _DISTANCE, np.full(len(order), slots - jumps - _AFTER, np.int32))
    _write(image, slots + order, values[file.slotted])

    at = places[file.changed] + file.relocations["offset"]
    used, addend, manner = file.relocations["symbol"], file.relocations["addend"], file.manners
    target = values[used] + addend
    absolute = manner == _ABSOLUTE
    _write(image, at[absolute], target[absolute])
    near = ~absolute
    if not near.any():
        return
    at, used, addend, manner, target = (
        at[near],
        used[near],
        addend[near],
        manner[near],
        target[near],
    )
    place = base + _WORD * np.searchsorted(file.slotted, used) + addend
    target = np.where(manner == _SLOT, place + slots, target)
    distance = target - (base + at)
    far = (distance < -_REACH) | (distance >= _REACH)
    if far.any():
        if (manner[far] != _CALL).any():
            raise Unknown("something is out of reach")
        distance = np.where(far, place + jumps - (base + at), distance)
    _write(image, at, distance.astype(np.int32))


def _follow(sections: np.ndarray, numbers: list[int], places: np.ndarray, end: int) -> int:
    """Give sections their places, one after the other; where the last one ends."""
    for number in numbers:
        section = sections[number]
        places[number] = _align(end, max(int(section["alignment"]), 1))
        end = int(places[number]) + int(section["size"])
    return end


def _align(count: int, unit: int) -> int:
    return -(-count // unit) * unit


def _protect(address: int, count: int, allowed: int) -> None:
    if count and _process.mprotect(ctypes.c_void_p(address), ctypes.c_size_t(count), allowed):
        raise OSError(ctypes.get_errno(), "no memory for machine code can be made executable")


def _write(image: np.ndarray, at: np.ndarray, numbers: np.ndarray) -> None:
    """Write each number's bytes at its place, whatever its alignment."""
    size = numbers.dtype.itemsize
    parts = np.ascontiguousarray(numbers).view(np.uint8).reshape(-1, size)
    image[at[:, None] + np.arange(size)] = parts
