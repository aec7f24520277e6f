"""Warp-wide operations. The forms with ``.sync`` name the lanes that they wait for."""

from lockstep.execution.lanes import warp as lanes
from lockstep.execution.lanes.builder import LaneBuilder
from lockstep.execution.lanes.types import F32, I32, Value
from lockstep.execution.ptx.lift import Lift
from lockstep.execution.ptx.opcodes import opcode
from lockstep.isa.ptx.syntax import Immediate, Instruction, Operand, Pair

_MODES = ("up", "down", "bfly", "idx")


def _members(lift: Lift, i: Instruction) -> Value:
    """The lanes that an operation names, or all."""
    if "sync" in i.modifiers:
        return lift.read(i.operands[-1], "u32")
    return lift.b.constant(I32, -1)


def _constant_members(lift: Lift, i: Instruction) -> Value | int:
    members = i.operands[-1]
    return members.value if isinstance(members, Immediate) else lift.read(members, "u32")


def _write_pair(lift: Lift, operand: Operand, value: Value, predicate: Value) -> None:
    """Write ``d`` or ``d|p``."""
    if isinstance(operand, Pair):
        lift.write(operand.second, predicate)
        operand = operand.first
    lift.write(operand, value)


@opcode("shfl.sync.{up,down,bfly,idx}.b32", converges=True)
@opcode("shfl.{up,down,bfly,idx}.b32")
def shuffle(lift: Lift, i: Instruction) -> None:
    mode = next(m for m in i.modifiers if m in _MODES)
    value = lift.read(i.operands[1], "b32")
    step, limits = i.operands[2:4]
    if isinstance(step, Immediate) and isinstance(limits, Immediate):
        result = lanes.shuffle_by_constants(lift.b, mode, value, step.value, limits.value)
    else:
        numbers = (lift.read(o, "u32") for o in (step, limits))
        result = lanes.shuffle(lift.b, mode, value, *numbers)
    _write_pair(lift, i.operands[0], *result)


@opcode("vote.sync.{all,any,uni}.pred", "vote.{all,any,uni}.sync.pred", converges=True)
@opcode("vote.{all,any,uni}.pred")
def vote(lift: Lift, i: Instruction) -> None:
    mode = next(m for m in i.modifiers if m in ("all", "any", "uni"))
    predicate = lift.read(i.operands[1], "pred")
    lift.write(i.operands[0], lanes.vote(lift.b, mode, predicate, _members(lift, i)))


@opcode("vote.sync.ballot.b32", "vote.ballot.sync.b32", converges=True)
@opcode("vote.ballot.b32")
def ballot(lift: Lift, i: Instruction) -> None:
    predicate = lift.read(i.operands[1], "pred")
    lift.write(i.operands[0], lanes.ballot(lift.b, predicate, _members(lift, i)))


@opcode("activemask.b32")
def active_mask(lift: Lift, i: Instruction) -> None:
    lift.write(i.operands[0], lanes.present(lift.b, lift.b.constant(I32, -1)))


@opcode("match.any.sync.{b32,b64}", converges=True)
def match_any(lift: Lift, i: Instruction) -> None:
    value = lift.read(i.operands[1], i.modifiers[-1])
    lift.write(i.operands[0], lanes.match_any(lift.b, value, _members(lift, i)))


@opcode("match.all.sync.{b32,b64}", converges=True)
def match_all(lift: Lift, i: Instruction) -> None:
    value = lift.read(i.operands[1], i.modifiers[-1])
    _write_pair(lift, i.operands[0], *lanes.match_all(lift.b, value, _members(lift, i)))


@opcode("elect.sync", converges=True)
def elect(lift: Lift, i: Instruction) -> None:
    _write_pair(lift, i.operands[0], *lanes.elect(lift.b, _members(lift, i)))


@opcode(
    "redux.sync.{add,min,max}.{u32,s32}",
    "redux.sync.{and,or,xor}.b32",
    converges=True,
)
def reduce(lift: Lift, i: Instruction) -> None:
    operation, kind = i.modifiers[1:]
    if operation in ("min", "max"):
        operation = kind[0] + operation
    value = lift.read(i.operands[1], kind)
    lift.write(i.operands[0], lanes.reduce(lift.b, operation, value, _constant_members(lift, i)))


@opcode("redux.sync.{min,max}[.abs][.NaN].f32", converges=True)
def reduce_float(lift: Lift, i: Instruction) -> None:
    value = lift.read(i.operands[1], "f32")
    if "abs" in i.modifiers:
        value = _absolute(lift.b, value)
    smallest, nan = "min" in i.modifiers, "NaN" in i.modifiers
    members = _constant_members(lift, i)
    lift.write(i.operands[0], lanes.reduce_float(lift.b, smallest, value, members, nan))


def _absolute(b: LaneBuilder, value: Value) -> Value:
    bits = b.ir.and_(b.cast(value, I32).ir, b.constant(I32, 0x7FFFFFFF).ir)
    return b.cast(Value(bits, I32), F32)
