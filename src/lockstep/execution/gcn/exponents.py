"""Numbers times powers of two, and numbers taken apart into a fraction and an exponent."""

from lockstep.execution.gcn.arithmetic import Table, any_of, family, low_bits
from lockstep.execution.gcn.float_mode import flush_in_mode, mode_of
from lockstep.execution.gcn.integer import add
from lockstep.execution.lanes.builder import LaneBuilder
from lockstep.execution.lanes.convert import to_float
from lockstep.execution.lanes.floating import FINITE, is_class
from lockstep.execution.lanes.formats import format_of, from_raw, keep, raw
from lockstep.execution.lanes.integer import clamp, is_zero, resize, shift_left, shift_right
from lockstep.execution.lanes.rounding import Rounding, rounded
from lockstep.execution.lanes.types import F32, F64, I32, I64, PRED, Value

_BIAS, _FRACTION_BITS = 1023, 52  # of f64
_FAR = 2200  # scaling by more than this changes no result


def power_of_two(b: LaneBuilder, n: Value) -> Value:
    """The f64 whose exponent is an integer (i32), if it is that of a normal number."""
    biased = resize(b, add(b, n, b.constant(I32, _BIAS)), I64)
    return from_raw(b, shift_left(b, biased, _FRACTION_BITS), F64)


def exponent_field(b: LaneBuilder, x: Value) -> Value:
    """The bits of an f32 or f64 that are its exponent (i32): 0 of subnormal numbers and zeros."""
    form = format_of(x.type)
    field = shift_right(b, raw(b, x), form.fraction_bits)
    return resize(b, low_bits(b, field, form.exponent_bits), I32)


def _times(b: LaneBuilder, x: Value, y: Value) -> Value:
    return rounded(b, "fmul", Rounding.NEAREST, x, y)


def _scale(b: LaneBuilder, x: Value, n: Value) -> Value:
    return b.subroutine("gcn_ldexp", F64, _scale_in_steps, x, clamp(b, n, -_FAR, _FAR, True))


def _scale_in_steps(b: LaneBuilder, x: Value, n: Value) -> Value:
    """Factors as far as exponents reach, of which only the last one may round."""
    # Going down, steps leave room for all the bits of a subnormal number that is still to come.
    for _ in range(2):
        for over, step in (
            (b.ir.icmp_signed(">", n.ir, b.constant(I32, _BIAS).ir), _BIAS),
            (
                b.ir.icmp_signed("<", n.ir, b.constant(I32, 1 - _BIAS).ir),
                1 - _BIAS + _FRACTION_BITS + 1,
            ),
        ):
            over = Value(over, PRED)
            x = b.select(over, _times(b, x, b.constant(F64, 2.0**step)), x)
            n = b.select(over, add(b, n, b.constant(I32, -step)), n)
    n = clamp(b, n, 1 - _BIAS, _BIAS, True)
    return _times(b, x, power_of_two(b, n))


def _scale_single(b: LaneBuilder, x: Value, n: Value) -> Value:
    """Exact in f64, then rounded."""
    wide = to_float(b, flush_in_mode(b, x), F64)
    n = clamp(b, n, -512, 512, True)
    return flush_in_mode(
        b, to_float(b, _times(b, wide, power_of_two(b, n)), F32, mode_of(b).single)
    )


def _normal(b: LaneBuilder, x: Value) -> tuple[Value, Value]:
    """A number as a normal one, and how many doublings that took (i32)."""
    if x.type == F32 and not mode_of(b).keeps_singles:
        return flush_in_mode(b, x), b.constant(I32, 0)
    small = is_zero(b, exponent_field(b, x))
    scaled = b.select(small, _times(b, x, b.constant(x.type, 2.0**64)), x)
    return scaled, b.select(small, b.constant(I32, 64), b.constant(I32, 0))


def _special(b: LaneBuilder, x: Value) -> Value:
    """Zeros, infinities and NaNs."""
    zero = is_zero(b, keep(b, raw(b, x), format_of(x.type).sign - 1))
    return any_of(b, zero, Value(b.ir.not_(is_class(b, x, FINITE).ir), PRED))


def _exponent(b: LaneBuilder, x: Value) -> Value:
    """The exponent of a fraction from 1/2 to 1; 0 where there is none."""
    x, doublings = _normal(b, x)
    half = -format_of(x.type).minimum_exponent  # the field of numbers from 1/2 to 1
    less = add(b, doublings, b.constant(I32, half))
    exponent = Value(b.ir.sub(exponent_field(b, x).ir, less.ir), I32)
    return b.select(_special(b, x), b.constant(I32, 0), exponent)


def _fraction(b: LaneBuilder, x: Value) -> Value:
    """The fraction from 1/2 to 1 with the number's sign; other than numbers as they are."""
    x, _ = _normal(b, x)
    form, bits = format_of(x.type), raw(b, x)
    half = b.constant(bits.type, -form.minimum_exponent << form.fraction_bits)
    fraction = any_of(b, keep(b, bits, ~form.infinity), half)
    return b.select(_special(b, x), x, from_raw(b, fraction, x.type))


EXPONENTS: Table = {
    **family(F32, (F32, I32), v_ldexp_f32=_scale_single),
    **family(F64, (F64, I32), v_ldexp_f64=_scale),
    **family(I32, (F32,), v_frexp_exp_i32_f32=_exponent),
    **family(I32, (F64,), v_frexp_exp_i32_f64=_exponent),
    **family(F32, (F32,), v_frexp_mant_f32=_fraction),
    **family(F64, (F64,), v_frexp_mant_f64=_fraction),
}
