"""Floating-point arithmetic: single, double."""

from lockstep.frontend.exec.lanes.builder import type_suffix
from lockstep.frontend.exec.lanes.types import F32, F64, PRED, Value
from lockstep.frontend.exec.sass.integer import write_comparison
from lockstep.frontend.exec.sass.lift import Lift
from lockstep.frontend.exec.sass.opcodes import opcode
from lockstep.isa.sass.encoding.instruction import Instruction


def _kind(i: Instruction):
    return F64 if i.mnemonic.startswith("D") else F32


@opcode("FADD", "FMUL", "DADD", "DMUL")
def arithmetic(lift: Lift, i: Instruction) -> None:
    kind = _kind(i)
    x, y = (lift.read(o, kind) for o in i.operands[1:3])
    emit = lift.b.ir.fmul if "MUL" in i.mnemonic else lift.b.ir.fadd
    lift.write(i.operands[0], Value(emit(x.ir, y.ir), kind, settled=False))


@opcode("FFMA", "DFMA")
def fused(lift: Lift, i: Instruction) -> None:
    kind = _kind(i)
    vector = lift.b.vector(kind)
    sources = [lift.read(o, kind).ir for o in i.operands[1:4]]
    result = lift.b.intrinsic(f"llvm.fma.{type_suffix(vector)}", vector, sources)
    lift.write(i.operands[0], Value(result, kind, settled=False))


_COMPARE = {"LT": "<", "EQ": "==", "LE": "<=", "GT": ">", "NE": "!=", "GE": ">="}


@opcode(
    "FSETP", "DSETP",
    modifiers="F LT EQ LE GT NE GE NUM NAN LTU EQU LEU GTU NEU GEU T AND OR XOR FTZ",
)  # fmt: skip
def compare(lift: Lift, i: Instruction) -> None:
    kind, b, name = _kind(i), lift.b, i.modifiers[0]
    *_, x, y, other = i.operands[i.results :][:3]
    x, y = lift.read(x, kind).ir, lift.read(y, kind).ir
    if name in ("T", "F"):
        outcome = b.constant(PRED, name == "T")
    elif name in ("NUM", "NAN"):
        emit = b.ir.fcmp_ordered if name == "NUM" else b.ir.fcmp_unordered
        outcome = Value(emit("ord" if name == "NUM" else "uno", x, y), PRED)
    else:
        unordered = name.endswith("U") or name == "NEU"
        emit = b.ir.fcmp_unordered if unordered else b.ir.fcmp_ordered
        outcome = Value(emit(_COMPARE[name.removesuffix("U")], x, y), PRED)
    write_comparison(lift, i, outcome, lift.predicate(other))
