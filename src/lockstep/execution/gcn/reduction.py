"""Pieces of 2/pi for the exact reduction of large angles."""

from functools import cache

from lockstep.execution.gcn.arithmetic import Table, any_of, family, low_bits
from lockstep.execution.gcn.exponents import exponent_field, power_of_two
from lockstep.execution.lanes.builder import LaneBuilder
from lockstep.execution.lanes.integer import resize, shift_left, shift_right
from lockstep.execution.lanes.rounding import Rounding, rounded
from lockstep.execution.lanes.types import F64, I32, I64, PRED, Value

_BITS = 1201  # of 2/pi that the hardware has; behind them it has zeros
_PIECE = 53  # bits, as f64 has
_LARGE = 1077  # exponent field from which on leading pieces have no effect
_VAST = 1968  # and from which on pieces are scaled up, as they would be subnormal
_SCALED = 128
_LEAST = -1074  # exponent of the smallest f64
_WORDS = 40  # with zeros at the end, so that three follow each place


@cache
def _two_over_pi() -> list[int]:
    """Words of 32 bits, the highest first."""
    guard = 64
    one = 1 << _BITS + guard

    def arctangent(inverse: int) -> int:
        power = total = one // inverse
        divisor, sign = 3, -1
        while power:
            power //= inverse * inverse
            total += sign * (power // divisor)
            divisor, sign = divisor + 2, -sign
        return total

    pi = 4 * (4 * arctangent(5) - arctangent(239))  # Machin's formula
    bits = (2 * one * one // pi) >> guard
    padded = bits << 32 * _WORDS - _BITS
    return [padded >> 32 * (_WORDS - 1 - k) & 0xFFFFFFFF for k in range(_WORDS)]


def _three_from(b: LaneBuilder, place: Value) -> list[Value]:
    """Three words of 2/pi from a place below 38 on."""
    words = [b.constant(I32, word) for word in _two_over_pi()]
    for bit in reversed(range(6)):
        step = 1 << bit
        moves = Value(
            b.ir.icmp_unsigned(
                "!=", b.ir.and_(place.ir, b.constant(I32, step).ir), b.constant(I32, 0).ir
            ),
            PRED,
        )
        words += [b.constant(I32, 0)] * step
        words = [b.select(moves, words[k + step], words[k]) for k in range(step + 2)]
    return words


def _piece(b: LaneBuilder, x: Value, number: Value) -> Value:
    """The piece of 2/pi with a number that matters for an angle, in its place."""
    return b.subroutine("gcn_trig_preop", F64, _found, x, number)


def _found(b: LaneBuilder, x: Value, number: Value) -> Value:
    exponent = exponent_field(b, x)
    skipped = b.elementwise("usub.sat", exponent, b.constant(I32, _LARGE))
    start = b.ir.mul(low_bits(b, number, 5).ir, b.constant(I32, _PIECE).ir)
    start = Value(b.ir.add(start, skipped.ir), I32)
    place = b.elementwise("umin", shift_right(b, start, 5), b.constant(I32, _WORDS - 2))
    first, second, third = _three_from(b, place)
    by = low_bits(b, start, 5)
    high, low = (b.elementwise("fshl", *pair, by) for pair in ((first, second), (second, third)))
    bits = any_of(b, shift_left(b, resize(b, high, I64), 32), resize(b, low, I64))
    vast = Value(b.ir.icmp_unsigned(">=", exponent.ir, b.constant(I32, _VAST).ir), PRED)
    scale = b.select(vast, b.constant(I32, _SCALED - _PIECE), b.constant(I32, -_PIECE))
    return _placed(b, shift_right(b, bits, 64 - _PIECE), Value(b.ir.sub(scale.ir, start.ir), I32))


def _placed(b: LaneBuilder, digits: Value, scale: Value) -> Value:
    """An integer of up to 53 bits times a power of two, cut off where f64 ends."""
    inside = b.elementwise("smax", scale, b.constant(I32, _LEAST))
    lost = resize(b, Value(b.ir.sub(inside.ir, scale.ir), I32), I64)
    kept = b.ir.lshr(digits.ir, b.elementwise("umin", lost, b.constant(I64, 63)).ir)
    number = Value(b.ir.uitofp(kept, b.vector(F64)), F64)
    half = shift_right(b, inside, 1, signed=True)  # powers below 2**-1022 are no normal numbers
    for part in (half, Value(b.ir.sub(inside.ir, half.ir), I32)):
        number = rounded(b, "fmul", Rounding.NEAREST, number, power_of_two(b, part))
    return number


REDUCTION: Table = family(F64, (F64, I32), v_trig_preop_f64=_piece)
