"""Arithmetic of f32: the float mode says whether subnormal numbers are zeros, and rounds.

Minimum, maximum and median keep subnormal numbers in any mode, as the hardware does before its
ninth generation; a sum of a product that is rounded twice never has them.
"""

from functools import partial

from lockstep.execution.gcn.arithmetic import Table, any_of, family, reverse
from lockstep.execution.gcn.float_mode import flush_in_mode, mode_of, result_in_mode
from lockstep.execution.lanes.builder import LaneBuilder
from lockstep.execution.lanes.compare import compare_floats
from lockstep.execution.lanes.floating import Choice, Result, arithmetic, choose, finish
from lockstep.execution.lanes.formats import flush
from lockstep.execution.lanes.rounding import Rounding, rounded, whole
from lockstep.execution.lanes.types import F32, Value

LARGEST = float.fromhex("0x1.fffffep127")


def add(b: LaneBuilder, x: Value, y: Value) -> Value:
    """The sum, rounded."""
    return arithmetic(b, "fadd", result_in_mode(b, F32), x, y)


def subtract(b: LaneBuilder, x: Value, y: Value) -> Value:
    """The difference, rounded."""
    return arithmetic(b, "fsub", result_in_mode(b, F32), x, y)


def multiply(b: LaneBuilder, x: Value, y: Value) -> Value:
    """The product, rounded."""
    return arithmetic(b, "fmul", result_in_mode(b, F32), x, y)


def multiply_legacy(b: LaneBuilder, x: Value, y: Value) -> Value:
    """The product, but 0 if a factor is zero, whatever the other one is."""
    return _legacy_product(b, result_in_mode(b, F32), x, y)


def _product(b: LaneBuilder, how: Result, x: Value, y: Value) -> Value:
    return arithmetic(b, "fmul", how, x, y)


def _legacy_product(b: LaneBuilder, how: Result, x: Value, y: Value) -> Value:
    if how.flush:
        x, y = flush(b, x), flush(b, y)
    product = finish(b, rounded(b, "fmul", how.rounding, x, y), how)
    zero = b.constant(F32, 0.0)
    nothing = any_of(b, compare_floats(b, "eq", x, zero), compare_floats(b, "eq", y, zero))
    return b.select(nothing, zero, product)


def _add_product(b: LaneBuilder, x: Value, y: Value, z: Value, product=_product) -> Value:
    """A product, rounded, and a sum, rounded again; all without subnormal numbers."""
    how = Result(mode_of(b).single, flush=True)
    total = rounded(b, "fadd", how.rounding, product(b, how, x, y), flush(b, z))
    return flush(b, total)


def _fused(b: LaneBuilder, x: Value, y: Value, z: Value) -> Value:
    return arithmetic(b, "fma", result_in_mode(b, F32), x, y, z)


def least(b: LaneBuilder, *values: Value) -> Value:
    """The least number: NaNs give way, -0 is below +0."""
    return choose(b, False, Choice(), *values)


def greatest(b: LaneBuilder, *values: Value) -> Value:
    """The greatest number: NaNs give way, -0 is below +0."""
    return choose(b, True, Choice(), *values)


def _middle(b: LaneBuilder, x: Value, y: Value, z: Value) -> Value:
    """The median, or the least number if one is a NaN."""
    low, high = least(b, x, y), greatest(b, x, y)
    median = greatest(b, low, least(b, high, z))
    strange = any_of(b, compare_floats(b, "nan", x, y), compare_floats(b, "nan", z, z))
    return b.select(strange, least(b, low, z), median)


def _legacy(b: LaneBuilder, x: Value, y: Value, order: str) -> Value:
    """The first number if it is in order, else the second, also where there is none."""
    return b.select(compare_floats(b, order, x, y), x, y)


def _whole(b: LaneBuilder, x: Value, rounding: Rounding) -> Value:
    return whole(b, flush_in_mode(b, x), rounding)


def _fraction(b: LaneBuilder, x: Value) -> Value:
    """What is above the next whole number below; of tiny negative numbers it is 1."""
    return subtract(b, x, _whole(b, x, Rounding.DOWN))


def _light(b: LaneBuilder, x: Value, y: Value, z: Value) -> Value:
    """A product for lighting: minus the largest number unless y is a usable power, z positive."""
    lowest = b.constant(F32, -LARGEST)
    usable = compare_floats(b, "gt", y, lowest)
    lit = compare_floats(b, "gt", flush_in_mode(b, z), b.constant(F32, 0.0))
    product = multiply_legacy(b, x, y)
    return b.select(Value(b.ir.and_(usable.ir, lit.ir), usable.type), product, lowest)


_multiply_add_legacy = partial(_add_product, product=_legacy_product)

FLOATING: Table = {
    **family(
        F32,
        (F32, F32),
        v_add_f32=add,
        v_sub_f32=subtract,
        v_subrev_f32=reverse(subtract),
        v_mul_f32=multiply,
        v_mul_legacy_f32=multiply_legacy,
        v_min_f32=least,
        v_max_f32=greatest,
        v_min_legacy_f32=partial(_legacy, order="lt"),
        v_max_legacy_f32=partial(_legacy, order="ge"),
    ),
    **family(
        F32,
        (F32, F32, F32),
        v_mac_f32=_add_product,
        v_mad_f32=_add_product,
        v_madmk_f32=_add_product,
        v_madak_f32=_add_product,
        v_mac_legacy_f32=_multiply_add_legacy,
        v_mad_legacy_f32=_multiply_add_legacy,
        v_fma_f32=_fused,
        v_min3_f32=least,
        v_max3_f32=greatest,
        v_med3_f32=_middle,
        v_mullit_f32=_light,
    ),
    **family(
        F32,
        (F32,),
        v_trunc_f32=partial(_whole, rounding=Rounding.ZERO),
        v_ceil_f32=partial(_whole, rounding=Rounding.UP),
        v_floor_f32=partial(_whole, rounding=Rounding.DOWN),
        v_rndne_f32=partial(_whole, rounding=Rounding.NEAREST),
        v_fract_f32=_fraction,
    ),
}
