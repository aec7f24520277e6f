"""Bulk copies and reductions, and stores to a cluster, that tell a barrier of their bytes.

They are done when they are issued. A warp makes a bulk copy once, whatever its lanes: uniform
registers hold the place in shared memory and after it that of the barrier, and how many times 16
bytes, with the CTAs of a multicast above bit 16. Of STAS and REDAS each lane has a pair, the places
of the word and of the barrier (seen in code that ptxas makes of cp.async.bulk and st.async).
"""

from lockstep.execution.lanes import async_copy as lanes
from lockstep.execution.lanes import atomics, memory
from lockstep.execution.lanes.addresses import Access
from lockstep.execution.lanes.atomics import Combination
from lockstep.execution.lanes.integer import resize, shift_left
from lockstep.execution.lanes.tensor_record import record_bytes
from lockstep.execution.lanes.types import BF16, F16, F32, F64, I32, I64, Type, Value
from lockstep.execution.sass.barrier_objects import OBJECT_BYTES, complete_bytes
from lockstep.execution.sass.lift import Lift
from lockstep.execution.sass.memory import address_of
from lockstep.execution.sass.opcodes import opcode
from lockstep.execution.sass.tensor import (
    last_word,
    next_place,
    own_end,
    receivers,
    shared_end,
)
from lockstep.execution.state import SHARED_WINDOW, Window
from lockstep.isa.sass.encoding.instruction import Instruction
from lockstep.isa.sass.encoding.operand import Address, Register

_OPERATIONS = "ADD MIN MAX INC DEC AND OR XOR"
_KINDS = {
    "S32": (I32, True), "U64": (I64, False), "S64": (I64, True), "64": (I64, False),
    "F16": (F16, False), "BF16": (BF16, False), "F32": (F32, False), "F64": (F64, False),
}  # fmt: skip
_CHUNKS = 0xFFFF  # the bits of a size


@opcode("UBLKCP", modifiers="S G MULTICAST")
def bulk_copy(lift: Lift, i: Instruction) -> None:
    """Target and source are the first modifiers."""
    with lift.once():
        to, at, size, barrier = _ends(lift, i)
        if barrier is None:
            lanes.bulk_copy(lift.b, to, at, size)
            return
        with receivers(lift, i, to, barrier) as (here, told):
            lanes.bulk_copy(lift.b, here, at, size)
            complete_bytes(lift.b, told, size)


@opcode("UBLKRED", modifiers=f"S G {_OPERATIONS} S32 U64 S64 F16 BF16 F32 F64 RN")
def bulk_reduce(lift: Lift, i: Instruction) -> None:
    operation, kind, signed = _combined(lift, i)
    with lift.once():
        to, at, size, barrier = _ends(lift, i)
        combine = Combination(operation, kind, signed, packed=False)
        lanes.bulk_reduce(lift.b, to, at, size, combine)
        if barrier is not None:
            complete_bytes(lift.b, barrier, size)


def _combined(lift: Lift, i: Instruction) -> tuple[str, Type, bool]:
    """Operation, element type, and whether it is signed."""
    operation = next(m.lower() for m in i.modifiers if m in _OPERATIONS.split())
    kind, signed = next((_KINDS[m] for m in i.modifiers if m in _KINDS), (I32, False))
    wrong = operation not in ("add", "min", "max") and kind.kind == "float"
    wrong |= operation in ("min", "max") and kind in (F32, F64)
    if wrong or (operation in ("inc", "dec") and (kind != I32 or signed)):
        raise lift.refuse("no such elements can be combined so")
    return operation, kind, signed


def _ends(lift: Lift, i: Instruction) -> tuple[Access, Access, Value, Access | None]:
    """Target, source, number of bytes, and the barrier of a copy into shared memory."""
    b, (target, source) = lift.b, i.operands[:2]
    if i.modifiers[:2] == ("G", "G"):
        raise lift.refuse("one end must be in shared memory")
    chunks = b.ir.and_(last_word(lift, i).ir, b.constant(I32, _CHUNKS).ir)
    size = shift_left(b, Value(chunks, I32), lanes.CHUNK.bit_length() - 1)
    at = _global(lift, source) if i.modifiers[1] == "G" else own_end(lift, source)
    barrier = None
    if i.modifiers[0] == "G":
        to = _global(lift, target)
    else:
        to = shared_end(lift, target, lanes.CHUNK)
        barrier = shared_end(lift, next_place(target), OBJECT_BYTES)
    _record(lift, to, at, size, barrier)
    return to, at, size, barrier


def _global(lift: Lift, operand: Address) -> Access:
    address = address_of(lift, operand, Window.GLOBAL)
    return Access(Window.GLOBAL, address, lanes.CHUNK, lift.site(Window.GLOBAL))


def _record(lift: Lift, to: Access, at: Access, size: Value, barrier: Access | None) -> None:
    """Tell the stream of the bytes in global memory, or of the target of a copy from CTA to CTA."""
    far = next((end for end in (to, at) if end.window == Window.GLOBAL), None)
    if far is None:
        lift.record_addresses(_generic(lift, to))
    elif lift.stream is not None:
        place = lift.stream.tile(lift.number)
        record_bytes(lift.b, place, far.address, size, barrier and barrier.address)


def _generic(lift: Lift, access: Access) -> Value:
    """The generic address of what is relative to the CTA's own shared memory."""
    b, wide = lift.b, resize(lift.b, access.address, I64, signed=True)
    start = b.constant(I64, SHARED_WINDOW)
    if lift.clustered:
        start = lift.scalar_field("cta", "window", I64)
    return Value(b.ir.add(wide.ir, start.ir), I64)


@opcode("STAS", modifiers="64 128")
def store(lift: Lift, i: Instruction) -> None:
    count = next((int(m) // 32 for m in i.modifiers if m in ("64", "128")), 1)
    to, barrier = _pair(lift, i, 4 * count)
    memory.store(lift.b, to, lift.words(i.operands[1], count))
    complete_bytes(lift.b, barrier, lift.b.constant(I32, to.bytes))


@opcode("REDAS", modifiers=f"{_OPERATIONS} S32 64 S64")
def reduce(lift: Lift, i: Instruction) -> None:
    operation, kind, signed = _combined(lift, i)
    to, barrier = _pair(lift, i, kind.bytes)
    value = lift.read(i.operands[1], kind)
    atomics.atomic(lift.b, to, operation, kind, [[value]], signed)
    complete_bytes(lift.b, barrier, lift.b.constant(I32, to.bytes))


def _pair(lift: Lift, i: Instruction, size: int) -> tuple[Access, Access]:
    """The places of a word and of a barrier: a register and the one after it."""
    operand = i.operands[0]
    if operand.offset or operand.uniform is not None or operand.base.part != "64":
        raise lift.refuse("only a pair of registers is supported as address")
    second = Register("R", operand.base.number + 1)
    word, barrier = (Address(base=r) for r in (Register("R", operand.base.number), second))
    to = shared_end(lift, word, size)
    lift.record_addresses(_generic(lift, to))
    return to, shared_end(lift, barrier, OBJECT_BYTES)
