"""Integer arithmetic, logic, shifts, comparison and moves; the uniform forms are the same."""

from msgspec.structs import replace

from lockstep.frontend.exec.lanes import bits as lane_bits
from lockstep.frontend.exec.lanes import integer as lane_integer
from lockstep.frontend.exec.lanes.integer import multiply_wide, resize, shift_right
from lockstep.frontend.exec.lanes.types import F32, I32, I64, PRED, Value
from lockstep.frontend.exec.sass.lift import Lift
from lockstep.frontend.exec.sass.opcodes import opcode
from lockstep.isa.sass.encoding.instruction import Instruction
from lockstep.isa.sass.encoding.operand import Immediate, Operand, Register


def predicate_operands(i: Instruction) -> tuple[list[Register], list[Register]]:
    """Predicate operands: those that are written and those that are read."""
    where = [o for o in i.operands if isinstance(o, Register) and o.file in ("P", "UP")]
    results = [o for o in i.operands[: i.results] if o in where]
    sources = [
        o for o in i.operands[i.results :] if isinstance(o, Register) and o.file in ("P", "UP")
    ]
    return results, sources


def _numbers(i: Instruction) -> list:
    """Source operands that are not predicates."""
    return [
        o
        for o in i.operands[i.results :]
        if not (isinstance(o, Register) and o.file in ("P", "UP"))
    ]


def _carry_sum(lift: Lift, terms: list[Value], carries: list[Value]) -> tuple[Value, Value]:
    """32-bit sum of words and predicates, and what it carries (both i32)."""
    b = lift.b
    total = resize(b, terms[0], I64)
    for term in terms[1:] + [Value(b.ir.zext(c.ir, b.vector(I32)), I32) for c in carries]:
        total = Value(b.ir.add(total.ir, resize(b, term, I64).ir), I64)
    return resize(b, total, I32), resize(b, shift_right(b, total, 32), I32)


def _write_carries(lift: Lift, targets: list[Register], carry: Value) -> None:
    """A first predicate for a carry of one or more, a second for a carry of two."""
    b = lift.b
    for least, target in enumerate(targets, 1):
        reached = b.ir.icmp_unsigned(">=", carry.ir, b.constant(I32, least).ir)
        lift.write_predicate(target, Value(reached, PRED))


@opcode("IADD3", "UIADD3", modifiers="X")
def add3(lift: Lift, i: Instruction) -> None:
    """A negated source is its complement plus one, and both count for the carry."""
    results, carries = predicate_operands(i)
    terms = [t for operand in _numbers(i) for t in _terms(lift, operand)]
    total, carry = _carry_sum(lift, terms, [lift.predicate(p) for p in carries])
    _write_carries(lift, results, carry)
    lift.write(i.operands[0], total)


def _terms(lift: Lift, operand: Operand, shift: int = 0) -> list[Value]:
    """What a source, shifted left, adds to a sum; the complement and one if it is negated."""
    b, negated = lift.b, getattr(operand, "negated", False)
    plain = lift.read(replace(operand, negated=False) if negated else operand)
    if shift:
        plain = Value(b.ir.shl(plain.ir, b.constant(I32, shift).ir), I32)
    return [Value(b.ir.not_(plain.ir), I32), b.constant(I32, 1)] if negated else [plain]


@opcode("IMAD", "IMAD.MOV", "IMAD.IADD", "IMAD.SHL", "UIMAD", modifiers="U32 X")
def multiply_add(lift: Lift, i: Instruction) -> None:
    x, y, z = (lift.read(o) for o in _numbers(i))
    _, carries = predicate_operands(i)
    product = Value(lift.b.ir.mul(x.ir, y.ir), I32)
    total, _ = _carry_sum(lift, [product, z], [lift.predicate(p) for p in carries])
    lift.write(i.operands[0], total)


@opcode("IMAD.WIDE", "UIMAD.WIDE", modifiers="U32 X")
def multiply_add_wide(lift: Lift, i: Instruction) -> None:
    results, carries = predicate_operands(i)
    if carries:
        raise lift.refuse("a carry into a wide product is not supported")
    x, y, z = _numbers(i)
    b = lift.b
    product = multiply_wide(b, lift.read(x), lift.read(y), "U32" not in i.modifiers)
    total = Value(b.ir.add(product.ir, lift.read(z, I64).ir), I64)
    if results:
        carry = b.ir.icmp_unsigned("<", total.ir, product.ir)
        lift.write_predicate(results[0], Value(carry, PRED))
    lift.write(i.operands[0], total)


@opcode("IMAD.HI", modifiers="U32 X")
def multiply_high(lift: Lift, i: Instruction) -> None:
    """The high word of the product plus a 64-bit addend."""
    x, y, z = _numbers(i)
    b = lift.b
    product = multiply_wide(b, lift.read(x), lift.read(y), "U32" not in i.modifiers)
    total = Value(b.ir.add(product.ir, lift.read(z, I64).ir), I64)
    lift.write(i.operands[0], resize(b, shift_right(b, total, 32), I32))


@opcode("LEA", "ULEA", modifiers="X")
def scaled_sum(lift: Lift, i: Instruction) -> None:
    results, carries = predicate_operands(i)
    x, y, count = _numbers(i)
    terms = _terms(lift, x, count.value) + _terms(lift, y)
    total, carry = _carry_sum(lift, terms, [lift.predicate(p) for p in carries])
    _write_carries(lift, results, carry)
    lift.write(i.operands[0], total)


@opcode("LEA.HI", "ULEA.HI", modifiers="X SX32")
def scaled_sum_high(lift: Lift, i: Instruction) -> None:
    """The high word of a 64-bit number shifted left, plus a word."""
    results, carries = predicate_operands(i)
    x, y, *rest = _numbers(i)
    b, low, count = lift.b, lift.read(x), rest[-1].value
    extended = "SX32" in i.modifiers
    high = shift_right(b, low, 31, signed=True) if extended else lift.read(rest[0])
    wide = lift.join([low, high])
    shifted = Value(b.ir.shl(wide.ir, b.constant(I64, count).ir), I64)
    word = resize(b, shift_right(b, shifted, 32), I32)
    total, carry = _carry_sum(lift, [word, lift.read(y)], [lift.predicate(p) for p in carries])
    _write_carries(lift, results, carry)
    lift.write(i.operands[0], total)


@opcode("MOV", "UMOV")
def move(lift: Lift, i: Instruction) -> None:
    lift.write(i.operands[0], lift.read(i.operands[1]))


@opcode("SEL", "USEL", "FSEL", modifiers="FTZ")
def select(lift: Lift, i: Instruction) -> None:
    x, y, chosen = i.operands[1:]
    value = lift.b.select(lift.predicate(chosen), _bits(lift, i, x), _bits(lift, i, y))
    lift.write(i.operands[0], value)


def _bits(lift: Lift, i: Instruction, operand: Operand) -> Value:
    if i.mnemonic == "FSEL":
        return lift.b.cast(lift.read(operand, F32), I32)
    return lift.read(operand)


@opcode("LOP3.LUT", "ULOP3.LUT", modifiers="PAND")
def logic(lift: Lift, i: Instruction) -> None:
    """Any function of three bits; a predicate tells whether the result is not zero."""
    results, sources = predicate_operands(i)
    *inputs, table = _numbers(i)
    x, y, z = (lift.read(o) for o in inputs)
    b = lift.b
    value = lane_bits.lookup(b, x, y, z, table.value)
    if results:
        found = Value(b.ir.icmp_unsigned("!=", value.ir, b.constant(I32, 0).ir), PRED)
        if sources:
            other = lift.predicate(sources[-1])
            emit = b.ir.and_ if "PAND" in i.modifiers else b.ir.or_
            found = Value(emit(found.ir, other.ir), PRED)
        lift.write_predicate(results[0], found)
    target = next(o for o in i.operands[: i.results] if o.file in ("R", "UR"))
    lift.write(target, value)


_COMPARE = {"LT": "<", "EQ": "==", "LE": "<=", "GT": ">", "NE": "!=", "GE": ">="}
_BOOLEAN = ("AND", "OR", "XOR")


@opcode("ISETP", "UISETP", modifiers="F LT EQ LE GT NE GE T U32 AND OR XOR EX")
def compare(lift: Lift, i: Instruction) -> None:
    """With EX, the high words of 64-bit numbers; a predicate has what the low words gave."""
    _, sources = predicate_operands(i)
    x, y = (lift.read(o) for o in _numbers(i))
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


@opcode("VIADD")
def add(lift: Lift, i: Instruction) -> None:
    x, y = (lift.read(o) for o in i.operands[1:3])
    lift.write(i.operands[0], Value(lift.b.ir.add(x.ir, y.ir), I32))


@opcode("IMNMX", "UIMNMX", "VIMNMX", "VIMNMX3", "VIADDMNMX", modifiers="U32 RELU")
def minimum_or_maximum(lift: Lift, i: Instruction) -> None:
    """The predicate chooses the minimum; of a sum and a word, or of all words."""
    *numbers, least = i.operands[1:]
    b, signed = lift.b, "U32" not in i.modifiers
    first, *others = (lift.read(o) for o in numbers)
    if i.mnemonic == "VIADDMNMX":
        first = Value(b.ir.add(first.ir, others.pop(0).ir), I32)
    low = high = first
    for other in others:
        low = lane_integer.minimum(b, low, other, signed)
        high = lane_integer.maximum(b, high, other, signed)
    result = b.select(lift.predicate(least), low, high)
    if "RELU" in i.modifiers:
        result = lane_integer.rectify(b, result)
    lift.write(i.operands[0], result)


@opcode("IABS")
def absolute(lift: Lift, i: Instruction) -> None:
    lift.write(i.operands[0], lane_integer.absolute(lift.b, lift.read(i.operands[1])))


@opcode("SHF", "USHF", modifiers="L R W U32 S32 U64 S64 HI")
def funnel_shift(lift: Lift, i: Instruction) -> None:
    """Shift {high, low}; 32-bit types look at the low word's side only, HI takes the high word."""
    low, count, high = i.operands[1:]
    b, words = lift.b, i.modifiers
    low, high, count = lift.read(low), lift.read(high), lift.read(count)
    wide_type = "U64" in words or "S64" in words
    limit = 63 if wide_type else 31
    if "W" in words:
        count = Value(b.ir.and_(count.ir, b.constant(I32, limit).ir), I32)
    else:
        count = _at_most(lift, count, limit + 1)
    left, signed = "L" in words, "S32" in words or "S64" in words
    if not wide_type and not left and "HI" in words:
        low, high = high, shift_right(b, high, 31, signed=True) if signed else b.constant(I32, 0)
    wide = lift.join([low, high])
    result = _shift_wide(lift, wide, count, left, signed)
    take_high = left or (wide_type and "HI" in words)
    if left and "HI" not in words:
        take_high = False
    lift.write(i.operands[0], lift.split(result)[1 if take_high else 0])


def _at_most(lift: Lift, count: Value, limit: int) -> Value:
    """A shift count that is at most ``limit``."""
    return lane_integer.minimum(lift.b, count, lift.b.constant(I32, limit), signed=False)


def _shift_wide(lift: Lift, wide: Value, count: Value, left: bool, signed: bool) -> Value:
    """A 64-bit shift by 0 to 64."""
    b = lift.b
    amount = resize(b, count, I64)
    all_out = b.ir.icmp_unsigned(">=", amount.ir, b.constant(I64, 64).ir)
    if signed and not left:
        most = b.ir.select(all_out, b.constant(I64, 63).ir, amount.ir)
        return Value(b.ir.ashr(wide.ir, most), I64)
    shifted = (b.ir.shl if left else b.ir.lshr)(wide.ir, amount.ir)
    return Value(b.ir.select(all_out, b.constant(I64, 0).ir, shifted), I64)


@opcode("PRMT", "UPRMT")
def permute(lift: Lift, i: Instruction) -> None:
    x, selector, y = i.operands[1:]
    b = lift.b
    if isinstance(selector, Immediate):
        picks = [selector.value >> 4 * k & 15 for k in range(4)]
        value = lane_bits.permute_fixed(b, lift.read(x), lift.read(y), picks)
    else:
        value = lane_bits.permute(b, lift.read(x), lift.read(y), lift.read(selector))
    lift.write(i.operands[0], value)


@opcode("POPC", "UPOPC")
def count_ones(lift: Lift, i: Instruction) -> None:
    lift.write(i.operands[0], lane_bits.count_ones(lift.b, lift.read(i.operands[1])))


@opcode("FLO", "UFLO", modifiers="U32 SH")
def find_leading_one(lift: Lift, i: Instruction) -> None:
    """Its position, or with SH its distance from the top; all ones if there is none."""
    target = next(o for o in i.operands[: i.results] if o.file in ("R", "UR"))
    source = i.operands[i.results]
    signed, distance = "U32" not in i.modifiers, "SH" in i.modifiers
    value = lane_bits.find_leading(lift.b, lift.read(source), signed, distance)
    results, _ = predicate_operands(i)
    if results:
        none = lift.b.ir.icmp_unsigned("!=", value.ir, lift.b.constant(I32, -1).ir)
        lift.write_predicate(results[0], Value(none, PRED))
    lift.write(target, value)


@opcode("BREV", "UBREV")
def reverse_bits(lift: Lift, i: Instruction) -> None:
    b = lift.b
    source = lift.read(i.operands[1])
    vector = b.vector(I32)
    value = b.intrinsic("llvm.bitreverse.v32i32", vector, [source.ir])
    lift.write(i.operands[0], Value(value, I32))


@opcode("SGXT", "USGXT", modifiers="U32 W")
def sign_extend(lift: Lift, i: Instruction) -> None:
    """Extend the low bits, as many as the second operand says."""
    source, length = i.operands[1:3]
    b = lift.b
    zero = b.constant(I32, 0)
    value = lane_bits.extract(
        b, lift.read(source), zero, lift.read(length), "U32" not in i.modifiers
    )
    lift.write(i.operands[0], value)


@opcode("BMSK", "UBMSK", modifiers="C W")
def bit_mask(lift: Lift, i: Instruction) -> None:
    start, length = (lift.read(o) for o in i.operands[1:3])
    if "W" in i.modifiers:
        low = lift.b.constant(I32, 31).ir
        start, length = (Value(lift.b.ir.and_(v.ir, low), I32) for v in (start, length))
    lift.write(i.operands[0], lane_bits.ones_from(lift.b, start, length))


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


@opcode("IDP", modifiers="4A U8 S8")
def dot(lift: Lift, i: Instruction) -> None:
    x, y, z = (lift.read(o) for o in i.operands[1:4])
    words = ".".join(i.modifiers).split(".")
    if words[0] != "4A":
        raise lift.refuse("only 4A is supported")
    kinds = [w for w in words[1:] if w in ("U8", "S8")]
    signs = (kinds[0] == "S8", kinds[-1] == "S8")
    parts = [((8 * k, 8), (8 * k, 8)) for k in range(4)]
    lift.write(i.operands[0], lane_integer.dot(lift.b, x, y, z, parts, signs))
