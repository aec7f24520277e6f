"""Branches and ends of threads: the block graph knows where they go; here is what they compute."""

from lockstep.execution.lanes import sleep as lanes
from lockstep.execution.lanes.types import I64, Value
from lockstep.execution.programs.program import NOWHERE
from lockstep.execution.ptx.lift import Lift
from lockstep.execution.ptx.opcodes import opcode
from lockstep.isa.ptx.syntax import Immediate, Instruction


@opcode("bra[.uni]", "exit", "trap", "brkpt", destinations=0)
def transfer(lift: Lift, i: Instruction) -> None:
    """Nothing is computed: the guard selects the lanes. Without a debugger brkpt is a trap."""


@opcode("brx.idx[.uni]", destinations=0)
def branch_indexed(lift: Lift, i: Instruction) -> None:
    """Lanes go to the nth label of a list; beyond its end the launch ends."""
    b = lift.b
    index = lift.read(i.operands[0], "u32")
    targets = b.constant(I64, NOWHERE)
    for k, block in enumerate(lift.block.more):
        here = b.ir.icmp_unsigned("==", index.ir, b.constant(index.type, k).ir)
        targets = Value(b.ir.select(here, b.constant(I64, block.number).ir, targets.ir), I64)
    b.ir.store(targets.ir, b.scratch(), align=64)


@opcode("nanosleep.u32", destinations=0)
def sleep(lift: Lift, i: Instruction) -> None:
    """The warp sleeps for the time that it names; a stream keeps one that a register holds."""
    time = lanes.sleep(lift.b, lift.read(i.operands[0], "u32"))
    if lift.stream is not None and not isinstance(i.operands[0], Immediate):
        lift.stream.addresses(lift.number, time)


@opcode(
    "pmevent[.mask]",
    "griddepcontrol.{launch_dependents,wait}",
    "setmaxnreg.{inc,dec}.sync.aligned.u32",
    destinations=0,
)
def nothing(lift: Lift, i: Instruction) -> None:
    """What matters to time, to tools, or to grids that overlap, which these do not."""
