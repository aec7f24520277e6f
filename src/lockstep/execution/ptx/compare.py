"""Comparison and selection."""

from lockstep.execution.lanes import compare
from lockstep.execution.lanes.types import F32, I16, I32, PRED, Type, Value
from lockstep.execution.ptx.floating import float_type, read_float, write_float
from lockstep.execution.ptx.lift import Lift, is_signed
from lockstep.execution.ptx.logic import combine
from lockstep.execution.ptx.opcodes import opcode
from lockstep.isa.ptx.syntax import Instruction, Pair

_UNSIGNED = {"lo": "lt", "ls": "le", "hi": "gt", "hs": "ge"}
_BOOLEAN = ("and", "or", "xor")
_ORDERS = "{eq,ne,lt,le,gt,ge}"
_ORDERS_OF_FLOATS = "{eq,ne,lt,le,gt,ge,equ,neu,ltu,leu,gtu,geu,num,nan}"
_COMBINED = "[.{and,or,xor}]"


def _forms(opcode: str, target: str = "") -> list[str]:
    """Forms of a comparison of two numbers."""
    start, floats = f"{opcode}.", f"{opcode}.{_ORDERS_OF_FLOATS}{_COMBINED}"
    return [
        f"{start}{{eq,ne}}{_COMBINED}{target}.{{b16,b32,b64}}",
        f"{start}{_ORDERS}{_COMBINED}{target}.{{s16,s32,s64}}",
        f"{start}{{eq,ne,lt,le,gt,ge,lo,ls,hi,hs}}{_COMBINED}{target}.{{u16,u32,u64}}",
        f"{floats}[.ftz]{target.replace(',bf16', '')}.f32",
        f"{floats}{target}.{{f32,f64}}",
    ]


def _compared(lift: Lift, i: Instruction) -> Value:
    """The outcome for each element of the operands."""
    b, kind, order = lift.b, i.modifiers[-1], i.modifiers[0]
    if "f" in kind:
        a, c = (read_float(lift, o, kind) for o in i.operands[1:3])
        return compare.compare_floats(b, order, a, c, "ftz" in i.modifiers)
    a, c = (lift.read(o, kind) for o in i.operands[1:3])
    return compare.compare_integers(b, _UNSIGNED.get(order, order), a, c, is_signed(kind))


def _combined(lift: Lift, i: Instruction, outcome: Value) -> Value:
    """With the third operand, if the instruction names how."""
    name = next((word for word in i.modifiers if word in _BOOLEAN), None)
    return combine(lift, name, outcome, lift.read(i.operands[3], "pred")) if name else outcome


@opcode(
    *_forms("setp"),
    f"setp.{_ORDERS_OF_FLOATS}{_COMBINED}[.ftz].f16",
    f"setp.{_ORDERS_OF_FLOATS}{_COMBINED}.bf16",
)
def set_predicate(lift: Lift, i: Instruction) -> None:
    """``p`` gets the outcome, ``q`` its opposite, each combined with the third operand."""
    outcome = _compared(lift, i)
    target = i.operands[0]
    if isinstance(target, Pair):
        opposite = Value(lift.b.ir.not_(outcome.ir), PRED)
        opposite = _combined(lift, i, opposite)
        outcome = _combined(lift, i, outcome)
        lift.write(target.first, outcome)
        lift.write(target.second, opposite)
    else:
        lift.write(target, _combined(lift, i, outcome))


@opcode(
    f"setp.{_ORDERS_OF_FLOATS}{_COMBINED}[.ftz].f16x2",
    f"setp.{_ORDERS_OF_FLOATS}{_COMBINED}.bf16x2",
)
def set_two_predicates(lift: Lift, i: Instruction) -> None:
    """``p`` is for the low elements, ``q`` for the high ones."""
    targets = i.operands[0]
    if not isinstance(targets, Pair):
        raise lift.refuse(f"{i.name} needs two predicates, as p|q")
    outcomes = [_combined(lift, i, half) for half in compare.apart(lift.b, _compared(lift, i))]
    for target, outcome in zip((targets.first, targets.second), outcomes):
        lift.write(target, outcome)


_HALF_TARGETS = ".{f16,u16,s16,u32,s32}"
_BRAIN_TARGETS = ".{bf16,u16,s16,u32,s32}"


@opcode(
    *_forms("set", ".{u32,s32,f32,f16,bf16}"),
    f"set.{_ORDERS_OF_FLOATS}{_COMBINED}[.ftz]{_HALF_TARGETS}.f16",
    f"set.{_ORDERS_OF_FLOATS}{_COMBINED}{_BRAIN_TARGETS}.{{f16,bf16}}",
)
def set_number(lift: Lift, i: Instruction) -> None:
    outcome = _combined(lift, i, _compared(lift, i))
    name = i.modifiers[-2]
    value = _as_number(lift, outcome, float_type(name), "f" in name)
    lift.write(i.operands[0], value, is_signed(name))


@opcode(
    f"set.{_ORDERS_OF_FLOATS}{_COMBINED}[.ftz].{{f16x2,u32,s32}}.f16x2",
    f"set.{_ORDERS_OF_FLOATS}{_COMBINED}.{{bf16x2,u32,s32}}.bf16x2",
)
def set_pair(lift: Lift, i: Instruction) -> None:
    outcome = _compared(lift, i)
    halves = [_combined(lift, i, half) for half in compare.apart(lift.b, outcome)]
    outcome = compare.together(lift.b, *halves)
    floating = "f" in i.modifiers[-2]
    kind = float_type(i.modifiers[-2]) if floating else I16.times(2)
    write_float(lift, i.operands[0], _as_number(lift, outcome, kind, floating))


def _as_number(lift: Lift, outcome: Value, kind: Type, floating: bool) -> Value:
    """1.0 or all ones where it holds, else zero."""
    one = compare.one(lift.b, kind) if floating else lift.b.constant(kind, -1)
    return lift.b.select(outcome, one, lift.b.constant(kind, 0))


@opcode("selp.{b16,b32,b64,u16,u32,u64,s16,s32,s64,f32,f64}")
def select(lift: Lift, i: Instruction) -> None:
    a, c = (lift.read(o, i.modifiers[-1]) for o in i.operands[1:3])
    lift.write(i.operands[0], lift.b.select(lift.read(i.operands[3], "pred"), a, c))


_ANY = "{b16,b32,b64,u16,u32,u64,s16,s32,s64,f32,f64}"


@opcode(f"slct.{_ANY}.s32", f"slct[.ftz].{_ANY}.f32")
def select_by_sign(lift: Lift, i: Instruction) -> None:
    """The first operand where the third one is at least zero; -0 is, a NaN is not."""
    b, kind = lift.b, i.modifiers[-2]
    a, c = (lift.read(o, kind) for o in i.operands[1:3])
    control = lift.read(i.operands[3], i.modifiers[-1])
    if control.type == F32:
        zero = b.constant(F32, 0.0)
        first = compare.compare_floats(b, "ge", control, zero, "ftz" in i.modifiers)
    else:
        first = compare.compare_integers(b, "ge", control, b.constant(I32, 0), signed=True)
    lift.write(i.operands[0], b.select(first, a, c))
