"""Conversions that clamp integers, and those that pack several small numbers into a register."""

from collections.abc import Sequence

from lockstep.execution.lanes import integer
from lockstep.execution.lanes.compare import apart, together
from lockstep.execution.lanes.convert import to_float, to_integer
from lockstep.execution.lanes.floating import Result, finish
from lockstep.execution.lanes.formats import keep, widen
from lockstep.execution.lanes.types import (
    BF16,
    E4M3,
    E5M2,
    F16,
    F32,
    I8,
    I16,
    I32,
    TF32,
    Type,
    Value,
)
from lockstep.execution.sass.floating import rounding_of
from lockstep.execution.sass.lift import Lift
from lockstep.execution.sass.opcodes import opcode
from lockstep.isa.sass.encoding.instruction import Instruction
from lockstep.isa.sass.encoding.operand import Register

_SMALL = "U8 S8 U16 S16"
_TYPES = {"F16": F16, "BF16": BF16, "TF32": TF32, "E4M3": E4M3, "E5M2": E5M2, "F32": F32}


@opcode("I2I", modifiers=_SMALL + " S32 SAT")
def clamp(lift: Lift, i: Instruction) -> None:
    """The nearest number of a small type."""
    lift.write(i.operands[0], _clamped(lift, lift.read(i.operands[1]), i.modifiers[0]))


def _clamped(lift: Lift, number: Value, name: str) -> Value:
    low, high = integer.limits(int(name[1:]), name.startswith("S"))
    return integer.clamp(lift.b, number, low, high, signed=True)


@opcode("I2IP", modifiers=_SMALL + " U4 S4 U2 S2 S32 SAT")
def pack_integers(lift: Lift, i: Instruction) -> None:
    """Two clamped numbers, the first above the second, below what is left of the third."""
    b, name = lift.b, i.modifiers[0]
    bits = int(name[1:])
    result = integer.shift_left(b, lift.read(i.operands[3]), 2 * bits) if bits < 16 else None
    numbers = (_clamped(lift, lift.read(o), name) for o in i.operands[1:3])
    upper, lower = (keep(b, n, (1 << bits) - 1) for n in numbers)
    pair = Value(b.ir.or_(integer.shift_left(b, upper, bits).ir, lower.ir), I32)
    lift.write(i.operands[0], Value(b.ir.or_(pair.ir, result.ir), I32) if result else pair)


@opcode(
    "F2FP",
    modifiers="F16 BF16 TF32 E4M3 E5M2 F32 RN RZ RELU SATFINITE PACK_AB MERGE_C PACK_B UNPACK_B "
    "UNPACK_B_MERGE_C PACK_AB_MERGE_C",
)
def pack_floats(lift: Lift, i: Instruction) -> None:
    """Floats rounded to a smaller format; the first of two goes to the upper half.

    PACK_AB takes two numbers, MERGE_C one; UNPACK_B the two that a register holds. Two of eight
    bits have 16, and the low half of C comes above them: of four, compilers pack the upper first.
    """
    target, source = _formats(i.modifiers)
    sources = list(i.operands[1:])
    above = sources.pop() if any(m.endswith("MERGE_C") for m in i.modifiers) else None
    if source.bits < 32:
        low, high = _halves(lift, sources[0], source)
    elif len(sources) == 2:
        high, low = (lift.read(o, F32) for o in sources)
    else:
        high, low = None, lift.read(sources[0], F32)
    parts = [_converted(lift, i, n, target) for n in (low, high) if n is not None]
    result = _joined(lift, parts)
    if isinstance(above, Register) and not above.is_zero:
        result = _below(lift, result, above)
    lift.write(i.operands[0], result)


def _below(lift: Lift, pair: Value, above: Register) -> Value:
    """Two numbers of eight bits, below the low half of a register."""
    if pair.type != I16:
        raise lift.refuse("bits from another register above wider numbers are not supported")
    b = lift.b
    upper, lower = integer.shift_left(b, lift.read(above), 16), integer.resize(b, pair, I32)
    return Value(b.ir.or_(upper.ir, lower.ir), I32)


def _formats(words: Sequence[str]) -> tuple[Type, Type]:
    """The formats of the result and of the source; up to sm_86 only bf16 is named."""
    named = [_TYPES[m] for m in words if m in _TYPES]
    return named[0] if named else F16, named[1] if len(named) > 1 else F32


def _halves(lift: Lift, operand: Register, kind: Type) -> list[Value]:
    """The two numbers in a register, or in the half that is named."""
    word = lift.read_part(operand, I16) if kind.bits == 8 else lift.read(operand)
    return apart(lift.b, lift.b.cast(word, kind.times(2)))


def _converted(lift: Lift, i: Instruction, number: Value, kind: Type) -> Value:
    b = lift.b
    number = finish(b, widen(b, number), Result(rectify="RELU" in i.modifiers))
    return to_float(b, number, kind, rounding_of(i), "SATFINITE" in i.modifiers)


def _joined(lift: Lift, parts: list[Value]) -> Value:
    b = lift.b
    if len(parts) == 1:
        return b.cast(parts[0], parts[0].type.integer)
    return b.cast(together(b, *parts), I32 if parts[0].type.bits == 16 else I16)


@opcode("F2IP", modifiers="U8 S8 F32 TRUNC NTZ RELU")
def pack_rounded(lift: Lift, i: Instruction) -> None:
    """Two floats as bytes, the first above the second, below the low half of the third operand."""
    b, words = lift.b, i.modifiers
    if "NTZ" not in words:
        raise lift.refuse("NaNs that do not become zero are not supported")
    result = integer.shift_left(b, lift.read(i.operands[3]), 16)
    for place, operand in enumerate(reversed(i.operands[1:3])):
        number = finish(b, lift.read(operand, F32), Result(rectify="RELU" in words))
        byte = to_integer(b, number, I8, "S8" in words, rounding_of(i))
        moved = integer.shift_left(b, integer.resize(b, byte, I32), 8 * place)
        result = Value(b.ir.or_(result.ir, moved.ir), I32)
    lift.write(i.operands[0], result)
