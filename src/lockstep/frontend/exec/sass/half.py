"""Half-precision arithmetic on the two halves of a register, f16 or bf16."""

from lockstep.frontend.exec.lanes.compare import apart, compare_floats, together
from lockstep.frontend.exec.lanes.convert import to_float
from lockstep.frontend.exec.lanes.floating import Choice, absolute, arithmetic, choose, negate
from lockstep.frontend.exec.lanes.types import BF16, F16, F32, I32, PRED, Type, Value
from lockstep.frontend.exec.sass.floating import ORDERS, result_of
from lockstep.frontend.exec.sass.lift import Lift
from lockstep.frontend.exec.sass.opcodes import opcode
from lockstep.isa.sass.encoding.instruction import Instruction
from lockstep.isa.sass.encoding.operand import Float, Immediate, Register

_WORDS = "MMA F32 BF16_V2 FTZ SAT RELU FMZ OOB"
_OPERATIONS = {"HADD2": "fadd", "HMUL2": "fmul", "HFMA2": "fma"}


def kind_of(i: Instruction) -> Type:
    """The type of each half."""
    return BF16 if "BF16_V2" in i.modifiers else F16


def read_pair(lift: Lift, operand, kind: Type) -> Value:
    """A source as two halves, the low one first; a part repeats one half or is an f32."""
    b, part = lift.b, operand.part
    if part == "F32":
        single = to_float(b, lift.read(operand, F32), kind)
        return together(b, single, single)
    word = lift.words(operand, 1)[0] if isinstance(operand, Register) else lift.read(operand)
    pair = b.cast(word, kind.times(2))
    if part in ("H0_H0", "H1_H1"):
        half = apart(b, pair)[int(part[1])]
        pair = together(b, half, half)
    if isinstance(operand, Register):
        pair = absolute(b, pair) if operand.absolute else pair
        pair = negate(b, pair) if operand.negated else pair
    return pair


def sources(lift: Lift, i: Instruction, kind: Type) -> list[Value]:
    """The sources of an instruction; two immediates are the halves of one, the upper first."""
    values, halves = [], []
    for operand in i.operands[i.results :]:
        if isinstance(operand, (Float, Immediate)):
            halves.append(operand.bits if isinstance(operand, Float) else operand.value)
        elif getattr(operand, "file", "R") in ("R", "UR"):
            values.append(read_pair(lift, operand, kind))
        if len(halves) == 2:
            word = lift.b.constant(I32, halves[0] << 16 | halves[1])
            values.append(lift.b.cast(word, kind.times(2)))
            halves = []
    return values


@opcode("HADD2", "HMUL2", "HFMA2", modifiers=_WORDS)
def compute(lift: Lift, i: Instruction) -> None:
    """With F32 the result is the f32 of the low halves."""
    b, kind = lift.b, kind_of(i)
    values = sources(lift, i, kind)
    if i.mnemonic == "HADD2" and "F32" in i.modifiers:
        low = [to_float(b, apart(b, v)[0], F32) for v in values]
        lift.write(i.operands[0], arithmetic(b, "fadd", result_of(i), *low))
        return
    result = arithmetic(b, _OPERATIONS[i.mnemonic], result_of(i), *values)
    lift.write(i.operands[0], b.cast(result, I32))


@opcode("HMNMX2", modifiers=_WORDS + " NAN XORSIGN")
def minimum_or_maximum(lift: Lift, i: Instruction) -> None:
    b, words = lift.b, i.modifiers
    x, y = sources(lift, i, kind_of(i))[:2]
    how = Choice("FTZ" in words, "NAN" in words, "XORSIGN" in words, "XORSIGN" in words)
    low, high = (b.cast(choose(b, large, how, x, y), I32) for large in (False, True))
    least = next(o for o in i.operands[1:] if isinstance(o, Register) and o.file == "P")
    lift.write(i.operands[0], b.select(lift.predicate(least), low, high))


@opcode("HSETP2", modifiers=ORDERS + " AND OR XOR BF16_V2 FTZ H_AND")
def compare(lift: Lift, i: Instruction) -> None:
    """A predicate for each half."""
    b, words = lift.b, i.modifiers
    if "H_AND" in words:
        raise lift.refuse("H_AND is not supported")
    x, y = sources(lift, i, kind_of(i))[:2]
    name = next(m for m in words if m in ORDERS.split()).lower()
    other = [o for o in i.operands[i.results :] if isinstance(o, Register) and o.file == "P"]
    emit = {"AND": b.ir.and_, "OR": b.ir.or_, "XOR": b.ir.xor}[
        next(m for m in words if m in ("AND", "OR", "XOR"))
    ]
    for target, one, two in zip(i.operands, apart(b, x), apart(b, y), strict=False):
        held = compare_floats(b, name, one, two, "FTZ" in words)
        joined = Value(emit(held.ir, lift.predicate(other[-1]).ir), PRED)
        lift.write_predicate(target, joined)
