"""Floating-point arithmetic of f16, bf16, f32 and f64, rounded once.

16-bit operands are computed in a wider type in which the operation is exact, or rounded so that
rounding again does no harm, and are then rounded to their own.
"""

import msgspec

from lockstep.execution.lanes.builder import LaneBuilder
from lockstep.execution.lanes.convert import to_float
from lockstep.execution.lanes.formats import flush, format_of, from_raw, keep, raw, widen
from lockstep.execution.lanes.integer import is_zero, negative
from lockstep.execution.lanes.narrow import narrow, narrow_odd, to_odd
from lockstep.execution.lanes.rounding import Rounding, rounded
from lockstep.execution.lanes.types import BF16, F32, F64, PRED, Value
from lockstep.execution.memory.tensor_maps import OOB_NAN


class Result(msgspec.Struct, frozen=True):
    """What is done to operands and results besides the operation.

    ``flush``: subnormal operands and results become zeros; ``saturate``: results from 0 to 1, a
    NaN becomes 0; ``rectify``: negative results become 0.
    """

    rounding: Rounding = Rounding.NEAREST
    flush: bool = False
    saturate: bool = False
    rectify: bool = False


PLAIN = Result()


def arithmetic(b: LaneBuilder, operation: str, how: Result, *values: Value) -> Value:
    """fadd, fsub, fmul, fdiv, fma or sqrt; 16-bit floats have the first three and fma."""
    if how.flush:
        values = tuple(flush(b, v) for v in values)
    kind = values[0].type
    if kind.bits > 16:
        return finish(b, rounded(b, operation, how.rounding, *values), how)
    if operation == "fma":
        return _fused(b, how, *values)
    # Twice the precision and two bits more: rounding twice is rounding once.
    wide = rounded(b, operation, Rounding.NEAREST, *(widen(b, v) for v in values))
    return _finish_narrow(b, wide, kind, how)


def fma_inside(b: LaneBuilder, how: Result, x: Value, y: Value, z: Value) -> Value:
    """x y + z of 16-bit floats; zero where a factor is the NaN of what is outside a tensor."""
    result = arithmetic(b, "fma", how, x, y, z)
    bits, outside = result.type.integer, []
    for factor in (x, y):
        size = b.ir.and_(b.cast(factor, bits).ir, b.constant(bits, 0x7FFF).ir)
        outside.append(b.ir.icmp_unsigned("==", size, b.constant(bits, OOB_NAN).ir))
    nothing = b.constant(bits, 0).ir
    kept = b.ir.select(b.ir.or_(*outside), nothing, b.cast(result, bits).ir)
    return b.cast(Value(kept, bits), result.type)


def scaled_product(b: LaneBuilder, how: Result, x: Value, y: Value, scale: float) -> Value:
    """The product of two f32 and a power of two, rounded once: f64 holds it exactly."""
    x, y = (to_float(b, flush(b, v) if how.flush else v, F64) for v in (x, y))
    product = b.ir.fmul(b.ir.fmul(x.ir, y.ir), b.constant(F64, scale).ir)
    exact = Value(product, F64, settled=False)
    return finish(b, to_float(b, exact, F32, how.rounding), how)


def finish(b: LaneBuilder, x: Value, how: Result) -> Value:
    """Saturate, rectify and flush a result."""
    if how.saturate:
        x = saturate(b, x)
    if how.rectify:
        x = rectify(b, x)
    return flush(b, x) if how.flush else x


def _finish_narrow(b: LaneBuilder, wide: Value, kind, how: Result) -> Value:
    wide = finish(b, wide, Result(saturate=how.saturate, rectify=how.rectify))
    result = narrow(b, wide, kind.scalar, Rounding.NEAREST)
    return flush(b, result) if how.flush else result


def saturate(b: LaneBuilder, x: Value) -> Value:
    """Into the range from +0 to 1; a NaN becomes +0."""
    zero, one = b.constant(x.type, 0.0), b.constant(x.type, 1.0)
    kind = PRED.times(x.type.count)
    x = b.select(Value(b.ir.fcmp_ordered(">", x.ir, zero.ir), kind), x, zero)
    low = b.select(Value(b.ir.fcmp_ordered("<", x.ir, one.ir), kind), x, one)
    return Value(low.ir, x.type)


def rectify(b: LaneBuilder, x: Value) -> Value:
    """Negative numbers and -0 become +0; a NaN stays."""
    zero = b.constant(x.type, 0.0)
    above = Value(b.ir.fcmp_unordered(">", x.ir, zero.ir), PRED.times(x.type.count))
    return b.select(above, x, zero)


def _fused(b: LaneBuilder, how: Result, *values: Value) -> Value:
    """``x * y + z`` of 16-bit floats.

    Products are exact in f32 (f16) or in f64 (bf16, whose exponents reach further); their sum is
    rounded to odd, and then to its own type.
    """
    kind = values[0].type
    wide = F64 if kind.scalar == BF16 else F32

    def emit(inner: LaneBuilder, *inputs: Value) -> Value:
        total = _sum_of_product(inner, *(to_float(inner, widen(inner, v), wide) for v in inputs))
        total = narrow_odd(inner, total) if wide == F64 else total
        return _finish_narrow(inner, total, kind, how)

    name = f"fused{'_sat' * how.saturate}{'_relu' * how.rectify}{'_ftz' * how.flush}"
    return b.subroutine(name, kind, emit, *values)


def _sum_of_product(b: LaneBuilder, x: Value, y: Value, z: Value) -> Value:
    """The sum and its error (Knuth, TAOCP 4.2.2), which says where the exact sum lies."""
    product = b.ir.fmul(x.ir, y.ir)
    total = b.ir.fadd(product, z.ir)
    other = b.ir.fsub(total, product)
    lost = b.ir.fsub(product, b.ir.fsub(total, other))
    error = b.ir.fadd(lost, b.ir.fsub(z.ir, other))
    inexact = b.ir.fcmp_ordered("!=", error, b.constant(x.type, 0.0).ir)
    total = Value(total, x.type)
    signs = b.ir.xor(raw(b, total).ir, raw(b, Value(error, x.type)).ir)
    return to_odd(b, total, inexact, negative(b, Value(signs, x.type.integer)).ir)


# Signs


def negate(b: LaneBuilder, x: Value) -> Value:
    """The other sign, of NaNs too."""
    bits = raw(b, x)
    sign = b.constant(bits.type, format_of(x.type).sign)
    return from_raw(b, Value(b.ir.xor(bits.ir, sign.ir), bits.type), x.type, x.settled)


def absolute(b: LaneBuilder, x: Value) -> Value:
    """The magnitude."""
    bits = keep(b, raw(b, x), format_of(x.type).sign - 1)
    return from_raw(b, bits, x.type, x.settled)


def copy_sign(b: LaneBuilder, sign: Value, magnitude: Value) -> Value:
    """The magnitude of one number with the sign of another."""
    mask = format_of(sign.type).sign
    top = keep(b, raw(b, b.settle(sign)), mask)
    rest = keep(b, raw(b, b.settle(magnitude)), mask - 1)
    return from_raw(b, Value(b.ir.or_(top.ir, rest.ir), top.type), sign.type)


# Smaller and larger


class Choice(msgspec.Struct, frozen=True):
    """Forms of minimum and maximum.

    ``propagate``: a NaN wins, otherwise the other operand does; ``magnitudes``: signs are taken
    off first; ``signs``: and the result gets the product of the signs.
    """

    flush: bool = False
    propagate: bool = False
    magnitudes: bool = False
    signs: bool = False


def choose(b: LaneBuilder, largest: bool, how: Choice, *values: Value) -> Value:
    """The smallest or largest of two or more numbers; -0 is below +0."""
    if how.flush:
        values = tuple(flush(b, v) for v in values)
    kind = values[0].type
    wide = [widen(b, v) for v in values]
    if how.magnitudes:
        wide = [absolute(b, v) for v in wide]
    name = ("maximum" if largest else "minimum") + ("" if how.propagate else "num")
    result = wide[0]
    for value in wide[1:]:
        result = b.elementwise(name, result, value)
    if how.signs:
        result = _with_sign(b, result, [b.settle(v) for v in values])
    return to_float(b, result, kind.scalar)


def _with_sign(b: LaneBuilder, x: Value, values: list[Value]) -> Value:
    """Set the sign to the product of signs; NaNs become canonical later."""
    wide = [raw(b, widen(b, v)) for v in values]
    product = keep(b, Value(b.ir.xor(wide[0].ir, wide[1].ir), wide[0].type), format_of(x.type).sign)
    bits = Value(b.ir.xor(raw(b, x).ir, product.ir), product.type)
    return from_raw(b, bits, x.type, settled=False)


# Classes

FINITE, INFINITE, NUMBER, NAN, NORMAL, SUBNORMAL = (
    "finite",
    "infinite",
    "number",
    "notanumber",
    "normal",
    "subnormal",
)


def is_class(b: LaneBuilder, x: Value, name: str) -> Value:
    """Whether a number is of a class; zero is normal, as PTX has it."""
    form = format_of(x.type)
    bits = keep(b, raw(b, x), form.sign - 1)
    infinity = b.constant(bits.type, form.infinity).ir
    least = b.constant(bits.type, 1 << form.fraction_bits).ir
    zero = is_zero(b, bits).ir
    below = b.ir.icmp_unsigned("<", bits.ir, infinity)
    small = b.ir.and_(b.ir.icmp_unsigned("<", bits.ir, least), b.ir.not_(zero))
    answers = {
        FINITE: lambda: below,
        INFINITE: lambda: b.ir.icmp_unsigned("==", bits.ir, infinity),
        NUMBER: lambda: b.ir.icmp_unsigned("<=", bits.ir, infinity),
        NAN: lambda: b.ir.icmp_unsigned(">", bits.ir, infinity),
        NORMAL: lambda: b.ir.and_(below, b.ir.not_(small)),
        SUBNORMAL: lambda: small,
    }
    return Value(answers[name](), PRED.times(x.type.count))
