"""What the timing model is told of bulk copies: ``workload.TILE_WORDS`` words for each lane."""

from llvmlite import ir

from lockstep.execution.lanes.builder import HALF, WORD, LaneBuilder
from lockstep.execution.lanes.flow import Values, outlined
from lockstep.execution.lanes.integer import resize
from lockstep.execution.lanes.tensor_tile import TensorTile, walks_of
from lockstep.execution.lanes.tensor_walk import Axis, TensorWalk
from lockstep.execution.lanes.types import I64, Value
from lockstep.execution.memory.tensor_maps import IM2COL
from lockstep.workload.bulk_copies import TILE_AXES, TILE_BARRIER

_NO_AXIS = (0, 0, 0, 1, 0, 0)  # one position
_FARTHEST = (1 << 31) - 1  # image number that im2col never comes to


def record_tile(
    b: LaneBuilder, tile: TensorTile, place: ir.Value, barrier: Value | None = None
) -> None:
    """Write the words of the active lanes' tiles, lane vectors one after the other.

    ``barrier``: addresses of the barrier objects that the copies complete.
    """

    def emit(inner: LaneBuilder, target: ir.Value, *rest: ir.Value) -> Values:
        walks = walks_of(inner, tile.inside(*rest))
        with walks.each() as (lane, walk):
            for k, word in enumerate(_words(walk)):
                number = inner.ir.add(ir.Constant(WORD, k * b.lanes), inner.ir.zext(lane, WORD))
                byte = inner.ir.mul(number, ir.Constant(WORD, 8))
                inner.ir.store(word, inner.offset(target, byte), align=8)
        return []

    outlined(b, f"tensor_record_{tile.name}", [], [place, *tile.arguments], emit)
    _record_barrier(b, place, barrier)


def record_bytes(
    b: LaneBuilder, place: ir.Value, start: Value, size: Value, barrier: Value | None = None
) -> None:
    """Write the words of copies of ``size`` (i32) bytes from ``start`` (i64) on: a row each."""
    one_row = (b.constant(I64, n) for n in (1, 1, 0, *_NO_AXIS * TILE_AXES))
    for k, word in enumerate((start, resize(b, size, I64), *one_row)):
        b.ir.store(word.ir, b.offset(place, 8 * b.lanes * k), align=8)
    _record_barrier(b, place, barrier)


def _record_barrier(b: LaneBuilder, place: ir.Value, barrier: Value | None) -> None:
    number = b.constant(I64, 0)
    if barrier is not None:
        low = b.ir.and_(resize(b, barrier, I64).ir, b.constant(I64, (1 << 32) - 1).ir)
        number = Value(b.ir.add(low, b.constant(I64, 1).ir), I64)
    b.ir.store(number.ir, b.offset(place, 8 * b.lanes * TILE_BARRIER), align=8)


def _words(walk: TensorWalk) -> Values:
    emit = walk.b.ir
    first, last, some = walk.inner_range()
    one = ir.Constant(HALF, 1)
    units = emit.add(emit.sub(last, first), one)
    base = walk.unit_address(walk.data, first)
    rows, axes = walk.rows, [_box_axis(walk, axis) for axis in walk.outer]
    apart = emit.icmp_unsigned("!=", walk.inner.step, one)
    if walk.mode == IM2COL:
        rows = walk.pixels
        axes = [_spatial_axis(walk, s) for s in walk.spatial] + [_images(walk)]
        slices, base, exists = _slices(walk, base)
        some = emit.and_(some, exists)
        repeats, stride = emit.select(walk.interleaved, slices, one), walk.slice_axis.stride
    else:
        repeats = emit.select(apart, units, one)
        units = emit.select(apart, one, units)
        stride = emit.mul(_wide(walk, walk.inner.step), emit.zext(walk.unit, WORD))
    size = emit.shl(units, walk.unit_shift)
    size = emit.select(some, size, ir.Constant(HALF, 0))
    nothing = [ir.Constant(WORD, n) for n in _NO_AXIS]
    axes += [nothing] * (TILE_AXES - len(axes))
    head = [base, _wide(walk, size), _wide(walk, rows), _wide(walk, repeats), stride]
    return [*head, *(word for axis in axes for word in axis)]


def _wide(walk: TensorWalk, number: ir.Value) -> ir.Value:
    return walk.b.ir.sext(number, WORD)


def _box_axis(walk: TensorWalk, axis: Axis) -> Values:
    emit = walk.b.ir
    steps = emit.mul(emit.sub(axis.count, ir.Constant(HALF, 1)), axis.step)
    high = emit.add(axis.first, steps)
    places = [_wide(walk, v) for v in (axis.first, axis.first, high, axis.step)]
    return [*places, emit.zext(axis.last, WORD), axis.stride]


def _spatial_axis(walk: TensorWalk, spatial) -> Values:
    emit, axis = walk.b.ir, spatial.axis
    there = (emit.add(v, spatial.offset) for v in (axis.first, spatial.low, spatial.high))
    places = [_wide(walk, v) for v in (*there, axis.step)]
    return [*places, emit.zext(axis.last, WORD), axis.stride]


def _images(walk: TensorWalk) -> Values:
    axis, emit = walk.outer[0], walk.b.ir
    fixed = [ir.Constant(WORD, n) for n in (0, _FARTHEST, 1)]
    return [_wide(walk, axis.first), *fixed, emit.zext(axis.last, WORD), axis.stride]


def _slices(walk: TensorWalk, base: ir.Value) -> tuple[ir.Value, ir.Value, ir.Value]:
    """Slices of channels that exist, the address of the first one, whether there is any."""
    emit, axis = walk.b.ir, walk.slice_axis
    zero, one = (ir.Constant(HALF, n) for n in (0, 1))
    low = emit.select(emit.icmp_signed("<", axis.first, zero), zero, axis.first)
    end = emit.add(axis.first, emit.sub(walk.slices, one))
    high = emit.select(emit.icmp_signed("<", end, axis.last), end, axis.last)
    exists = emit.icmp_signed("<=", low, high)
    moved = emit.add(base, emit.mul(_wide(walk, low), axis.stride))
    base = emit.select(walk.interleaved, moved, base)
    exists = emit.or_(exists, emit.not_(walk.interleaved))
    return emit.add(emit.sub(high, low), one), base, exists
