"""Half-precision arithmetic on the two halves of a register, f16 or bf16."""

from functools import partial, reduce

from msgspec.structs import replace

from lockstep.execution.lanes.compare import apart, compare_floats, one, together
from lockstep.execution.lanes.convert import to_float
from lockstep.execution.lanes.floating import (
    absolute,
    arithmetic,
    choose,
    fma_inside,
    negate,
)
from lockstep.execution.lanes.rounding import Rounding
from lockstep.execution.lanes.types import BF16, F16, F32, I16, I32, PRED, Type, Value
from lockstep.execution.sass.floating import ORDERS, choice_of, result_of, with_signs
from lockstep.execution.sass.lift import Lift
from lockstep.execution.sass.opcodes import opcode
from lockstep.isa.sass.encoding.instruction import Instruction
from lockstep.isa.sass.encoding.operand import Float, Immediate

_WORDS = "MMA BF16_V2 FTZ SAT RELU FMZ"
_OPERATIONS = {"HADD2": "fadd", "HMUL2": "fmul"}


def kind_of(i: Instruction) -> Type:
    """The type of each half."""
    return BF16 if "BF16_V2" in i.modifiers else F16


def read_pair(lift: Lift, operand, kind: Type) -> Value:
    """A source as two halves, the low one first; a part repeats one half or is an f32.

    H0_NH1 are both, exchanged, then the low one negated: complex products on sm_90 have it.

    An f32 is rounded toward zero: ptxas for sm_70 makes ``cvt.rz.f16.f32`` an HADD2 of it.
    """
    b, part = lift.b, operand.part
    if part == "F32":
        single = to_float(b, lift.read(operand, F32), kind, Rounding.ZERO)
        return together(b, single, single)
    word = lift.read(replace(operand, negated=False, absolute=False))
    pair = b.cast(word, kind.times(2))
    if part in ("H0_H0", "H1_H1"):
        half = apart(b, pair)[int(part[1])]
        pair = together(b, half, half)
    elif part == "H0_NH1":
        low, high = apart(b, pair)
        pair = together(b, negate(b, high), low)
    elif part:
        raise ValueError(part)
    pair = absolute(b, pair) if operand.absolute else pair
    return negate(b, pair) if operand.negated else pair


def sources(lift: Lift, i: Instruction, kind: Type) -> list[Value]:
    """The sources that are no predicates; two immediates are one, its upper half first."""
    values, halves = [], []
    for operand in with_signs(lift, i):
        if isinstance(operand, (Float, Immediate)):
            halves.append(operand.bits if isinstance(operand, Float) else operand.value)
        elif getattr(operand, "file", "R") in ("R", "UR"):
            values.append(read_pair(lift, operand, kind))
        if len(halves) == 2:
            word = lift.b.constant(I32, halves[0] << 16 | halves[1])
            values.append(lift.b.cast(word, kind.times(2)))
            halves = []
    return values


@opcode("HFMA2", modifiers=_WORDS + " OOB")
def multiply_and_add(lift: Lift, i: Instruction) -> None:
    """With OOB, zero where a factor is what stands for nothing in a tensor."""
    values = sources(lift, i, kind_of(i))
    if "OOB" in i.modifiers:
        result = fma_inside(lift.b, result_of(i), *values)
    else:
        result = arithmetic(lift.b, "fma", result_of(i), *values)
    lift.write(i.operands[0], lift.b.cast(result, I32))


@opcode("HADD2", modifiers=_WORDS + " F32")
@opcode("HMUL2", modifiers=_WORDS)
def compute(lift: Lift, i: Instruction) -> None:
    """With F32, which additions alone have, the result is the f32 of the low halves."""
    b, kind = lift.b, kind_of(i)
    values = sources(lift, i, kind)
    if "F32" in i.modifiers:
        low = [to_float(b, apart(b, v)[0], F32) for v in values]
        lift.write(i.operands[0], arithmetic(b, "fadd", result_of(i), *low))
        return
    result = arithmetic(b, _OPERATIONS[i.mnemonic], result_of(i), *values)
    lift.write(i.operands[0], b.cast(result, I32))


@opcode("HMNMX2", modifiers=_WORDS + " NAN XORSIGN")
@opcode("VHMNMX", modifiers="BF16_V2 FTZ NAN")
def minimum_or_maximum(lift: Lift, i: Instruction) -> None:
    """Of two pairs, or of three."""
    b, how = lift.b, choice_of(i)
    values = sources(lift, i, kind_of(i))
    ends = (reduce(partial(choose, b, large, how), values) for large in (False, True))
    low, high = (b.cast(end, I32) for end in ends)
    lift.write(i.operands[0], b.select(lift.predicate(i.operands[-1]), low, high))


@opcode("HSETP2", modifiers=ORDERS + " AND OR XOR BF16_V2 FTZ")
def compare(lift: Lift, i: Instruction) -> None:
    """A predicate for each half."""
    outcomes = _compare_halves(lift, i)
    for target, held in zip(i.operands, outcomes, strict=False):
        lift.write_predicate(target, held)


@opcode("HSET2", modifiers=ORDERS + " AND OR XOR BF BF16_V2 FTZ")
def compare_to_halves(lift: Lift, i: Instruction) -> None:
    """All ones for each half, or with BF a one of its type."""
    b = lift.b
    kind = kind_of(i) if "BF" in i.modifiers else I16
    true = one(b, kind) if "BF" in i.modifiers else b.constant(I16, -1)
    parts = [b.select(held, true, b.constant(kind, 0)) for held in _compare_halves(lift, i)]
    lift.write(i.operands[0], b.cast(together(b, *parts), I32))


def _compare_halves(lift: Lift, i: Instruction) -> list[Value]:
    """The outcome for each half, combined with the predicate."""
    b, words = lift.b, i.modifiers
    x, y = (apart(b, v) for v in sources(lift, i, kind_of(i))[:2])
    name = next(m for m in words if m in ORDERS.split()).lower()
    other = lift.predicate(i.operands[-1]).ir
    emit = {"AND": b.ir.and_, "OR": b.ir.or_, "XOR": b.ir.xor}[
        next(m for m in words if m in ("AND", "OR", "XOR"))
    ]
    outcomes = (compare_floats(b, name, *pair, "FTZ" in words) for pair in zip(x, y, strict=True))
    return [Value(emit(held.ir, other), PRED) for held in outcomes]
