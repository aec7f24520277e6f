"""Conversions between numbers: floats of all formats and integers."""

from lockstep.execution.lanes.builder import LaneBuilder
from lockstep.execution.lanes.formats import keep, widen
from lockstep.execution.lanes.integer import is_zero, limits, resize, shift_left, shift_right
from lockstep.execution.lanes.narrow import narrow, narrow_double, narrow_odd
from lockstep.execution.lanes.rounding import Rounding, rounded, whole
from lockstep.execution.lanes.types import F32, F64, I64, PRED, Type, Value


def to_float(
    b: LaneBuilder, x: Value, kind: Type, rounding=Rounding.NEAREST, finite: bool = False
) -> Value:
    """A float in another format (a scalar type), rounded once where that is smaller."""
    if x.type.scalar == kind:
        return Value(x.ir, x.type, settled=False) if kind in (F32, F64) else x
    x = widen(b, x)
    if kind == F64:
        wide = kind.times(x.type.count)
        return Value(b.ir.fpext(x.ir, b.vector(wide)), wide, settled=False)
    if x.type.scalar == F64:
        x = narrow_double(b, x, rounding) if kind == F32 else narrow_odd(b, x)
    return x if kind == F32 else narrow(b, x, kind, rounding, finite)


def to_integer(b: LaneBuilder, x: Value, kind: Type, signed: bool, rounding: Rounding) -> Value:
    """A float as an integer: rounded, the nearest one where it is out of range.

    A NaN becomes zero, or just the top bit where 64-bit numbers are involved (PTX ISA, cvt).
    """
    number = widen(b, x)
    whole_number = number if rounding == Rounding.ZERO else whole(b, number, rounding)
    result = _saturated(b, whole_number, kind, signed)
    if x.type != F64 and kind != I64:
        return result
    nan = Value(b.ir.fcmp_unordered("uno", number.ir, number.ir), PRED)
    return b.select(nan, b.constant(kind, 1 << kind.bits - 1), result)


def _saturated(b: LaneBuilder, x: Value, kind: Type, signed: bool) -> Value:
    """The integer part, or the nearest integer there is; 0 of a NaN.

    LLVM's ``fptosi.sat`` does the same, but takes vectors apart for it.
    """
    low, high = limits(kind.bits, signed)
    least, beyond = (b.constant(x.type, float(n)) for n in (low, high + 1))
    below = Value(b.ir.fcmp_ordered("<=", x.ir, least.ir), PRED)
    above = Value(b.ir.fcmp_ordered(">=", x.ir, beyond.ir), PRED)
    more, less = (b.ir.fcmp_ordered(o, x.ir, n.ir) for o, n in ((">", least), ("<", beyond)))
    inside = Value(b.ir.and_(more, less), PRED)
    inner = b.select(inside, x, b.constant(x.type, 0.0))
    emit = b.ir.fptosi if signed else b.ir.fptoui
    number = Value(emit(inner.ir, b.vector(kind)), kind)
    number = b.select(below, b.constant(kind, low), number)
    return b.select(above, b.constant(kind, high), number)


def from_integer(b: LaneBuilder, x: Value, kind: Type, signed: bool, rounding: Rounding) -> Value:
    """An integer as a float, rounded once."""
    if kind == F64:
        return _as_double(b, x, signed, rounding)
    if x.type.bits <= 16:
        return to_float(b, _plain(b, x, F32, signed), kind, rounding)
    if kind == F32 and rounding == Rounding.NEAREST:
        return _plain(b, x, F32, signed)
    return to_float(b, _plain(b, _sticky(b, x, signed), F64, signed), kind, rounding)


def _plain(b: LaneBuilder, x: Value, kind: Type, signed: bool) -> Value:
    emit = b.ir.sitofp if signed else b.ir.uitofp
    return Value(emit(x.ir, b.vector(kind)), kind)


def _as_double(b: LaneBuilder, x: Value, signed: bool, rounding: Rounding) -> Value:
    """Both halves of 64 bits are exact; their sum is rounded."""
    if x.type != I64 or rounding == Rounding.NEAREST:
        return _plain(b, x, F64, signed)
    high = _plain(b, shift_right(b, x, 32, signed), F64, signed)
    high = Value(b.ir.fmul(high.ir, b.constant(F64, 2.0**32).ir), F64)
    low = _plain(b, keep(b, x, 0xFFFFFFFF), F64, signed=False)
    total = rounded(b, "fadd", rounding, high, low)
    # The sum of 0 and 0 is never negative: no mode makes -0 of integers.
    return b.select(is_zero(b, x), b.constant(F64, 0.0), total)


def _sticky(b: LaneBuilder, x: Value, signed: bool) -> Value:
    """A number with at most 53 bits that rounds to formats up to f32 as ``x`` does.

    Of large numbers the low 11 bits are dropped; if any of them is set, the last one kept is too.
    """
    if x.type != I64:
        return x
    low = keep(b, x, 0x7FF)
    some = resize(b, Value(b.ir.not_(is_zero(b, low).ir), PRED), I64)
    top = b.ir.or_(keep(b, x, -0x800).ir, shift_left(b, some, 11).ir)
    least = -(1 << 53) if signed else 0
    above = b.ir.sub(x.ir, b.constant(I64, least).ir)
    small = b.ir.icmp_unsigned("<", above, b.constant(I64, (1 << 53) - least).ir)
    return b.select(Value(small, PRED), x, Value(top, I64))
