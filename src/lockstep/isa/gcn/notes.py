"""The notes in the ELF of a kernel: what the driver sets the hardware to."""

import struct
from dataclasses import dataclass, field

from lockstep.isa.gcn.elf import Elf, ElfSegment

_HEADER = struct.Struct("<3I8s")  # size of the name, size of what follows, type, name
_NAME = b"ATI CAL\0"
PROGRAM, CONSTANT_BUFFERS, UAVS = 1, 10, 16
_ELEMENTS, _FIRST_ELEMENT, MOST_ELEMENTS = 0x80001000, 0x80001001, 16
_VGPRS, _SGPRS, _FLOAT_MODE, _RESOURCES = 0x80001041, 0x80001042, 0x80001043, 0x2E13
USUAL_FLOAT_MODE = 0xC0  # what AMD's compiler always sets
MOST_VGPRS, MOST_SGPRS = 256, 104
_ROW = 16  # bytes of the unit in which the size of a constant buffer is given


@dataclass(frozen=True, slots=True)
class UserElement:
    """``count`` scalar registers from ``first`` on hold something of class ``kind``.

    2 and 4 are the descriptors of constant buffer and UAV ``slot``, 20, 23 and 17 the addresses
    of the tables of constant buffers, UAVs and resources, 1 a sampler.
    """

    kind: int
    slot: int
    first: int
    count: int


@dataclass
class Program:
    """What the notes say; ``resources`` is the register COMPUTE_PGM_RSRC2."""

    user_elements: tuple[UserElement, ...] = ()
    vgprs: int = 0
    sgprs: int = 0
    float_mode: int = USUAL_FLOAT_MODE
    resources: int = 0
    constant_buffers: dict[int, int] = field(default_factory=dict)
    uavs: tuple[int, ...] = ()


def read_notes(elf: Elf, segment: ElfSegment, program: Program) -> None:
    """Read the notes of one segment into ``program``."""
    place, end = segment.offset, segment.offset + segment.size
    while place + _HEADER.size <= end:
        size, length, kind, name = _HEADER.unpack_from(elf.data, place)
        if size != len(_NAME) or name != _NAME:
            raise elf.error(place, f"expected a note of {_NAME[:-1].decode()}")
        start = place + _HEADER.size
        if start + length > end:
            raise elf.error(place, f"a note of {length} bytes ends after its segment: truncated?")
        words = struct.unpack_from(f"<{length // 4}I", elf.data, start)
        if kind == PROGRAM:
            _program(elf, place, dict(zip(words[::2], words[1::2])), program)
        elif kind == CONSTANT_BUFFERS:
            pairs = zip(words[::2], words[1::2])
            program.constant_buffers = {number: _ROW * rows for number, rows in pairs}
        elif kind == UAVS:
            program.uavs = words[::4]
        place = start + length


def _program(elf: Elf, place: int, values: dict[int, int], program: Program) -> None:
    """What pairs of an address and its value say."""
    count = values.get(_ELEMENTS, 0)
    if count > MOST_ELEMENTS:
        raise elf.error(place, f"{count} user elements; at most {MOST_ELEMENTS} are possible")
    program.vgprs, program.sgprs = values.get(_VGPRS, 0), values.get(_SGPRS, 0)
    if not (program.vgprs <= MOST_VGPRS and program.sgprs <= MOST_SGPRS):
        raise elf.error(
            place,
            f"{program.vgprs} vector and {program.sgprs} scalar registers; at most {MOST_VGPRS} "
            f"and {MOST_SGPRS} are possible",
        )
    elements = []
    for first in range(_FIRST_ELEMENT, _FIRST_ELEMENT + 4 * count, 4):
        element = UserElement(*(values.get(first + k, 0) for k in range(4)))
        if element.first + element.count > MOST_SGPRS:
            raise elf.error(place, f"a user element of {element.count} at s{element.first}")
        elements.append(element)
    program.user_elements = tuple(elements)
    program.float_mode = values.get(_FLOAT_MODE, USUAL_FLOAT_MODE)
    program.resources = values.get(_RESOURCES, 0)
