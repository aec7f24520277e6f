"""Branches, calls and barriers: the block graph knows where they go; here is what they compute."""

from lockstep.frontend.exec.ptx.lift import Lift
from lockstep.frontend.exec.ptx.opcodes import opcode
from lockstep.isa.ptx.syntax import Instruction


@opcode("bra[.uni]", "ret[.uni]", "exit", destinations=0)
def transfer(lift: Lift, i: Instruction) -> None:
    """Nothing is computed: the guard selects the lanes."""


@opcode("bar[.cta].sync", "barrier[.cta].sync[.aligned]", destinations=0)
def barrier(lift: Lift, i: Instruction) -> None:
    words = [lift.read(o, "u32") for o in i.operands]
    for field, word in zip(("barrier", "barrier_threads"), words):
        lift.set_scalar(field, word)
    if len(words) < 2:
        lift.set_scalar("barrier_threads", lift.b.constant(words[0].type, 0))
