"""The static instruction records of a PTX kernel, for the timing model."""

from collections.abc import Mapping

import numpy as np

from lockstep.execution.ptx import classes
from lockstep.execution.ptx.graph import Block, entry_of
from lockstep.execution.ptx.opcodes import CARRY, registers_in, sources
from lockstep.execution.ptx.pressure import estimate
from lockstep.execution.ptx.registers import Numbers, allocate
from lockstep.isa.instruction import (
    MAX_DESTINATIONS,
    MAX_SOURCES,
    NO_CONSTANT,
    OpClass,
    Space,
    blank,
    constant_place,
)
from lockstep.isa.ptx.syntax import Function, Instruction, Memory, Module, Register, Symbol, Vector

PARAMETERS = 0x160  # of a kernel in bank 0, as in machine code of Volta to Ada; Hopper: 0x210
INSTRUCTION_BYTES = 16  # as machine code since Volta: what the instruction caches hold


class StaticCode:
    """Records of the functions of a kernel, one an instruction, at their static indices.

    ``registers`` is an estimate of what ptxas would give a thread, not the largest number in the
    records. The first function is the kernel, and ``parameters`` says where its parameters are.
    """

    def __init__(
        self,
        module: Module,
        functions: list[Function],
        blocks: list[Block],
        parameters: Mapping[str, int],
    ):
        self.module = module
        self.texts: list[str] = []
        self._text_numbers: dict[str, int] = {}
        self.records = blank(sum(len(f.instructions) for f in functions))
        self.records["pc"] = np.arange(len(self.records)) * INSTRUCTION_BYTES
        index = used = 0
        for function in functions:
            own = [b for b in blocks if b.function is function]
            numbers, used = allocate(module, function, own, used)
            known = parameters if function is functions[0] else {}
            for instruction in function.instructions:
                self._fill(self.records[index], instruction, numbers)
                self.records["constant"][index] = _parameter(instruction, known)
                if instruction.opcode == "ret" and function is functions[0]:
                    self.records[index]["op"] = OpClass.EXIT
                index += 1
        self.registers = estimate(module, functions)

    def _fill(self, record: np.void, i: Instruction, numbers: Numbers) -> None:
        kind = classes.class_of(i)
        record["text"] = self._text(i.name)
        record["op"], record["space"] = kind, classes.space_of(i, kind)
        record["width"], record["cache"] = classes.width_of(i, kind), classes.policy_of(i)
        record["immediate"] = classes.immediate_of(i)
        record["threads"] = classes.threads_of(i)
        entry = entry_of(self.module, i)
        targets = [*i.operands[: entry.destinations], _carry("cc" in i.modifiers)]
        inputs = [*sources(i, entry), i.guard, _carry(entry.reads_carry)]
        near = record["space"] in (Space.SHARED, Space.LOCAL)
        inputs = _ranges(inputs, numbers, MAX_SOURCES, near)
        if kind == OpClass.LOAD and not isinstance(targets[0], Vector):
            numbers = _narrowed(targets[0], numbers, record["width"])
        targets = _ranges(targets, numbers, MAX_DESTINATIONS, near)
        for field, ranges in (("destination", targets), ("source", inputs)):
            record[field + "s"] = len(ranges)
            for k, (first, count) in enumerate(ranges):
                record[field][k], record[field + "_count"][k] = first, count

    def _text(self, text: str) -> int:
        if text not in self._text_numbers:
            self._text_numbers[text] = len(self.texts)
            self.texts.append(text)
        return self._text_numbers[text]


def _parameter(i: Instruction, parameters: Mapping[str, int]) -> int:
    """What becomes an operand in constant memory: a load from a constant place of a parameter."""
    source = i.operands[1] if i.opcode == "ld" and "param" in i.modifiers else None
    base = source.base if isinstance(source, Memory) else None
    if not isinstance(base, Symbol) or base.name not in parameters:
        return NO_CONSTANT
    return constant_place(0, PARAMETERS + parameters[base.name] + source.offset)


def _carry(used: bool) -> Register | None:
    return Register(CARRY) if used else None


def _narrowed(target: Register, numbers: Numbers, width: int) -> Numbers:
    """A load writes as many registers as it reads words; PTX extends it to a wider register."""
    own = {n: numbers[n] for n in registers_in(target) if n in numbers}
    return numbers | {n: (first, min(c, max(width // 4, 1))) for n, (first, c) in own.items()}


def _ranges(operands: list, numbers: Numbers, most: int, near: bool) -> list[tuple[int, int]]:
    """Register ranges of operands in their order, as many as a record holds; none twice.

    ``near``: addresses have 32 bits in machine code, however PTX writes them.
    """
    ranges: list[tuple[int, int]] = []
    for operand in operands:
        names = registers_in(operand)
        own = list(dict.fromkeys(numbers[n] for n in names if n in numbers))
        if isinstance(operand, Memory) and near:
            own = [(first, 1) for first, _ in own]
        ranges += _joined(own) if isinstance(operand, Vector) else own
    return list(dict.fromkeys(ranges))[:most]


def _joined(ranges: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Ranges of which those that follow each other are one."""
    joined = ranges[:1]
    for first, count in ranges[1:]:
        if sum(joined[-1]) == first:
            joined[-1] = (joined[-1][0], joined[-1][1] + count)
        else:
            joined.append((first, count))
    return joined
