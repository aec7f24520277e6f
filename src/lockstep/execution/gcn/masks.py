"""What changes EXEC and says what it was."""

from lockstep.execution.gcn.lift import Lift
from lockstep.execution.gcn.opcodes import opcode
from lockstep.execution.gcn.registers import EXEC
from lockstep.execution.lanes.builder import LaneBuilder
from lockstep.execution.lanes.types import I64, PRED, Value
from lockstep.isa.gcn.instruction import Instruction

_WORDS = ("and", "or", "xor", "andn2", "orn2", "nand", "nor", "xnor")


@opcode(*(f"s_{word}_saveexec_b64" for word in _WORDS))
def save_exec(lift: Lift, i: Instruction) -> None:
    """Combine the source with EXEC, whose old value is kept; SCC says whether any lane is left."""
    e = lift.b.ir
    given, old = lift.scalar(i.fields["ssrc0"], I64).ir, lift.registers.pair(EXEC).ir
    word = i.name.split("_")[1]
    if word.endswith("n2"):
        new = (e.and_ if word == "andn2" else e.or_)(given, e.not_(old))
    else:
        combine = {"and": e.and_, "nand": e.and_, "or": e.or_, "nor": e.or_}.get(word, e.xor)
        new = combine(given, old)
        new = e.not_(new) if word.startswith(("n", "xn")) else new
    lift.set_sgpr(i.fields["sdst"], Value(old, I64))
    lift.set_sgpr(EXEC, Value(new, I64))
    lift.set_scc(Value(LaneBuilder.some(lift.b, new), PRED))
