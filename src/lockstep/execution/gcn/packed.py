"""Arithmetic on the bytes and halves of words: means and sums of absolute differences."""

from functools import partial

from lockstep.execution.gcn.arithmetic import Table, any_of, family, is_number, low_bits
from lockstep.execution.gcn.integer import add
from lockstep.execution.lanes.builder import LaneBuilder
from lockstep.execution.lanes.integer import (
    absolute_difference,
    resize,
    shift_left,
    shift_right,
)
from lockstep.execution.lanes.types import I32, I64, Value


def _part(b: LaneBuilder, x: Value, place: int, bits: int) -> Value:
    return low_bits(b, shift_right(b, x, place * bits), bits)


def _differences(b: LaneBuilder, x: Value, y: Value, bits: int = 8, masked: bool = False) -> Value:
    """The sum of the absolute differences of parts; ``masked``: where that of ``y`` is not 0."""
    total = b.constant(I32, 0)
    for place in range(32 // bits):
        one, other = (_part(b, v, place, bits) for v in (x, y))
        size = absolute_difference(b, one, other, signed=False)
        if masked:
            size = b.select(is_number(b, other, 0), b.constant(I32, 0), size)
        total = add(b, total, size)
    return total


def _sum(b: LaneBuilder, x: Value, y: Value, total: Value, **how) -> Value:
    return add(b, _differences(b, x, y, **how), total)


def _sum_high(b: LaneBuilder, x: Value, y: Value, total: Value) -> Value:
    return add(b, shift_left(b, _differences(b, x, y), 16), total)


def _sums_of_four(b: LaneBuilder, x: Value, y: Value, totals: Value) -> Value:
    """Four sums of 16 bits, of the words that begin at the four lowest bytes of 64 bits."""
    result = b.constant(I64, 0)
    for place in range(4):
        word = resize(b, shift_right(b, x, 8 * place), I32)
        total = resize(b, _part(b, totals, place, 16), I32)
        found = low_bits(b, _sum(b, word, y, total, masked=True), 16)
        result = any_of(b, result, shift_left(b, resize(b, found, I64), 16 * place))
    return result


def _means(b: LaneBuilder, x: Value, y: Value, roundings: Value) -> Value:
    """Of each byte half the sum, rounded up where the lowest bit of the third byte is set."""
    result = b.constant(I32, 0)
    for place in range(4):
        one, other = (_part(b, v, place, 8) for v in (x, y))
        up = low_bits(b, shift_right(b, roundings, 8 * place), 1)
        mean = shift_right(b, add(b, add(b, one, other), up), 1)
        result = any_of(b, result, shift_left(b, mean, 8 * place))
    return result


PACKED: Table = {
    **family(
        I32,
        (I32, I32, I32),
        v_sad_u8=_sum,
        v_sad_u16=partial(_sum, bits=16),
        v_sad_hi_u8=_sum_high,
        v_msad_u8=partial(_sum, masked=True),
        v_lerp_u8=_means,
    ),
    **family(I64, (I64, I32, I64), v_mqsad_pk_u16_u8=_sums_of_four),
}
