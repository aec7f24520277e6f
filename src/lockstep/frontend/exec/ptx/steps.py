"""Which instructions of PTX depend on time."""

from lockstep.frontend.exec import steps
from lockstep.frontend.exec.ptx.classes import class_of, width_of
from lockstep.isa.ptx.syntax import Function, Instruction, Register

_CLOCKS = ("%clock", "%globaltimer")


def steps_of(function: Function) -> set[int]:
    """Places at which blocks begin that are executed one by one."""
    return steps.steps((_depends_on_time(i), i.guard is not None) for i in function.instructions)


def _depends_on_time(i: Instruction) -> bool:
    if width_of(i, class_of(i)) > 0:
        return True
    return any(isinstance(o, Register) and o.name.startswith(_CLOCKS) for o in i.operands)
