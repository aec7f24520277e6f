"""Conversions between integers and floats of all formats."""

from lockstep.execution.lanes.convert import from_integer, to_float, to_integer
from lockstep.execution.lanes.formats import flush, widen
from lockstep.execution.lanes.integer import resize
from lockstep.execution.lanes.rounding import whole
from lockstep.execution.lanes.types import (
    BF16,
    F16,
    F32,
    F64,
    I8,
    I16,
    I32,
    I64,
    PRED,
    TF32,
    Type,
    Value,
)
from lockstep.execution.sass.floating import rounding_of
from lockstep.execution.sass.lift import Lift
from lockstep.execution.sass.opcodes import opcode
from lockstep.isa.sass.encoding.instruction import Instruction

_INTEGERS = {
    "U8": (I8, False), "S8": (I8, True), "U16": (I16, False), "S16": (I16, True),
    "U32": (I32, False), "S32": (I32, True), "U64": (I64, False), "S64": (I64, True),
}  # fmt: skip
_FLOATS = {"F16": F16, "BF16": BF16, "F32": F32, "F64": F64, "TF32": TF32}
_ALL = "U8 S8 U16 S16 U32 S32 U64 S64 F16 BF16 F32 F64 TF32 FTZ RN RM RP RZ TRUNC FLOOR CEIL NTZ"


def _integer(i: Instruction) -> tuple[Type, bool]:
    return next((_INTEGERS[m] for m in i.modifiers if m in _INTEGERS), (I32, True))


def _floats(i: Instruction) -> list[Type]:
    return [_FLOATS[m] for m in i.modifiers if m in _FLOATS]


@opcode("I2F", "I2FP", modifiers=_ALL)
def integer_to_float(lift: Lift, i: Instruction) -> None:
    kind, signed = _integer(i)
    target = (_floats(i) or [F32])[0]
    source = lift.read_part(i.operands[1], kind)
    value = from_integer(lift.b, source, target, signed, rounding_of(i))
    lift.write(i.operands[0], lift.b.cast(value, target.integer) if target.bits < 32 else value)


@opcode("F2I", modifiers=_ALL)
def float_to_integer(lift: Lift, i: Instruction) -> None:
    """With NTZ a NaN becomes zero, else the integer of which just the top bit is set."""
    kind, signed = _integer(i)
    source = lift.read_part(i.operands[1], (_floats(i) or [F32])[0])
    if "FTZ" in i.modifiers:
        source = flush(lift.b, source)
    value = to_integer(lift.b, source, kind, signed, rounding_of(i))
    if "NTZ" not in i.modifiers:
        number = widen(lift.b, source)
        nan = Value(lift.b.ir.fcmp_unordered("uno", number.ir, number.ir), PRED)
        value = lift.b.select(nan, lift.b.constant(kind, 1 << kind.bits - 1), value)
    lift.write(i.operands[0], resize(lift.b, value, I32, signed) if kind.bits < 32 else value)


@opcode("F2F", modifiers=_ALL)
def float_to_float(lift: Lift, i: Instruction) -> None:
    """The first type is the result's."""
    target, source = (_floats(i) + [F32, F32])[:2]
    value = lift.read_part(i.operands[1], source)
    if "FTZ" in i.modifiers:
        value = flush(lift.b, value)
    result = to_float(lift.b, value, target, rounding_of(i))
    if "FTZ" in i.modifiers:
        result = flush(lift.b, result)
    lift.write(i.operands[0], lift.b.cast(result, target.integer))


@opcode("FRND", modifiers=_ALL)
def round_to_whole(lift: Lift, i: Instruction) -> None:
    b, kind = lift.b, (_floats(i) or [F32])[0]
    value = lift.read_part(i.operands[1], kind)
    if "FTZ" in i.modifiers:
        value = flush(b, value)
    number = to_float(b, whole(b, widen(b, value), rounding_of(i)), kind)
    lift.write(i.operands[0], b.cast(number, kind.integer))
