"""What VOP3 does to operands before an operation, and to its result."""

from lockstep.execution.gcn.float_mode import mode_of
from lockstep.execution.gcn.floating import add, multiply
from lockstep.execution.lanes.builder import LaneBuilder
from lockstep.execution.lanes.floating import saturate
from lockstep.execution.lanes.formats import from_raw, keep, raw
from lockstep.execution.lanes.integer import limits
from lockstep.execution.lanes.types import F32, Value

_FACTORS = {1: 2.0, 2: 4.0, 3: 0.5}


def source_of(b: LaneBuilder, x: Value, absolute: bool, negative: bool) -> Value:
    """A source without its sign and then with the other one: the top bit of any type."""
    kind = x.type.integer
    top = limits(kind.bits, signed=True)[0]
    bits = raw(b, x)
    if absolute:
        bits = keep(b, bits, ~top)
    if negative:
        bits = Value(b.ir.xor(bits.ir, b.constant(kind, top).ir), kind)
    return from_raw(b, bits, x.type, x.settled)


def result_of(b: LaneBuilder, x: Value, omod: int, clamp: bool) -> Value:
    """A floating-point result times 2, 4 or 1/2 (``omod`` 1, 2, 3), then kept from 0 to 1.

    Integers stay. So do floats under ``omod`` whose subnormal numbers the mode keeps, f64 always:
    the hardware has none for these. It makes -0 a +0, and ``clamp`` makes a NaN 0.
    """
    if x.type.kind != "float":
        return x
    if omod and x.type == F32 and not mode_of(b).keeps_singles:
        x = add(b, multiply(b, x, b.constant(F32, _FACTORS[omod])), b.constant(F32, 0.0))
    return saturate(b, x) if clamp else x
