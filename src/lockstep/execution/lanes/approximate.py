"""Functions that GPUs approximate, as vector code of our own.

The polynomials are fits of least maximum error (reweighted least squares at Chebyshev nodes);
the errors of the functions as computed lie within those that the PTX ISA documents.
"""

from math import pi, sqrt

from lockstep.execution.lanes.builder import LaneBuilder
from lockstep.execution.lanes.convert import to_float
from lockstep.execution.lanes.floating import absolute, copy_sign
from lockstep.execution.lanes.formats import FORMATS, flush, from_raw, keep, raw
from lockstep.execution.lanes.integer import is_zero, shift_left, shift_right
from lockstep.execution.lanes.rounding import Rounding, rounded
from lockstep.execution.lanes.types import F32, F64, PRED, Value

NEAREST = Rounding.NEAREST
INFINITY = float("inf")
_ROUND_32, _ROUND_64 = 1.5 * 2.0**23, 1.5 * 2.0**52  # adding it leaves a whole number

# (2**f - 1) / f for |f| <= 1/2; relative error of 2**f 2**-28.9
_EX2 = (0.69314718, 0.24022648, 0.055503324, 0.0096184369, 0.0013398875, 0.00015353361)
# log2(1 + f) / f for sqrt(1/2) <= 1 + f < sqrt(2); absolute error of the logarithm 2**-27.1
_LG2 = (
    1.4426949,
    -0.72134715,
    0.48092252,
    -0.3607212,
    0.28765666,
    -0.2385195,
    0.21737966,
    -0.21030293,
    0.12541121,
)
# (sin(r) / r - 1) / r**2 and (cos(r) - 1) / r**2 of r**2 for |r| <= pi/4; errors 2**-29, 2**-34
_SIN = (-0.16666651, 0.0083319787, -0.00019495635)
_COS = (-0.5, 0.041666623, -0.0013886763, 0.000024390451)
_QUARTER_LOW = 6.123233995736766e-17  # pi/2 less the f64 nearest to it


def _constant(b: LaneBuilder, like: Value, number: float) -> Value:
    return b.constant(like.type, number)


def _fma(b: LaneBuilder, x: Value, y: Value, z: Value) -> Value:
    return b.elementwise("fma", x, y, z)


def _arithmetic(b: LaneBuilder, operation: str, x: Value, y: Value) -> Value:
    return rounded(b, operation, NEAREST, x, y)


def polynomial(b: LaneBuilder, x: Value, coefficients: tuple[float, ...]) -> Value:
    """A polynomial of ``x``, the constant coefficient first."""
    total = _constant(b, x, coefficients[-1])
    for coefficient in coefficients[-2::-1]:
        total = _fma(b, total, x, _constant(b, x, coefficient))
    return total


def _above(b: LaneBuilder, x: Value, number: float) -> Value:
    above = b.ir.fcmp_ordered(">", x.ir, _constant(b, x, number).ir)
    return Value(above, PRED.times(x.type.count))


def within(b: LaneBuilder, x: Value, bound: float) -> Value:
    """A number clamped to both sides of zero; a NaN stays."""
    x = b.select(_above(b, x, bound), _constant(b, x, bound), x)
    below = b.ir.fcmp_ordered("<", x.ir, _constant(b, x, -bound).ir)
    return b.select(Value(below, PRED.times(x.type.count)), _constant(b, x, -bound), x)


def split(b: LaneBuilder, x: Value) -> tuple[Value, Value]:
    """The nearest whole number, as float and as integer (wrong for a NaN)."""
    magic = _constant(b, x, _ROUND_32 if x.type.bits == 32 else _ROUND_64)
    moved = _arithmetic(b, "fadd", x, magic)
    number = Value(b.ir.sub(raw(b, moved).ir, raw(b, magic).ir), x.type.integer)
    return _arithmetic(b, "fsub", moved, magic), number


def ex2(b: LaneBuilder, x: Value) -> Value:
    """Two to the power of an f32; relative error below 2**-22."""
    return b.subroutine("ex2", x.type, _ex2, x)


def _ex2(b: LaneBuilder, x: Value) -> Value:
    x = within(b, x, 252.0)  # results are zero and infinite long before
    nearest, n = split(b, x)
    f = _arithmetic(b, "fsub", x, nearest)
    power = _fma(b, f, polynomial(b, f, _EX2), _constant(b, x, 1.0))
    # In two steps, of which only the second one can leave the range, and rounds if it does.
    half = shift_right(b, n, 1, signed=True)
    for part in (half, Value(b.ir.sub(n.ir, half.ir), n.type)):
        power = _arithmetic(b, "fmul", power, _power_of_two(b, part, x))
    return power


def _power_of_two(b: LaneBuilder, n: Value, like: Value) -> Value:
    biased = Value(b.ir.add(n.ir, b.constant(n.type, 127).ir), n.type)
    return from_raw(b, shift_left(b, biased, 23), like.type)


def lg2(b: LaneBuilder, x: Value) -> Value:
    """Base-two logarithm of an f32; error below 2**-22, relative for results above 1."""
    return b.subroutine("lg2", x.type, _lg2, x)


def _lg2(b: LaneBuilder, x: Value) -> Value:
    kind, form = x.type.integer, FORMATS[F32]
    small = is_zero(b, keep(b, raw(b, x), form.infinity))
    scaled = _arithmetic(b, "fmul", x, _constant(b, x, 2.0**24))
    bits = raw(b, b.select(small, scaled, x))
    low = raw(b, _constant(b, x, sqrt(0.5)))
    above = Value(b.ir.sub(bits.ir, low.ir), kind)
    exponent = shift_right(b, above, 23, signed=True)
    less = b.select(small, b.constant(kind, 24), b.constant(kind, 0))
    exponent = b.ir.sitofp(b.ir.sub(exponent.ir, less.ir), b.vector(x.type))
    mantissa = b.ir.add(keep(b, above, (1 << 23) - 1).ir, low.ir)
    mantissa = from_raw(b, Value(mantissa, kind), x.type)
    f = _arithmetic(b, "fsub", mantissa, _constant(b, x, 1.0))
    result = _fma(b, f, polynomial(b, f, _LG2), Value(exponent, x.type))
    return _lg2_edges(b, x, result)


def _lg2_edges(b: LaneBuilder, x: Value, result: Value) -> Value:
    """Minus infinity of zero, NaN of negative numbers, infinity and NaN of themselves."""
    finite = b.ir.fcmp_ordered("<", x.ir, _constant(b, x, INFINITY).ir)
    kind = PRED.times(x.type.count)
    result = b.select(Value(finite, kind), result, x)
    negative = b.ir.fcmp_ordered("<", x.ir, _constant(b, x, 0.0).ir)
    nan = b.constant(x.type, FORMATS[F32].nan)
    result = b.select(Value(negative, kind), nan, result)
    zero = b.ir.fcmp_ordered("==", x.ir, _constant(b, x, 0.0).ir)
    return b.select(Value(zero, kind), _constant(b, x, -INFINITY), result)


def sin(b: LaneBuilder, x: Value) -> Value:
    """Sine of an f32; absolute error below 2**-22 up to 2**30, beyond that in [-1, 1]."""
    return b.subroutine("sin", x.type, lambda inner, v: _circular(inner, v, 0), x)


def cos(b: LaneBuilder, x: Value) -> Value:
    """Cosine of an f32, as exact as the sine."""
    return b.subroutine("cos", x.type, lambda inner, v: _circular(inner, v, 1), x)


def _circular(b: LaneBuilder, x: Value, quarters: int) -> Value:
    """The sine of ``x`` plus so many quarter turns."""
    wide = to_float(b, x, F64)
    turns = _arithmetic(b, "fmul", wide, _constant(b, wide, 2 / pi))
    nearest, n = split(b, turns)
    nearest = Value(b.ir.fneg(nearest.ir), wide.type)
    rest = _fma(b, nearest, _constant(b, wide, pi / 2), wide)
    rest = _fma(b, nearest, _constant(b, wide, _QUARTER_LOW), rest)
    r = to_float(b, within(b, rest, 0.8), F32)
    n = b.ir.add(
        b.ir.trunc(n.ir, b.vector(x.type.integer)), b.constant(x.type.integer, quarters).ir
    )
    return quadrant(b, r, Value(n, x.type.integer))


def quadrant(b: LaneBuilder, r: Value, n: Value) -> Value:
    """The sine of ``r``, an f32 up to pi/4, plus ``n`` quarter turns (i32)."""
    one, square = _constant(b, r, 1.0), _arithmetic(b, "fmul", r, r)
    sine = _arithmetic(b, "fmul", r, _fma(b, square, polynomial(b, square, _SIN), one))
    cosine = _fma(b, square, polynomial(b, square, _COS), one)
    size = b.select(is_zero(b, keep(b, n, 1)), sine, cosine)
    sign = shift_left(b, keep(b, n, 2), 30)
    bits = Value(b.ir.xor(raw(b, size).ir, sign.ir), sign.type)
    return from_raw(b, bits, r.type, settled=False)


def tanh(b: LaneBuilder, x: Value) -> Value:
    """Hyperbolic tangent of an f32; relative error below 2**-20."""
    return b.subroutine("tanh", x.type, _tanh, x)


def _tanh(b: LaneBuilder, x: Value) -> Value:
    size = absolute(b, x)
    one = _constant(b, x, 1.0)
    doubled = _arithmetic(b, "fmul", size, _constant(b, x, -2.8853900818))  # 2 / ln 2
    power = _ex2(b, doubled)
    numerator, denominator = (_arithmetic(b, name, one, power) for name in ("fsub", "fadd"))
    large = _arithmetic(b, "fdiv", numerator, denominator)
    square = _arithmetic(b, "fmul", x, x)
    series = polynomial(b, square, (1.0, -1 / 3, 2 / 15, -17 / 315))  # Taylor's
    small = _arithmetic(b, "fmul", size, series)
    result = b.select(_above(b, size, 0.25), large, small)
    signed = copy_sign(b, x, result)
    nan = Value(b.ir.fcmp_unordered("uno", x.ir, x.ir), PRED.times(x.type.count))
    return b.select(nan, x, signed)


def reciprocal(b: LaneBuilder, x: Value, rounding: Rounding = NEAREST) -> Value:
    """One divided by a number, rounded once."""
    return rounded(b, "fdiv", rounding, _constant(b, x, 1.0), x)


def square_root(b: LaneBuilder, x: Value, rounding: Rounding = NEAREST) -> Value:
    """The square root, rounded once."""
    return rounded(b, "sqrt", rounding, x)


def reciprocal_root(b: LaneBuilder, x: Value) -> Value:
    """One divided by the square root; of an f32 the relative error is below 2**-22.9."""
    return reciprocal(b, square_root(b, x))


def quotient(b: LaneBuilder, x: Value, y: Value) -> Value:
    """``x / y`` of f32 as a product with a reciprocal that underflows from 2**126 on gives it."""
    plain = _arithmetic(b, "fdiv", x, y)
    size = absolute(b, y)
    vast = b.ir.and_(
        _above(b, size, 2.0**126).ir,
        b.ir.fcmp_ordered("<", size.ir, _constant(b, y, INFINITY).ir),
    )
    nothing = _arithmetic(b, "fmul", x, copy_sign(b, y, _constant(b, y, 0.0)))
    return b.select(Value(vast, PRED.times(x.type.count)), nothing, plain)


def coarse(b: LaneBuilder, function, x: Value) -> Value:
    """A function of an f64 of which only the upper half of operand and result counts."""
    upper = -(1 << 32)
    operand = from_raw(b, keep(b, raw(b, b.settle(x)), upper), F64, settled=False)
    result = b.settle(flush(b, function(b, flush(b, operand))))
    return from_raw(b, keep(b, raw(b, result), upper), F64)
