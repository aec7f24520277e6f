"""Elements at host addresses, whose format is a scalar: their bytes and their channels."""

from collections.abc import Callable

from llvmlite import ir

from lockstep.execution.gcn.formats import (
    CHANNELS,
    bordered,
    decode,
    encode,
    size_of,
    swizzled,
)
from lockstep.execution.lanes.builder import HALF, LaneBuilder
from lockstep.execution.lanes.flow import Values, either
from lockstep.execution.lanes.gathering import gather, scatter
from lockstep.execution.lanes.integer import resize
from lockstep.execution.lanes.types import I8, I16, I32, I64, PRED, Type, Value


def load_element(
    b: LaneBuilder,
    host: Value,
    data: ir.Value,
    number: ir.Value,
    selects: ir.Value,
    border: ir.Value | None = None,
) -> Values:
    """The four channels of elements at host addresses.

    Where lanes are not active they are zeros, or those of a border: see :func:`bordered`.
    """
    zero = b.constant(I32, 0).ir

    def small(kind: Type) -> Callable[[], Values]:
        def emit() -> Values:
            found = Value(gather(b, host, kind), kind)
            return [resize(b, found, I32).ir, zero, zero, zero]

        return emit

    def words() -> Values:
        found = []
        for k in range(CHANNELS):
            there = b.ir.icmp_unsigned(">", size_of(b, data), ir.Constant(HALF, 4 * k))
            with b.guarded(b.splat(there, PRED)):
                found.append(gather(b, _further(b, host, 4 * k), I32))
        return found

    found = _by_size(b, data, small(I8), small(I16), words)
    found = [b.ir.select(b.active.ir, v, zero) for v in found]
    channels = decode(b, found, data, number)
    if border is not None:
        return swizzled(b, bordered(b, channels, data, number, border), selects, number)
    channels = swizzled(b, channels, selects, number)
    return [b.ir.select(b.active.ir, v, zero) for v in channels]


def store_element(
    b: LaneBuilder, host: Value, channels: Values, data: ir.Value, number: ir.Value
) -> None:
    """Write elements of four channels at host addresses."""
    words = encode(b, channels, data, number)

    def small(kind: Type) -> Callable[[], Values]:
        def emit() -> Values:
            scatter(b, host, resize(b, Value(words[0], I32), kind))
            return []

        return emit

    def all_words() -> Values:
        for k, word in enumerate(words):
            there = b.ir.icmp_unsigned(">", size_of(b, data), ir.Constant(HALF, 4 * k))
            with b.guarded(b.splat(there, PRED)):
                scatter(b, _further(b, host, 4 * k), Value(word, I32))
        return []

    _by_size(b, data, small(I8), small(I16), all_words)


def _by_size(
    b: LaneBuilder,
    data: ir.Value,
    one: Callable[[], Values],
    two: Callable[[], Values],
    more: Callable[[], Values],
) -> Values:
    """What is emitted for elements of a byte, of two, and of words."""
    size = size_of(b, data)

    def is_bytes(number: int) -> ir.Value:
        return b.ir.icmp_unsigned("==", size, ir.Constant(HALF, number))

    return either(b, is_bytes(1), one, lambda: either(b, is_bytes(2), two, more))


def _further(b: LaneBuilder, host: Value, size: int) -> Value:
    return Value(b.ir.add(host.ir, b.constant(I64, size).ir), I64)
