"""Half-precision arithmetic on pairs."""

from lockstep.frontend.exec.lanes.types import I32
from lockstep.frontend.exec.sass.lift import Lift
from lockstep.frontend.exec.sass.opcodes import opcode
from lockstep.isa.sass.encoding.instruction import Instruction
from lockstep.isa.sass.encoding.operand import Float, Register


@opcode("HFMA2", "HFMA2.MMA", modifiers="")
def fused(lift: Lift, i: Instruction) -> None:
    """Compilers make constants with it: minus zero times zero, plus a pair of immediates."""
    x, y, *addend = i.operands[1:]
    zero = all(isinstance(o, Register) and o.is_zero for o in (x, y))
    if not zero or not x.negated or not all(isinstance(o, Float) for o in addend):
        raise lift.refuse("only constants are supported")
    high, low = (o.bits for o in addend)
    lift.write(i.operands[0], lift.b.constant(I32, high << 16 | low))
