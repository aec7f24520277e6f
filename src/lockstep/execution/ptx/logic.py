"""Logic, shifts, bit fields, permutation, data movement."""

from lockstep.execution.lanes import bits, integer
from lockstep.execution.lanes.types import I32, INTEGERS, PRED, Value
from lockstep.execution.ptx.integer import sources
from lockstep.execution.ptx.lift import Lift, is_signed, type_of
from lockstep.execution.ptx.opcodes import opcode
from lockstep.isa.ptx.syntax import (
    Call,
    Immediate,
    Instruction,
    Operand,
    Pair,
    Register,
    Sink,
    Vector,
)

_BITS = "{b16,b32,b64}"


@opcode("{and,or,xor}.{pred,b16,b32,b64}")
def logic(lift: Lift, i: Instruction) -> None:
    a, c = sources(lift, i, i.modifiers[-1])
    lift.write(i.operands[0], combine(lift, i.opcode, a, c))


def combine(lift: Lift, name: str, a: Value, c: Value) -> Value:
    """And, or, xor by name."""
    emit = {"and": lift.b.ir.and_, "or": lift.b.ir.or_, "xor": lift.b.ir.xor}[name]
    return Value(emit(a.ir, c.ir), a.type)


@opcode("not.{pred,b16,b32,b64}")
def invert(lift: Lift, i: Instruction) -> None:
    (a,) = sources(lift, i, i.modifiers[-1])
    lift.write(i.operands[0], Value(lift.b.ir.not_(a.ir), a.type))


@opcode(f"cnot.{_BITS}")
def is_zero(lift: Lift, i: Instruction) -> None:
    (a,) = sources(lift, i, i.modifiers[-1])
    lift.write(i.operands[0], integer.resize(lift.b, integer.is_zero(lift.b, a), a.type))


@opcode("lop3.b32", "lop3.{or,and}.b32")
def lookup(lift: Lift, i: Instruction) -> None:
    a, c, d = (lift.read(o, "b32") for o in i.operands[1:4])
    table = i.operands[4]
    if not isinstance(table, Immediate) or not 0 <= table.value < 256:
        raise lift.refuse(f"{i.name} needs a number from 0 to 255 as its table")
    result = bits.lookup(lift.b, a, c, d, table.value)
    target = i.operands[0]
    if isinstance(target, Pair):
        some = Value(lift.b.ir.not_(integer.is_zero(lift.b, result).ir), PRED)
        other = lift.read(i.operands[5], "pred")
        lift.write(target.second, combine(lift, i.modifiers[0], some, other))
        target = target.first
    lift.write(target, result)


@opcode(f"shl.{_BITS}", f"shr.{_BITS}", "shr.{u16,u32,u64,s16,s32,s64}")
def shift(lift: Lift, i: Instruction) -> None:
    kind = i.modifiers[-1]
    a, count = lift.read(i.operands[1], kind), lift.read(i.operands[2], "u32")
    right = bits.RIGHT_SIGNED if is_signed(kind) else bits.RIGHT
    result = bits.shift(lift.b, a, count, bits.LEFT if i.opcode == "shl" else right)
    lift.write(i.operands[0], result, is_signed(kind))


@opcode("shf.{l,r}.{clamp,wrap}.b32")
def funnel_shift(lift: Lift, i: Instruction) -> None:
    clamped = "clamp" in i.modifiers
    emit = bits.funnel_shift_clamped if clamped else bits.funnel_shift
    lift.write(i.operands[0], emit(lift.b, *sources(lift, i, "b32"), "l" in i.modifiers))


@opcode("brev.{b32,b64}")
def reverse(lift: Lift, i: Instruction) -> None:
    lift.write(i.operands[0], lift.b.elementwise("bitreverse", *sources(lift, i, i.modifiers[-1])))


def _low_byte(lift: Lift, operand) -> Value:
    word = lift.read(operand, "b32")
    return Value(lift.b.ir.and_(word.ir, lift.b.constant(I32, 0xFF).ir), I32)


@opcode("bfe.{u32,s32,u64,s64}")
def extract(lift: Lift, i: Instruction) -> None:
    kind = i.modifiers[-1]
    place = (_low_byte(lift, o) for o in i.operands[2:])
    a = lift.read(i.operands[1], kind)
    lift.write(i.operands[0], bits.extract(lift.b, a, *place, is_signed(kind)))


@opcode("bfi.{b32,b64}")
def insert(lift: Lift, i: Instruction) -> None:
    a, into = (lift.read(o, i.modifiers[-1]) for o in i.operands[1:3])
    place = (_low_byte(lift, o) for o in i.operands[3:])
    lift.write(i.operands[0], bits.insert(lift.b, a, into, *place))


def _wrapped(lift: Lift, i: Instruction, count: Value) -> Value:
    if "clamp" in i.modifiers:
        return count
    return Value(lift.b.ir.and_(count.ir, lift.b.constant(I32, 31).ir), I32)


@opcode("szext.{clamp,wrap}.{u32,s32}")
def extend(lift: Lift, i: Instruction) -> None:
    a, count = sources(lift, i, "b32")
    signed = is_signed(i.modifiers[-1])
    count = _wrapped(lift, i, count)
    result = bits.extract(lift.b, a, lift.b.constant(I32, 0), count, signed)
    lift.write(i.operands[0], result)


@opcode("bmsk.{clamp,wrap}.b32")
def ones(lift: Lift, i: Instruction) -> None:
    place = (_wrapped(lift, i, v) for v in sources(lift, i, "b32"))
    lift.write(i.operands[0], bits.ones_from(lift.b, *place))


@opcode("prmt.b32")
def permute(lift: Lift, i: Instruction) -> None:
    a, c, selector = sources(lift, i, "b32")
    if isinstance(i.operands[3], Immediate):
        picks = [i.operands[3].value >> 4 * k & 0xF for k in range(4)]
        result = bits.permute_fixed(lift.b, a, c, picks)
    else:
        result = bits.permute(lift.b, a, c, selector)
    lift.write(i.operands[0], result)


@opcode("prmt.b32.{f4e,b4e,rc8,ecl,ecr,rc16}")
def permute_mode(lift: Lift, i: Instruction) -> None:
    a, c, selector = sources(lift, i, "b32")
    lift.write(i.operands[0], bits.permute_in_mode(lift.b, a, c, selector, i.modifiers[-1]))


# Data movement


@opcode("mov.{pred,b16,b32,b64,b128,u16,u32,u64,s16,s32,s64,f32,f64}")
def move(lift: Lift, i: Instruction) -> None:
    kind = i.modifiers[-1]
    target, source = i.operands
    for vector in (o for o in i.operands if isinstance(o, Vector)):
        each = type_of(kind).bits / len(vector.elements)
        if kind[0] != "b" or each not in INTEGERS:
            raise lift.refuse(f"{i.name} has no vector of {len(vector.elements)} elements")
    if isinstance(target, Vector):
        _unpack(lift, target, lift.read(source, kind))
    elif isinstance(source, Vector):
        lift.write(target, _pack(lift, source, kind))
    else:
        lift.write(target, lift.read(source, kind), is_signed(kind))


@opcode("mov.{v2,v4}.{b16,b32,b64,u16,u32,u64,s16,s32,s64,f32,f64}")
def move_vector(lift: Lift, i: Instruction) -> None:
    """Elements, all of which are read before one is written, or a special register's."""
    kind = i.modifiers[-1]
    targets, elements = (_elements(lift, i, operand) for operand in i.operands)
    values = [lift.read(element, kind) for element in elements]
    for target, value in zip(targets, values, strict=True):
        if not isinstance(target, Sink):
            lift.write(target, value, is_signed(kind))


def _elements(lift: Lift, i: Instruction, operand: Operand | Call) -> tuple[Operand, ...]:
    """As many elements of a vector, or of a special register, as an instruction moves."""
    count = int(i.modifiers[0][1:])
    if isinstance(operand, Register) and count == 4:
        return tuple([Register(operand.name, k) for k in range(count)])
    if isinstance(operand, Vector) and len(operand.elements) == count:
        return operand.elements
    raise lift.refuse(f"{i.name} moves vectors of {count} elements")


def _pack(lift: Lift, source: Vector, kind: str) -> Value:
    b, whole = lift.b, type_of(kind)
    bits_each = whole.bits // len(source.elements)
    total = b.constant(whole, 0)
    for k, element in enumerate(source.elements):
        part = integer.resize(b, lift.read(element, f"b{bits_each}"), whole)
        moved = b.ir.shl(part.ir, b.constant(whole, k * bits_each).ir)
        total = Value(b.ir.or_(total.ir, moved), whole)
    return total


def _unpack(lift: Lift, target: Vector, whole: Value) -> None:
    part = INTEGERS[whole.type.bits // len(target.elements)]
    for k, element in enumerate(target.elements):
        if not isinstance(element, Sink):
            moved = integer.shift_right(lift.b, whole, k * part.bits)
            lift.write(element, integer.resize(lift.b, moved, part))
