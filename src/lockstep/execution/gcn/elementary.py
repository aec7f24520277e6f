"""Reciprocals, roots, powers and logarithms of two, sine and cosine.

AMD bounds the error of the f32 functions by one unit in the last place, that of sine and cosine
absolutely. Ours are computed in f64 where f32 would not do, and rounded once. The argument of sine
and cosine is in turns, and beyond 256 of them the result is that of 0.
"""

from math import pi, sqrt

from lockstep.execution.gcn.arithmetic import One, Table, family
from lockstep.execution.gcn.exponents import power_of_two
from lockstep.execution.gcn.floating import LARGEST
from lockstep.execution.lanes.approximate import (
    polynomial,
    quadrant,
    reciprocal,
    reciprocal_root,
    split,
    square_root,
    within,
)
from lockstep.execution.lanes.builder import LaneBuilder
from lockstep.execution.lanes.compare import compare_floats
from lockstep.execution.lanes.convert import to_float
from lockstep.execution.lanes.floating import absolute, copy_sign
from lockstep.execution.lanes.formats import flush, from_raw, keep, raw
from lockstep.execution.lanes.integer import resize, shift_right
from lockstep.execution.lanes.rounding import Rounding, rounded
from lockstep.execution.lanes.types import F32, F64, I32, I64, Type, Value

_INFINITY = float("inf")
_MOST_TURNS = 256.0
# (2**f - 1) / f for |f| <= 1/2; relative error of 2**f 2**-28.9
_EXP = (0.6931472029, 0.2402264791, 0.0555033247, 0.009618437366, 0.001339887487, 0.0001535336063)
# log2(1 + f) / f for sqrt(1/2) <= 1 + f < sqrt(2); relative error 2**-30.5
_LOG = (
    1.442695042,
    -0.7213475157,
    0.4808978892,
    -0.3606741496,
    0.2885761733,
    -0.2404671973,
    0.2050434834,
    -0.1789088706,
    0.1720570404,
    -0.1690625768,
    0.09703255257,
)


def _operate(b: LaneBuilder, operation: str, *values: Value) -> Value:
    return rounded(b, operation, Rounding.NEAREST, *values)


def _number(b: LaneBuilder, like: Value, number: float) -> Value:
    return b.constant(like.type, number)


def _in_double(name: str, emit: One) -> One:
    """A function of f32 by one of f64, as a routine."""

    def whole(b: LaneBuilder, x: Value) -> Value:
        return flush(b, to_float(b, emit(b, to_float(b, flush(b, x), F64)), F32))

    return lambda b, x: b.subroutine(f"gcn_{name}", F32, whole, x)


def _exp(b: LaneBuilder, x: Value) -> Value:
    x = within(b, x, 1000.0)  # results are zero and infinite long before
    nearest, n = split(b, x)
    f = _operate(b, "fsub", x, nearest)
    power = _operate(b, "fma", f, polynomial(b, f, _EXP), _number(b, x, 1.0))
    return _operate(b, "fmul", power, power_of_two(b, resize(b, n, I32)))


def _log(b: LaneBuilder, x: Value) -> Value:
    """Of f64 that were f32: none is subnormal."""
    low = raw(b, _number(b, x, sqrt(0.5)))
    above = Value(b.ir.sub(raw(b, x).ir, low.ir), I64)
    exponent = b.ir.sitofp(shift_right(b, above, 52, signed=True).ir, b.vector(F64))
    fraction = b.ir.add(keep(b, above, (1 << 52) - 1).ir, low.ir)
    mantissa = from_raw(b, Value(fraction, I64), F64)
    f = _operate(b, "fsub", mantissa, _number(b, x, 1.0))
    result = _operate(b, "fma", f, polynomial(b, f, _LOG), Value(exponent, F64))
    result = b.select(compare_floats(b, "lt", x, _number(b, x, _INFINITY)), result, x)
    zero = _number(b, x, 0.0)
    negative = compare_floats(b, "lt", x, zero)
    result = b.select(negative, _number(b, x, float("nan")), result)
    return b.select(compare_floats(b, "eq", x, zero), _number(b, x, -_INFINITY), result)


def _reciprocal(b: LaneBuilder, x: Value) -> Value:
    return flush(b, reciprocal(b, flush(b, x)))


def _root(b: LaneBuilder, x: Value) -> Value:
    return square_root(b, flush(b, x))


def _reciprocal_root_double(b: LaneBuilder, x: Value) -> Value:
    return b.subroutine("gcn_rsq_f64", F64, _corrected_root, x)


def _corrected_root(b: LaneBuilder, x: Value) -> Value:
    """A rounded reciprocal of a rounded root, and one step of Newton's."""
    near, one = reciprocal_root(b, x), _number(b, x, 1.0)
    root = _operate(b, "fmul", x, near)
    rest = _operate(b, "fma", x, near, Value(b.ir.fneg(root.ir), F64))
    error = _operate(b, "fma", Value(b.ir.fneg(root.ir), F64), near, one)
    error = _operate(b, "fma", Value(b.ir.fneg(rest.ir), F64), near, error)
    half = _operate(b, "fmul", near, _number(b, x, 0.5))
    better = _operate(b, "fma", half, error, near)
    return b.select(compare_floats(b, "num", error, error), better, near)


def _bounded(emit: One, kind: Type, legacy: bool = False) -> One:
    """Infinite results are the largest numbers; ``legacy``: they are zeros."""
    largest = LARGEST if kind == F32 else float.fromhex("0x1.fffffffffffffp1023")
    bound = 0.0 if legacy else largest

    def bounded(b: LaneBuilder, x: Value) -> Value:
        result = emit(b, x)
        infinite = compare_floats(b, "eq", absolute(b, result), b.constant(kind, _INFINITY))
        return b.select(infinite, copy_sign(b, result, b.constant(kind, bound)), result)

    return bounded


def _circular(name: str, quarters: int) -> One:
    return lambda b, x: b.subroutine(
        f"gcn_{name}", F32, lambda inner, v: _turned(inner, v, quarters), x
    )


def _turned(b: LaneBuilder, x: Value, quarters: int) -> Value:
    """The sine of ``x`` turns plus so many quarters."""
    x = flush(b, x)
    far = compare_floats(b, "gt", absolute(b, x), b.constant(F32, _MOST_TURNS))
    fourfold = _operate(b, "fmul", b.select(far, _number(b, x, 0.0), x), _number(b, x, 4.0))
    infinite = compare_floats(b, "eq", absolute(b, x), b.constant(F32, _INFINITY))
    nearest, n = split(b, fourfold)
    rest = _operate(b, "fsub", fourfold, nearest)
    r = _operate(b, "fmul", rest, _number(b, x, pi / 2))
    sine = quadrant(b, r, Value(b.ir.add(n.ir, b.constant(I32, quarters).ir), I32))
    return flush(b, b.select(infinite, _number(b, x, float("nan")), sine))


_log_single = _in_double("log", _log)
_root_reciprocal = _in_double("rsq", reciprocal_root)

ELEMENTARY: Table = {
    **family(
        F32,
        (F32,),
        v_exp_f32=_in_double("exp", _exp),
        v_log_f32=_log_single,
        v_log_clamp_f32=_bounded(_log_single, F32),
        v_rcp_f32=_reciprocal,
        v_rcp_iflag_f32=_reciprocal,
        v_rcp_clamp_f32=_bounded(_reciprocal, F32),
        v_rcp_legacy_f32=_bounded(_reciprocal, F32, legacy=True),
        v_rsq_f32=_root_reciprocal,
        v_rsq_clamp_f32=_bounded(_root_reciprocal, F32),
        v_rsq_legacy_f32=_bounded(_root_reciprocal, F32, legacy=True),
        v_sqrt_f32=_root,
        v_sin_f32=_circular("sin", 0),
        v_cos_f32=_circular("cos", 1),
    ),
    **family(
        F64,
        (F64,),
        v_rcp_f64=reciprocal,
        v_rcp_clamp_f64=_bounded(reciprocal, F64),
        v_rsq_f64=_reciprocal_root_double,
        v_rsq_clamp_f64=_bounded(_reciprocal_root_double, F64),
        v_sqrt_f64=square_root,
    ),
}
