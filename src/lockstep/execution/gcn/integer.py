"""Integer arithmetic of the vector unit: sums with carries, products, order, 24-bit numbers.

What has a carry or a borrow gives it as a second result: of every lane, so without those outside
EXEC it is the mask that the instruction writes. The scalar unit uses the same functions.
"""

from functools import partial
from typing import Any

from lockstep.execution.gcn.arithmetic import (
    Table,
    any_of,
    as_number,
    family,
    instruction,
    reverse,
)
from lockstep.execution.lanes.builder import LaneBuilder
from lockstep.execution.lanes.integer import (
    absolute_difference,
    maximum,
    minimum,
    multiply_high,
    shift_right,
)
from lockstep.execution.lanes.types import I32, PRED, Value

add, subtract, multiply = (instruction(name) for name in ("add", "sub", "mul"))


def below(b: LaneBuilder, x: Value, y: Value, signed: bool = False) -> Value:
    """The predicate: is one less than the other."""
    emit = b.ir.icmp_signed if signed else b.ir.icmp_unsigned
    return Value(emit("<", x.ir, y.ir), PRED)


def add_carry_out(b: LaneBuilder, x: Value, y: Value) -> tuple[Value, Value]:
    """Sum and carry."""
    total = add(b, x, y)
    return total, below(b, total, x)


def subtract_borrow_out(b: LaneBuilder, x: Value, y: Value) -> tuple[Value, Value]:
    """Difference and borrow."""
    return subtract(b, x, y), below(b, x, y)


def add_carry(b: LaneBuilder, x: Value, y: Value, carry: Value) -> tuple[Value, Value]:
    """Sum with a carry, and its carry."""
    total, first = add_carry_out(b, x, y)
    total, second = add_carry_out(b, total, as_number(b, carry))
    return total, any_of(b, first, second)


def subtract_borrow(b: LaneBuilder, x: Value, y: Value, borrow: Value) -> tuple[Value, Value]:
    """Difference less a borrow, and its borrow."""
    rest, first = subtract_borrow_out(b, x, y)
    rest, second = subtract_borrow_out(b, rest, as_number(b, borrow))
    return rest, any_of(b, first, second)


def _low_24(b: LaneBuilder, x: Value, signed: bool) -> Value:
    top = Value(b.ir.shl(x.ir, b.constant(I32, 8).ir), I32)
    return shift_right(b, top, 8, signed)


def _multiply_24(b: LaneBuilder, x: Value, y: Value, signed: bool) -> Value:
    return multiply(b, _low_24(b, x, signed), _low_24(b, y, signed))


def _multiply_high_24(b: LaneBuilder, x: Value, y: Value, signed: bool) -> Value:
    return multiply_high(b, _low_24(b, x, signed), _low_24(b, y, signed), signed)


def _multiply_add_24(b: LaneBuilder, x: Value, y: Value, z: Value, signed: bool) -> Value:
    return add(b, _multiply_24(b, x, y, signed), z)


def _least(b: LaneBuilder, x: Value, y: Value, z: Value, signed: bool) -> Value:
    return minimum(b, minimum(b, x, y, signed), z, signed)


def _greatest(b: LaneBuilder, x: Value, y: Value, z: Value, signed: bool) -> Value:
    return maximum(b, maximum(b, x, y, signed), z, signed)


def _middle(b: LaneBuilder, x: Value, y: Value, z: Value, signed: bool) -> Value:
    low, high = minimum(b, x, y, signed), maximum(b, x, y, signed)
    return maximum(b, low, minimum(b, high, z, signed), signed)


def _difference_add(b: LaneBuilder, x: Value, y: Value, total: Value) -> Value:
    return add(b, absolute_difference(b, x, y, signed=False), total)


_signed: dict[str, Any] = {"signed": True}
_unsigned: dict[str, Any] = {"signed": False}

INTEGER: Table = {
    **family(
        (I32, PRED),
        (I32, I32),
        v_add_i32=add_carry_out,
        v_sub_i32=subtract_borrow_out,
        v_subrev_i32=reverse(subtract_borrow_out),
    ),
    **family(
        (I32, PRED),
        (I32, I32, PRED),
        v_addc_u32=add_carry,
        v_subb_u32=subtract_borrow,
        v_subbrev_u32=reverse(subtract_borrow),
    ),
    **family(
        I32,
        (I32, I32),
        v_mul_lo_u32=multiply,
        v_mul_lo_i32=multiply,
        v_mul_hi_u32=partial(multiply_high, **_unsigned),
        v_mul_hi_i32=partial(multiply_high, **_signed),
        v_mul_u32_u24=partial(_multiply_24, **_unsigned),
        v_mul_i32_i24=partial(_multiply_24, **_signed),
        v_mul_hi_u32_u24=partial(_multiply_high_24, **_unsigned),
        v_mul_hi_i32_i24=partial(_multiply_high_24, **_signed),
        v_min_u32=partial(minimum, **_unsigned),
        v_min_i32=partial(minimum, **_signed),
        v_max_u32=partial(maximum, **_unsigned),
        v_max_i32=partial(maximum, **_signed),
    ),
    **family(
        I32,
        (I32, I32, I32),
        v_mad_u32_u24=partial(_multiply_add_24, **_unsigned),
        v_mad_i32_i24=partial(_multiply_add_24, **_signed),
        v_min3_u32=partial(_least, **_unsigned),
        v_min3_i32=partial(_least, **_signed),
        v_max3_u32=partial(_greatest, **_unsigned),
        v_max3_i32=partial(_greatest, **_signed),
        v_med3_u32=partial(_middle, **_unsigned),
        v_med3_i32=partial(_middle, **_signed),
        v_sad_u32=_difference_add,
    ),
}
