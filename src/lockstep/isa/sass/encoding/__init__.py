"""SASS as bits: the 128-bit instructions of Volta to Hopper, decoded by tables.

``decode`` takes one instruction word, ``disassemble`` the bytes of a code section, ``to_record``
makes the record that the model runs from a decoded instruction.
"""

from lockstep.isa.sass.encoding.decoder import decode, disassemble
from lockstep.isa.sass.encoding.instruction import BYTES, UNKNOWN, Control, Instruction
from lockstep.isa.sass.encoding.layout import ARCHITECTURES
from lockstep.isa.sass.encoding.operand import (
    Address,
    Barriers,
    Constant,
    Float,
    Immediate,
    Name,
    Operand,
    Register,
    Target,
)
from lockstep.isa.sass.encoding.record import operation_class, to_record

__all__ = [
    "ARCHITECTURES",
    "BYTES",
    "UNKNOWN",
    "Address",
    "Barriers",
    "Constant",
    "Control",
    "Float",
    "Immediate",
    "Instruction",
    "Name",
    "Operand",
    "Register",
    "Target",
    "decode",
    "disassemble",
    "operation_class",
    "to_record",
]
