"""cp.async and its groups, bulk copies and reductions."""

from collections.abc import Iterator
from contextlib import contextmanager

from lockstep.execution.lanes import async_copy as lanes
from lockstep.execution.lanes import barrier_objects, memory
from lockstep.execution.lanes.addresses import Access
from lockstep.execution.lanes.atomics import Combination
from lockstep.execution.lanes.integer import resize
from lockstep.execution.lanes.tensor_record import record_bytes
from lockstep.execution.lanes.types import BF16, F16, I32, PRED, Value
from lockstep.execution.ptx.barrier_objects import OBJECT_BYTES
from lockstep.execution.ptx.lift import Lift, is_signed, type_of
from lockstep.execution.ptx.opcodes import opcode
from lockstep.execution.ptx.operands import access_of, elements, generic, space_of
from lockstep.execution.state import Window
from lockstep.isa.ptx.syntax import Immediate, Instruction, Negated, Operand, Register

_HINTS = "[.L2::cache_hint][.L2::{64B,128B,256B}]"
_SHARED = "{shared,shared::cta}"


@opcode(
    f"cp.async.ca.{_SHARED}.global{_HINTS}",
    f"cp.async.cg.{_SHARED}.global{_HINTS}",
    destinations=0,
)
def copy(lift: Lift, i: Instruction) -> None:
    target, source, size, *rest = i.operands
    if not isinstance(size, Immediate) or size.value not in _sizes(i):
        raise lift.refuse(f"{i.name} cannot copy so many bytes")
    if "L2::cache_hint" in i.modifiers:
        rest = rest[:-1]
    count = _count(lift, rest[0] if rest else size, size.value)
    to = access_of(lift, target, "shared", size.value, record=False)
    at = access_of(lift, source, "global", size.value, record=False)
    some = lift.b.ir.icmp_unsigned("!=", count.ir, lift.b.constant(I32, 0).ir)
    lift.record_addresses(at.address, Value(some, PRED))
    lanes.copy(lift.b, to, at, count)


def _sizes(i: Instruction) -> tuple[int, ...]:
    return (16,) if i.modifiers[1] == "cg" else (4, 8, 16)


def _count(lift: Lift, operand: Operand, size: int) -> Value:
    """Bytes to read: a number, or none where a predicate says to ignore the source."""
    b = lift.b
    if _is_predicate(lift, operand):
        ignore = lift.read(operand, "pred")
        return b.select(ignore, b.constant(I32, 0), b.constant(I32, size))
    return lift.read(operand, "u32")


def _is_predicate(lift: Lift, operand: Operand) -> bool:
    if isinstance(operand, Negated):
        return True
    return (
        isinstance(operand, Register)
        and operand.name in lift.function.registers
        and lift.type(operand.name).kind == "pred"
    )


@opcode(
    "cp.async.{commit_group,wait_group,wait_all}",
    "cp.async.bulk.{commit_group,wait_group,wait_group.read}",
    "cp.async.bulk.prefetch.L2.global[.L2::cache_hint]",
    destinations=0,
)
def groups(lift: Lift, i: Instruction) -> None:
    """All copies are complete already."""


@opcode(f"cp.async.mbarrier.arrive[.noinc][.{_SHARED}].b64", destinations=0)
def arrive(lift: Lift, i: Instruction) -> None:
    """Without ``.noinc`` the arrival is one more than the barrier had been told: no change."""
    place = access_of(lift, i.operands[0], space_of(i), OBJECT_BYTES)
    if "noinc" in i.modifiers:
        barrier_objects.arrive(lift.b, place)


_LOADS = (
    "shared::cta.global.mbarrier::complete_tx::bytes[.L2::cache_hint]",
    "shared::cluster.global.mbarrier::complete_tx::bytes[.multicast::cluster][.L2::cache_hint]",
    "shared::cluster.shared::cta.mbarrier::complete_tx::bytes",
)
_STORE = "global.shared::cta.bulk_group[.L2::cache_hint]"


@opcode(*(f"cp.async.bulk.{form}" for form in (*_LOADS, _STORE)), destinations=0)
def bulk_copy(lift: Lift, i: Instruction) -> None:
    to, at, size = _ends(lift, i)
    barrier = _barrier(lift, i)
    _record(lift, to, at, size, barrier)
    if barrier is None:
        lanes.bulk_copy(lift.b, to, at, size)
        return
    with receivers(lift, i, 4, to, barrier) as (here, told):
        lanes.bulk_copy(lift.b, here, at, size)
        barrier_objects.complete_bytes(lift.b, told, size)


@contextmanager
def receivers(
    lift: Lift, i: Instruction, place: int, target: Access, barrier: Access
) -> Iterator[tuple[Access, Access]]:
    """Where a copy goes: to the target, or with a mask of CTAs to the same place in each of them.

    Yields target and barrier. ``place``: the operand that is the mask.
    """
    if "multicast::cluster" not in i.modifiers:
        yield target, barrier
        return
    mask = resize(lift.b, lift.read(i.operands[place], "b16"), I32)
    with lanes.receivers(lift.b, mask, target, barrier) as ends:
        yield ends


_REDUCTIONS = (
    "add.{u32,s32,u64,f32,f64}",
    "{min,max}.{u32,s32,u64,s64,f16,bf16}",
    "add.noftz.{f16,bf16}",
    "{inc,dec}.u32",
    "{and,or,xor}.{b32,b64}",
)
_SHARED_REDUCTIONS = (
    "{and,or,xor}.b32",
    "add.{u32,s32,u64,f32,f64}",
    "{min,max}.{u32,s32,f16,bf16}",
    "add.noftz.{f16,bf16}",
    "{inc,dec}.u32",
)


@opcode(
    *(f"cp.reduce.async.bulk.{_STORE}.{form}" for form in _REDUCTIONS),
    *(f"cp.reduce.async.bulk.{_LOADS[2]}.{form}" for form in _SHARED_REDUCTIONS),
    destinations=0,
)
def bulk_reduce(lift: Lift, i: Instruction) -> None:
    to, at, size = _ends(lift, i)
    barrier = _barrier(lift, i)
    _record(lift, to, at, size, barrier)
    words = [w for w in i.modifiers if w in _OPERATIONS]
    name = i.modifiers[-1]
    kind = {"f16": F16, "bf16": BF16}.get(name) or type_of(name)
    combine = Combination(words[0], kind, is_signed(name), packed=False)
    lanes.bulk_reduce(lift.b, to, at, size, combine)
    if barrier is not None:
        barrier_objects.complete_bytes(lift.b, barrier, size)


_OPERATIONS = ("add", "min", "max", "inc", "dec", "and", "or", "xor")


def _ends(lift: Lift, i: Instruction) -> tuple[Access, Access, Value]:
    """Target, source, and number of bytes."""
    target, source, size = i.operands[:3]
    to, at = (
        access_of(lift, operand, space_of(i, k), lanes.CHUNK, record=False)
        for k, operand in enumerate((target, source))
    )
    return to, at, lift.read(size, "u32")


def _barrier(lift: Lift, i: Instruction) -> Access | None:
    """The barrier object that a copy into shared memory completes."""
    if "bulk_group" in i.modifiers:
        return None
    return access_of(lift, i.operands[3], "cluster", OBJECT_BYTES, record=False)


def _record(lift: Lift, to: Access, at: Access, size: Value, barrier: Access | None) -> None:
    """Tell the stream of the bytes in global memory, or of the target of a copy from CTA to CTA."""
    far = next((end for end in (to, at) if end.window == Window.GLOBAL), None)
    if far is None:
        lift.record_addresses(generic(lift, to.address))
    elif lift.stream is not None:
        place = lift.stream.tile(lift.number)
        record_bytes(lift.b, place, far.address, size, barrier and barrier.address)


_ASYNC_STORE = "st.async[.weak][.shared::cluster].mbarrier::complete_tx::bytes"


@opcode(
    _ASYNC_STORE + "[.v2].{b32,u32,s32,f32,b64,u64,s64,f64}",
    _ASYNC_STORE + ".v4.{b32,u32,s32,f32}",
    destinations=0,
)
def store(lift: Lift, i: Instruction) -> None:
    target, value, barrier = i.operands
    kind, sources = i.modifiers[-1], elements(value)
    size = type_of(kind).bytes * len(sources)
    memory.store(
        lift.b,
        access_of(lift, target, space_of(i), size),
        [lift.read(source, kind) for source in sources],
    )
    complete(lift, i, barrier, size)


def complete(lift: Lift, i: Instruction, barrier: Operand, size: int) -> None:
    """Tell a barrier of so many bytes from each lane."""
    place = access_of(lift, barrier, space_of(i), OBJECT_BYTES, record=False)
    barrier_objects.complete_bytes(lift.b, place, lift.b.constant(I32, size))
