"""Single- and double-precision arithmetic, comparison and special functions."""

from msgspec.structs import replace

from lockstep.execution.lanes import approximate
from lockstep.execution.lanes.compare import compare_floats
from lockstep.execution.lanes.convert import to_float
from lockstep.execution.lanes.floating import (
    Choice,
    Result,
    absolute,
    arithmetic,
    choose,
    scaled_product,
)
from lockstep.execution.lanes.formats import flush, widen
from lockstep.execution.lanes.rounding import Rounding
from lockstep.execution.lanes.types import (
    BF16,
    F16,
    F32,
    F64,
    I16,
    I32,
    I64,
    PRED,
    Type,
    Value,
)
from lockstep.execution.sass.integer import write_comparison
from lockstep.execution.sass.lift import Lift
from lockstep.execution.sass.opcodes import opcode
from lockstep.isa.sass.encoding.instruction import Instruction
from lockstep.isa.sass.encoding.operand import Operand

_ROUNDINGS = {"RZ": Rounding.ZERO, "RM": Rounding.DOWN, "RP": Rounding.UP, "RN": Rounding.NEAREST}
_WHOLE = {"TRUNC": Rounding.ZERO, "FLOOR": Rounding.DOWN, "CEIL": Rounding.UP}
_OPERATIONS = {"ADD": "fadd", "MUL": "fmul", "FMA": "fma"}
_SCALES = {"D2": 0.5, "D4": 0.25, "D8": 0.125, "M2": 2.0, "M4": 4.0, "M8": 8.0}
ORDERS = "F LT EQ LE GT NE GE NUM NAN LTU EQU LEU GTU NEU GEU T"


def rounding_of(i: Instruction) -> Rounding:
    """How results are rounded: to nearest unless a modifier says otherwise."""
    words = {**_ROUNDINGS, **_WHOLE}
    return next((words[m] for m in i.modifiers if m in words), Rounding.NEAREST)


def result_of(i: Instruction) -> Result:
    """What is done to operands and results."""
    words = i.modifiers
    return Result(rounding_of(i), "FTZ" in words or "FMZ" in words, "SAT" in words, "RELU" in words)


def _kind(i: Instruction) -> Type:
    return F64 if i.mnemonic.startswith("D") else F32


@opcode("FADD", "FFMA", "DADD", "DMUL", "DFMA", modifiers="FTZ SAT RM RP RZ")
def compute(lift: Lift, i: Instruction) -> None:
    operation = _OPERATIONS[i.mnemonic[1:]]
    sources = [lift.read(o, _kind(i)) for o in i.operands[1:]]
    lift.write(i.operands[0], arithmetic(lift.b, operation, result_of(i), *sources))


@opcode("FMUL", modifiers=f"FTZ SAT RM RP RZ {' '.join(_SCALES)}")
def multiply(lift: Lift, i: Instruction) -> None:
    """Maybe divided (D) or multiplied (M) by a power of two before it is rounded."""
    b, how = lift.b, result_of(i)
    sources = [lift.read(o, F32) for o in i.operands[1:]]
    scales = [_SCALES[m] for m in i.modifiers if m in _SCALES]
    if scales:
        value = scaled_product(b, how, *sources, scales[0])
    else:
        value = arithmetic(b, "fmul", how, *sources)
    lift.write(i.operands[0], value)


def choice_of(i: Instruction) -> Choice:
    """The form of a minimum or maximum."""
    words, signs = i.modifiers, "XORSIGN" in i.modifiers
    return Choice("FTZ" in words, "NAN" in words, magnitudes=signs, signs=signs)


def with_signs(lift: Lift, i: Instruction) -> list[Operand]:
    """The sources; XORSIGN compares magnitudes but needs the signs that were taken off."""
    sources = list(i.operands[i.results :])
    if "XORSIGN" not in i.modifiers:
        return sources
    if not all(getattr(o, "absolute", False) for o in sources[:2]):
        raise lift.refuse("XORSIGN without magnitudes is not supported")
    return [replace(o, absolute=False) for o in sources[:2]] + sources[2:]


@opcode("FMNMX", modifiers="FTZ NAN XORSIGN")
def minimum_or_maximum(lift: Lift, i: Instruction) -> None:
    """The predicate chooses the minimum."""
    x, y = (lift.read(o, _kind(i)) for o in with_signs(lift, i)[:2])
    how = choice_of(i)
    low, high = choose(lift.b, False, how, x, y), choose(lift.b, True, how, x, y)
    lift.write(i.operands[0], lift.b.select(lift.predicate(i.operands[3]), low, high))


def ordered(lift: Lift, i: Instruction, x: Value, y: Value) -> Value:
    """The predicate of a comparison's order."""
    name = i.modifiers[0].lower()
    if name in ("t", "f"):
        return lift.b.constant(PRED, name == "t")
    return compare_floats(lift.b, name, x, y, "FTZ" in i.modifiers)


@opcode("DSETP.MIN", "DSETP.MAX", modifiers="AND")
def find_extremum(lift: Lift, i: Instruction) -> None:
    """Whether the first is the minimum or maximum of both, and whether neither is a number.

    It is what ptxas makes of ``min.f64``: a select by the first predicate follows, and where the
    second holds, the second operand with the quiet bit set takes its place.
    """
    b = lift.b
    *targets, x, y, other = i.operands
    x, y = lift.read(x, F64), lift.read(y, F64)
    how = Choice(propagate=False)
    best = choose(b, "MAX" in i.modifiers, how, x, y)
    same = b.ir.icmp_unsigned("==", b.cast(best, I64).ir, b.cast(x, I64).ir)
    nans = [b.ir.fcmp_unordered("uno", v.ir, v.ir) for v in (x, y)]
    first = b.ir.and_(same, b.ir.not_(nans[0]))
    for target, value in zip(targets, (first, b.ir.and_(*nans)), strict=True):
        held = b.ir.and_(value, lift.predicate(other).ir)
        lift.write_predicate(target, Value(held, PRED))


@opcode("FSETP", "DSETP", modifiers=ORDERS + " AND OR XOR FTZ")
def compare(lift: Lift, i: Instruction) -> None:
    x, y, other = i.operands[i.results :][:3]
    kind = _kind(i)
    outcome = ordered(lift, i, lift.read(x, kind), lift.read(y, kind))
    write_comparison(lift, i, outcome, lift.predicate(other))


@opcode("FSET.BF", modifiers=ORDERS + " AND OR XOR FTZ")
def compare_to_number(lift: Lift, i: Instruction) -> None:
    """One or zero as a float."""
    x, y, other = i.operands[1:4]
    b, words = lift.b, tuple(m for m in i.modifiers if m != "BF")
    name = words[0].lower()
    outcome = compare_floats(b, name, lift.read(x, F32), lift.read(y, F32), "FTZ" in words)
    emit = {"AND": b.ir.and_, "OR": b.ir.or_, "XOR": b.ir.xor}[
        next(m for m in words if m in ("AND", "OR", "XOR"))
    ]
    held = Value(emit(outcome.ir, lift.predicate(other).ir), PRED)
    lift.write(i.operands[0], b.select(held, b.constant(F32, 1.0), b.constant(F32, 0.0)))


@opcode("FCHK", modifiers="DIVIDE")
def check_division(lift: Lift, i: Instruction) -> None:
    """Whether a division needs the long way: where steps of the short one could lose bits.

    Both ways give the quotient rounded once, so it does no harm to say yes too often.
    """
    x, y = (absolute(lift.b, lift.read(o, F32)) for o in i.operands[i.results :][:2])
    b = lift.b
    safe = _between(lift, x, 2.0**-90, 2.0**60).ir
    safe = b.ir.and_(safe, _between(lift, y, 2.0**-60, 2.0**60).ir)
    lift.write_predicate(i.operands[0], Value(b.ir.not_(safe), PRED))


def _between(lift: Lift, x: Value, low: float, high: float) -> Value:
    b = lift.b
    above = b.ir.fcmp_ordered(">=", x.ir, b.constant(F32, low).ir)
    below = b.ir.fcmp_ordered("<=", x.ir, b.constant(F32, high).ir)
    return Value(b.ir.and_(above, below), PRED)


_TURN = 6.283185307179586  # MUFU takes angles in turns
_FUNCTIONS = {
    "RCP": approximate.reciprocal, "RSQ": approximate.reciprocal_root,
    "SQRT": approximate.square_root, "EX2": approximate.ex2, "LG2": approximate.lg2,
    "SIN": approximate.sin, "COS": approximate.cos, "TANH": approximate.tanh,
}  # fmt: skip
_COARSE = {"RCP64H": approximate.reciprocal, "RSQ64H": approximate.reciprocal_root}


@opcode("MUFU", modifiers="COS SIN EX2 LG2 RCP RSQ RCP64H RSQ64H SQRT TANH F16 BF16")
def special_function(lift: Lift, i: Instruction) -> None:
    """Subnormal operands and results are zero, but for TANH and 16-bit numbers.

    The 64H functions work on upper halves.
    """
    b, name = lift.b, i.modifiers[0]
    if name in _COARSE:
        upper = lift.read(i.operands[1])
        wide = b.cast(lift.join([b.constant(I32, 0), upper]), F64)
        result = approximate.coarse(b, _COARSE[name], wide)
        lift.write(i.operands[0], lift.split(result)[1])
        return
    kind = {"F16": F16, "BF16": BF16}.get(i.modifiers[-1], F32)
    x = widen(b, lift.read_part(i.operands[1], kind))
    if kind != F32:
        result = to_float(b, _FUNCTIONS[name](b, x), kind)
        lift.write(i.operands[0], b.cast(result, I16))
        return
    if name == "TANH":
        lift.write(i.operands[0], approximate.tanh(b, x))
        return
    x = flush(b, x)
    if name in ("SIN", "COS"):
        x = Value(b.ir.fmul(x.ir, b.constant(F32, _TURN).ir), F32, settled=False)
    lift.write(i.operands[0], flush(b, _FUNCTIONS[name](b, x)))
