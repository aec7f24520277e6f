"""The static instruction records of a kernel, for the timing model and the profile."""

from collections.abc import Sequence

import numpy as np

from lockstep.isa.gcn.instruction import Format, Instruction
from lockstep.isa.instruction import OpClass, Space, blank


def static_code(code: Sequence[Instruction]) -> tuple[np.ndarray, list[str]]:
    """INSTRUCTION records, one an instruction, and the display texts that they refer to."""
    numbers: dict[str, int] = {}
    records = blank(len(code))
    for record, instruction in zip(records, code):
        record["pc"] = instruction.offset
        record["text"] = numbers.setdefault(instruction.name, len(numbers))
        record["op"], record["space"], record["width"] = class_of(instruction)
    return records, list(numbers)


def class_of(i: Instruction) -> tuple[OpClass, Space, int]:
    """Class, memory space and bytes that a lane accesses."""
    name = i.name
    if name == "s_endpgm":
        return OpClass.EXIT, Space.NONE, 0
    if name == "s_barrier":
        return OpClass.BARRIER, Space.NONE, 0
    if i.format == Format.DS:
        return (OpClass.LOAD if "read" in name else OpClass.STORE), Space.SHARED, 4
    if i.format in (Format.MUBUF, Format.MTBUF):
        return (OpClass.LOAD if "load" in name else OpClass.STORE), Space.GLOBAL, 4
    return OpClass.INT32, Space.NONE, 0
