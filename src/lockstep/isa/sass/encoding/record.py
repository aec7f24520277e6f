"""From a decoded instruction to the record that the model runs."""

import functools

import numpy as np

from lockstep.isa.instruction import (
    NO_CONSTANT,
    PREDICATES,
    UNIFORM_PREDICATES,
    UNIFORM_REGISTERS,
    OpClass,
    Space,
    constant_place,
)
from lockstep.isa.sass.assembly import set_control
from lockstep.isa.sass.encoding.instruction import Instruction
from lockstep.isa.sass.encoding.layout import layouts, read
from lockstep.isa.sass.encoding.operand import (
    Address,
    Constant,
    Immediate,
    Operand,
    Register,
    Target,
)
from lockstep.isa.sass.lifting import lift, slot_shifts
from lockstep.isa.sass.opcodes import MEMORY_CLASSES
from lockstep.isa.sass.opcodes import decode as meaning

FAMILY = 0x1FF  # of the opcode field: the bits above say what kind of operands there are
_CONSTANT = int(Space.CONSTANT)
_FIRST = {"R": 0, "P": PREDICATES, "UR": UNIFORM_REGISTERS, "UP": UNIFORM_PREDICATES}


def to_record(instruction: Instruction, architecture: int) -> np.ndarray:
    """One instruction record (an array of one) with control bits; the caller sets ``text``.

    Registers that do not print (zero, true) carry no dependence. An instruction that the tables
    do not describe has no operands, and the class that its opcode field tells.
    """
    results = [_register(o) for o in instruction.operands[: instruction.results]]
    sources, uniform = _sources(instruction.operands[instruction.results :])
    if instruction.guard is not None:
        uniform.append(_register(instruction.guard))
    immediate, threads = _immediates(instruction, architecture)
    made, _ = lift(
        instruction.opcode,
        results or [None],  # never guess a result among the sources
        sources + uniform,
        pc=instruction.pc,
        addressed=_is_addressed(instruction, architecture),
        immediate=immediate,
        threads=threads,
        architecture=architecture,
    )
    record = made[0]
    if not instruction.is_known:
        record["op"] = operation_class(instruction, architecture)
    control = instruction.control
    set_control(
        record,
        stall=control.stall,
        yields=control.yields,
        write_barrier=control.write_barrier,
        read_barrier=control.read_barrier,
        wait_mask=control.wait_mask,
    )
    if record["space"] != _CONSTANT:  # a load has its address elsewhere
        record["constant"] = _constant(instruction.operands)
    record["reuse"] = (0 if control.yields else control.reuse) | slot_shifts(sources)
    return made


def operation_class(instruction: Instruction, architecture: int) -> OpClass:
    """What the instruction does; of an unknown one, what its relatives in the opcode field do."""
    if instruction.is_known:
        return meaning(instruction.opcode, architecture, False).op
    return _families(architecture).get(instruction.word & FAMILY, OpClass.UNKNOWN)


@functools.cache
def _families(architecture: int) -> dict[int, OpClass]:
    classes = read("undescribed")["class"]
    found = {code: OpClass[name] for name, codes in classes.items() for code in codes}
    for code, each in layouts(architecture).items():
        found[code & FAMILY] = meaning(each[0].mnemonic, architecture, False).op
    return found


def _register(operand: Operand | None) -> int | None:
    """The unified number of a register, or None for anything without a dependence."""
    if not isinstance(operand, Register) or operand.is_zero or operand.file not in _FIRST:
        return None
    return _FIRST[operand.file] + operand.number


def _sources(operands: tuple[Operand, ...]) -> tuple[list[int | None], list[int | None]]:
    """Registers by position, and the uniform registers of addresses after them."""
    sources: list[int | None] = []
    uniform: list[int | None] = []
    for operand in operands:
        if isinstance(operand, Address):
            sources.append(_register(operand.base))
            uniform += [_register(operand.uniform), _register(operand.descriptor)]
        elif isinstance(operand, Constant):
            sources.append(_register(operand.index))
            uniform.append(_register(operand.bank) if isinstance(operand.bank, Register) else None)
        elif isinstance(operand, Target):
            sources.append(_register(operand.base))
        else:
            sources.append(_register(operand))
    return sources, [n for n in uniform if n is not None]


def _constant(operands: tuple[Operand, ...]) -> int:
    """The place of an operand in constant memory; NO_CONSTANT where a register has a part in it."""
    for o in operands:
        if isinstance(o, Constant) and isinstance(o.bank, int) and (not o.index or o.index.is_zero):
            return constant_place(o.bank, o.place)
    return NO_CONSTANT


def is_indexed(operand: Operand) -> bool:
    """Whether every lane reads a place of its own in constant memory, not among the parameters."""
    if not isinstance(operand, Constant) or operand.index is None or operand.index.is_zero:
        return False
    return operand.index.file == "R" and operand.bank != 0 and isinstance(operand.bank, int)


def _is_addressed(instruction: Instruction, architecture: int) -> bool:
    brackets = any(isinstance(o, Address) or is_indexed(o) for o in instruction.operands)
    return brackets and operation_class(instruction, architecture) in MEMORY_CLASSES


def _immediates(instruction: Instruction, architecture: int) -> tuple[int, int]:
    """The first immediate and, of a barrier, its thread count; 0 where a register holds it."""
    values = [o.value if isinstance(o, Immediate) else None for o in instruction.operands]
    if operation_class(instruction, architecture) not in (OpClass.BARRIER, OpClass.ARRIVE):
        return next((v for v in values if v is not None), 0), 0
    number, threads = (v or 0 for v in [*values, None, None][:2])
    return number, threads
