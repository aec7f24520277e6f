"""Integer products, with sums and carries; dot products; sums of differences."""

from llvmlite import ir

from lockstep.execution.lanes import integer as lane_integer
from lockstep.execution.lanes.integer import multiply_wide, resize, shift_right
from lockstep.execution.lanes.types import I32, I64, PRED, Value
from lockstep.execution.sass.integer import carry_sum, numbers, predicate_operands
from lockstep.execution.sass.lift import Lift
from lockstep.execution.sass.opcodes import opcode
from lockstep.isa.sass.encoding.instruction import Instruction


@opcode("IMAD", "IMAD.MOV", "IMAD.IADD", "IMAD.SHL", "UIMAD", modifiers="U32 X")
def multiply_add(lift: Lift, i: Instruction) -> None:
    x, y, z = (lift.read(o) for o in numbers(i))
    _, carries = predicate_operands(i)
    product = Value(lift.b.ir.mul(x.ir, y.ir), I32)
    total, _ = carry_sum(lift, [product, z], [lift.predicate(p) for p in carries])
    lift.write(i.operands[0], total)


@opcode("IMAD.WIDE", "UIMAD.WIDE", modifiers="U32 X")
def multiply_add_wide(lift: Lift, i: Instruction) -> None:
    lift.write(i.operands[0], _wide_sum(lift, i))


@opcode("IMAD.HI", modifiers="U32 X")
def multiply_high(lift: Lift, i: Instruction) -> None:
    """The high word of the product plus a 64-bit addend."""
    lift.write(i.operands[0], resize(lift.b, shift_right(lift.b, _wide_sum(lift, i), 32), I32))


def _wide_sum(lift: Lift, i: Instruction) -> Value:
    """A 64-bit product, addend and carry; what they carry goes to a predicate, if there is one."""
    results, carries = predicate_operands(i)
    x, y, z = numbers(i)
    b = lift.b
    product = multiply_wide(b, lift.read(x), lift.read(y), "U32" not in i.modifiers)
    total, carry = _add(lift, product, lift.read(z, I64))
    if carries:
        one = Value(b.ir.zext(lift.predicate(carries[0]).ir, b.vector(I64)), I64)
        total, again = _add(lift, total, one)
        carry = b.ir.or_(carry, again)
    if results:
        lift.write_predicate(results[0], Value(carry, PRED))
    return total


def _add(lift: Lift, x: Value, y: Value) -> tuple[Value, ir.Value]:
    total = lift.b.ir.add(x.ir, y.ir)
    return Value(total, x.type), lift.b.ir.icmp_unsigned("<", total, x.ir)


@opcode("IDP", modifiers="4A 2A LO HI U8 S8 U16 S16")
def dot(lift: Lift, i: Instruction) -> None:
    """Four bytes of each operand, or the halves of the first and two bytes of the second."""
    x, y, z = (lift.read(o) for o in i.operands[1:4])
    words = i.modifiers
    signs = tuple(w.startswith("S") for w in words if w in ("U8", "S8", "U16", "S16"))
    if "4A" in words:
        parts = [((8 * k, 8), (8 * k, 8)) for k in range(4)]
    else:
        first = 16 if "HI" in words else 0
        parts = [((16 * k, 16), (first + 8 * k, 8)) for k in range(2)]
    lift.write(i.operands[0], lane_integer.dot(lift.b, x, y, z, parts, signs))


@opcode("VABSDIFF", modifiers="U32")
def add_difference(lift: Lift, i: Instruction) -> None:
    """``|x - y| + z``."""
    x, y, z = (lift.read(o) for o in numbers(i))
    size = lane_integer.absolute_difference(lift.b, x, y, "U32" not in i.modifiers)
    lift.write(i.operands[0], Value(lift.b.ir.add(size.ir, z.ir), I32))


@opcode("VABSDIFF4", modifiers="U8 ACC")
def add_differences_of_bytes(lift: Lift, i: Instruction) -> None:
    """The differences of four bytes, or with ACC their sum plus a word."""
    b = lift.b
    x, y, z = (lift.read(o) for o in numbers(i))
    total = z if "ACC" in i.modifiers else b.constant(I32, 0)
    for k in range(4):
        one, other = (_byte(lift, v, k, "U8" not in i.modifiers) for v in (x, y))
        size = lane_integer.absolute_difference(b, one, other, signed=True)
        if "ACC" not in i.modifiers:
            size = lane_integer.shift_left(b, size, 8 * k)
        total = Value(b.ir.add(total.ir, size.ir), I32)
    lift.write(i.operands[0], total)


def _byte(lift: Lift, word: Value, number: int, signed: bool) -> Value:
    up = lane_integer.shift_left(lift.b, word, 24 - 8 * number)
    return shift_right(lift.b, up, 24, signed)
