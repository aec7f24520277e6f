"""Floating-point arithmetic."""

from lockstep.frontend.exec.lanes.builder import type_suffix
from lockstep.frontend.exec.lanes.types import Value
from lockstep.frontend.exec.ptx.lift import Lift
from lockstep.frontend.exec.ptx.opcodes import opcode
from lockstep.isa.ptx.syntax import Instruction


@opcode("add[.rn].{f32,f64}", "sub[.rn].{f32,f64}", "mul[.rn].{f32,f64}")
def arithmetic(lift: Lift, i: Instruction) -> None:
    a, c = (lift.read(o, i.modifiers[-1]) for o in i.operands[1:])
    ir = lift.b.ir
    emit = {"add": ir.fadd, "sub": ir.fsub, "mul": ir.fmul}[i.opcode]
    lift.write(i.operands[0], Value(emit(a.ir, c.ir), a.type, settled=False))


@opcode("fma.rn.{f32,f64}", "mad.rn.{f32,f64}")
def fused(lift: Lift, i: Instruction) -> None:
    a, c, d = (lift.read(o, i.modifiers[-1]) for o in i.operands[1:])
    vector = lift.b.vector(a.type)
    result = lift.b.intrinsic(f"llvm.fma.{type_suffix(vector)}", vector, [a.ir, c.ir, d.ir])
    lift.write(i.operands[0], Value(result, a.type, settled=False))
