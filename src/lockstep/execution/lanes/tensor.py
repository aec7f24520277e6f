"""Tiles of tensors, between global memory and shared memory, as tensor maps describe them.

Elements outside the tensor are read as zero, or as a NaN, and never written.
"""

from collections.abc import Callable

import msgspec
from llvmlite import ir
from msgspec.structs import replace

from lockstep.execution.checks.races import Kind
from lockstep.execution.lanes import races, written
from lockstep.execution.lanes.addresses import Access, host_addresses
from lockstep.execution.lanes.atomics import Combination
from lockstep.execution.lanes.builder import BIT, HALF, POINTER, WORD, LaneBuilder
from lockstep.execution.lanes.flow import (
    Values,
    counted,
    either,
    element,
    outlined,
    slot,
    spill,
)
from lockstep.execution.lanes.tensor_tile import TensorTile, Walks, walks_of
from lockstep.execution.lanes.tensor_walk import TensorWalk
from lockstep.execution.lanes.types import BF16, F16, F32, F64, I32, I64, PRED, Value
from lockstep.execution.memory.tensor_maps import (
    CHUNK,
    KINDS,
    OOB_NAN,
)
from lockstep.execution.state import Window

BYTE = ir.IntType(8)
_TYPES = {"f16": F16, "bf16": BF16, "f32": F32, "f32.ftz": F32, "f64": F64}
_TYPES |= {"u32": I32, "s32": I32, "u64": I64, "s64": I64}
_WHOLE = ("u32", "s32", "u64", "s64")
REDUCED = {
    "add": (*_WHOLE, "f16", "bf16", "f32", "f32.ftz", "f64"),
    **dict.fromkeys(("min", "max"), (*_WHOLE, "f16", "bf16")),
    **dict.fromkeys(("inc", "dec"), ("u32",)),
    **dict.fromkeys(("and", "or", "xor"), _WHOLE),
}
"""Element types of each reduction."""
_ROUNDED = ("tf32", "tf32.ftz")  # what a load rounds to; nearest, ties away from zero


def load_tile(b: LaneBuilder, tile: TensorTile, shared: Access) -> Value:
    """Copy each active lane's tile to shared memory; its bytes (i32)."""

    def emit(inner: LaneBuilder, way: "_Way") -> None:
        def plain() -> Values:
            way.chunks(lambda chunk: _move(inner, chunk, to_shared=True))
            return []

        def rounded() -> Values:
            way.chunks(lambda chunk: _round(inner, chunk))
            return []

        either(inner, way.walk.is_kind(*_ROUNDED), rounded, plain)

    return _outlined(b, "load", tile, shared, emit)


def store_tile(b: LaneBuilder, tile: TensorTile, shared: Access) -> None:
    """Copy each active lane's tile from shared memory."""

    def emit(inner: LaneBuilder, way: "_Way") -> None:
        way.chunks(lambda chunk: _move(inner, chunk, to_shared=False))

    _outlined(b, "store", tile, shared, emit)


def reduce_tile(b: LaneBuilder, tile: TensorTile, shared: Access, operation: str) -> None:
    """Combine tensors with each active lane's tile in shared memory, in their own types."""

    def emit(inner: LaneBuilder, way: "_Way") -> None:
        for kind in REDUCED[operation]:
            combine = Combination(operation, _TYPES[kind], kind[0] == "s", packed=False)
            flushes = ir.Constant(BIT, kind == "f32.ftz")

            def yes(combine: Combination = combine, flushes: ir.Value = flushes) -> Values:
                way.chunks(lambda chunk: _combine(inner, chunk, combine, flushes))
                return []

            either(inner, way.walk.is_kind(kind), yes, list)

    _outlined(b, operation, tile, shared, emit, REDUCED[operation])


def _outlined(b: LaneBuilder, name: str, tile: TensorTile, shared: Access, emit, kinds=KINDS):
    def body(inner: LaneBuilder, to: ir.Value, to_site: ir.Value, *rest: ir.Value) -> Values:
        mine = tile.inside(*rest)
        return [_run(inner, mine, shared.inside(to, to_site), emit, kinds, does).ir]

    does = Kind.WRITE if name == "load" else Kind.READ
    arguments = [shared.address.ir, shared.site, *tile.arguments]
    name = f"tensor_{name}_{tile.name}_{shared.window.name.lower()}"
    return Value(outlined(b, name, [b.vector(I32)], arguments, body)[0], I32)


def _run(
    b: LaneBuilder, tile: TensorTile, shared: Access, emit, kinds: tuple[str, ...], does: Kind
) -> Value:
    """Check the maps, shared memory and the tensors, in this order, then go through the tiles.

    ``does``: what is done to shared memory.
    """
    walks = walks_of(b, tile, kinds)
    sizes = spill(b, b.constant(I32, 0).ir)
    last = spill(b, b.constant(I64, 0).ir)
    with walks.each() as (lane, walk):
        b.ir.store(b.ir.mul(walk.rows, walk.row_bytes), element(b, sizes, HALF, lane))
        end = b.ir.sub(walk.room, ir.Constant(WORD, CHUNK))
        b.ir.store(end, element(b, last, WORD, lane))
    starts = host_addresses(b, replace(shared, spans=True))
    _check_room(b, shared, b.load_vector(last, I64))
    _check_extent(b, tile, walks)
    places, offsets = spill(b, starts.ir), spill(b, shared.address.ir)
    with walks.each() as (lane, walk):
        start = b.ir.load(element(b, places, WORD, lane), typ=WORD)
        offset = b.ir.load(element(b, offsets, HALF, lane), typ=HALF)
        races.access_one(b, shared, starts, does, lane, walk.room)
        emit(b, _Way(walk, start, offset))
    return b.load_vector(sizes, I32)


def _check_room(b: LaneBuilder, shared: Access, last: Value) -> None:
    """Check the last bytes; what is larger than any shared memory ends outside it."""
    most = b.constant(I64, 1 << 24).ir
    small = b.ir.icmp_unsigned("<", last.ir, most)
    end = b.ir.trunc(b.ir.select(small, last.ir, most), b.vector(I32))
    last = Value(b.ir.add(shared.address.ir, end), I32)
    host_addresses(b, replace(shared, address=last, spans=True))


def _check_extent(b: LaneBuilder, tile: TensorTile, walks: Walks) -> None:
    """Check the first and the last byte of each lane's tile that exist."""
    most = (1 << 64) - 1
    lows, highs = (spill(b, b.constant(I64, n).ir) for n in (most, 0))
    with walks.each() as (lane, walk):
        first, last, some = walk.inner_range()
        low_place, high_place = (element(b, p, WORD, lane) for p in (lows, highs))

        def visit(_: ir.Value, row: ir.Value, inside: ir.Value, walk: TensorWalk = walk) -> None:
            end = b.ir.add(walk.unit_address(row, last), b.ir.zext(walk.unit, WORD))
            end = b.ir.sub(end, ir.Constant(WORD, 1))
            here = b.ir.and_(inside, some)
            pairs = (("<", low_place, walk.unit_address(row, first)), (">", high_place, end))
            for order, place, address in pairs:
                known = b.ir.load(place, typ=WORD)
                further = b.ir.and_(here, b.ir.icmp_unsigned(order, address, known))
                b.ir.store(b.ir.select(further, address, known), place)

        walk.each_row(visit)
    low, high = (b.load_vector(p, I64) for p in (lows, highs))
    exists = b.ir.icmp_unsigned("<=", low.ir, high.ir)
    with b.guarded(Value(exists, PRED)):
        for address in (low, high):
            host_addresses(b, Access(Window.GLOBAL, address, 1, tile.site, spans=True))


class _Way:
    """One lane's tile in shared memory, at host address ``start`` and offset ``offset``."""

    def __init__(self, walk: TensorWalk, start: ir.Value, offset: ir.Value):
        self.walk, self._start, self._offset = walk, start, offset

    def chunks(self, visit: Callable[["_Chunk"], None]) -> None:
        """Loop over the rows and chunks."""
        walk, emit = self.walk, self.walk.b.ir
        number = emit.udiv(walk.row_bytes, ir.Constant(HALF, CHUNK))

        def row(place: ir.Value, address: ir.Value, inside: ir.Value) -> None:
            with counted(walk.b, number) as k:
                within = emit.mul(k, ir.Constant(HALF, CHUNK))
                byte = emit.add(emit.mul(place, walk.pitch), within)
                shared = walk.place(self._offset, self._start, byte)
                visit(_Chunk(walk, shared, address, within, inside))

        walk.each_row(row)


class _Chunk(msgspec.Struct, frozen=True):
    """16 bytes of a row: where they are in shared memory, and in the tensor if they exist."""

    walk: TensorWalk
    shared: ir.Value  # pointer
    row: ir.Value  # host address (i64) of coordinate 0 of the row
    within: ir.Value  # the row's byte that comes first (i32)
    inside: ir.Value  # whether the row exists

    def byte(self, number: ir.Value) -> tuple[ir.Value, ir.Value]:
        """Host address of the chunk's nth byte (i32), and whether it exists."""
        walk, emit = self.walk, self.walk.b.ir
        place = emit.add(self.within, number)
        unit = emit.lshr(place, walk.unit_shift)
        rest = emit.and_(place, emit.sub(walk.unit, ir.Constant(HALF, 1)))
        axis = walk.inner
        exists = axis.exists(emit, emit.add(axis.first, emit.mul(unit, axis.step)))
        address = emit.add(walk.unit_address(self.row, unit), emit.zext(rest, WORD))
        return address, emit.and_(exists, self.inside)

    def whole(self) -> tuple[ir.Value, ir.Value]:
        """Host address of its first byte, and whether all exist and are adjacent."""
        walk, emit = self.walk, self.walk.b.ir
        address, exists = self.byte(ir.Constant(HALF, 0))
        _, last = self.byte(ir.Constant(HALF, CHUNK - 1))
        adjacent = emit.or_(
            emit.icmp_unsigned("==", walk.inner.step, ir.Constant(HALF, 1)),
            emit.icmp_unsigned(">=", walk.unit, ir.Constant(HALF, CHUNK)),
        )
        return address, emit.and_(emit.and_(exists, last), adjacent)


def _move(b: LaneBuilder, chunk: _Chunk, to_shared: bool) -> None:
    """Copy a chunk: at once if it is whole, else byte by byte."""
    emit = b.ir
    address, whole = chunk.whole()

    def copy() -> Values:
        ends = [emit.inttoptr(address, POINTER), chunk.shared]
        _copy(b, ends, ir.VectorType(BYTE, CHUNK), to_shared)
        source, target = ends if to_shared else ends[::-1]
        written.copy_of(b, target, source, CHUNK)
        return []

    def parts() -> Values:
        nowhere = slot(b, WORD)
        with counted(b, ir.Constant(HALF, CHUNK)) as k:
            place, exists = chunk.byte(k)
            emit.store(_filling(chunk.walk), nowhere)
            number = emit.zext(k, WORD)
            other = b.offset(nowhere, emit.and_(number, ir.Constant(WORD, 1)))
            byte = emit.select(exists, emit.inttoptr(place, POINTER), other)
            here = b.offset(chunk.shared, number)
            _copy(b, [byte, here], BYTE, to_shared)
            there = emit.inttoptr(place, POINTER)
            if to_shared:
                written.copy_of(b, here, there, 1, exists)
            else:
                written.copy_of(b, emit.select(exists, there, here), here, 1)
        return []

    either(b, whole, copy, parts)


def _filling(walk: TensorWalk) -> ir.Value:
    """A word of what stands for elements that do not exist."""
    nan = sum(OOB_NAN << 16 * k for k in range(4))
    return walk.b.ir.select(walk.fills_nan(), ir.Constant(WORD, nan), ir.Constant(WORD, 0))


def _copy(b: LaneBuilder, ends: list[ir.Value], kind: ir.Type, to_shared: bool) -> None:
    source, target = ends if to_shared else ends[::-1]
    b.ir.store(b.ir.load(source, typ=kind, align=1), target, align=1)


def _round(b: LaneBuilder, chunk: _Chunk) -> None:
    """Load a chunk of f32 as tf32; the NaN that stands for what is outside stays as it is."""
    emit, nowhere = b.ir, slot(b, WORD)
    emit.store(_filling(chunk.walk), nowhere)
    filling = emit.load(nowhere, typ=HALF)
    for k in range(0, CHUNK, 4):
        address, exists = chunk.byte(ir.Constant(HALF, k))
        place = emit.select(exists, emit.inttoptr(address, POINTER), nowhere)
        word = emit.load(place, typ=HALF, align=1)
        size = emit.and_(word, ir.Constant(HALF, 0x7FFFFFFF))
        near = emit.add(word, ir.Constant(HALF, 0x1000))
        near = emit.and_(near, ir.Constant(HALF, 0xFFFFE000))
        infinite = emit.icmp_unsigned("==", size, ir.Constant(HALF, 0x7F800000))
        near = emit.select(infinite, word, near)
        nan = emit.icmp_unsigned(">", size, ir.Constant(HALF, 0x7F800000))
        near = emit.select(nan, ir.Constant(HALF, 0x7FFFE000), near)
        target = b.offset(chunk.shared, k)
        emit.store(emit.select(exists, near, filling), target, align=1)
        written.fill(b, target, 4)


def _combine(b: LaneBuilder, chunk: _Chunk, combine: Combination, flushes: ir.Value) -> None:
    """Combine the elements of a chunk with those of the tensor."""
    # A word of the stack frame stands for elements that do not exist.
    nowhere, size = slot(b, WORD), combine.stored.bytes
    stored = combine.stored.element
    for k in range(0, CHUNK, size):
        address, exists = chunk.byte(ir.Constant(HALF, k))
        place = b.ir.select(exists, b.ir.inttoptr(address, POINTER), nowhere)
        old = b.ir.load(place, typ=stored, align=1)
        value = b.ir.load(b.offset(chunk.shared, k), typ=stored, align=1)
        b.ir.store(combine(b, old, [value], flushes), place, align=1)
