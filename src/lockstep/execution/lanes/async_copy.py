"""Asynchronous copies. They are done at once: a program cannot tell before it waits for them."""

from collections.abc import Iterator
from contextlib import contextmanager

from llvmlite import ir
from msgspec.structs import replace

from lockstep.execution.checks.races import Kind
from lockstep.execution.lanes import races, written
from lockstep.execution.lanes.addresses import Access, host_addresses
from lockstep.execution.lanes.atomics import Combination
from lockstep.execution.lanes.builder import HALF, POINTER, WORD, LaneBuilder
from lockstep.execution.lanes.flow import (
    Values,
    counted,
    element,
    lanes_in_order,
    outlined,
    spill,
)
from lockstep.execution.lanes.types import I32, I64, PRED, Value
from lockstep.execution.state import TAG_SHIFT

BYTE = ir.IntType(8)
CHUNK = 16  # bytes that bulk copies are aligned to, and multiples of


def copy(b: LaneBuilder, target: Access, source: Access, count: Value) -> None:
    """Each active lane copies ``count`` (i32) bytes and fills up with zeros.

    ``target.bytes`` are written; nothing is read where ``count`` is 0.
    """
    outlined(
        b,
        f"copy_{target.name}_{source.name}",
        [],
        [target.address.ir, target.site, source.address.ir, source.site, count.ir],
        lambda inner, to, to_site, at, at_site, n: _copy(
            inner, target.inside(to, to_site), source.inside(at, at_site), Value(n, I32)
        ),
    )


def _copy(b: LaneBuilder, target: Access, source: Access, count: Value) -> Values:
    size = target.bytes
    targets, sources = host_addresses(b, target), _source(b, source, count)
    whole = b.ir.icmp_unsigned("==", count.ir, b.constant(I32, source.bytes).ir)
    with b.guarded(Value(whole, PRED)):
        written.read(b, source, sources)
    written.write(b, target, targets)
    races.access_all(b, target, targets, Kind.WRITE)
    to, at = spill(b, targets.ir), spill(b, sources.ir)
    counts = spill(b, count.ir)
    vector = ir.VectorType(BYTE, size)
    with lanes_in_order(b) as lane:
        n = b.ir.load(element(b, counts, HALF, lane), typ=HALF)
        pair = ir.Constant(ir.VectorType(HALF, 1), ir.Undefined)
        pair = b.ir.insert_element(pair, n, ir.Constant(HALF, 0))
        zeros = ir.Constant(ir.VectorType(HALF, size), [0] * size)
        limit = b.ir.shuffle_vector(pair, pair, zeros)
        numbers = ir.Constant(ir.VectorType(HALF, size), list(range(size)))
        mask = b.ir.icmp_unsigned("<", numbers, limit)
        pointer = _pointer(b, at, lane)
        arguments = [pointer, ir.Constant(HALF, 1), mask, ir.Constant(vector, None)]
        content = b.intrinsic(f"llvm.masked.load.v{size}i8.p0", vector, arguments)
        b.ir.store(content, _pointer(b, to, lane), align=1)
    return []


def _source(b: LaneBuilder, source: Access, count: Value) -> Value:
    """Host addresses; a part of an access need only itself lie in an allocation."""
    whole = b.ir.icmp_unsigned("==", count.ir, b.constant(I32, source.bytes).ir)
    some = b.ir.icmp_unsigned("!=", count.ir, b.constant(I32, 0).ir)
    with b.guarded(Value(whole, PRED)):
        all_bytes = host_addresses(b, source)
    with b.guarded(Value(b.ir.and_(some, b.ir.not_(whole)), PRED)):
        first = host_addresses(b, replace(source, bytes=1))
        wide = b.ir.zext(count.ir, b.vector(I64))
        last = b.ir.add(source.address.ir, b.ir.sub(wide, b.constant(I64, 1).ir))
        host_addresses(b, replace(source, bytes=1, address=Value(last, I64)))
    return Value(b.ir.select(whole, all_bytes.ir, first.ir), I64)


def _pointer(b: LaneBuilder, addresses: ir.Value, lane: ir.Value) -> ir.Value:
    return b.ir.inttoptr(b.ir.load(element(b, addresses, WORD, lane), typ=WORD), POINTER)


def bulk_copy(b: LaneBuilder, target: Access, source: Access, size: Value) -> None:
    """Each active lane copies ``size`` (i32) bytes, a multiple of CHUNK."""
    chunk = ir.VectorType(BYTE, CHUNK)

    def move(inner: LaneBuilder, to: ir.Value, at: ir.Value) -> None:
        inner.ir.store(inner.ir.load(at, typ=chunk, align=1), to, align=1)
        written.copy_of(inner, to, at, CHUNK)

    name = f"bulk_{target.name}_{source.name}"
    _bulk(b, name, (target, source, size), CHUNK, move, Kind.WRITE)


def bulk_reduce(
    b: LaneBuilder, target: Access, source: Access, size: Value, combine: Combination
) -> None:
    """Each active lane combines ``size`` (i32) bytes of memory with as many others."""
    stored = combine.stored.element

    def change(inner: LaneBuilder, to: ir.Value, at: ir.Value) -> None:
        old, value = (inner.ir.load(p, typ=stored, align=1) for p in (to, at))
        new = combine(inner, old, [value], ir.Constant(ir.IntType(1), 0))
        inner.ir.store(new, to, align=1)
        written.fill(inner, to, combine.stored.bytes)

    name = f"bulk_{combine.name}_{target.name}_{source.name}"
    _bulk(b, name, (target, source, size), combine.stored.bytes, change, Kind.ATOMIC)


def _bulk(b: LaneBuilder, name: str, operands: tuple, step: int, move, does: Kind) -> None:
    """Emit a loop over the lanes' bytes, ``step`` at a time; ``does``: what the target sees."""
    target, source, size = operands

    def emit(inner: LaneBuilder, to, to_site, at, at_site, n) -> Values:
        ends = [target.inside(to, to_site), source.inside(at, at_site)]
        hosts = [_span(inner, replace(a, spans=True), Value(n, I32)) for a in ends]
        places = [spill(inner, host.ir) for host in hosts]
        counts = spill(inner, n)
        with lanes_in_order(inner) as lane:
            length = inner.ir.load(element(inner, counts, HALF, lane), typ=HALF)
            pointers = [_pointer(inner, p, lane) for p in places]
            for access, host, kind in zip(ends, hosts, (does, Kind.READ)):
                races.access_one(inner, access, host, kind, lane, inner.ir.zext(length, WORD))
            steps = inner.ir.udiv(length, ir.Constant(HALF, step))
            with counted(inner, steps) as k:
                offset = inner.ir.mul(inner.ir.zext(k, WORD), ir.Constant(WORD, step))
                move(inner, *(inner.offset(p, offset) for p in pointers))
        return []

    arguments = [target.address.ir, target.site, source.address.ir, source.site, size.ir]
    outlined(b, name, [], arguments, emit)


def _span(b: LaneBuilder, access: Access, size: Value) -> Value:
    """Host addresses after a check of the first and the last chunk."""
    some = b.ir.icmp_unsigned(">=", size.ir, b.constant(I32, CHUNK).ir)
    with b.guarded(Value(some, PRED)):
        first = host_addresses(b, access)
        kind = access.address.type
        length = size.ir if kind == I32 else b.ir.zext(size.ir, b.vector(I64))
        last = b.ir.add(access.address.ir, b.ir.sub(length, b.constant(kind, CHUNK).ir))
        host_addresses(b, replace(access, address=Value(last, kind)))
    return first


@contextmanager
def receivers(
    b: LaneBuilder, mask: Value, target: Access, barrier: Access
) -> Iterator[tuple[Access, Access]]:
    """Target and barrier in each CTA of the cluster that a mask (i32) has, in a loop over them.

    They are at the same place in each; in the loop those lanes are active whose mask has the CTA.
    """
    everyone, count = b.active, b.ir.trunc(b.field("launch", "cluster_ctas"), HALF)
    with counted(b, count) as rank:
        wanted = b.ir.lshr(mask.ir, b.splat(rank, I32).ir)
        b.active = Value(b.ir.and_(everyone.ir, b.ir.trunc(wanted, b.vector(PRED))), PRED)
        yield _in_cta(b, target, rank), _in_cta(b, barrier, rank)
        b.active = everyone


def _in_cta(b: LaneBuilder, access: Access, rank: ir.Value) -> Access:
    """An access at the same place in the shared memory of the CTA of a rank (i32)."""
    offset = b.ir.and_(access.address.ir, b.constant(I32, (1 << TAG_SHIFT) - 1).ir)
    own = b.ir.trunc(b.field("cta", "tag"), HALF)
    start = b.ir.sub(b.ir.shl(rank, ir.Constant(HALF, TAG_SHIFT)), own)
    address = b.ir.add(offset, b.splat(start, I32).ir)
    return replace(access, address=Value(address, I32))
