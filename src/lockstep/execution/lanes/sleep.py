"""Sleep: how long a warp is to stay away."""

from llvmlite import ir

from lockstep.execution.lanes import warp
from lockstep.execution.lanes.builder import HALF, WORD, LaneBuilder
from lockstep.execution.lanes.types import I32, I64, Value
from lockstep.isa.instruction import LONGEST_SLEEP


def sleep(b: LaneBuilder, nanoseconds: Value) -> Value:
    """Let the warp sleep as long as the active lane that names most (i32); that time (i64)."""
    limit = b.constant(I32, LONGEST_SLEEP)
    within = b.ir.icmp_unsigned("<", nanoseconds.ir, limit.ir)
    short = Value(b.ir.select(within, nanoseconds.ir, limit.ir), I32)
    longest = warp.reduce(b, "umax", short, -1)
    first = b.ir.extract_element(longest.ir, ir.Constant(HALF, 0))
    time = b.ir.zext(first, WORD)
    b.set_field("sleep", time)
    return b.splat(time, I64)
