"""Integer arithmetic, logic, shifts and comparison."""

from lockstep.frontend.exec.lanes.types import PRED, Value
from lockstep.frontend.exec.ptx.lift import Lift, is_signed, type_of
from lockstep.frontend.exec.ptx.opcodes import opcode
from lockstep.isa.ptx.syntax import Instruction, Pair


def _sources(lift: Lift, i: Instruction, kind: str) -> list[Value]:
    return [lift.read(o, kind) for o in i.operands[1:]]


@opcode("add.{u16,u32,u64,s16,s32,s64}", "sub.{u16,u32,u64,s16,s32,s64}")
def add_sub(lift: Lift, i: Instruction) -> None:
    a, c = _sources(lift, i, i.modifiers[-1])
    emit = lift.b.ir.add if i.opcode == "add" else lift.b.ir.sub
    lift.write(i.operands[0], Value(emit(a.ir, c.ir), a.type))


@opcode("mul.lo.{u16,u32,u64,s16,s32,s64}", "mad.lo.{u16,u32,u64,s16,s32,s64}")
def multiply(lift: Lift, i: Instruction) -> None:
    a, c, *rest = _sources(lift, i, i.modifiers[-1])
    product = lift.b.ir.mul(a.ir, c.ir)
    if rest:
        product = lift.b.ir.add(product, rest[0].ir)
    lift.write(i.operands[0], Value(product, a.type))


@opcode("mul.wide.{u16,u32,s16,s32}", "mad.wide.{u16,u32,s16,s32}")
def multiply_wide(lift: Lift, i: Instruction) -> None:
    kind = i.modifiers[-1]
    a, c = (lift.read(o, kind) for o in i.operands[1:3])
    wide_name = kind[0] + str(2 * int(kind[1:]))
    wide = type_of(wide_name)
    extend = lift.b.ir.sext if is_signed(kind) else lift.b.ir.zext
    vector = lift.b.vector(wide)
    product = lift.b.ir.mul(extend(a.ir, vector), extend(c.ir, vector))
    if i.opcode == "mad":
        product = lift.b.ir.add(product, lift.read(i.operands[3], wide_name).ir)
    lift.write(i.operands[0], Value(product, wide))


@opcode("and.{b16,b32,b64,pred}", "or.{b16,b32,b64,pred}", "xor.{b16,b32,b64,pred}")
def logic(lift: Lift, i: Instruction) -> None:
    a, c = _sources(lift, i, i.modifiers[-1])
    emit = {"and": lift.b.ir.and_, "or": lift.b.ir.or_, "xor": lift.b.ir.xor}[i.opcode]
    lift.write(i.operands[0], Value(emit(a.ir, c.ir), a.type))


@opcode("shl.{b16,b32,b64}", "shr.{b16,b32,b64,u16,u32,u64,s16,s32,s64}")
def shift(lift: Lift, i: Instruction) -> None:
    """Counts past the width give zero, or copies of the sign."""
    kind = i.modifiers[-1]
    a, count = lift.read(i.operands[1], kind), lift.read(i.operands[2], "u32")
    b, vector = lift.b, lift.b.vector(a.type)
    far = b.ir.icmp_unsigned(">=", count.ir, b.constant(count.type, a.type.bits).ir)
    resize = b.ir.zext if a.type.bits > 32 else b.ir.trunc
    amount = count.ir if a.type.bits == 32 else resize(count.ir, vector)
    if is_signed(kind):
        amount = b.ir.select(far, b.constant(a.type, a.type.bits - 1).ir, amount)
        shifted = b.ir.ashr(a.ir, amount)
    else:
        emit = b.ir.shl if i.opcode == "shl" else b.ir.lshr
        shifted = b.ir.select(far, b.constant(a.type, 0).ir, emit(a.ir, amount))
    lift.write(i.operands[0], Value(shifted, a.type))


_COMPARE = {"lo": "<", "ls": "<=", "hi": ">", "hs": ">="}
_INTEGER = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}


@opcode(
    "setp.{eq,ne,lt,le,gt,ge,lo,ls,hi,hs}.{b16,b32,b64,u16,u32,u64,s16,s32,s64}",
    "setp.{eq,ne,lt,le,gt,ge,lo,ls,hi,hs}.{and,or,xor}.{b16,b32,b64,u16,u32,u64,s16,s32,s64}",
)
def set_predicate(lift: Lift, i: Instruction) -> None:
    kind = i.modifiers[-1]
    a, c = (lift.read(o, kind) for o in i.operands[1:3])
    name = i.modifiers[0]
    compare = lift.b.ir.icmp_signed if is_signed(kind) else lift.b.ir.icmp_unsigned
    result = compare({**_COMPARE, **_INTEGER}[name], a.ir, c.ir)
    write_predicates(lift, i, result)


def write_predicates(lift: Lift, i: Instruction, result) -> None:
    """Combine a comparison with the optional third predicate and write ``p`` or ``p|q``."""
    ir = lift.b.ir
    outcomes = [result, ir.not_(result)]
    if i.modifiers[1] in ("and", "or", "xor"):
        other = lift.read(i.operands[3], "pred").ir
        emit = {"and": ir.and_, "or": ir.or_, "xor": ir.xor}[i.modifiers[1]]
        outcomes = [emit(o, other) for o in outcomes]
    target = i.operands[0]
    targets = [target.first, target.second] if isinstance(target, Pair) else [target]
    for operand, outcome in zip(targets, outcomes):
        lift.write(operand, Value(outcome, PRED))


@opcode("mov.{b16,b32,b64,u16,u32,u64,s16,s32,s64,f32,f64,pred}")
def move(lift: Lift, i: Instruction) -> None:
    lift.write(i.operands[0], lift.read(i.operands[1], i.modifiers[-1]))


@opcode("selp.{b16,b32,b64,u16,u32,u64,s16,s32,s64,f32,f64}")
def select(lift: Lift, i: Instruction) -> None:
    a, c = (lift.read(o, i.modifiers[-1]) for o in i.operands[1:3])
    lift.write(i.operands[0], lift.b.select(lift.read(i.operands[3], "pred"), a, c))
