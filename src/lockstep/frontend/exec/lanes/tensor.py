"""Tiles of tensors, between global memory and shared memory, as tensor maps describe them.

A tile lies in shared memory row after row; its rows are taken in chunks of 16 bytes, which are
also what swizzling moves. Elements outside the tensor are read as zero and never written.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

from llvmlite import ir

from lockstep.frontend.exec.lanes.addresses import Access, host_addresses, refuse
from lockstep.frontend.exec.lanes.atomics import Combination
from lockstep.frontend.exec.lanes.builder import HALF, POINTER, WORD, LaneBuilder
from lockstep.frontend.exec.lanes.flow import (
    Values,
    counted,
    either,
    element,
    lanes_in_order,
    outlined,
    spill,
)
from lockstep.frontend.exec.lanes.memory import gather
from lockstep.frontend.exec.lanes.types import BF16, F16, F32, F64, I32, I64, PRED, Type, Value
from lockstep.frontend.exec.state import Window
from lockstep.frontend.exec.tensor_maps import (
    CHUNK,
    KINDS,
    MAGIC,
    MAP_ALIGNMENT,
    TENSOR_MAP,
)

BYTE = ir.IntType(8)
_TYPES = {"f16": F16, "bf16": BF16, "f32": F32, "f64": F64}
_TYPES |= {"u32": I32, "s32": I32, "u64": I64, "s64": I64}
_WHOLE = ("u32", "s32", "u64", "s64")
REDUCED = {
    "add": (*_WHOLE, "f16", "bf16", "f32", "f64"),
    **dict.fromkeys(("min", "max"), (*_WHOLE, "f16", "bf16")),
    **dict.fromkeys(("inc", "dec"), ("u32",)),
    **dict.fromkeys(("and", "or", "xor"), _WHOLE),
}
"""Element types of each reduction."""


@dataclass(frozen=True)
class TensorTile:
    """A tile for each active lane: its tensor map, first coordinates (i32, innermost first).

    Sites: ``bad`` (Window.TENSOR_MAP) reports what is no tensor map, ``site`` (Window.GLOBAL) is
    that of the tensor.
    """

    map: Access
    bad: ir.Value
    site: ir.Value
    coordinates: list[Value]

    @property
    def name(self) -> str:
        """Distinguishes tiles for which different code is needed."""
        return f"{self.map.window.name.lower()}_{len(self.coordinates)}"


def load_tile(b: LaneBuilder, tile: TensorTile, shared: Access) -> Value:
    """Copy each active lane's tile to shared memory; its bytes (i32)."""

    def emit(inner: LaneBuilder, walk: "_Walk") -> None:
        walk.chunks(lambda chunk: _move(inner, chunk, to_shared=True))

    return _outlined(b, "load", tile, shared, emit)


def store_tile(b: LaneBuilder, tile: TensorTile, shared: Access) -> None:
    """Copy each active lane's tile from shared memory."""

    def emit(inner: LaneBuilder, walk: "_Walk") -> None:
        walk.chunks(lambda chunk: _move(inner, chunk, to_shared=False))

    _outlined(b, "store", tile, shared, emit)


def reduce_tile(b: LaneBuilder, tile: TensorTile, shared: Access, operation: str) -> None:
    """Combine tensors with each active lane's tile in shared memory, in their own types."""

    def emit(inner: LaneBuilder, walk: "_Walk") -> None:
        for kind in REDUCED[operation]:
            here = inner.ir.icmp_unsigned(
                "==", walk.field("kind"), ir.Constant(WORD, KINDS.index(kind))
            )
            combine = Combination(operation, _TYPES[kind], kind[0] == "s", packed=False)

            def yes(combine: Combination = combine) -> Values:
                walk.chunks(lambda chunk: _combine(inner, chunk, combine))
                return []

            either(inner, here, yes, list)

    _outlined(b, operation, tile, shared, emit, REDUCED[operation])


def _outlined(b: LaneBuilder, name: str, tile: TensorTile, shared: Access, emit, kinds=KINDS):
    def body(inner: LaneBuilder, address, site, bad, own, to, to_site, *at: ir.Value) -> Values:
        places = [Value(a, I32) for a in at]
        mine = TensorTile(tile.map.inside(address, site), bad, own, places)
        size = _run(inner, mine, shared.inside(to, to_site), emit, kinds)
        return [size.ir]

    arguments = [tile.map.address.ir, tile.map.site, tile.bad, tile.site]
    arguments += [shared.address.ir, shared.site, *(c.ir for c in tile.coordinates)]
    name = f"tensor_{name}_{tile.name}"
    return Value(outlined(b, name, [b.vector(I32)], arguments, body)[0], I32)


def _run(b: LaneBuilder, tile: TensorTile, shared: Access, emit, kinds: tuple[str, ...]) -> Value:
    host = _valid(b, tile, kinds)
    rows, row_bytes = (_gathered(b, host, name, I32) for name in ("rows", "row_bytes"))
    size = b.ir.mul(rows.ir, row_bytes.ir)
    starts = host_addresses(b, shared)
    last = b.ir.add(shared.address.ir, b.ir.sub(size, b.constant(I32, CHUNK).ir))
    host_addresses(b, replace(shared, address=Value(last, I32)))
    for name in ("data", "last"):
        host_addresses(b, Access(Window.GLOBAL, _gathered(b, host, name, I64), 1, tile.site))
    words = [spill(b, v.ir) for v in (host, starts)]
    halves = [spill(b, v.ir) for v in (shared.address, *tile.coordinates)]
    with lanes_in_order(b) as lane:
        record, start = (b.ir.load(element(b, w, WORD, lane), typ=WORD) for w in words)
        offset, *at = (b.ir.load(element(b, h, HALF, lane), typ=HALF) for h in halves)
        emit(b, _Walk(b, record, start, offset, at))
    return Value(size, I32)


def _valid(b: LaneBuilder, tile: TensorTile, kinds: tuple[str, ...]) -> Value:
    """Host addresses of tensor maps with so many axes, and of such kinds; else a fault."""
    host = host_addresses(b, tile.map)
    kind = tile.map.address.type
    half = b.ir.add(tile.map.address.ir, b.constant(kind, MAP_ALIGNMENT).ir)
    host_addresses(b, replace(tile.map, address=Value(half, kind)))
    identity = b.constant(I64, MAGIC << 32 | len(tile.coordinates))
    wrong = b.ir.icmp_unsigned("!=", gather(b, host, I64), identity.ir)
    number = b.ir.and_(_gathered(b, host, "kind", I64).ir, b.constant(I64, 0xFF).ir)
    allowed = b.constant(PRED, 0).ir
    for name in kinds:
        same = b.ir.icmp_unsigned("==", number, b.constant(I64, KINDS.index(name)).ir)
        allowed = b.ir.or_(allowed, same)
    wrong = b.ir.or_(wrong, b.ir.not_(allowed))
    refuse(b, replace(tile.map, site=tile.bad), Value(wrong, PRED))
    return host


def _gathered(b: LaneBuilder, host: Value, name: str, kind: Type) -> Value:
    """A field of every lane's tensor map."""
    offset = b.constant(I64, TENSOR_MAP.fields[name][1])
    return Value(gather(b, Value(b.ir.add(host.ir, offset.ir), I64), kind), kind)


@dataclass(frozen=True)
class _Chunk:
    """16 bytes of a tile: where they are in shared memory, and in the tensor if they exist.

    ``whole``: all exist and are adjacent in the tensor. ``inside``: other axes are within bounds.
    """

    walk: "_Walk"
    shared: ir.Value  # pointer
    row: ir.Value  # host address (i64) of coordinate 0 of the row
    first: ir.Value  # number of the tile's element (i32) on the innermost axis
    inside: ir.Value

    def element(self, number: ir.Value) -> tuple[ir.Value, ir.Value]:
        """Host address of the nth element of the chunk, and whether it exists."""
        b, walk = self.walk.b, self.walk
        index = b.ir.mul(b.ir.add(self.first, number), walk.axis("steps", 0))
        x = b.ir.add(walk.at[0], index)
        exists = b.ir.icmp_unsigned("<", x, walk.axis("sizes", 0))
        size = walk.field("element_bytes")
        address = b.ir.add(self.row, b.ir.mul(b.ir.zext(x, WORD), size))
        return address, b.ir.and_(exists, self.inside)


class _Walk:
    """One lane's way through its tile."""

    def __init__(self, b: LaneBuilder, record, start, offset, at: Values):
        self.b, self.at = b, at
        self._record, self._start, self._offset = b.ir.inttoptr(record, POINTER), start, offset

    def field(self, name: str, place: int = 0) -> ir.Value:
        """A field of the tensor map, or an element of one (i64)."""
        kind, offset = TENSOR_MAP.fields[name][:2]
        kind = kind.subdtype[0] if kind.subdtype else kind
        pointer = self.b.offset(self._record, offset + place * kind.itemsize)
        value = self.b.ir.load(pointer, typ=ir.IntType(8 * kind.itemsize), align=1)
        return value if value.type == WORD else self.b.ir.zext(value, WORD)

    def axis(self, name: str, axis: int) -> ir.Value:
        """A field of an axis (i32)."""
        return self.b.ir.trunc(self.field(name, axis), HALF)

    def chunks(self, visit: Callable[[_Chunk], None]) -> None:
        """Loop over the rows and chunks."""
        emit = self.b.ir
        row_bytes = emit.trunc(self.field("row_bytes"), HALF)
        sixteen = ir.Constant(HALF, CHUNK)
        per = emit.udiv(sixteen, emit.trunc(self.field("element_bytes"), HALF))
        with counted(self.b, emit.trunc(self.field("rows"), HALF)) as row:
            address, inside = self._row(row)
            with counted(self.b, emit.udiv(row_bytes, sixteen)) as number:
                offset = emit.add(emit.mul(row, row_bytes), emit.mul(number, sixteen))
                first = emit.mul(number, per)
                visit(_Chunk(self, self._place(offset), address, first, inside))

    def _row(self, row: ir.Value) -> tuple[ir.Value, ir.Value]:
        """Host address of coordinate 0 of a row, and whether the other axes are within bounds."""
        emit, rest = self.b.ir, row
        address, inside = self.field("data"), ir.Constant(ir.IntType(1), 1)
        for axis in range(1, len(self.at)):
            size = self.axis("box", axis)
            index, rest = emit.urem(rest, size), emit.udiv(rest, size)
            place = emit.add(self.at[axis], emit.mul(index, self.axis("steps", axis)))
            within = emit.icmp_unsigned("<", place, self.axis("sizes", axis))
            inside = emit.and_(inside, within)
            step = emit.mul(emit.zext(place, WORD), self.field("strides", axis - 1))
            address = emit.add(address, step)
        return address, inside

    def _place(self, offset: ir.Value) -> ir.Value:
        """Pointer to a byte of the tile in shared memory."""
        emit = self.b.ir
        address = emit.add(self._offset, offset)
        mask = emit.trunc(self.field("swizzle"), HALF)
        high = emit.and_(emit.lshr(address, ir.Constant(HALF, 7)), mask)
        address = emit.xor(address, emit.shl(high, ir.Constant(HALF, 4)))
        distance = emit.sext(emit.sub(address, self._offset), WORD)
        return emit.inttoptr(emit.add(self._start, distance), POINTER)


def _move(b: LaneBuilder, chunk: _Chunk, to_shared: bool) -> None:
    """Copy a chunk: at once if it is whole, else byte by byte."""
    emit, walk = b.ir, chunk.walk
    size = emit.trunc(walk.field("element_bytes"), HALF)
    last = emit.sub(emit.udiv(ir.Constant(HALF, CHUNK), size), ir.Constant(HALF, 1))
    address, exists = chunk.element(ir.Constant(HALF, 0))
    _, last_exists = chunk.element(last)
    adjacent = emit.icmp_unsigned("==", walk.axis("steps", 0), ir.Constant(HALF, 1))
    whole = emit.and_(emit.and_(exists, last_exists), adjacent)

    def copy() -> Values:
        ends = [emit.inttoptr(address, POINTER), chunk.shared]
        _copy(b, ends, ir.VectorType(BYTE, CHUNK), to_shared)
        return []

    def parts() -> Values:
        nowhere = _nowhere(b)
        with counted(b, ir.Constant(HALF, CHUNK)) as k:
            start, exists = chunk.element(emit.udiv(k, size))
            byte = emit.inttoptr(emit.add(start, emit.zext(emit.urem(k, size), WORD)), POINTER)
            emit.store(ir.Constant(WORD, 0), nowhere)
            ends = [emit.select(exists, byte, nowhere), b.offset(chunk.shared, emit.zext(k, WORD))]
            _copy(b, ends, BYTE, to_shared)
        return []

    either(b, whole, copy, parts)


def _copy(b: LaneBuilder, ends: list[ir.Value], kind: ir.Type, to_shared: bool) -> None:
    source, target = ends if to_shared else ends[::-1]
    b.ir.store(b.ir.load(source, typ=kind, align=1), target, align=1)


def _combine(b: LaneBuilder, chunk: _Chunk, combine: Combination) -> None:
    """Combine the elements of a chunk with those of the tensor."""
    nowhere, size = _nowhere(b), combine.stored.bytes
    stored, never = combine.stored.element, ir.Constant(ir.IntType(1), 0)
    for k in range(CHUNK // size):
        address, exists = chunk.element(ir.Constant(HALF, k))
        place = b.ir.select(exists, b.ir.inttoptr(address, POINTER), nowhere)
        old = b.ir.load(place, typ=stored, align=1)
        value = b.ir.load(b.offset(chunk.shared, k * size), typ=stored, align=1)
        b.ir.store(combine(b, old, [value], never), place, align=1)


def _nowhere(b: LaneBuilder) -> ir.Value:
    """A word of the stack frame: stands for elements that do not exist."""
    with b.at_entry():
        frame = b.ir.alloca(WORD)
        return b.ir.inttoptr(b.ir.ptrtoint(frame, WORD), POINTER)
