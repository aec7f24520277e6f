"""Masks of lanes by quads, four neighbours."""

from lockstep.execution.gcn.arithmetic import any_of
from lockstep.execution.lanes.builder import LaneBuilder
from lockstep.execution.lanes.formats import keep
from lockstep.execution.lanes.integer import shift_right
from lockstep.execution.lanes.types import Value

# Bits that are kept while those of quads move together: 1, 2, 4, 8, 16 of them lie side by side.
_TOGETHER = ((3, 0x0303030303030303), (6, 0x000F000F000F000F), (12, 0xFF000000FF), (24, 0xFFFF))


def _lowest_of_quads(b: LaneBuilder, x: Value) -> Value:
    """The lowest bit of each quad that has any."""
    for step in (1, 2):
        x = any_of(b, x, shift_right(b, x, step))
    return keep(b, x, 0x1111111111111111)


def whole_quads(b: LaneBuilder, x: Value) -> Value:
    """All bits of each quad that has any."""
    lowest = _lowest_of_quads(b, x)
    return Value(b.ir.mul(lowest.ir, b.constant(x.type, 0xF).ir), x.type)


def quad_mask(b: LaneBuilder, x: Value) -> Value:
    """One bit for each quad: whether it has any."""
    x = _lowest_of_quads(b, x)
    for step, pattern in _TOGETHER:
        x = keep(b, any_of(b, x, shift_right(b, x, step)), pattern)
    return x
