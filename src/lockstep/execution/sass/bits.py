"""Logic, shifts, bytes and bit fields; the uniform forms are the same."""

from lockstep.execution.lanes import bits as lane_bits
from lockstep.execution.lanes import integer as lane_integer
from lockstep.execution.lanes.integer import resize, shift_right
from lockstep.execution.lanes.types import I32, I64, PRED, Value
from lockstep.execution.sass.integer import numbers, predicate_operands
from lockstep.execution.sass.lift import Lift
from lockstep.execution.sass.opcodes import opcode
from lockstep.isa.sass.encoding.instruction import Instruction
from lockstep.isa.sass.encoding.operand import Immediate


@opcode("LOP3.LUT", "ULOP3.LUT", modifiers="PAND")
def logic(lift: Lift, i: Instruction) -> None:
    """Any function of three bits; a predicate tells whether the result is not zero."""
    results, sources = predicate_operands(i)
    *inputs, table = numbers(i)
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


@opcode("SHF", "USHF", modifiers="L R W U32 S32 U64 S64 HI")
def funnel_shift(lift: Lift, i: Instruction) -> None:
    """Shift {high, low}; 32-bit types look at the low word's side only, HI takes the high word."""
    low, count, high = i.operands[1:]
    b, words = lift.b, i.modifiers
    low, high, count = lift.read(low), lift.read(high), lift.read(count)
    wide_type = "U64" in words or "S64" in words
    limit = 63 if wide_type else 31
    shorten = _modulo if "W" in words else _at_most
    count = shorten(lift, count, limit + 1)
    left, signed = "L" in words, "S32" in words or "S64" in words
    if not wide_type and not left and "HI" in words:
        low, high = high, shift_right(b, high, 31, signed=True) if signed else b.constant(I32, 0)
    wide = lift.join([low, high])
    result = _shift_wide(lift, wide, count, left, signed)
    take_high = left or (wide_type and "HI" in words)
    if left and "HI" not in words:
        take_high = False
    lift.write(i.operands[0], lift.split(result)[1 if take_high else 0])


def _modulo(lift: Lift, count: Value, size: int) -> Value:
    """The remainder by a power of two."""
    return Value(lift.b.ir.and_(count.ir, lift.b.constant(I32, size - 1).ir), I32)


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


@opcode("PRMT", "UPRMT", modifiers="F4E B4E RC8 ECL ECR RC16")
def permute(lift: Lift, i: Instruction) -> None:
    x, selector, y = i.operands[1:]
    b = lift.b
    if any(i.modifiers):
        words = (lift.read(o) for o in (x, y, selector))
        value = lane_bits.permute_in_mode(b, *words, i.modifiers[0].lower())
    elif isinstance(selector, Immediate):
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
    source, length = (lift.read(o) for o in i.operands[1:3])
    b = lift.b
    if "W" in i.modifiers:
        length = _modulo(lift, length, 32)
    value = lane_bits.extract(b, source, b.constant(I32, 0), length, "U32" not in i.modifiers)
    lift.write(i.operands[0], value)


@opcode("BMSK", "UBMSK", modifiers="C W")
def bit_mask(lift: Lift, i: Instruction) -> None:
    start, length = (lift.read(o) for o in i.operands[1:3])
    if "W" in i.modifiers:
        start, length = (_modulo(lift, v, 32) for v in (start, length))
    lift.write(i.operands[0], lane_bits.ones_from(lift.b, start, length))
