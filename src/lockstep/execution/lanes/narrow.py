"""Rounding a number into a smaller floating-point format."""

from llvmlite import ir

from lockstep.execution.lanes.builder import LaneBuilder
from lockstep.execution.lanes.formats import FORMATS, FloatFormat, from_raw, keep, raw
from lockstep.execution.lanes.integer import is_zero, resize, shift_left, shift_right
from lockstep.execution.lanes.rounding import Rounding
from lockstep.execution.lanes.types import BF16, F16, F32, PRED, Type, Value

_SINGLE = FORMATS[F32]


def narrow(b: LaneBuilder, x: Value, kind: Type, rounding: Rounding, finite=False) -> Value:
    """An f32 rounded into a smaller format; ``finite``: to its largest number at most.

    ``kind`` is a scalar type; the result has as many elements as ``x``.
    """
    if kind == F16 and rounding == Rounding.NEAREST and not finite:
        return _to_half(b, x)

    def emit(inner: LaneBuilder, value: Value) -> Value:
        return _round(inner, value, kind, rounding, finite)

    if kind == BF16 and rounding == Rounding.NEAREST and not finite:
        return emit(b, x)  # short enough
    name = f"narrow_{kind.name}_{rounding.name.lower()}{'_finite' * finite}"
    return b.subroutine(name, kind.times(x.type.count), emit, x)


def _to_half(b: LaneBuilder, x: Value) -> Value:
    kind = F16.times(x.type.count)
    vector = b.vector(kind)
    settled = b.settle(Value(x.ir, x.type, settled=False))  # also NaNs that are as loaded
    halves = b.ir.fptrunc(settled.ir, ir.VectorType(ir.HalfType(), vector.count))
    return Value(b.ir.bitcast(halves, vector), kind)


def _round(b: LaneBuilder, x: Value, kind: Type, rounding: Rounding, finite: bool) -> Value:
    """Round the significand as an integer and put sign and exponent around it."""
    form, bits = FORMATS[kind], raw(b, x)
    sign, magnitude = keep(b, bits, _SINGLE.sign), keep(b, bits, _SINGLE.sign - 1)
    body = _body(b, magnitude, sign, form, rounding)
    body = _limit(b, body, magnitude, sign, form, rounding, finite)
    nan = b.ir.icmp_unsigned(">", magnitude.ir, b.constant(bits.type, _SINGLE.infinity).ir)
    top = form.exponent_bits + form.fraction_bits
    signed = b.ir.or_(body.ir, shift_right(b, sign, 31 - top).ir)
    body = b.select(_predicate(nan, x), b.constant(bits.type, form.nan), Value(signed, bits.type))
    body = shift_left(b, body, form.unused_bits)
    wanted = kind.times(x.type.count)
    return from_raw(b, resize(b, body, wanted.integer), wanted)


def _predicate(condition: ir.Value, like: Value) -> Value:
    return Value(condition, PRED.times(like.type.count))


def _body(b: LaneBuilder, magnitude: Value, sign: Value, form: FloatFormat, rounding) -> Value:
    """Exponent and fraction; an overflow runs on into the exponents that are infinite or NaN."""
    count = b.constant(magnitude.type, _SINGLE.fraction_bits - form.fraction_bits)
    if form.minimum_exponent == _SINGLE.minimum_exponent:
        return _drop(b, magnitude, sign, count, rounding)
    exponent, fraction = shift_right(b, magnitude, 23), keep(b, magnitude, (1 << 23) - 1)
    hidden = b.select(
        is_zero(b, exponent), b.constant(fraction.type, 0), b.constant(fraction.type, 1 << 23)
    )
    significand = Value(b.ir.or_(fraction.ir, hidden.ir), fraction.type)
    least = b.constant(exponent.type, form.minimum_exponent - _SINGLE.minimum_exponent + 1)
    exponent = b.elementwise("umax", exponent, b.constant(exponent.type, 1))
    # Below the least exponent more bits go; of a significand of 24, 25 or more are alike.
    short = b.elementwise("usub.sat", least, exponent)
    count = Value(b.ir.add(count.ir, short.ir), count.type)
    count = b.elementwise("umin", count, b.constant(count.type, 25))
    steps = _drop(b, significand, sign, count, rounding)
    over = shift_left(b, b.elementwise("usub.sat", exponent, least), form.fraction_bits)
    return Value(b.ir.add(steps.ir, over.ir), steps.type)


def _drop(b: LaneBuilder, x: Value, sign: Value, count: Value, rounding: Rounding) -> Value:
    """Drop the low ``count`` bits of a magnitude, with a carry as the rounding says."""
    one = b.constant(x.type, 1)
    unit = Value(b.ir.shl(one.ir, count.ir), x.type)
    almost, half = Value(b.ir.sub(unit.ir, one.ir), x.type), shift_right(b, unit, 1)
    if rounding == Rounding.NEAREST:
        odd = b.ir.and_(b.ir.lshr(x.ir, count.ir), one.ir)
        carry = Value(b.ir.add(b.ir.sub(half.ir, one.ir), odd), x.type)
    elif rounding == Rounding.AWAY:
        carry = half
    else:
        carry = b.select(_grows(b, sign, rounding), almost, b.constant(x.type, 0))
    return Value(b.ir.lshr(b.ir.add(x.ir, carry.ir), count.ir), x.type)


def _grows(b: LaneBuilder, sign: Value, rounding: Rounding) -> Value:
    """Whether a directed rounding makes magnitudes larger."""
    if rounding == Rounding.ZERO:
        return b.constant(PRED.times(sign.type.count), 0)
    positive = is_zero(b, sign)
    return positive if rounding == Rounding.UP else Value(b.ir.not_(positive.ir), positive.type)


def _limit(
    b, body: Value, magnitude: Value, sign: Value, form: FloatFormat, rounding, finite
) -> Value:
    """What becomes of numbers beyond the largest."""
    largest = b.constant(body.type, form.largest)
    if not finite and form.exponent_bits == _SINGLE.exponent_bits:
        return body  # a carry ends in the pattern of infinity, which rounding leaves as it is
    if finite:
        return b.elementwise("umin", body, largest)
    over = b.ir.icmp_unsigned(">", body.ir, largest.ir)
    infinity = b.constant(body.type, form.infinity)
    if rounding in (Rounding.NEAREST, Rounding.AWAY):
        return b.select(_predicate(over, body), infinity, body)
    infinite = b.ir.icmp_unsigned("==", magnitude.ir, b.constant(body.type, _SINGLE.infinity).ir)
    grows = b.ir.or_(_grows(b, sign, rounding).ir, infinite)
    beyond = b.select(_predicate(grows, body), infinity, largest)
    return b.select(_predicate(over, body), beyond, body)


# From f64


def narrow_double(b: LaneBuilder, x: Value, rounding: Rounding) -> Value:
    """An f64 rounded to f32."""
    if rounding == Rounding.NEAREST:
        single = b.ir.fptrunc(x.ir, b.vector(F32.times(x.type.count)))
        return Value(single, F32.times(x.type.count), settled=False)

    def emit(inner: LaneBuilder, value: Value) -> Value:
        return _corrected(inner, value, rounding)

    return b.subroutine(f"narrow_double_{rounding.name.lower()}", F32.times(x.type.count), emit, x)


def _corrected(b: LaneBuilder, x: Value, rounding: Rounding) -> Value:
    """The nearest f32, or its neighbour if that lies on the wrong side."""
    near = narrow_double(b, x, Rounding.NEAREST)
    back = b.ir.fpext(near.ir, x.ir.type)
    above, below = b.ir.fcmp_ordered(">", back, x.ir), b.ir.fcmp_ordered("<", back, x.ir)
    bits = raw(b, near)
    positive = b.ir.icmp_signed(">=", bits.ir, b.constant(bits.type, 0).ir)
    if rounding == Rounding.DOWN:
        inward, outward = b.ir.and_(above, positive), b.ir.and_(above, b.ir.not_(positive))
    elif rounding == Rounding.UP:
        inward, outward = b.ir.and_(below, b.ir.not_(positive)), b.ir.and_(below, positive)
    else:
        inward = b.ir.select(positive, above, below)
        outward = b.constant(PRED.times(x.type.count), 0).ir
    return _step(b, bits, near, inward, outward)


def _step(b: LaneBuilder, bits: Value, near: Value, inward: ir.Value, outward: ir.Value) -> Value:
    """The neighbour with the smaller, or with the larger magnitude, where asked for."""
    less = b.ir.zext(inward, bits.ir.type)
    more = b.ir.zext(outward, bits.ir.type)
    moved = Value(b.ir.sub(b.ir.add(bits.ir, more), less), bits.type)
    return from_raw(b, moved, near.type, settled=False)


def narrow_odd(b: LaneBuilder, x: Value) -> Value:
    """An f64 as f32, of two neighbours the one whose last bit is set.

    Rounding that again to a format at least two bits shorter gives the same as rounding once.
    """
    return b.subroutine("narrow_odd", F32.times(x.type.count), _narrow_odd, x)


def _narrow_odd(b: LaneBuilder, x: Value) -> Value:
    near = narrow_double(b, x, Rounding.NEAREST)
    wide = Value(b.ir.fpext(near.ir, x.ir.type), x.type)
    back, size = (b.elementwise("fabs", v).ir for v in (wide, x))
    large = b.ir.fcmp_ordered(">", back, size)
    return to_odd(b, near, b.ir.fcmp_ordered("!=", back, size), large)


def to_odd(b: LaneBuilder, near: Value, inexact: ir.Value, large: ir.Value) -> Value:
    """A rounded number, or if it is inexact and even its odd neighbour on the exact side.

    ``large``: its magnitude is above the exact one.
    """
    bits = raw(b, near)
    moves = b.ir.and_(inexact, is_zero(b, keep(b, bits, 1)).ir)
    one, none = b.constant(bits.type, 1).ir, b.constant(bits.type, 0).ir
    step = b.ir.select(large, b.constant(bits.type, -1).ir, one)
    moved = b.ir.add(bits.ir, b.ir.select(moves, step, none))
    return from_raw(b, Value(moved, bits.type), near.type, settled=False)
