"""Rounding modes, and arithmetic that rounds as they say."""

from enum import IntEnum

from llvmlite import ir

from lockstep.execution.lanes.builder import HALF, LaneBuilder, type_suffix
from lockstep.execution.lanes.types import Value


class Rounding(IntEnum):
    """How a result is rounded; the numbers are those of ``llvm.set.rounding``."""

    ZERO = 0
    NEAREST = 1  # ties to even
    UP = 2
    DOWN = 3
    AWAY = 4  # to nearest, ties away from zero


_WHOLE = {
    Rounding.ZERO: "trunc",
    Rounding.NEAREST: "roundeven",
    Rounding.UP: "ceil",
    Rounding.DOWN: "floor",
}
_INSTRUCTIONS = ("fadd", "fsub", "fmul", "fdiv")


def whole(b: LaneBuilder, x: Value, rounding: Rounding) -> Value:
    """A float rounded to a whole number, still a float."""
    return b.elementwise(_WHOLE[rounding], x)


def rounded(b: LaneBuilder, operation: str, rounding: Rounding, *values: Value) -> Value:
    """fadd, fsub, fmul, fdiv, fma or sqrt of f32 or f64, rounded once."""
    if rounding == Rounding.NEAREST:
        if operation not in _INSTRUCTIONS:
            return b.elementwise(operation, *values)
        result = getattr(b.ir, operation)(*(v.ir for v in values))
        return Value(result, values[0].type, settled=False)

    def emit(inner: LaneBuilder, *inputs: Value) -> Value:
        return _in_mode(inner, operation, rounding, inputs)

    name = f"{operation}_{rounding.name.lower()}"
    return b.subroutine(name, values[0].type, emit, *values, strict=True)


def _in_mode(b: LaneBuilder, operation: str, rounding: Rounding, values: tuple) -> Value:
    """The operation while the processor's rounding mode is another than usual."""
    _set_mode(b, rounding)
    vector = b.vector(values[0].type)
    how = [ir.MetaDataString(b.module, word) for word in ("round.dynamic", "fpexcept.ignore")]
    name = f"llvm.experimental.constrained.{operation}.{type_suffix(vector)}"
    result = b.intrinsic(name, vector, [*(v.ir for v in values), *how])
    _set_mode(b, Rounding.NEAREST)
    return Value(result, values[0].type, settled=False)


def _set_mode(b: LaneBuilder, rounding: Rounding) -> None:
    b.intrinsic("llvm.set.rounding", ir.VoidType(), [ir.Constant(HALF, int(rounding))])
