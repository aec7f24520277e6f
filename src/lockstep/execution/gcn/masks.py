"""What changes EXEC and keeps what it was."""

from lockstep.execution.gcn.lift import Lift
from lockstep.execution.gcn.opcodes import opcode
from lockstep.execution.gcn.registers import EXEC
from lockstep.execution.gcn.scalar import SCALAR
from lockstep.execution.lanes.types import I64
from lockstep.isa.gcn.instruction import Instruction


@opcode(*(name for name in SCALAR if name.endswith("_saveexec_b64")))
def save_exec(lift: Lift, i: Instruction) -> None:
    """Combine the source with EXEC, whose old value the destination gets."""
    old = lift.registers.pair(EXEC)
    new, some = SCALAR[i.name](lift.s, lift.scalar(i.fields["ssrc0"], I64), old)
    lift.set_sgpr(i.fields["sdst"], old)
    lift.set_sgpr(EXEC, new)
    lift.set_scc(some)
