"""Comparison and choice between lane vectors."""

from llvmlite import ir

from lockstep.execution.lanes.builder import LaneBuilder
from lockstep.execution.lanes.formats import flush, format_of, widen
from lockstep.execution.lanes.types import PRED, Type, Value

_ORDERS = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}


def compare_integers(b: LaneBuilder, order: str, x: Value, y: Value, signed: bool) -> Value:
    """The predicate ``x order y``; orders are eq, ne, lt, le, gt, ge."""
    emit = b.ir.icmp_signed if signed else b.ir.icmp_unsigned
    return Value(emit(_ORDERS[order], x.ir, y.ir), PRED.times(x.type.count))


def compare_floats(b: LaneBuilder, order: str, x: Value, y: Value, flushed: bool = False) -> Value:
    """The predicate ``x order y``, false if one is a NaN.

    Orders with a u at the end (``ltu``) are true then; ``num`` and ``nan`` ask for just that.
    ``flushed``: subnormal numbers count as zero.
    """
    if flushed:
        x, y = flush(b, x), flush(b, y)
    x, y = widen(b, x), widen(b, y)
    kind = PRED.times(x.type.count)
    if order in ("num", "nan"):
        emit, sign = (b.ir.fcmp_ordered, "ord") if order == "num" else (b.ir.fcmp_unordered, "uno")
        return Value(emit(sign, x.ir, y.ir), kind)
    if order.endswith("u"):
        return Value(b.ir.fcmp_unordered(_ORDERS[order[:-1]], x.ir, y.ir), kind)
    return Value(b.ir.fcmp_ordered(_ORDERS[order], x.ir, y.ir), kind)


def one(b: LaneBuilder, kind: Type) -> Value:
    """1.0 in every element of a floating-point type."""
    form = format_of(kind)
    bias = 1 - form.minimum_exponent
    return b.constant(kind, bias << form.fraction_bits)


def apart(b: LaneBuilder, pair: Value) -> list[Value]:
    """The low and the high element of each lane."""
    kind = pair.type.scalar
    nothing = ir.Constant(pair.ir.type, ir.Undefined)
    places = ([2 * k + half for k in range(b.lanes)] for half in range(2))
    return [Value(b.ir.shuffle_vector(pair.ir, nothing, _indices(p)), kind) for p in places]


def together(b: LaneBuilder, low: Value, high: Value) -> Value:
    """A pair in each lane, from its elements."""
    places = [k + half * b.lanes for k in range(b.lanes) for half in range(2)]
    return Value(b.ir.shuffle_vector(low.ir, high.ir, _indices(places)), low.type.times(2))


def _indices(places: list[int]) -> ir.Constant:
    return ir.Constant(ir.VectorType(ir.IntType(32), len(places)), places)
