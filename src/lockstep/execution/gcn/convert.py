"""Conversions: integers saturate, a NaN becomes 0; the formats that are packed into words."""

from functools import partial

from lockstep.execution.gcn.arithmetic import One, Table, any_of, both, family, low_bits, no
from lockstep.execution.gcn.bits import left
from lockstep.execution.gcn.float_mode import flush_in_mode, mode_of
from lockstep.execution.lanes import convert
from lockstep.execution.lanes.builder import LaneBuilder
from lockstep.execution.lanes.compare import compare_floats
from lockstep.execution.lanes.formats import widen
from lockstep.execution.lanes.integer import (
    clamp,
    limits,
    resize,
    shift_left,
    shift_right,
)
from lockstep.execution.lanes.narrow import narrow
from lockstep.execution.lanes.rounding import Rounding, rounded
from lockstep.execution.lanes.types import F16, F32, F64, I16, I32, Type, Value

NEAREST, DOWN, ZERO = Rounding.NEAREST, Rounding.DOWN, Rounding.ZERO


def _to_integer(b: LaneBuilder, x: Value, signed: bool, rounding: Rounding = ZERO) -> Value:
    if x.type == F32:
        return convert.to_integer(b, flush_in_mode(b, x), I32, signed, rounding)
    number = convert.to_integer(b, x, I32, signed, rounding)
    return b.select(compare_floats(b, "nan", x, x), b.constant(I32, 0), number)


def _round_half_up(b: LaneBuilder, x: Value) -> Value:
    """The floor of x + 1/2, a sum that f64 holds."""
    half = b.constant(F64, 0.5)
    total = rounded(b, "fadd", NEAREST, convert.to_float(b, flush_in_mode(b, x), F64), half)
    return _to_integer(b, total, True, DOWN)


def _from_integer(kind: Type, signed: bool) -> One:
    return lambda b, x: convert.from_integer(b, x, kind, signed, mode_of(b).rounding(kind))


def _from_byte(b: LaneBuilder, x: Value, place: int) -> Value:
    byte = low_bits(b, shift_right(b, x, 8 * place), 8)
    return convert.from_integer(b, byte, F32, True, NEAREST)


def _from_sixteenths(b: LaneBuilder, x: Value) -> Value:
    """Four bits with a sign, sixteenths."""
    steps = shift_right(b, shift_left(b, x, 28), 28, signed=True)
    number = convert.from_integer(b, steps, F32, True, NEAREST)
    return rounded(b, "fmul", NEAREST, number, b.constant(F32, 1 / 16))


def _half(b: LaneBuilder, x: Value, rounding: Rounding | None = None) -> Value:
    """An f16 in the low half of a word; there, subnormal numbers stay."""
    rounding = mode_of(b).single if rounding is None else rounding
    half = narrow(b, flush_in_mode(b, x), F16, rounding)
    return resize(b, b.cast(half, I16), I32)


def _from_half(b: LaneBuilder, x: Value) -> Value:
    return widen(b, b.cast(resize(b, x, I16), F16))


def _single(b: LaneBuilder, x: Value) -> Value:
    return flush_in_mode(b, convert.to_float(b, x, F32, mode_of(b).single))


def _pair(b: LaneBuilder, low: Value, high: Value) -> Value:
    return any_of(b, low_bits(b, low, 16), shift_left(b, high, 16))


def _pair_of_halves(b: LaneBuilder, x: Value, y: Value) -> Value:
    return _pair(b, *(_half(b, v, ZERO) for v in (x, y)))


def _pair_of_integers(b: LaneBuilder, x: Value, y: Value, signed: bool) -> Value:
    """Saturated; unsigned ones are never below 0."""
    return _pair(b, *(clamp(b, v, *limits(16, signed), signed) for v in (x, y)))


def _pair_of_fractions(b: LaneBuilder, x: Value, y: Value, signed: bool) -> Value:
    """Numbers up to 1 as fractions of the largest integer, rounded to nearest."""
    low, high = -limits(16, signed)[1] if signed else 0, limits(16, signed)[1]
    parts = []
    for value in (x, y):
        wide = convert.to_float(b, flush_in_mode(b, value), F64)
        steps = rounded(b, "fmul", NEAREST, wide, b.constant(F64, float(high)))  # exact
        parts.append(clamp(b, _to_integer(b, steps, True, NEAREST), low, high, True))
    return _pair(b, *parts)


def _put_byte(b: LaneBuilder, x: Value, place: Value, into: Value) -> Value:
    """A number from 0 to 255, rounded to nearest, as one byte of a word."""
    byte = clamp(b, _to_integer(b, x, False, NEAREST), 0, 255, False)
    by = shift_left(b, low_bits(b, place, 2), 3)
    hole = no(b, left(b, b.constant(I32, 0xFF), by))
    return any_of(b, both(b, into, hole), left(b, byte, by))


CONVERT: Table = {
    **family(
        I32,
        (F32,),
        v_cvt_u32_f32=partial(_to_integer, signed=False),
        v_cvt_i32_f32=partial(_to_integer, signed=True),
        v_cvt_flr_i32_f32=partial(_to_integer, signed=True, rounding=DOWN),
        v_cvt_rpi_i32_f32=_round_half_up,
        v_cvt_f16_f32=_half,
    ),
    **family(
        I32,
        (F64,),
        v_cvt_u32_f64=partial(_to_integer, signed=False),
        v_cvt_i32_f64=partial(_to_integer, signed=True),
    ),
    **family(
        F32,
        (I32,),
        v_cvt_f32_u32=_from_integer(F32, False),
        v_cvt_f32_i32=_from_integer(F32, True),
        v_cvt_f32_ubyte0=partial(_from_byte, place=0),
        v_cvt_f32_ubyte1=partial(_from_byte, place=1),
        v_cvt_f32_ubyte2=partial(_from_byte, place=2),
        v_cvt_f32_ubyte3=partial(_from_byte, place=3),
        v_cvt_off_f32_i4=_from_sixteenths,
        v_cvt_f32_f16=_from_half,
    ),
    **family(
        F64,
        (I32,),
        v_cvt_f64_u32=_from_integer(F64, False),
        v_cvt_f64_i32=_from_integer(F64, True),
    ),
    **family(F64, (F32,), v_cvt_f64_f32=lambda b, x: convert.to_float(b, flush_in_mode(b, x), F64)),
    **family(F32, (F64,), v_cvt_f32_f64=_single),
    **family(
        I32,
        (F32, F32),
        v_cvt_pkrtz_f16_f32=_pair_of_halves,
        v_cvt_pknorm_i16_f32=partial(_pair_of_fractions, signed=True),
        v_cvt_pknorm_u16_f32=partial(_pair_of_fractions, signed=False),
    ),
    **family(
        I32,
        (I32, I32),
        v_cvt_pk_u16_u32=partial(_pair_of_integers, signed=False),
        v_cvt_pk_i16_i32=partial(_pair_of_integers, signed=True),
    ),
    **family(I32, (F32, I32, I32), v_cvt_pk_u8_f32=_put_byte, v_cvt_pkaccum_u8_f32=_put_byte),
}
