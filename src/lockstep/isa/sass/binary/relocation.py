"""Relocations: which bits of data or of an instruction become the address of a symbol.

The kinds are those of cubins that nvcc 12 and 13 make for sm_70 to sm_90, by their numbers; the
instructions that they change tell what they write: ``MOV R4, 0`` half an address, ``CALL.ABS 0``
the place of a function.
"""

from collections.abc import Callable, Iterable
from typing import NamedTuple

import msgspec

from lockstep.isa.sass.binary.cubin import Function, Relocation

CODE = ".text."
WHOLE = 16  # bytes that a field may span: one instruction


class Field(NamedTuple):
    """Where an address goes: it is shifted right, and fills (first bit, bits), lowest first."""

    parts: tuple[tuple[int, int], ...]
    shift: int = 0


_ADDRESS = Field(((0, 64),))
_LOW, _HIGH = Field(((32, 32),)), Field(((32, 32),), 32)
DESCRIPTORS = (35, 62, 63)  # kinds that stand for what is launched, or called by its address
FIELDS = {
    2: _ADDRESS,
    4: _ADDRESS,  # a generic one: global memory has the same there
    35: _ADDRESS,
    56: _LOW,
    57: _HIGH,
    58: Field(((34, 47),), 2),  # the target of a call, in words
    62: _LOW,
    63: _HIGH,
    75: Field(((16, 8), (34, 47)), 2),  # the same on sm_90
    **{84 + k: Field(((0, 8),), 8 * k) for k in range(8)},  # a byte of it, in a packed structure
    102: _ADDRESS,  # of a function that all modules of a program share
    112: _LOW,
    113: _HIGH,
    114: Field(((16, 8), (34, 48)), 2),  # the displacement of a call through a register
}


def span(kind: int) -> int:
    """Bytes that a relocation may change, from its place on; of an unknown kind an address."""
    parts = FIELDS.get(kind, _ADDRESS).parts
    return max(-(-(place + bits) // 8) for place, bits in parts)


def relocated(relocation: Relocation, old: bytes, address: int) -> bytes:
    """The up to 16 bytes at a relocation's place with the address of its symbol in its field.

    Raises KeyError if its kind is not known.
    """
    field = FIELDS[relocation.kind]
    word, value, first = int.from_bytes(old, "little"), address + relocation.addend, 0
    value = (value & (1 << 64) - 1) >> field.shift
    for place, bits in field.parts:
        mask = (1 << bits) - 1
        word = word & ~(mask << place) | (value >> first & mask) << place
        first += bits
    return word.to_bytes(len(old), "little")


def relocated_functions(
    functions: Iterable[Function],
    relocations: Iterable[Relocation],
    change: Callable[[Relocation, bytes], bytes],
) -> tuple[Function, ...]:
    """Functions of a cubin, their relocated instructions as ``change`` makes them."""
    found: dict[str, list[Relocation]] = {}
    for relocation in relocations:
        if relocation.section.startswith(CODE):
            found.setdefault(relocation.section.removeprefix(CODE), []).append(relocation)
    return tuple(
        msgspec.structs.replace(f, code=_changed(f.code, found[f.name], change))
        if f.name in found
        else f
        for f in functions
    )


def _changed(
    code: bytes, relocations: Iterable[Relocation], change: Callable[[Relocation, bytes], bytes]
) -> bytes:
    changed = bytearray(code)
    for relocation in relocations:
        place = slice(relocation.offset, relocation.offset + WHOLE)
        changed[place] = change(relocation, bytes(changed[place]))
    return bytes(changed)
