"""What an arithmetic operation of Southern Islands is: a function over values, and their types.

Operations are functions of a builder and the values of their operands, signs already applied.
Floating-point operations work as the builder's float mode says: see ``float_mode.py``. Lanes
outside EXEC compute, too: the caller keeps their results from going anywhere.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from lockstep.execution.lanes.builder import LaneBuilder
from lockstep.execution.lanes.types import I32, I64, PRED, Type, Value

Emit = Callable[..., Value | tuple[Value, ...]]
One = Callable[..., Value]  # an Emit of one result


@dataclass(frozen=True, slots=True)
class Arithmetic:
    """One operation: what emits it, and the types of what it takes and gives.

    Several results are a tuple: the one of the destination first, then a carry mask or SCC.
    """

    emit: Emit
    sources: tuple[Type, ...]
    results: tuple[Type, ...]

    def __call__(self, b: LaneBuilder, *values: Value) -> Any:
        """Emit it for operands of these types, or of others of the same size: their bits."""
        typed = [b.cast(v, kind) for v, kind in zip(values, self.sources, strict=True)]
        return self.emit(b, *typed)


Table = dict[str, Arithmetic]


def family(result: Type | tuple[Type, ...], sources: tuple[Type, ...], **emits: Emit) -> Table:
    """Operations that take and give the same types, by mnemonic."""
    results = result if isinstance(result, tuple) else (result,)
    return {name: Arithmetic(emit, sources, results) for name, emit in emits.items()}


def instruction(name: str) -> One:
    """What one instruction of LLVM does to two values of a type."""

    def emit(b: LaneBuilder, x: Value, y: Value) -> Value:
        return Value(getattr(b.ir, name)(x.ir, y.ir), x.type)

    return emit


def reverse(emit: Emit) -> Emit:
    """The same with the first two operands exchanged."""
    return lambda b, x, y, *rest: emit(b, y, x, *rest)


def no(b: LaneBuilder, x: Value) -> Value:
    """Each bit inverted."""
    return Value(b.ir.not_(x.ir), x.type)


def both(b: LaneBuilder, x: Value, y: Value) -> Value:
    """Bits, or predicates, that both have."""
    return Value(b.ir.and_(x.ir, y.ir), x.type)


def any_of(b: LaneBuilder, x: Value, y: Value) -> Value:
    """Bits, or predicates, that either has."""
    return Value(b.ir.or_(x.ir, y.ir), x.type)


def low_bits(b: LaneBuilder, x: Value, count: int) -> Value:
    """The number that the low bits are."""
    return Value(b.ir.and_(x.ir, b.constant(x.type, (1 << count) - 1).ir), x.type)


def as_number(b: LaneBuilder, predicate: Value, kind: Type = I32) -> Value:
    """1 where a predicate holds, else 0."""
    return Value(b.ir.zext(predicate.ir, b.vector(kind)), kind)


def is_number(b: LaneBuilder, x: Value, number: int) -> Value:
    """The predicate: is an integer that number."""
    return Value(b.ir.icmp_unsigned("==", x.ir, b.constant(x.type, number).ir), PRED)


def halves(b: LaneBuilder, x: Value) -> tuple[Value, Value]:
    """The low and the high 32 bits of 64."""
    high = b.ir.lshr(x.ir, b.constant(I64, 32).ir)
    low, high = (Value(b.ir.trunc(half, b.vector(I32)), I32) for half in (x.ir, high))
    return low, high
