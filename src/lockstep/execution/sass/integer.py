"""Integer sums, comparison and moves; the uniform forms are the same."""

from functools import reduce
from itertools import combinations

from msgspec.structs import replace

from lockstep.execution.lanes import integer as lane_integer
from lockstep.execution.lanes.compare import apart
from lockstep.execution.lanes.formats import flush
from lockstep.execution.lanes.integer import resize, shift_right
from lockstep.execution.lanes.types import F32, I16, I32, I64, PRED, Value
from lockstep.execution.sass.lift import Lift
from lockstep.execution.sass.opcodes import opcode
from lockstep.isa.sass.encoding.instruction import Instruction
from lockstep.isa.sass.encoding.operand import Operand, Register


def predicate_operands(i: Instruction) -> tuple[list[Register], list[Register]]:
    """Predicate operands: those that are written and those that are read."""
    where = [o for o in i.operands if isinstance(o, Register) and o.file in ("P", "UP")]
    results = [o for o in i.operands[: i.results] if o in where]
    sources = [
        o for o in i.operands[i.results :] if isinstance(o, Register) and o.file in ("P", "UP")
    ]
    return results, sources


def numbers(i: Instruction) -> list:
    """Source operands that are not predicates."""
    return [
        o
        for o in i.operands[i.results :]
        if not (isinstance(o, Register) and o.file in ("P", "UP"))
    ]


def carry_sum(lift: Lift, terms: list[Value], carries: list[Value]) -> tuple[Value, list[Value]]:
    """32-bit sum of words and predicates; and predicates, as many of which hold as it carries.

    Most sums are of two terms, and zeros. What adding one word carries shows in 32 bits; sums in
    64 bits, of twice as many host vectors, were half of the code of programs for debuggers.
    """
    b = lift.b
    carries = [c for c in carries if b.known(c) != 0]
    words = terms + [Value(b.ir.zext(c.ir, b.vector(I32)), I32) for c in carries]
    total, *others = [w for w in words if b.known(w) != 0] or terms[:1]
    carried = []
    for word in others:
        total = Value(b.ir.add(total.ir, word.ir), I32)
        carried.append(Value(b.ir.icmp_unsigned("<", total.ir, word.ir), PRED))
    return total, carried


def _count(lift: Lift, carried: list[Value]) -> Value:
    """How many of some predicates hold (i32)."""
    b = lift.b
    words = [b.ir.zext(c.ir, b.vector(I32)) for c in carried]
    return Value(reduce(b.ir.add, words), I32) if words else b.constant(I32, 0)


def _write_carries(lift: Lift, targets: list[Register], carried: list[Value]) -> None:
    """A first predicate for a carry of one or more, a second for a carry of two."""
    b = lift.b
    for least, target in enumerate(targets, 1):
        reached = [
            Value(reduce(b.ir.and_, [c.ir for c in some]), PRED)
            for some in combinations(carried, least)
        ]
        any_of = reduce(b.ir.or_, [r.ir for r in reached]) if reached else b.constant(PRED, 0).ir
        lift.write_predicate(target, Value(any_of, PRED))


@opcode("IADD3", "UIADD3", modifiers="X")
def add3(lift: Lift, i: Instruction) -> None:
    """A negated source is its complement plus one, and both count for the carry."""
    results, carries = predicate_operands(i)
    terms = [t for operand in numbers(i) for t in _terms(lift, operand)]
    total, carry = carry_sum(lift, terms, [lift.predicate(p) for p in carries])
    _write_carries(lift, results, carry)
    lift.write(i.operands[0], total)


@opcode("UIADD3.64", modifiers="X")
def add3_wide(lift: Lift, i: Instruction) -> None:
    """The same of pairs: low words, then high words with what those carry."""
    results, carries = predicate_operands(i)
    lows, highs = [], []
    for operand in numbers(i):
        negated = operand.negated
        low, high = lift.split(lift.read(replace(operand, negated=False), I64))
        if negated:
            low, high = (Value(lift.b.ir.not_(word.ir), I32) for word in (low, high))
            lows.append(lift.b.constant(I32, 1))
        lows.append(low)
        highs.append(high)
    low, carry = carry_sum(lift, lows, [lift.predicate(p) for p in carries])
    high, carry = carry_sum(lift, [*highs, _count(lift, carry)], [])
    _write_carries(lift, results, carry)
    lift.write_words(i.operands[0], [low, high])


def _terms(lift: Lift, operand: Operand, shift: int = 0) -> list[Value]:
    """What a source, shifted left, adds to a sum; the complement and one if it is negated."""
    b, negated = lift.b, getattr(operand, "negated", False)
    plain = lift.read(replace(operand, negated=False) if negated else operand)
    if shift:
        plain = Value(b.ir.shl(plain.ir, b.constant(I32, shift).ir), I32)
    return [Value(b.ir.not_(plain.ir), I32), b.constant(I32, 1)] if negated else [plain]


@opcode("LEA", "ULEA", modifiers="X")
def scaled_sum(lift: Lift, i: Instruction) -> None:
    results, carries = predicate_operands(i)
    x, y, count = numbers(i)
    terms = _terms(lift, x, count.value) + _terms(lift, y)
    total, carry = carry_sum(lift, terms, [lift.predicate(p) for p in carries])
    _write_carries(lift, results, carry)
    lift.write(i.operands[0], total)


@opcode("LEA.HI", "ULEA.HI", modifiers="X SX32")
def scaled_sum_high(lift: Lift, i: Instruction) -> None:
    """The high word of a 64-bit number shifted left, plus a word."""
    results, carries = predicate_operands(i)
    x, y, *rest = numbers(i)
    b, low, count = lift.b, lift.read(x), rest[-1].value
    extended = "SX32" in i.modifiers
    high = shift_right(b, low, 31, signed=True) if extended else lift.read(rest[0])
    wide = lift.join([low, high])
    shifted = Value(b.ir.shl(wide.ir, b.constant(I64, count).ir), I64)
    word = resize(b, shift_right(b, shifted, 32), I32)
    total, carry = carry_sum(lift, [word, lift.read(y)], [lift.predicate(p) for p in carries])
    _write_carries(lift, results, carry)
    lift.write(i.operands[0], total)


@opcode("MOV", "UMOV")
def move(lift: Lift, i: Instruction) -> None:
    result, source = i.operands  # a third operand would choose lanes of a quad
    lift.write(result, lift.read(source))


@opcode("SEL", "USEL", "FSEL", modifiers="FTZ")
def select(lift: Lift, i: Instruction) -> None:
    x, y, chosen = i.operands[1:]
    value = lift.b.select(lift.predicate(chosen), _bits(lift, i, x), _bits(lift, i, y))
    if "FTZ" in i.modifiers:
        value = lift.b.cast(flush(lift.b, lift.b.cast(value, F32)), I32)
    lift.write(i.operands[0], value)


def _bits(lift: Lift, i: Instruction, operand: Operand) -> Value:
    if i.mnemonic == "FSEL":
        return lift.b.cast(lift.read(operand, F32), I32)
    return lift.read(operand)


_COMPARE = {"LT": "<", "EQ": "==", "LE": "<=", "GT": ">", "NE": "!=", "GE": ">="}
_BOOLEAN = ("AND", "OR", "XOR")


@opcode("ISETP", "UISETP", modifiers="F LT EQ LE GT NE GE T U32 AND OR XOR EX")
def compare(lift: Lift, i: Instruction) -> None:
    """With EX, the high words of 64-bit numbers; a predicate has what the low words gave."""
    _, sources = predicate_operands(i)
    x, y = (lift.read(o) for o in numbers(i))
    b, name, signed = lift.b, i.modifiers[0], "U32" not in i.modifiers
    if name in ("T", "F"):
        outcome = b.constant(PRED, name == "T")
    else:
        emit = b.ir.icmp_signed if signed else b.ir.icmp_unsigned
        outcome = Value(emit(_COMPARE[name], x.ir, y.ir), PRED)
        if "EX" in i.modifiers:
            outcome = _extended(lift, name, emit, x, y, lift.predicate(sources[1]))
    write_comparison(lift, i, outcome, lift.predicate(sources[0]))


def _extended(lift: Lift, name: str, emit, x: Value, y: Value, low: Value) -> Value:
    """Compare high words; where they are equal, the low words decide."""
    ir = lift.b.ir
    equal = ir.icmp_unsigned("==", x.ir, y.ir)
    if name == "EQ":
        return Value(ir.and_(equal, low.ir), PRED)
    if name == "NE":
        return Value(ir.or_(ir.not_(equal), low.ir), PRED)
    strict = emit("<" if name in ("LT", "LE") else ">", x.ir, y.ir)
    return Value(ir.or_(strict, ir.and_(equal, low.ir)), PRED)


def write_comparison(lift: Lift, i: Instruction, outcome: Value, other: Value) -> None:
    """Combine a comparison with a predicate; the second result takes its opposite."""
    ir = lift.b.ir
    word = next(m for m in i.modifiers if m in _BOOLEAN)
    emit = {"AND": ir.and_, "OR": ir.or_, "XOR": ir.xor}[word]
    targets = [o for o in i.operands[: i.results] if o.file in ("P", "UP")]
    outcomes = (outcome.ir, ir.not_(outcome.ir))
    values = [Value(emit(value, other.ir), PRED) for value in outcomes]
    for target, value in zip(targets, values, strict=False):
        lift.write_predicate(target, value)


_PAIRS = ("16x2", "U16x2", "S16x2")


def _read_numbers(lift: Lift, i: Instruction) -> list[Value]:
    """The sources as words, or as pairs of 16-bit numbers."""
    kind = I16.times(2) if any(m in _PAIRS for m in i.modifiers) else I32
    plain = (replace(o, negated=False) if isinstance(o, Register) else o for o in numbers(i))
    values = [lift.b.cast(lift.read(o), kind) for o in plain]
    signs = (getattr(o, "negated", False) for o in numbers(i))
    pairs = zip(values, signs, strict=True)
    return [lane_integer.negate(lift.b, v) if negated else v for v, negated in pairs]


@opcode("VIADD", modifiers="16x2")
def add(lift: Lift, i: Instruction) -> None:
    x, y = _read_numbers(lift, i)
    lift.write(i.operands[0], lift.b.cast(Value(lift.b.ir.add(x.ir, y.ir), x.type), I32))


@opcode(
    "IMNMX", "VIMNMX", "VIMNMX3", "VIADDMNMX", modifiers="U32 U16x2 S16x2 RELU"
)  # fmt: skip
def minimum_or_maximum(lift: Lift, i: Instruction) -> None:
    """The predicate chooses the minimum; of a sum and a word, or of all words.

    Predicates that are written say whether the first source is the result: one of the word, or
    one of each half, the low one first.
    """
    b, signed = lift.b, not {"U32", "U16x2"} & set(i.modifiers)
    targets, sources = predicate_operands(i)
    first, *others = _read_numbers(lift, i)
    if i.mnemonic == "VIADDMNMX":
        first = Value(b.ir.add(first.ir, others.pop(0).ir), first.type)
    low = high = first
    for other in others:
        low = lane_integer.minimum(b, low, other, signed)
        high = lane_integer.maximum(b, high, other, signed)
    low, high = (b.cast(v, I32) for v in (low, high))
    result = b.select(lift.predicate(sources[-1]), low, high)
    result = b.cast(result, first.type)
    same = Value(b.ir.icmp_unsigned("==", result.ir, first.ir), PRED.times(first.type.count))
    if "RELU" in i.modifiers:
        result = lane_integer.rectify(b, result)
    for target, held in zip(targets, _each(lift, same), strict=False):
        lift.write_predicate(target, held)
    lift.write(i.operands[0], b.cast(result, I32))


def _each(lift: Lift, held: Value) -> list[Value]:
    return apart(lift.b, held) if held.type.count == 2 else [held]


@opcode("IABS")
def absolute(lift: Lift, i: Instruction) -> None:
    lift.write(i.operands[0], lane_integer.absolute(lift.b, lift.read(i.operands[1])))


@opcode("R2UR", modifiers="OR")
def register_to_uniform(lift: Lift, i: Instruction) -> None:
    """The value of the first active lane; and which lanes have another one, added to it by .OR."""
    source = next(o for o in i.operands[i.results :] if isinstance(o, Register) and o.file == "R")
    target = next(o for o in i.operands[: i.results] if o.file == "UR")
    own = lift.read(source)
    chosen = lift.first_lane(own)
    lift.write(target, chosen)
    for other in (o for o in i.operands[: i.results] if o.file == "P"):
        differs = lift.b.ir.icmp_unsigned("!=", own.ir, chosen.ir)
        if "OR" in i.modifiers:
            differs = lift.b.ir.or_(differs, lift.predicate(other).ir)
        lift.write_predicate(other, Value(differs, PRED))
