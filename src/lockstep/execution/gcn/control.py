"""Branches, barriers, waits: what a wavefront does with its pc and its time."""

from llvmlite import ir

from lockstep.execution.gcn.lift import Lift
from lockstep.execution.gcn.opcodes import opcode
from lockstep.execution.gcn.registers import EXEC, VCC
from lockstep.execution.lanes.builder import WORD
from lockstep.execution.lanes.types import I64, Value
from lockstep.isa.gcn.instruction import Instruction


@opcode(
    "s_endpgm", "s_branch", "s_barrier", "s_trap", "s_waitcnt", "s_nop", "s_sleep", "s_setprio",
    "s_icache_inv", "s_dcache_inv", "s_incperflevel", "s_decperflevel", "v_nop", "v_clrexcp",
)  # fmt: skip
def no_result(lift: Lift, i: Instruction) -> None:
    """Nothing is computed: what order memory needs, it has."""


@opcode("s_memtime")
def read_clock(lift: Lift, i: Instruction) -> None:
    """Cycles, or how many instructions were executed where there is no time."""
    lift.set_sgpr(i.fields["sdst"], Value(lift.time("clock"), I64))


@opcode("s_cbranch_scc0", "s_cbranch_scc1")
def branch_on_condition(lift: Lift, i: Instruction) -> None:
    """All lanes jump, or none."""
    taken = lift.registers.scc.ir
    lift.go_if(taken if i.name.endswith("1") else lift.b.ir.not_(taken))


@opcode("s_cbranch_vccz", "s_cbranch_vccnz", "s_cbranch_execz", "s_cbranch_execnz")
def branch_on_lanes(lift: Lift, i: Instruction) -> None:
    """The same by whether any lane is in a set."""
    lanes = lift.registers.pair(VCC if "vcc" in i.name else EXEC)
    order = "!=" if i.name.endswith("nz") else "=="
    lift.go_if(lift.b.ir.icmp_unsigned(order, lanes.ir, ir.Constant(WORD, 0)))
