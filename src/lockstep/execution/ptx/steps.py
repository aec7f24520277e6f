"""Which instructions of PTX depend on time, or look at memory though they seem to change it."""

from collections.abc import Sequence

from lockstep.execution.programs import steps
from lockstep.execution.ptx.classes import class_of, width_of
from lockstep.execution.ptx.opcodes import find, read, written
from lockstep.isa.ptx.syntax import Function, Immediate, Instruction, Register

_CLOCKS = ("%clock", "%globaltimer")


def steps_of(function: Function) -> set[int]:
    """Places at which blocks begin that are executed one by one."""
    return steps.steps((_depends_on_time(i), i.guard is not None) for i in function.instructions)


def idle_atomics(functions: Sequence[Function]) -> list[int]:
    """Static indices of the atomic operations that add nothing: they look, and change nothing."""
    code = [i for function in functions for i in function.instructions]
    return [k for k, i in enumerate(code) if i.opcode == "atom" and _adds_nothing(i)]


def _adds_nothing(i: Instruction) -> bool:
    return not {"add", "or", "xor"}.isdisjoint(i.modifiers) and i.operands[2] == Immediate(0)


def clock_reads(functions: Sequence[Function]) -> list[int]:
    """Static indices of the clock readings whose results are used; functions follow each other."""
    found, first = [], 0
    for function in functions:
        used: set[str] | None = None
        for place, i in enumerate(function.instructions, first):
            if _reads_clock(i):
                if used is None:
                    used = {n for k in function.instructions for n in read(k, find(k.name))}
                if used & set(written(i, find(i.name))):
                    found.append(place)
        first += len(function.instructions)
    return found


def _depends_on_time(i: Instruction) -> bool:
    return width_of(i, class_of(i)) > 0 or _reads_clock(i)


def _reads_clock(i: Instruction) -> bool:
    return any(isinstance(o, Register) and o.name.startswith(_CLOCKS) for o in i.operands)
