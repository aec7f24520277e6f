"""Bulk copies of tiles of tensors (cp.async.bulk.tensor); they are done when they are issued."""

from llvmlite import ir

from lockstep.execution.lanes import async_copy, barrier_objects, memory
from lockstep.execution.lanes import tensor as lanes
from lockstep.execution.lanes.addresses import Access
from lockstep.execution.lanes.builder import WORD, LaneBuilder
from lockstep.execution.lanes.integer import resize, shift_right
from lockstep.execution.lanes.tensor_record import record_tile
from lockstep.execution.lanes.tensor_tile import TensorTile
from lockstep.execution.lanes.types import I32, I64, Value
from lockstep.execution.memory.tensor_maps import (
    CHUNK,
    FIELDS,
    FILLS,
    IM2COL,
    INTERLEAVES,
    KINDS,
    MAP_ALIGNMENT,
    MAP_BYTES,
    MOST_AXES,
    STRIDE_SHIFT,
    SWIZZLES,
    TILED,
)
from lockstep.execution.ptx.async_copy import receivers
from lockstep.execution.ptx.barrier_objects import OBJECT_BYTES
from lockstep.execution.ptx.lift import Lift
from lockstep.execution.ptx.opcodes import opcode
from lockstep.execution.ptx.operands import access_of, elements, space_of
from lockstep.execution.state import Window
from lockstep.isa.ptx.syntax import Immediate, Instruction, Memory, Operand

_AXES = "{1d,2d,3d,4d,5d}"
_IMAGES = "{3d,4d,5d}"  # what im2col takes
_HINT = "[.L2::cache_hint]"
_MULTICAST = "[.multicast::cluster]"
_BARRIER = "mbarrier::complete_tx::bytes"


def _tile(lift: Lift, i: Instruction, operand: Memory, offsets: Operand | None) -> TensorTile:
    """The tile that a tensor operand names."""
    if not isinstance(operand, Memory) or not operand.extra:
        raise lift.refuse(f"{i.name} needs a tensor map and coordinates in brackets")
    coordinates = [lift.read(c, "s32") for c in elements(operand.extra[-1])]
    axes = int(next(w for w in i.modifiers if f"{w}," in f"{_AXES[1:-1]},")[0])
    if len(coordinates) != axes:
        raise lift.refuse(f"{i.name} needs {axes} coordinates")
    im2col = not {"im2col", "im2col_no_offs"}.isdisjoint(i.modifiers)
    ahead = _offsets(lift, i, offsets, axes - 2) if im2col else []
    there = Memory(operand.base, operand.offset)
    place = access_of(lift, there, "generic", MAP_ALIGNMENT, record=False)
    bad, own = (ir.Constant(WORD, lift.site(w)) for w in (Window.TENSOR_MAP, Window.GLOBAL))
    return TensorTile(IM2COL if im2col else TILED, place, bad, own, coordinates, ahead)


def _record(lift: Lift, tile: TensorTile, barrier: Access | None = None) -> TensorTile:
    """Tell the stream of a tile, and of the barrier objects that its copies complete."""
    if lift.stream is not None:
        address = None if barrier is None else barrier.address
        record_tile(lift.b, tile, lift.stream.tile(lift.number), address)
    return tile


def _offsets(lift: Lift, i: Instruction, operand: Operand | None, axes: int) -> list[Value]:
    """The offsets of im2col in W, H and D."""
    if operand is None:
        return [lift.b.constant(I32, 0)] * axes
    found = elements(operand)
    if len(found) != axes:
        raise lift.refuse(f"{i.name} needs {axes} offsets")
    return [resize(lift.b, lift.read(o, "u16"), I32) for o in found]


def _shared(lift: Lift, operand: Memory) -> Access:
    return access_of(lift, operand, "shared", CHUNK, record=False)


_LOADS = (
    f"shared::cta.global{{}}.{_BARRIER}{_HINT}",
    f"shared::cluster.global{{}}.{_BARRIER}{_MULTICAST}{_HINT}",
)


@opcode(
    *(f"cp.async.bulk.tensor.{_AXES}.{form.format('[.tile]')}" for form in _LOADS),
    *(f"cp.async.bulk.tensor.{_IMAGES}.{form.format('.im2col')}" for form in _LOADS),
    destinations=0,
)
def load(lift: Lift, i: Instruction) -> None:
    """Bytes outside the tensor count for the barrier too."""
    target, source, barrier, *more = i.operands
    unrolls = "im2col" in i.modifiers
    offsets = more[0] if unrolls and more else None
    tile = _tile(lift, i, source, offsets)
    to = access_of(lift, target, "cluster", CHUNK, record=False)
    place = access_of(lift, barrier, "cluster", OBJECT_BYTES, record=False)
    _record(lift, tile, place)
    with receivers(lift, i, 3 + unrolls, to, place) as (here, told):
        size = lanes.load_tile(lift.b, tile, here)
        barrier_objects.complete_bytes(lift.b, told, size)


def _to_global(head: str) -> tuple[str, str]:
    """Forms of what goes to global memory."""
    return (
        f"{head.format(_AXES)}[.tile].bulk_group{_HINT}",
        f"{head.format(_IMAGES)}.im2col_no_offs.bulk_group{_HINT}",
    )


@opcode(*_to_global("cp.async.bulk.tensor.{}.global.shared::cta"), destinations=0)
def store(lift: Lift, i: Instruction) -> None:
    target, source = i.operands[:2]
    tile = _record(lift, _tile(lift, i, target, None))
    lanes.store_tile(lift.b, tile, _shared(lift, source))


@opcode(
    *_to_global(
        "cp.reduce.async.bulk.tensor.{}.global.shared::cta.{{add,min,max,inc,dec,and,or,xor}}"
    ),
    destinations=0,
)
def reduce(lift: Lift, i: Instruction) -> None:
    target, source = i.operands[:2]
    operation = next(w for w in i.modifiers if w in lanes.REDUCED)
    tile = _record(lift, _tile(lift, i, target, None))
    lanes.reduce_tile(lift.b, tile, _shared(lift, source), operation)


@opcode(
    f"cp.async.bulk.prefetch.tensor.{_AXES}.L2.global[.tile]{_HINT}",
    f"cp.async.bulk.prefetch.tensor.{_IMAGES}.L2.global.im2col{_HINT}",
    destinations=0,
)
def prefetch(lift: Lift, i: Instruction) -> None:
    """Caches are the timing model's."""


# Tensor maps

_REPLACED_FIELDS = {
    "global_address": "data",
    "rank": "rank",
    "box_dim": "box",
    "global_dim": "sizes",
    "global_stride": "strides",
    "element_stride": "steps",
    "elemtype": "kind",
    "interleave_layout": "interleave",
    "swizzle_mode": "swizzle",
    "fill_mode": "fill",
}
_MOST = {
    "elemtype": len(KINDS) - 1,
    "interleave_layout": len(INTERLEAVES) - 1,
    "swizzle_mode": len(SWIZZLES) - 1,
    "fill_mode": len(FILLS) - 1,
}
"""The largest numbers that sm_90 has: more element types and swizzles are of sm_100."""
_REPLACED = "[.{global,shared::cta}].b1024"


@opcode(
    f"tensormap.replace.tile.{{global_address,global_stride}}{_REPLACED}.b64",
    f"tensormap.replace.tile.{{rank,box_dim,global_dim,element_stride}}{_REPLACED}.b32",
    f"tensormap.replace.tile.{{elemtype,interleave_layout,swizzle_mode,fill_mode}}{_REPLACED}.b32",
    destinations=0,
)
def replace(lift: Lift, i: Instruction) -> None:
    """What machine code does: it changes bits of words."""
    b, name, kind = lift.b, i.modifiers[2], i.modifiers[-1]
    memory_operand, *ordinal, value = i.operands
    field = FIELDS[_REPLACED_FIELDS[name]]
    number = 0
    if field.count > 1:
        number = _ordinal(lift, i, ordinal, field.count)
    elif ordinal:
        raise lift.refuse(f"{i.name} takes no ordinal")
    new = lift.read(value, kind)
    if name in _MOST and not _fits(value, _MOST[name]):
        raise lift.refuse(f"{i.name} takes a constant of 0 to {_MOST[name]}")
    place = access_of(lift, memory_operand, space_of(i), MAP_ALIGNMENT, record=True)
    if field.bits == I64.bits:
        memory.store(b, _word(b, place, 0, I64.bytes), [new])
    elif name == "global_stride":
        units = shift_right(b, new, STRIDE_SHIFT)
        _change(b, place, "strides", number, resize(b, units, I32))
        high = resize(b, shift_right(b, units, I32.bits), I32)
        _change(b, place, "strides_high", number, high)
    else:
        base = field.base or name == "global_dim"
        less = b.ir.sub(new.ir, b.constant(I32, int(base)).ir)
        _change(b, place, _REPLACED_FIELDS[name], number, Value(less, I32))


def _change(b: LaneBuilder, place: Access, name: str, number: int, value: Value) -> None:
    """Give an element of a field a value (i32)."""
    field = FIELDS[name]
    offset, shift = divmod(field.at(number), I32.bits)
    mask = b.constant(I32, (1 << field.bits) - 1 << shift).ir
    word = _word(b, place, offset * I32.bytes, I32.bytes)
    held = memory.load(b, word, I32)[0]
    moved = b.ir.and_(b.ir.shl(value.ir, b.constant(I32, shift).ir), mask)
    kept = b.ir.and_(held.ir, b.ir.not_(mask))
    memory.store(b, word, [Value(b.ir.or_(kept, moved), I32)])


def _ordinal(lift: Lift, i: Instruction, operands: list[Operand], count: int) -> int:
    most = min(count, MOST_AXES) - 1
    if len(operands) != 1 or not _fits(operands[0], most):
        raise lift.refuse(f"{i.name} takes a constant ordinal of 0 to {most}")
    return operands[0].value


def _fits(operand: Operand, most: int) -> bool:
    return isinstance(operand, Immediate) and 0 <= operand.value <= most


def _word(b: LaneBuilder, place: Access, offset: int, size: int) -> Access:
    """An access to a word of the tensor map at a place."""
    kind = place.address.type
    address = Value(b.ir.add(place.address.ir, b.constant(kind, offset).ir), kind)
    return Access(place.window, address, size, place.site)


@opcode(
    "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release."
    "{cta,cluster,gpu,sys}.sync.aligned",
    destinations=0,
)
def publish(lift: Lift, i: Instruction) -> None:
    """Every lane copies the map: the same bytes."""
    target, source, size = i.operands
    if not isinstance(size, Immediate) or size.value != MAP_BYTES:
        raise lift.refuse(f"{i.name} copies {MAP_BYTES} bytes")
    to = access_of(lift, target, "global", CHUNK)
    at = access_of(lift, source, "shared", CHUNK, record=False)
    async_copy.bulk_copy(lift.b, to, at, lift.b.constant(I32, MAP_BYTES))
