"""Integer arithmetic: high halves and wide products, saturation, division, dot products.

Plain sums and products wrap and are the builder's own ``b.ir.add`` and so on. ``signed`` says how
elements are read; 16-bit pairs are vectors of more elements, so nothing here treats them apart.
"""

from llvmlite import ir

from lockstep.execution.lanes.builder import HALF, WORD, LaneBuilder
from lockstep.execution.lanes.flow import counted, element, spill
from lockstep.execution.lanes.scalars import is_scalar
from lockstep.execution.lanes.types import F32, F64, I32, I64, INTEGERS, PRED, Type, Value


def resize(b: LaneBuilder, x: Value, kind: Type, signed: bool = False) -> Value:
    """The number as an integer type of another size; what does not fit is cut off."""
    if kind.bits == x.type.bits:
        return x
    wider = b.ir.sext if signed else b.ir.zext
    change = wider if kind.bits > x.type.bits else b.ir.trunc
    return Value(change(x.ir, b.vector(kind)), kind)


def clamp(b: LaneBuilder, x: Value, low: int, high: int, signed: bool) -> Value:
    """The nearest number from ``low`` to ``high``."""
    prefix = "s" if signed else "u"
    x = b.elementwise(prefix + "max", x, b.constant(x.type, low))
    return b.elementwise(prefix + "min", x, b.constant(x.type, high))


def limits(bits: int, signed: bool) -> tuple[int, int]:
    """The least and the greatest number of a type."""
    return (-(1 << bits - 1), (1 << bits - 1) - 1) if signed else (0, (1 << bits) - 1)


def negative(b: LaneBuilder, x: Value) -> Value:
    """The predicate: is it below zero."""
    return Value(b.ir.icmp_signed("<", x.ir, b.constant(x.type, 0).ir), PRED.times(x.type.count))


def is_zero(b: LaneBuilder, x: Value) -> Value:
    """The predicate: is it zero."""
    return Value(b.ir.icmp_unsigned("==", x.ir, b.constant(x.type, 0).ir), PRED.times(x.type.count))


def negate(b: LaneBuilder, x: Value) -> Value:
    """Two's complement."""
    return Value(b.ir.sub(b.constant(x.type, 0).ir, x.ir), x.type)


def absolute(b: LaneBuilder, x: Value) -> Value:
    """Magnitude; of the least number it is that number, right if read as unsigned."""
    return b.select(negative(b, x), negate(b, x), x)


def minimum(b: LaneBuilder, x: Value, y: Value, signed: bool) -> Value:
    """The smaller one."""
    return b.elementwise("smin" if signed else "umin", x, y)


def maximum(b: LaneBuilder, x: Value, y: Value, signed: bool) -> Value:
    """The larger one."""
    return b.elementwise("smax" if signed else "umax", x, y)


def rectify(b: LaneBuilder, x: Value) -> Value:
    """Zero where a signed number is below it."""
    return maximum(b, x, b.constant(x.type, 0), signed=True)


def absolute_difference(b: LaneBuilder, x: Value, y: Value, signed: bool) -> Value:
    """``|x - y|`` modulo the type's range."""
    high, low = maximum(b, x, y, signed), minimum(b, x, y, signed)
    return Value(b.ir.sub(high.ir, low.ir), x.type)


# Products


def multiply_wide(b: LaneBuilder, x: Value, y: Value, signed: bool) -> Value:
    """The whole product, of twice the size (up to 64 bits)."""
    kind = INTEGERS[2 * x.type.bits]
    factors = (resize(b, v, kind, signed) for v in (x, y))
    return Value(b.ir.mul(*(f.ir for f in factors)), kind)


def multiply_high(b: LaneBuilder, x: Value, y: Value, signed: bool) -> Value:
    """The upper half of the whole product."""
    if x.type == I64:
        high = b.subroutine("multiply_high", I64, _multiply_high_64, x, y)
        return _signed_high(b, x, y, high) if signed else high
    wide = multiply_wide(b, x, y, signed)
    return resize(b, shift_right(b, wide, x.type.bits), x.type)


def _multiply_high_64(b: LaneBuilder, x: Value, y: Value) -> Value:
    """Unsigned, from four products of halves: vectors have no wider element."""
    low = b.constant(I64, 0xFFFFFFFF).ir
    xl, yl = b.ir.and_(x.ir, low), b.ir.and_(y.ir, low)
    xh, yh = shift_right(b, x, 32).ir, shift_right(b, y, 32).ir
    carried = shift_right(b, Value(b.ir.mul(xl, yl), I64), 32).ir
    middle = b.ir.add(b.ir.mul(xh, yl), carried)  # below 2**64
    other = b.ir.add(b.ir.mul(xl, yh), b.ir.and_(middle, low))
    top = b.ir.add(b.ir.mul(xh, yh), shift_right(b, Value(middle, I64), 32).ir)
    return Value(b.ir.add(top, shift_right(b, Value(other, I64), 32).ir), I64)


def _signed_high(b: LaneBuilder, x: Value, y: Value, high: Value) -> Value:
    """Read as unsigned, a negative factor is 2**64 too large: take the other one off."""
    for one, other in ((x, y), (y, x)):
        excess = b.select(negative(b, one), other, b.constant(I64, 0))
        high = Value(b.ir.sub(high.ir, excess.ir), I64)
    return high


def shift_left(b: LaneBuilder, x: Value, count: int) -> Value:
    """Shift by a constant below the size."""
    return Value(b.ir.shl(x.ir, b.constant(x.type, count).ir), x.type)


def shift_right(b: LaneBuilder, x: Value, count: int, signed: bool = False) -> Value:
    """Shift by a constant below the size."""
    emit = b.ir.ashr if signed else b.ir.lshr
    return Value(emit(x.ir, b.constant(x.type, count).ir), x.type)


def dot(b: LaneBuilder, x: Value, y: Value, total: Value, parts: list, signs: tuple) -> Value:
    """``total`` plus the products of parts of words.

    ``parts``: for each product the first bit and the size in ``x``, and those in ``y``; ``signs``
    says whether the parts of ``x`` and those of ``y`` are signed.
    """
    for (x_bit, x_size), (y_bit, y_size) in parts:
        one = _part(b, x, x_bit, x_size, signs[0])
        other = _part(b, y, y_bit, y_size, signs[1])
        total = Value(b.ir.add(total.ir, b.ir.mul(one.ir, other.ir)), I32)
    return total


def _part(b: LaneBuilder, x: Value, bit: int, size: int, signed: bool) -> Value:
    up = b.ir.shl(x.ir, b.constant(I32, 32 - bit - size).ir)
    return shift_right(b, Value(up, I32), 32 - size, signed)


# Division


def divide(b: LaneBuilder, x: Value, y: Value, signed: bool) -> tuple[Value, Value]:
    """Quotient, rounded toward zero, and remainder, with the sign of the dividend.

    By zero the quotient is all ones and the remainder the dividend, as GPUs compute it.
    """
    a, c = (absolute(b, v) if signed else v for v in (x, y))
    by_zero = is_zero(b, y)
    c = b.select(by_zero, b.constant(y.type, 1), c)
    emit = _divide_loop if x.type == I64 else _divide_floating
    quotient = b.subroutine("divide", x.type, emit, a, c)
    if signed:
        different = negative(b, Value(b.ir.xor(x.ir, y.ir), x.type))
        quotient = b.select(different, negate(b, quotient), quotient)
    quotient = b.select(by_zero, b.constant(x.type, -1), quotient)
    back = b.ir.mul(quotient.ir, y.ir)
    return quotient, Value(b.ir.sub(x.ir, back), x.type)


def _divide_floating(b: LaneBuilder, x: Value, y: Value) -> Value:
    """Unsigned division of at most 32 bits by one in floating point.

    Exact: a quotient q that is not whole lies at least 1/y below the next whole number, and its
    rounding error is at most q * 2**-53 (2**-24), less than that.
    """
    vector = b.vector(F64 if x.type == I32 else F32)
    quotient = b.ir.fdiv(b.ir.uitofp(x.ir, vector), b.ir.uitofp(y.ir, vector))
    return Value(b.ir.fptoui(quotient, b.vector(x.type)), x.type)


def _divide_loop(b: LaneBuilder, x: Value, y: Value) -> Value:
    """Unsigned division of 64 bits, lane by lane: processors divide no vectors of integers."""
    if is_scalar(x):
        return Value(b.ir.udiv(x.ir, y.ir), I64)
    places = [spill(b, v.ir) for v in (x, y)]
    with counted(b, ir.Constant(HALF, b.lanes)) as lane:
        at = [element(b, place, WORD, lane) for place in places]
        quotient = b.ir.udiv(*(b.ir.load(p, typ=WORD) for p in at))
        b.ir.store(quotient, at[0])
    return Value(b.ir.load(places[0], typ=x.ir.type, align=64), I64)
