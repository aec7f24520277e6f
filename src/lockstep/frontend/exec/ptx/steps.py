"""Where blocks begin that are executed one by one, each when its first instruction issues."""

from lockstep.frontend.exec.ptx.classes import class_of, width_of
from lockstep.isa.ptx.syntax import Function, Instruction, Register
from lockstep.workload import STEP_RUNS

_CLOCKS = ("%clock", "%globaltimer")


def steps_of(function: Function) -> set[int]:
    """Places of all accesses and clock readings, and of others that keep blocks short.

    A guarded instruction takes up to two runs of a block.
    """
    places, guarded = set(), 0
    for place, instruction in enumerate(function.instructions):
        guarded += instruction.guard is not None
        if _depends_on_time(instruction) or 2 * guarded >= STEP_RUNS:
            places.add(place)
            guarded = int(instruction.guard is not None)
    return places


def _depends_on_time(i: Instruction) -> bool:
    if width_of(i, class_of(i)) > 0:
        return True
    return any(isinstance(o, Register) and o.name.startswith(_CLOCKS) for o in i.operands)
