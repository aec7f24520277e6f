"""An instruction of Southern Islands, and the sixteen ways in which they are encoded."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum

LITERAL = 255  # as a source: the 32 bits that follow the instruction


class Format(Enum):
    """The encodings; VOP3B is VOP3A with a scalar result instead of absolute values and clamp."""

    SOP2 = "SOP2"
    SOPK = "SOPK"
    SOP1 = "SOP1"
    SOPC = "SOPC"
    SOPP = "SOPP"
    SMRD = "SMRD"
    VOP2 = "VOP2"
    VOP1 = "VOP1"
    VOPC = "VOPC"
    VOP3A = "VOP3A"
    VOP3B = "VOP3B"
    VINTRP = "VINTRP"
    DS = "DS"
    MUBUF = "MUBUF"
    MTBUF = "MTBUF"
    MIMG = "MIMG"
    EXP = "EXP"


@dataclass(frozen=True, slots=True)
class Instruction:
    """One decoded instruction.

    ``offset`` counts bytes from the kernel's first instruction, ``size`` is 4 or 8 bytes.
    ``opcode`` is as encoded, 9 bits in VOP3; ``name`` is the mnemonic without ``_e32`` and
    ``_e64``. ``fields`` are as encoded, by the names of ``layout.py``: ``sbase`` in pairs of
    registers, ``srsrc`` and ``ssamp`` in fours, ``simm16`` without its sign. ``literal`` is the 32
    bits that follow, or None.
    """

    offset: int
    size: int
    format: Format
    opcode: int
    name: str
    fields: Mapping[str, int]
    literal: int | None
