"""Warp-wide operations: among the lanes that are active; WARPSYNC makes them meet before."""

from lockstep.execution.lanes import warp as lanes
from lockstep.execution.lanes.types import I32, I64, Value
from lockstep.execution.sass.lift import Lift
from lockstep.execution.sass.opcodes import opcode
from lockstep.isa.sass.encoding.instruction import Instruction
from lockstep.isa.sass.encoding.operand import Immediate, Register

_SHUFFLES = {"IDX": "idx", "UP": "up", "DOWN": "down", "BFLY": "bfly"}
_VOTES = {"ALL": "all", "ANY": "any", "EQ": "uni"}
_REDUCTIONS = {"OR": "or", "XOR": "xor", "SUM": "add"}


def _everyone(lift: Lift) -> Value:
    return lift.b.constant(I32, -1)


def _results(i: Instruction) -> tuple[list[Register], list[Register]]:
    """The registers and the predicates that an instruction writes."""
    written = i.operands[: i.results]
    return (
        [o for o in written if o.file in ("R", "UR")],
        [o for o in written if o.file in ("P", "UP")],
    )


@opcode("SHFL", modifiers="IDX UP DOWN BFLY")
def shuffle(lift: Lift, i: Instruction) -> None:
    mode = _SHUFFLES[i.modifiers[0]]
    value, step, limits = i.operands[i.results :][:3]
    value = lift.read(value)
    if isinstance(step, Immediate) and isinstance(limits, Immediate):
        moved, inside = lanes.shuffle_by_constants(lift.b, mode, value, step.value, limits.value)
    else:
        numbers = (lift.read(o) for o in (step, limits))
        moved, inside = lanes.shuffle(lift.b, mode, value, *numbers)
    registers, predicates = _results(i)
    for target in registers:
        lift.write(target, moved)
    for target in predicates:
        lift.write_predicate(target, inside)


@opcode("VOTE", "VOTEU", modifiers="ALL ANY EQ")
def vote(lift: Lift, i: Instruction) -> None:
    """The ballot goes to a register, the outcome to a predicate."""
    holds = lift.predicate(i.operands[-1])
    registers, predicates = _results(i)
    for target in registers:
        lift.write(target, lanes.ballot(lift.b, holds, _everyone(lift)))
    for target in predicates:
        outcome = lanes.vote(lift.b, _VOTES[i.modifiers[0]], holds, _everyone(lift))
        lift.write_predicate(target, outcome)


@opcode("MATCH", modifiers="ANY ALL U64")
def match(lift: Lift, i: Instruction) -> None:
    kind = I64 if "U64" in i.modifiers else I32
    value = lift.read(i.operands[-1], kind)
    registers, predicates = _results(i)
    if "ANY" in i.modifiers:
        mask = lanes.match_any(lift.b, value, _everyone(lift))
    else:
        mask, agree = lanes.match_all(lift.b, value, _everyone(lift))
        for target in predicates:
            lift.write_predicate(target, agree)
    for target in registers:
        lift.write(target, mask)


@opcode("REDUX", modifiers="OR XOR SUM MIN MAX S32")
def reduce(lift: Lift, i: Instruction) -> None:
    """Without a word it is a conjunction."""
    word = next((m for m in i.modifiers if m and m != "S32"), "")
    operation = _REDUCTIONS.get(word, "and")
    if word in ("MIN", "MAX"):
        operation = ("s" if "S32" in i.modifiers else "u") + word.lower()
    value = lift.read(i.operands[-1])
    lift.write(i.operands[0], lanes.reduce(lift.b, operation, value, _everyone(lift)))


@opcode("ELECT")
def elect(lift: Lift, i: Instruction) -> None:
    leader, own = lanes.elect(lift.b, _everyone(lift))
    registers, predicates = _results(i)
    for target in registers:
        lift.write(target, leader)
    for target in predicates:
        lift.write_predicate(target, own)
