"""One lane's way through its tile of a tensor: rows, where they are, and which of them exist.

A tile lies in shared memory row after row. Its rows are taken in chunks of 16 bytes, which are also
what swizzling moves; with a swizzle, a row has as much room as the swizzle is wide. The smallest
thing on the innermost axis is a *unit*: an element, or with an interleave a slice of channels.
"""

from collections.abc import Callable

import msgspec
from llvmlite import ir

from lockstep.execution.lanes.builder import BIT, HALF, POINTER, WORD, LaneBuilder
from lockstep.execution.lanes.flow import Values, counted, slot
from lockstep.execution.memory.tensor_maps import (
    CHUNK,
    FIELDS,
    IM2COL,
    KINDS,
    STRIDE_SHIFT,
    bytes_of,
)

MOST_ROWS = 1 << 20  # more than fit into shared memory: counts stop there
_SIZES = sum((bytes_of(kind).bit_length() - 1) << 2 * k for k, kind in enumerate(KINDS))


class Axis(msgspec.Struct, frozen=True):
    """An axis of the tensor in a tile (all i32, ``stride`` i64): elements 0 to ``last`` exist.

    A tile has ``count`` of them from ``first`` on, ``step`` apart.
    """

    first: ir.Value
    last: ir.Value
    stride: ir.Value
    step: ir.Value
    count: ir.Value

    def exists(self, emit: ir.IRBuilder, place: ir.Value) -> ir.Value:
        """Whether the tensor has an element."""
        there = emit.icmp_signed(">=", place, ir.Constant(HALF, 0))
        return emit.and_(there, emit.icmp_unsigned("<=", place, self.last))


class Spatial(msgspec.Struct, frozen=True):
    """An axis of the bounding box (all i32): im2col goes from ``low`` to ``high`` on it.

    ``offset`` is added to where it is.
    """

    axis: Axis
    low: ir.Value
    high: ir.Value
    offset: ir.Value


class TensorWalk:
    """The way of one lane.

    ``record``: host address of the tensor map (i64). ``at``: coordinates; ``offsets``: of im2col.
    ``row_bytes``, ``pitch``: of a row, and from one to the next in shared memory; ``rows``: how
    many (all i32). ``inner``: the axis within a row. ``bad``: the map is none that can be. With
    im2col there are ``pixels`` rows for each of ``slices``.
    """

    def __init__(self, b: LaneBuilder, mode: int, record: ir.Value, at: Values, offsets: Values):
        self.b, self.mode, self._at = b, mode, at
        self._record = b.ir.inttoptr(record, POINTER)
        emit = b.ir
        one = ir.Constant(HALF, 1)
        sizes = emit.lshr(ir.Constant(HALF, _SIZES), emit.shl(self._half("kind"), one))
        shift = emit.and_(sizes, ir.Constant(HALF, 3))  # log2 of an element's bytes
        interleave = self._half("interleave")
        self.interleaved = emit.icmp_unsigned("!=", interleave, ir.Constant(HALF, 0))
        slices = emit.add(interleave, ir.Constant(HALF, 3))
        self.unit_shift = emit.select(self.interleaved, slices, shift)
        self.unit = emit.shl(one, self.unit_shift)
        self._per_slice = emit.sub(self.unit_shift, shift)  # log2 of the elements in a unit
        self.bad = ir.Constant(BIT, 0)
        axes = [self._axis(a) for a in range(len(at))]
        self.inner, self.outer, self.spatial = axes[0], axes[1:], []
        self.slices = one
        if mode == IM2COL:
            self._unroll(axes, offsets)
        else:
            self.rows = self._product([axis.count for axis in self.outer])
        self.row_bytes = emit.shl(self.inner.count, self.unit_shift)
        self._check()

    def _half(self, name: str, place: int = 0) -> ir.Value:
        """A field of the tensor map, or an element of one (i32; signed ones are extended)."""
        field, emit = FIELDS[name], self.b.ir
        offset, shift = divmod(field.at(place), HALF.width)
        pointer = self.b.offset(self._record, offset * HALF.width // 8)
        value = emit.load(pointer, typ=HALF, align=1)
        free = ir.Constant(HALF, HALF.width - shift - field.bits)
        down = ir.Constant(HALF, HALF.width - field.bits)
        value = (emit.ashr if field.signed else emit.lshr)(emit.shl(value, free), down)
        return emit.add(value, ir.Constant(HALF, field.base))

    def _stride(self, place: int) -> ir.Value:
        """Bytes from element to element on an axis (i64)."""
        emit = self.b.ir
        low, high = (emit.zext(self._half(n, place), WORD) for n in ("strides", "strides_high"))
        units = emit.or_(low, emit.shl(high, ir.Constant(WORD, HALF.width)))
        return emit.shl(units, ir.Constant(WORD, STRIDE_SHIFT))

    @property
    def data(self) -> ir.Value:
        """Address of the tensor (i64)."""
        return self.b.ir.load(self._record, typ=WORD, align=1)

    def fills_nan(self) -> ir.Value:
        """Whether elements outside are read as NaN."""
        return self.b.ir.icmp_unsigned("!=", self._half("fill"), ir.Constant(HALF, 0))

    def is_kind(self, *kinds: str) -> ir.Value:
        """Whether the elements have one of these types."""
        here, found = self._half("kind"), ir.Constant(BIT, 0)
        for kind in kinds:
            same = self.b.ir.icmp_unsigned("==", here, ir.Constant(HALF, KINDS.index(kind)))
            found = self.b.ir.or_(found, same)
        return found

    def _axis(self, a: int) -> Axis:
        emit, one = self.b.ir, ir.Constant(HALF, 1)
        first, last, box = self._at[a], self._half("sizes", a), self._half("box", a)
        if a == len(self._at) - 2 and a > 0:  # the channels of an interleaved tensor: in slices
            shift = self._per_slice
            first, last = emit.ashr(first, shift), emit.lshr(last, shift)
            box = self._in_slices(box)
        step = self._half("steps", a)
        if a == 0:
            step = emit.select(self.interleaved, step, one)
        self.bad = emit.or_(self.bad, emit.icmp_unsigned("==", step, ir.Constant(HALF, 0)))
        step = self._most(step, one)
        count = emit.udiv(emit.add(box, emit.sub(step, one)), step)
        stride = emit.zext(self.unit, WORD) if a == 0 else self._stride(a - 1)
        return Axis(first, last, stride, step, count)

    def _in_slices(self, channels: ir.Value) -> ir.Value:
        """Units that so many channels fill."""
        emit, one = self.b.ir, ir.Constant(HALF, 1)
        rest = emit.sub(emit.shl(one, self._per_slice), one)
        return emit.lshr(emit.add(channels, rest), self._per_slice)

    def _most(self, one: ir.Value, two: ir.Value) -> ir.Value:
        return self.b.ir.select(self.b.ir.icmp_unsigned(">", one, two), one, two)

    def _product(self, counts: Values) -> ir.Value:
        emit, most = self.b.ir, ir.Constant(WORD, MOST_ROWS)
        total = ir.Constant(WORD, 1)
        for count in counts:
            total = emit.mul(total, emit.zext(count, WORD))
            total = emit.select(emit.icmp_unsigned("<", total, most), total, most)
        return emit.trunc(total, HALF)

    def _unroll(self, axes: list[Axis], offsets: Values) -> None:
        """Set up what im2col takes; channels are the innermost axis, or the last but one."""
        emit, flag = self.b.ir, self.interleaved
        zero, one = (ir.Constant(HALF, n) for n in (0, 1))
        for j, offset in enumerate(offsets):
            names = ("first", "last", "stride", "step", "count")
            pairs = [(getattr(axes[j], n), getattr(axes[j + 1], n)) for n in names]
            axis = Axis(*(emit.select(flag, slices, plain) for slices, plain in pairs))
            high = emit.add(axis.last, self._half("upper", j))
            self.spatial.append(Spatial(axis, self._half("lower", j), high, offset))
        channels, images = self._half("channels"), axes[-1]
        whole, slices = axes[0], axes[-2]
        self.outer = [images]
        self.inner = Axis(
            emit.select(flag, zero, whole.first),
            emit.select(flag, zero, whole.last),
            whole.stride,
            one,
            emit.select(flag, one, channels),
        )
        self.slices = emit.select(flag, self._in_slices(channels), one)
        self.slice_axis = slices
        self.pixels = self._half("pixels")
        self.rows = self._product([self.pixels, self.slices])

    def _check(self) -> None:
        """Fields that a kernel replaced may hold anything."""
        emit, zero = self.b.ir, ir.Constant(HALF, 0)
        swizzle = self._half("swizzle")
        low = emit.or_(self.row_bytes, emit.trunc(self.data, HALF))
        ragged = emit.icmp_unsigned("!=", emit.and_(low, ir.Constant(HALF, CHUNK - 1)), zero)
        empty = emit.icmp_unsigned("==", emit.mul(self.rows, self.row_bytes), zero)
        unknown = emit.icmp_unsigned(">", swizzle, ir.Constant(HALF, 3))
        span = emit.shl(ir.Constant(HALF, CHUNK), swizzle)
        swizzled = emit.icmp_unsigned("!=", swizzle, zero)
        padded = emit.and_(swizzled, emit.not_(self.interleaved))
        long = emit.and_(padded, emit.icmp_unsigned(">", self.row_bytes, span))
        for problem in (ragged, empty, unknown, long):
            self.bad = emit.or_(self.bad, problem)
        self.pitch = emit.select(padded, span, self.row_bytes)
        self._swizzle = emit.sub(emit.shl(ir.Constant(HALF, 1), swizzle), ir.Constant(HALF, 1))

    @property
    def room(self) -> ir.Value:
        """Bytes of shared memory that the tile takes (i64)."""
        emit = self.b.ir
        rows, pitch, row = (emit.zext(v, WORD) for v in (self.rows, self.pitch, self.row_bytes))
        return emit.add(emit.mul(emit.sub(rows, ir.Constant(WORD, 1)), pitch), row)

    def each_row(self, visit: Callable[[ir.Value, ir.Value, ir.Value], None]) -> None:
        """Loop over the rows: number, address of the inner axis' element 0 (i64), exists."""
        if self.mode == IM2COL:
            self._each_pixel(visit)
            return
        emit = self.b.ir
        with counted(self.b, self.rows) as row:
            rest, address, inside = row, self.data, ir.Constant(BIT, 1)
            for axis in self.outer:
                index, rest = emit.urem(rest, axis.count), emit.udiv(rest, axis.count)
                place = emit.add(axis.first, emit.mul(index, axis.step))
                address, inside = self._further(axis, place, address, inside)
            visit(row, address, inside)

    def _further(self, axis: Axis, place: ir.Value, address: ir.Value, inside: ir.Value):
        emit = self.b.ir
        step = emit.mul(emit.sext(place, WORD), axis.stride)
        return emit.add(address, step), emit.and_(inside, axis.exists(emit, place))

    def _each_pixel(self, visit) -> None:
        """Pixel after pixel through the bounding box, and on in the next image."""
        emit, images = self.b.ir, self.outer[0]
        starts = [s.axis.first for s in self.spatial] + [images.first]
        places = [slot(self.b, HALF) for _ in starts]
        with counted(self.b, self.slices) as part:
            for start, place in zip(starts, places):
                emit.store(start, place)
            number = emit.add(self.slice_axis.first, part)
            address, inside = self._further(self.slice_axis, number, self.data, ir.Constant(BIT, 1))
            base = emit.select(self.interleaved, address, self.data)
            some = emit.or_(inside, emit.not_(self.interleaved))
            with counted(self.b, self.pixels) as pixel:
                now = [emit.load(place, typ=HALF) for place in places]
                address, inside = self._further(images, now[-1], base, some)
                for spatial, place in zip(self.spatial, now):
                    there = emit.add(place, spatial.offset)
                    address, inside = self._further(spatial.axis, there, address, inside)
                visit(emit.add(emit.mul(part, self.pixels), pixel), address, inside)
                self._advance(places, now)

    def _advance(self, places: Values, now: Values) -> None:
        emit, carry = self.b.ir, ir.Constant(BIT, 1)
        for spatial, place, here in zip(self.spatial, places, now):
            step = emit.select(carry, spatial.axis.step, ir.Constant(HALF, 0))
            there = emit.add(here, step)
            past = emit.icmp_signed(">", there, spatial.high)
            carry = emit.and_(carry, past)
            emit.store(emit.select(carry, spatial.low, there), place)
        emit.store(emit.add(now[-1], emit.zext(carry, HALF)), places[-1])

    def inner_range(self) -> tuple[ir.Value, ir.Value, ir.Value]:
        """First and last unit of a row that exist, and whether any does."""
        emit, axis, zero = self.b.ir, self.inner, ir.Constant(HALF, 0)
        one = ir.Constant(HALF, 1)
        before = emit.udiv(emit.add(emit.neg(axis.first), emit.sub(axis.step, one)), axis.step)
        low = emit.select(emit.icmp_signed("<", axis.first, zero), before, zero)
        room = emit.sub(axis.last, axis.first)  # as unsigned numbers, if there is any
        most = emit.udiv(room, axis.step)
        full = emit.sub(axis.count, one)
        high = emit.select(emit.icmp_unsigned("<", most, full), most, full)
        started = emit.or_(
            emit.icmp_signed("<", axis.first, zero),
            emit.icmp_unsigned("<=", axis.first, axis.last),
        )
        return low, high, emit.and_(started, emit.icmp_signed("<=", low, high))

    def unit_address(self, row: ir.Value, number: ir.Value) -> ir.Value:
        """Where a row's nth unit is (i64)."""
        emit, axis = self.b.ir, self.inner
        place = emit.add(axis.first, emit.mul(number, axis.step))
        return emit.add(row, emit.shl(emit.sext(place, WORD), emit.zext(self.unit_shift, WORD)))

    def place(self, offset: ir.Value, start: ir.Value, byte: ir.Value) -> ir.Value:
        """Pointer to a byte of the tile; ``offset`` (i32) and ``start``: where that is shared."""
        emit = self.b.ir
        address = emit.add(offset, byte)
        high = emit.and_(emit.lshr(address, ir.Constant(HALF, 7)), self._swizzle)
        address = emit.xor(address, emit.shl(high, ir.Constant(HALF, 4)))
        distance = emit.sext(emit.sub(address, offset), WORD)
        return emit.inttoptr(emit.add(start, distance), POINTER)
