"""How a wavefront starts: what its registers hold before the first instruction."""

from lockstep.execution.gcn.lift import Lift
from lockstep.execution.gcn.registers import EXEC
from lockstep.execution.lanes.builder import HALF, POINTER
from lockstep.execution.lanes.types import I32, I64, Value


def start(lift: Lift) -> None:
    """User registers from the launch's block, then the group's ids; the items' ids in v0 on."""
    b, source, registers = lift.b, lift.source, lift.registers
    block = b.ir.inttoptr(b.field("launch", "parameters"), POINTER)
    for k in range(source.user_scalars):
        registers.set_scalar(k, Value(b.ir.load(b.offset(block, 4 * k), typ=HALF), I32))
    number = source.user_scalars
    for axis, enabled in zip("xyz", source.groups):
        if enabled:
            word = b.ir.trunc(b.field("cta", f"ctaid_{axis}"), HALF)
            registers.set_scalar(number, Value(word, I32))
            number += 1
    items = b.ir.inttoptr(b.field("warp", "threads"), POINTER)
    for k in range(source.items):
        place = b.offset(items, 4 * b.lanes * k)
        registers.set_vector(k, b.load_vector(place, I32), None)
    registers.set_pair(EXEC, Value(b.mask_bits, I64))
