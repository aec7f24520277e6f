"""Integer arithmetic."""

from lockstep.execution.lanes import bits, integer
from lockstep.execution.lanes.types import I16, I32, PRED, Value
from lockstep.execution.ptx.lift import Lift, is_signed
from lockstep.execution.ptx.opcodes import CARRY, opcode
from lockstep.isa.ptx.syntax import Instruction

_NUMBERS = "{u16,u32,u64,s16,s32,s64}"
_PAIRS = "{u16x2,s16x2}"
_WORDS = "{u32,s32,u64,s64}"


def sources(lift: Lift, i: Instruction, kind: str) -> list[Value]:
    """All source operands as one type; pairs as vectors of more elements."""
    values = [lift.read(o, kind) for o in i.operands[1:]]
    return [lift.b.cast(v, I16.times(2)) for v in values] if kind.endswith("16x2") else values


def write_pair(lift: Lift, i: Instruction, value: Value) -> None:
    """Write the result, put back into a word if it is a pair."""
    value = lift.b.cast(value, I32) if value.type.count == 2 else value
    lift.write(i.operands[0], value, is_signed(i.modifiers[-1]))


@opcode(f"{{add,sub}}.{_NUMBERS}", f"add.{_PAIRS}")
def add_sub(lift: Lift, i: Instruction) -> None:
    a, c = sources(lift, i, i.modifiers[-1])
    emit = lift.b.ir.add if i.opcode == "add" else lift.b.ir.sub
    write_pair(lift, i, Value(emit(a.ir, c.ir), a.type))


@opcode("{add,sub}.sat.s32")
def add_sub_saturating(lift: Lift, i: Instruction) -> None:
    name = "sadd.sat" if i.opcode == "add" else "ssub.sat"
    lift.write(i.operands[0], lift.b.elementwise(name, *sources(lift, i, "s32")))


def _product(lift: Lift, i: Instruction, kind: str) -> Value:
    a, c = (lift.read(o, kind) for o in i.operands[1:3])
    if "wide" in i.modifiers:
        return integer.multiply_wide(lift.b, a, c, is_signed(kind))
    if "hi" in i.modifiers:
        return integer.multiply_high(lift.b, a, c, is_signed(kind))
    return Value(lift.b.ir.mul(a.ir, c.ir), a.type)


def _wide(kind: str) -> str:
    return f"{kind[0]}{2 * int(kind[1:])}"


@opcode(f"mul.{{lo,hi}}.{_NUMBERS}", "mul.wide.{u16,u32,s16,s32}")
def multiply(lift: Lift, i: Instruction) -> None:
    product = _product(lift, i, i.modifiers[-1])
    lift.write(i.operands[0], product, is_signed(i.modifiers[-1]))


@opcode(f"mad.{{lo,hi}}.{_NUMBERS}", "mad.wide.{u16,u32,s16,s32}")
def multiply_add(lift: Lift, i: Instruction) -> None:
    kind = i.modifiers[-1]
    product = _product(lift, i, kind)
    addend = lift.read(i.operands[3], _wide(kind) if "wide" in i.modifiers else kind)
    total = Value(lift.b.ir.add(product.ir, addend.ir), product.type)
    lift.write(i.operands[0], total, is_signed(kind))


@opcode("mad.hi.sat.s32")
def multiply_add_saturating(lift: Lift, i: Instruction) -> None:
    addend = lift.read(i.operands[3], "s32")
    lift.write(i.operands[0], lift.b.elementwise("sadd.sat", _product(lift, i, "s32"), addend))


@opcode("{mul24,mad24}.{lo,hi}.{u32,s32}", "mad24.hi.sat.s32")
def multiply_24(lift: Lift, i: Instruction) -> None:
    b, kind = lift.b, i.modifiers[-1]
    low = (b.ir.shl(lift.read(o, kind).ir, b.constant(I32, 8).ir) for o in i.operands[1:3])
    a, c = (integer.shift_right(b, Value(v, I32), 8, is_signed(kind)) for v in low)
    product = integer.multiply_wide(b, a, c, is_signed(kind))
    if "hi" in i.modifiers:
        product = integer.shift_right(b, product, 16)
    result = integer.resize(b, product, I32)
    if i.opcode == "mad24":
        addend = lift.read(i.operands[3], kind)
        if "sat" in i.modifiers:
            result = b.elementwise("sadd.sat", result, addend)
        else:
            result = Value(b.ir.add(result.ir, addend.ir), I32)
    lift.write(i.operands[0], result)


@opcode(f"sad.{_NUMBERS}")
def sum_of_difference(lift: Lift, i: Instruction) -> None:
    kind = i.modifiers[-1]
    a, c, total = sources(lift, i, kind)
    difference = integer.absolute_difference(lift.b, a, c, is_signed(kind))
    total = Value(lift.b.ir.add(total.ir, difference.ir), a.type)
    lift.write(i.operands[0], total, is_signed(kind))


@opcode(f"{{div,rem}}.{_NUMBERS}")
def divide(lift: Lift, i: Instruction) -> None:
    kind = i.modifiers[-1]
    quotient, rest = integer.divide(lift.b, *sources(lift, i, kind), is_signed(kind))
    lift.write(i.operands[0], quotient if i.opcode == "div" else rest, is_signed(kind))


@opcode("{abs,neg}.{s16,s32,s64}")
def sign(lift: Lift, i: Instruction) -> None:
    (a,) = sources(lift, i, i.modifiers[-1])
    emit = integer.absolute if i.opcode == "abs" else integer.negate
    lift.write(i.operands[0], emit(lift.b, a), signed=True)


@opcode(f"{{min,max}}.{_NUMBERS}", f"{{min,max}}.{_PAIRS}", "{min,max}.relu.{s16x2,s32}")
def choose(lift: Lift, i: Instruction) -> None:
    kind = i.modifiers[-1]
    emit = integer.minimum if i.opcode == "min" else integer.maximum
    result = emit(lift.b, *sources(lift, i, kind), is_signed(kind))
    if "relu" in i.modifiers:
        result = integer.rectify(lift.b, result)
    write_pair(lift, i, result)


# Extended precision: the flag holds a carry, of a subtraction that of the sum with the complement.
# So does the predicate that ptxas makes of it, and CUDA's division of 128 bits mixes the two.


def _add_with_carry(lift: Lift, i: Instruction, terms: list[Value], name: str) -> None:
    """Add or subtract (``name``) two terms, and the flag in forms that read it."""
    b, carry = lift.b, None
    emit = b.ir.add if name == "add" else b.ir.sub
    first, second = terms
    total = Value(emit(first.ir, second.ir), first.type)
    if "cc" in i.modifiers:
        carry = _overflows(lift, first, total, name)
    if i.opcode in ("addc", "subc", "madc"):
        flag = _taken_as(lift, lift.current(CARRY), name)
        flag = Value(b.ir.zext(flag.ir, b.vector(first.type)), first.type)
        before, total = total, Value(emit(total.ir, flag.ir), first.type)
        if carry is not None:
            again = _overflows(lift, before, total, name)
            carry = Value(b.ir.or_(carry.ir, again.ir), PRED)
    lift.write(i.operands[0], total)
    if carry is not None:
        lift.assign(CARRY, _taken_as(lift, carry, name))


def _taken_as(lift: Lift, flag: Value, name: str) -> Value:
    """The flag as a carry, or as a borrow, which is the opposite."""
    return flag if name == "add" else Value(lift.b.ir.not_(flag.ir), PRED)


def _overflows(lift: Lift, before: Value, after: Value, name: str) -> Value:
    """Whether an unsigned sum has become smaller than a term, or a difference larger."""
    smaller = "<" if name == "add" else ">"
    return Value(lift.b.ir.icmp_unsigned(smaller, after.ir, before.ir), PRED)


@opcode(f"{{add,sub}}.cc.{_WORDS}")
def add_carry_out(lift: Lift, i: Instruction) -> None:
    _add_with_carry(lift, i, sources(lift, i, i.modifiers[-1]), i.opcode)


@opcode(f"{{addc,subc}}[.cc].{_WORDS}", reads_carry=True)
def add_carry_in(lift: Lift, i: Instruction) -> None:
    _add_with_carry(lift, i, sources(lift, i, i.modifiers[-1]), i.opcode[:3])


def _multiply_with_carry(lift: Lift, i: Instruction) -> None:
    kind = i.modifiers[-1]
    terms = [_product(lift, i, kind), lift.read(i.operands[3], kind)]
    _add_with_carry(lift, i, terms, "add")


@opcode(f"mad.{{lo,hi}}.cc.{_WORDS}")
def multiply_add_carry_out(lift: Lift, i: Instruction) -> None:
    _multiply_with_carry(lift, i)


@opcode(f"madc.{{lo,hi}}[.cc].{_WORDS}", reads_carry=True)
def multiply_add_carry_in(lift: Lift, i: Instruction) -> None:
    _multiply_with_carry(lift, i)


# Counting and dot products


@opcode("{popc,clz}.{b32,b64}")
def count(lift: Lift, i: Instruction) -> None:
    emit = bits.count_ones if i.opcode == "popc" else bits.leading_zeros
    lift.write(i.operands[0], emit(lift.b, *sources(lift, i, i.modifiers[-1])))


@opcode(f"bfind[.shiftamt].{_WORDS}")
def find_leading(lift: Lift, i: Instruction) -> None:
    kind = i.modifiers[-1]
    (a,) = sources(lift, i, kind)
    found = bits.find_leading(lift.b, a, is_signed(kind), "shiftamt" in i.modifiers)
    lift.write(i.operands[0], found)


@opcode("fns.b32")
def find_nth(lift: Lift, i: Instruction) -> None:
    lift.write(i.operands[0], bits.find_nth(lift.b, *sources(lift, i, "b32")))


_DOT = {
    ("dp4a", "lo"): [((8 * k, 8), (8 * k, 8)) for k in range(4)],
    ("dp2a", "lo"): [((16 * k, 16), (8 * k, 8)) for k in range(2)],
    ("dp2a", "hi"): [((16 * k, 16), (16 + 8 * k, 8)) for k in range(2)],
}


@opcode("dp4a.{u32,s32}.{u32,s32}", "dp2a.{lo,hi}.{u32,s32}.{u32,s32}")
def dot(lift: Lift, i: Instruction) -> None:
    parts = _DOT[i.opcode, "hi" if "hi" in i.modifiers else "lo"]
    signs = tuple(is_signed(kind) for kind in i.modifiers[-2:])
    lift.write(i.operands[0], integer.dot(lift.b, *sources(lift, i, "b32"), parts, signs))
