"""Buffers by their descriptors: where lanes access them, and whether that is inside.

A descriptor is four scalar registers: base 47:0, stride 61:48, number of records 95:64. What is
outside is read as zero and not written; where mistakes in memory are looked for, it is one.
"""

from dataclasses import dataclass

from llvmlite import ir

from lockstep.execution.gcn.lift import Lift
from lockstep.execution.lanes.addresses import Access, refuse
from lockstep.execution.lanes.builder import HALF, WORD
from lockstep.execution.lanes.integer import resize
from lockstep.execution.lanes.types import I32, I64, PRED, Value
from lockstep.execution.state import Window
from lockstep.isa.gcn.instruction import Instruction

BASE_BITS, STRIDE_BITS = 48, 14


@dataclass(frozen=True)
class Descriptor:
    """The fields of a buffer's descriptor (i64 scalars)."""

    base: ir.Value
    stride: ir.Value
    records: ir.Value

    @classmethod
    def of(cls, lift: Lift, first: int) -> "Descriptor":
        """That in four scalar registers."""
        e = lift.b.ir
        pair = lift.registers.pair(first).ir
        count = lift.registers.scalar(first + 2).ir

        def emit() -> Descriptor:
            base = e.and_(pair, _word((1 << BASE_BITS) - 1))
            stride = e.and_(e.lshr(pair, _word(BASE_BITS)), _word((1 << STRIDE_BITS) - 1))
            return cls(base, stride, e.zext(count, WORD))

        return lift.b.once(("descriptor", pair, count), emit)

    def size(self, lift: Lift) -> ir.Value:
        """Bytes: so many records, of one byte where there is no stride."""
        e = lift.b.ir
        plain = e.icmp_unsigned("==", self.stride, _word(0))
        return e.mul(self.records, e.select(plain, _word(1), self.stride))


def _word(number: int) -> ir.Constant:
    return ir.Constant(WORD, number)


@dataclass(frozen=True)
class BufferPlace:
    """Where lanes access a buffer: addresses (i64), and for which lanes they are inside."""

    address: Value
    inside: Value | None  # None: nothing says how much there is
    offset: Value  # in the buffer (i32), for messages


def place_of(lift: Lift, i: Instruction, size: int, first: int = 0) -> BufferPlace:
    """Where a vector instruction accesses ``size`` bytes a lane, from the ``first`` one on."""
    b, f = lift.b, i.fields
    displacement = f["offset"] + first
    descriptor = Descriptor.of(lift, 4 * f["srsrc"])
    scalar = lift.scalar(f["soffset"], I32).ir
    if f.get("addr64"):
        start = b.ir.add(descriptor.base, b.ir.zext(scalar, WORD))
        wide = lift.join(lift.vgprs(f["vaddr"], 2))
        base = Value(b.ir.add(wide.ir, b.splat(start, I64).ir), I64)
        return BufferPlace(_sum(lift, base, displacement), None, b.constant(I32, 0))
    own = lift.vgprs(f["vaddr"], f["idxen"] + f["offen"])
    index, offset = own[0] if f["idxen"] else None, own[-1] if f["offen"] else None
    key = (descriptor.base, scalar, *(v.ir for v in own), f["idxen"])
    base = b.once(("buffer", *key), lambda: _base(lift, descriptor, scalar, index, offset))
    inside = _inside(lift, descriptor, scalar, index, offset, displacement + size)
    return BufferPlace(_sum(lift, base, displacement), inside, offset or b.constant(I32, 0))


def _sum(lift: Lift, base: Value, offset: int) -> Value:
    """An address that is known to be near others: see ``Value.sum``."""
    address = lift.b.ir.add(base.ir, lift.b.constant(I64, offset).ir) if offset else base.ir
    return Value(address, I64, sum=(base, offset))


def _base(lift: Lift, d: Descriptor, scalar: ir.Value, index, offset) -> Value:
    b = lift.b
    total = b.splat(b.ir.add(d.base, b.ir.zext(scalar, WORD)), I64).ir
    if offset is not None:
        total = b.ir.add(total, resize(b, offset, I64).ir)
    if index is not None:
        rows = b.ir.mul(resize(b, index, I64).ir, b.splat(d.stride, I64).ir)
        total = b.ir.add(total, rows)
    return Value(total, I64)


def _inside(lift: Lift, d: Descriptor, scalar: ir.Value, index, offset, end: int) -> Value:
    """Records are counted where there is an index and they have a size, else bytes.

    ``end``: from the offset of a lane to behind what it accesses.
    """
    b = lift.b
    behind = b.ir.add(b.ir.zext(scalar, WORD), _word(end - 1))
    room = b.intrinsic("llvm.usub.sat.i64", WORD, [d.size(lift), behind])
    if offset is None:
        fits = b.splat(b.ir.icmp_unsigned("!=", room, _word(0)), PRED)
    else:
        most = b.intrinsic("llvm.umin.i64", WORD, [room, _word((1 << 32) - 1)])
        limit = b.splat(b.ir.trunc(most, HALF), I32)
        fits = Value(b.ir.icmp_unsigned("<", offset.ir, limit.ir), PRED)
    if index is None:
        return fits
    records = b.splat(b.ir.trunc(d.records, HALF), I32)
    exists = Value(b.ir.icmp_unsigned("<", index.ir, records.ir), PRED)
    plain = b.splat(b.ir.icmp_unsigned("==", d.stride, _word(0)), PRED)
    return b.select(plain, fits, exists)


def check_inside(lift: Lift, place: BufferPlace, size: int) -> None:
    """Say which active lanes are outside, and go on without them."""
    if place.inside is None:
        return
    b = lift.b
    beyond = Value(b.ir.not_(place.inside.ir), PRED)
    at = resize(b, place.offset, I64)
    refuse(b, Access(Window.BUFFER, at, size, lift.site(Window.BUFFER)), beyond)
    b.active = Value(b.ir.and_(b.active.ir, place.inside.ir), PRED)
