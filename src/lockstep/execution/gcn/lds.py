"""The local data share: loads, stores and atomics at byte addresses, swizzles.

M0 holds how many bytes there are. What is beyond is read as zero and not written; where mistakes in
memory are looked for, it is one. What is beyond the memory of the work-group ends the launch.
"""

from collections.abc import Iterable

from llvmlite import ir

from lockstep.execution.gcn.atomics import NAMES, combine
from lockstep.execution.gcn.lift import Lift
from lockstep.execution.gcn.opcodes import opcode
from lockstep.execution.gcn.registers import M0
from lockstep.execution.gcn.source import MOST_LDS_BYTES
from lockstep.execution.lanes import memory as lanes
from lockstep.execution.lanes.addresses import Access, refuse
from lockstep.execution.lanes.builder import HALF
from lockstep.execution.lanes.integer import resize
from lockstep.execution.lanes.types import F32, F64, I8, I16, I32, I64, PRED, Type, Value
from lockstep.execution.state import Window
from lockstep.isa.gcn.instruction import Instruction

_GROUP = 32  # lanes among which a swizzle moves
_FAR = 64  # elements that an offset of the st64 forms counts
_KINDS: dict[str, tuple[Type, bool]] = {  # element, whether it is signed
    "b8": (I8, False), "u8": (I8, False), "i8": (I8, True), "b16": (I16, False),
    "u16": (I16, False), "i16": (I16, True), "b32": (I32, False), "u32": (I32, False),
    "i32": (I32, True), "f32": (F32, True), "b64": (I64, False), "u64": (I64, False),
    "i64": (I64, True), "f64": (F64, True),
}  # fmt: skip


def _kind(i: Instruction) -> tuple[Type, bool]:
    return _KINDS[i.name.rpartition("_")[2]]


@opcode(*(f"ds_read_{kind}" for kind in ("b32", "b64", "i8", "u8", "i16", "u16")))
def read(lift: Lift, i: Instruction) -> None:
    kind, signed = _kind(i)
    _give(lift, i, [_load(lift, i, kind, _offset(i))], signed)


@opcode(*(f"ds_write_{kind}" for kind in ("b8", "b16", "b32", "b64")))
def write(lift: Lift, i: Instruction) -> None:
    kind, _ = _kind(i)
    _store(lift, i, _offset(i), _data(lift, i, "data0", kind))


@opcode(*(f"ds_read2{far}_{kind}" for far in ("", "st64") for kind in ("b32", "b64")))
def read_two(lift: Lift, i: Instruction) -> None:
    kind, _ = _kind(i)
    first, second = _offsets(i, kind)
    _give(lift, i, [_load(lift, i, kind, first), _load(lift, i, kind, second, records=False)])


@opcode(*(f"ds_write2{far}_{kind}" for far in ("", "st64") for kind in ("b32", "b64")))
def write_two(lift: Lift, i: Instruction) -> None:
    kind, _ = _kind(i)
    first, second = _offsets(i, kind)
    _store(lift, i, first, _data(lift, i, "data0", kind))
    _store(lift, i, second, _data(lift, i, "data1", kind), records=False)


@opcode(*(f"ds_wrxchg2{far}_rtn_{kind}" for far in ("", "st64") for kind in ("b32", "b64")))
def exchange_two(lift: Lift, i: Instruction) -> None:
    kind, _ = _kind(i)
    found: list[Value] = []
    for offset, field in zip(_offsets(i, kind), ("data0", "data1")):
        with _Inside(lift, i, kind, offset, records=not found) as inside:
            operands = [_data(lift, i, field, kind)]
            found.append(inside.value(combine(lift, inside.access, "exch", kind, operands)))
    _give(lift, i, found)


@opcode(
    *(
        f"ds_{name}{back}_{kind}"
        for name, kinds in NAMES.items()
        for back in ("", "_rtn")
        for kind in kinds
    )
)
def atomic(lift: Lift, i: Instruction) -> None:
    """The value that was there is a result of the forms that say so."""
    kind, signed = _kind(i)
    name = i.name.split("_")[1]
    fields = ("data0", "data1") if name in ("cmpst", "mskor") else ("data0",)
    operands = [_data(lift, i, field, kind) for field in fields]
    with _Inside(lift, i, kind, _offset(i)) as inside:
        old = inside.value(combine(lift, inside.access, name, kind, operands, signed))
    if "_rtn_" in i.name:
        _give(lift, i, [old])


@opcode("ds_swizzle_b32")
def swizzle(lift: Lift, i: Instruction) -> None:
    """Each lane's value of the lane that the offset names; zero where that is not in EXEC."""
    b = lift.b
    places = [k - k % _GROUP + _swizzled(_offset(i), k % _GROUP) for k in range(b.lanes)]
    value = b.select(b.active, lift.registers.vector(i.fields["addr"]), b.constant(I32, 0))
    lift.set_vgpr(i.fields["vdst"], Value(b.shuffle(value.ir, value.ir, places), I32))


def _swizzled(offset: int, lane: int) -> int:
    """The lane of the group that a lane reads: in its quad, or by masks of its number."""
    if offset >> 15:
        return lane & ~3 | offset >> 2 * (lane & 3) & 3
    return (lane & offset | offset >> 5) & 31 ^ offset >> 10 & 31


def _offset(i: Instruction) -> int:
    return i.fields["offset0"] | i.fields["offset1"] << 8


def _offsets(i: Instruction, kind: Type) -> Iterable[int]:
    """Of two accesses, in bytes."""
    size = kind.bytes * (_FAR if "st64" in i.name else 1)
    return (size * i.fields[f] for f in ("offset0", "offset1"))


def _data(lift: Lift, i: Instruction, field: str, kind: Type) -> Value:
    words = lift.vgprs(i.fields[field], 2 if kind.bits == 64 else 1)
    return lift.b.cast(resize(lift.b, lift.join(words), kind.integer), kind)


def _give(lift: Lift, i: Instruction, values: list[Value], signed: bool = False) -> None:
    """Write results to consecutive registers."""
    number = i.fields["vdst"]
    for value in values:
        bits = lift.b.cast(value, value.type.integer)
        lift.set_vgpr(number, resize(lift.b, bits, I32, signed) if bits.type.bits < 32 else bits)
        number += max(value.type.bits // 32, 1)


def _load(lift: Lift, i: Instruction, kind: Type, offset: int, records: bool = True) -> Value:
    with _Inside(lift, i, kind, offset, records) as inside:
        return inside.value(lanes.load(lift.b, inside.access, kind)[0])


def _store(lift: Lift, i: Instruction, offset: int, value: Value, records: bool = True) -> None:
    with _Inside(lift, i, value.type, offset, records) as inside:
        lanes.store(lift.b, inside.access, [value])


class _Inside:
    """One access of those lanes that M0 allows: the active ones meanwhile."""

    def __init__(self, lift: Lift, i: Instruction, kind: Type, offset: int, records: bool = True):
        """``records``: the addresses are those that the timing model sees of the instruction."""
        if i.fields["gds"]:
            raise lift.refuse("the global data share is not supported")
        self.lift, self._everyone = lift, lift.b.active
        b, base = lift.b, lift.registers.vector(i.fields["addr"])
        address = b.ir.add(base.ir, b.constant(I32, offset).ir) if offset else base.ir
        place = Value(address, I32, sum=(base, offset))
        if records:
            lift.record_addresses(place)
        self.access = Access(Window.SHARED, place, kind.bytes, lift.site(Window.SHARED))
        self._allowed = self._limited(base, offset + kind.bytes - 1)

    def _limited(self, base: Value, behind: int) -> Value | None:
        """The lanes that M0 allows; None where it is known to be enough for all."""
        lift, b = self.lift, self.lift.b
        limit = lift.registers.scalar(M0)
        known = lift.s.known(limit)
        if known is not None and known & 0xFFFFFFFF >= MOST_LDS_BYTES:
            return None
        room = b.intrinsic("llvm.usub.sat.i32", HALF, [limit.ir, ir.Constant(HALF, behind)])
        allowed = b.ir.icmp_unsigned("<", base.ir, b.splat(room, I32).ir)
        beyond = Value(b.ir.not_(allowed), PRED)
        at = resize(b, self.access.address, I64)
        refuse(b, Access(Window.BUFFER, at, self.access.bytes, lift.site(Window.BUFFER)), beyond)
        return Value(allowed, PRED)

    def value(self, found: Value) -> Value:
        """What was read, or zero."""
        b = self.lift.b
        return (
            found
            if self._allowed is None
            else b.select(self._allowed, found, b.constant(found.type, 0))
        )

    def __enter__(self) -> "_Inside":
        if self._allowed is not None:
            self.lift.b.active = Value(
                self.lift.b.ir.and_(self._everyone.ir, self._allowed.ir), PRED
            )
        return self

    def __exit__(self, *_: object) -> None:
        self.lift.b.active = self._everyone
