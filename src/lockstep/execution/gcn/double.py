"""Arithmetic of f64: each operation rounded once, as the mode says, subnormal numbers kept."""

from lockstep.execution.gcn.arithmetic import Table, family
from lockstep.execution.gcn.float_mode import result_in_mode
from lockstep.execution.gcn.floating import greatest, least
from lockstep.execution.lanes.builder import LaneBuilder
from lockstep.execution.lanes.floating import arithmetic
from lockstep.execution.lanes.rounding import Rounding, whole
from lockstep.execution.lanes.types import F64, Value


def _add(b: LaneBuilder, x: Value, y: Value) -> Value:
    return arithmetic(b, "fadd", result_in_mode(b, F64), x, y)


def _multiply(b: LaneBuilder, x: Value, y: Value) -> Value:
    return arithmetic(b, "fmul", result_in_mode(b, F64), x, y)


def _fused(b: LaneBuilder, x: Value, y: Value, z: Value) -> Value:
    return arithmetic(b, "fma", result_in_mode(b, F64), x, y, z)


def _fraction(b: LaneBuilder, x: Value) -> Value:
    """What is above the next whole number below; of tiny negative numbers it is 1.

    That is the difference as it is rounded: compilers for this generation bound it themselves.
    """
    return arithmetic(b, "fsub", result_in_mode(b, F64), x, whole(b, x, Rounding.DOWN))


DOUBLE: Table = {
    **family(
        F64,
        (F64, F64),
        v_add_f64=_add,
        v_mul_f64=_multiply,
        v_min_f64=least,
        v_max_f64=greatest,
    ),
    **family(F64, (F64, F64, F64), v_fma_f64=_fused),
    **family(F64, (F64,), v_fract_f64=_fraction),
}
