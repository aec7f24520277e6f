"""Loads, stores and constant loads."""

from llvmlite import ir

from lockstep.execution.lanes import memory as lanes
from lockstep.execution.lanes.addresses import Access
from lockstep.execution.lanes.async_copy import copy
from lockstep.execution.lanes.integer import resize
from lockstep.execution.lanes.types import I8, I16, I32, I64, PRED, Type, Value
from lockstep.execution.sass.lift import Lift
from lockstep.execution.sass.opcodes import opcode
from lockstep.execution.state import (
    LOCAL_WINDOW,
    SHARED_WINDOW,
    TAG_SHIFT,
    WINDOW_BYTES,
    Window,
)
from lockstep.isa.sass.encoding.instruction import Instruction
from lockstep.isa.sass.encoding.operand import Address, Register

_WINDOWS = {"S": Window.SHARED, "L": Window.LOCAL}
_ACCESS = (
    "E U8 S8 U16 S16 32 64 128 U CONSTANT STRONG WEAK CTA SM GPU SYS EF EL LU EU NA PRIVATE "
    "LTC64B LTC128B LTC256B ZD BYPASS"
)


def shape(i: Instruction) -> tuple[Type, int, bool]:
    """Element type, how many in a row, and whether it is signed."""
    for word, kind in (("U8", I8), ("S8", I8), ("U16", I16), ("S16", I16)):
        if word in i.modifiers:
            return kind, 1, word.startswith("S")
    return I32, 4 if "128" in i.modifiers else 2 if "64" in i.modifiers else 1, False


def window_of(i: Instruction) -> Window:
    """The memory that an instruction's addresses are relative to."""
    return _WINDOWS.get(i.mnemonic[2:3], Window.GLOBAL)


def address_of(lift: Lift, operand: Address, window: Window) -> Value:
    """The sum that an address operand stands for: 64 bits, or 32 in a window.

    An address of shared memory may have the CTA's rank in its cluster.
    In the cluster's, it is relative to the CTA's own.
    """
    b = lift.b
    kind = I64 if window == Window.GLOBAL else I32
    wide = "E" in lift.instruction.modifiers and operand.base is not None
    terms = [
        _term(lift, register, kind, wide and not register.part)
        for register in (operand.base, operand.uniform)
        if register is not None and not register.is_zero
    ]
    if not terms:
        return b.constant(kind, operand.offset)
    base = terms[0]
    if len(terms) == 2:
        one, two = (t.ir for t in terms)
        base = b.once(("sum", one, two), lambda: Value(b.ir.add(one, two), kind))
    address = base.ir
    if operand.offset:
        address = b.ir.add(address, b.constant(kind, operand.offset).ir)
    if window == Window.SHARED and lift.clustered:
        return _without_own_rank(lift, Value(address, I32))
    if window == Window.CLUSTER:
        return Value(b.ir.sub(address, lift.scalar_field("cta", "tag", I32).ir), I32)
    return Value(address, kind, sum=(base, operand.offset))


def _without_own_rank(lift: Lift, address: Value) -> Value:
    """An address of shared memory with the CTA's own rank, or none. Another rank stays: too far."""
    own = lift.scalar_field("cta", "tag", I32)
    return lift.b.elementwise("umin", address, Value(lift.b.ir.sub(address.ir, own.ir), I32))


def _term(lift: Lift, register: Register, kind: Type, wide: bool) -> Value:
    """One register of an address: a word or a pair, scaled by X4, X8 or X16.

    The same value each time, so that accesses around one address are known as such.
    """
    pair = kind == I64 and (wide or register.part == "64" or register.file == "UR")
    scaled = register.part.startswith("X")
    words = lift.words(register, 2 if pair else 1)

    def emit() -> Value:
        word = words[0]
        if scaled:
            shift = int(register.part[1:]).bit_length() - 1
            word = Value(lift.b.ir.shl(word.ir, lift.b.constant(I32, shift).ir), I32)
        if kind == I32:
            return word
        if pair:
            return lift.join(words)
        return resize(lift.b, word, I64, signed=register.part != "U32")

    return lift.b.once(("term", register.part, kind, *(w.ir for w in words)), emit)


@opcode("LD", "LDG", "LDS", "LDL", modifiers=_ACCESS)
def load(lift: Lift, i: Instruction) -> None:
    kind, count, signed = shape(i)
    access = _access(lift, i, kind.bytes * count)
    values = lanes.load(lift.b, access, kind, count)
    target = next(o for o in i.operands[: i.results] if o.file == "R")
    lift.write_words(target, [resize(lift.b, v, I32, signed) for v in values])


@opcode("ST", "STG", "STS", "STL", modifiers=_ACCESS)
def store(lift: Lift, i: Instruction) -> None:
    kind, count, _ = shape(i)
    access = _access(lift, i, kind.bytes * count)
    source = next(o for o in reversed(i.operands) if isinstance(o, Register) and o.file == "R")
    values = [resize(lift.b, v, kind) for v in lift.words(source, count)]
    lanes.store(lift.b, access, values)


def _access(lift: Lift, i: Instruction, size: int) -> Access:
    operand = next(o for o in i.operands if isinstance(o, Address))
    window = window_of(i)
    address = address_of(lift, operand, window)
    lift.record_addresses(address)
    return Access(window, address, size, lift.site(window), strength=lift.b.strength)


@opcode("LDC", "ULDC", modifiers="U8 S8 U16 S16 64")
def load_constant(lift: Lift, i: Instruction) -> None:
    kind, _, signed = shape(i)
    if "64" in i.modifiers:
        kind = I64
    value = lift.constant(i.operands[1], kind)
    lift.write(i.operands[0], resize(lift.b, value, I32, signed) if kind.bits < 32 else value)


@opcode("LDGSTS", modifiers=_ACCESS + " ZFILL")
def copy_to_shared(lift: Lift, i: Instruction) -> None:
    """Global to shared memory; lanes without the predicate that is an operand write zeros."""
    b = lift.b
    kind, count, _ = shape(i)
    size = kind.bytes * count
    target, source = (o for o in i.operands if isinstance(o, Address))
    to, at = address_of(lift, target, Window.SHARED), address_of(lift, source, Window.GLOBAL)
    at, count = _copied(lift, i, at, size)
    some = b.ir.icmp_unsigned("!=", count.ir, b.constant(I32, 0).ir)
    lift.record_addresses(at, Value(b.ir.and_(b.active.ir, some), PRED))
    copy(
        b,
        Access(Window.SHARED, to, size, lift.site(Window.SHARED)),
        Access(Window.GLOBAL, at, size, lift.site(Window.GLOBAL)),
        count,
    )


def _copied(lift: Lift, i: Instruction, at: Value, size: int) -> tuple[Value, Value]:
    """From where and how many bytes each lane copies; the rest is filled with zeros.

    With ZFILL the low bits of the address say how many bytes are missing. A size of 0, or
    ``ignore-src``, is a predicate among the operands; one before the instruction is a guard.
    """
    b = lift.b
    count = b.constant(I32, size)
    if "ZFILL" in i.modifiers:
        missing = Value(b.ir.and_(at.ir, b.constant(I64, size - 1).ir), I64)
        at = Value(b.ir.sub(at.ir, missing.ir), I64)
        count = Value(b.ir.sub(count.ir, resize(b, missing, I32).ir), I32)
    for operand in i.operands:
        if isinstance(operand, Register) and operand.file == "P":
            count = b.select(lift.predicate(operand), count, b.constant(I32, 0))
    return at, count


@opcode("QSPC", modifiers="E G S L D")
def ask_space(lift: Lift, i: Instruction) -> None:
    """Whether a generic address lies in global, shared, local or the cluster's shared memory."""
    b = lift.b
    address = address_of(lift, next(o for o in i.operands if isinstance(o, Address)), Window.GLOBAL)

    def inside(start: Value, size: int) -> ir.Value:
        offset = b.ir.sub(address.ir, start.ir)
        return b.ir.icmp_unsigned("<", offset, b.constant(I64, size).ir)

    held = {
        "D": inside(b.constant(I64, SHARED_WINDOW), WINDOW_BYTES),
        "L": inside(b.constant(I64, LOCAL_WINDOW), WINDOW_BYTES),
    }
    space = i.modifiers[-1]
    if space == "S" and lift.clustered:
        held["S"] = inside(lift.scalar_field("cta", "window", I64), 1 << TAG_SHIFT)
    held.setdefault("S", held["D"])
    held = held.get(space) or b.ir.not_(b.ir.or_(held["D"], held["L"]))
    lift.write_predicate(i.operands[0], Value(held, PRED))
