"""Textures: addressing, filtering and fetching, for one texture after the other.

The lanes of a warp mostly name one texture; a loop takes the lanes of each that is named. Weights
of the linear filter have 8 bits of fraction, as the CUDA C++ Programming Guide has it ("Linear
Filtering"); they are rounded to the nearest, and the products are added in f32, x fastest.
"""

from collections.abc import Callable
from dataclasses import dataclass

from llvmlite import ir

from lockstep.frontend.exec.lanes.addresses import Access, refuse
from lockstep.frontend.exec.lanes.builder import WORD, LaneBuilder, type_suffix
from lockstep.frontend.exec.lanes.fetch import CHANNELS, Place, Texture, fetch
from lockstep.frontend.exec.lanes.flow import Values, either, outlined, spill, value_by_value
from lockstep.frontend.exec.lanes.memory import gather
from lockstep.frontend.exec.lanes.narrow import narrow
from lockstep.frontend.exec.lanes.rounding import Rounding
from lockstep.frontend.exec.lanes.types import F16, F32, I32, I64, PRED, Type, Value
from lockstep.frontend.exec.state import Window
from lockstep.frontend.exec.textures import HEADER_BYTES, MAGIC, Address

AXES = "xyz"
SIZES = ("width", "height", "depth")
FRACTIONS = 256.0  # weights of the linear filter are multiples of its inverse


@dataclass(frozen=True)
class Handles:
    """Handles of the active lanes (i64), and the site that reports bad ones (Window.TEXTURE)."""

    numbers: Value
    bad: ir.Value


@dataclass(frozen=True)
class Coordinates:
    """Where lanes look: ``values`` for x, y, z, f32 or i32; ``layer`` (i32) if it is layered."""

    values: tuple[Value, ...]
    layer: Value | None = None

    @property
    def name(self) -> str:
        """Distinguishes coordinates for which different code is needed."""
        return f"{len(self.values)}{self.values[0].type.name}{'a' if self.layer else ''}"


def sample(
    b: LaneBuilder, handles: Handles, at: Coordinates, corners: int | None = None
) -> tuple[list[Value], Value]:
    """The four channels at coordinates (bits, i32), and the address of the element there (i64).

    ``corners``: instead this channel of the four elements that the linear filter would use,
    counterclockwise from that with the smaller x and the larger y.
    """

    def one(inner: LaneBuilder, texture: Texture, *values: ir.Value) -> Values:
        own = _rebuilt(at, values)
        if corners is not None:
            return _corners(inner, texture, own, corners)
        if own.values[0].type == I32:
            return _nearest(inner, texture, own)
        if len(own.values) == 2 and own.layer is None:  # machine code gives one axis another one
            first = Coordinates(own.values[:1])
            return either(
                inner,
                texture.holds("dimensions", 1),
                lambda: _filtered(inner, texture, first),
                lambda: _filtered(inner, texture, own),
            )
        return _filtered(inner, texture, own)

    name = f"sample_{at.name}" + (f"_corners{corners}" if corners is not None else "")
    results = [*[I32] * CHANNELS, I64]
    found = for_each_texture(b, name, handles, _parts(at), results, one)
    return found[:CHANNELS], found[CHANNELS]


def query(b: LaneBuilder, handles: Handles, field: str) -> Value:
    """A field of the textures' records (i32)."""

    def one(inner: LaneBuilder, texture: Texture) -> Values:
        return [texture.number(field).ir]

    return for_each_texture(b, f"query_{field}", handles, [], [I32], one)[0]


def halves(b: LaneBuilder, channels: list[Value]) -> list[Value]:
    """Channels (f32 as i32) as pairs of f16, the first in the lower half; the last may be alone."""
    words = []
    for channel in channels:
        half = narrow(b, b.cast(channel, F32), F16, Rounding.NEAREST)
        words.append(b.ir.zext(b.cast(half, F16.integer).ir, b.vector(I32)))
    shift = b.constant(I32, 16).ir
    pairs = [b.ir.or_(x, b.ir.shl(y, shift)) for x, y in zip(words[::2], words[1::2])]
    return [Value(p, I32) for p in pairs + words[2 * len(pairs) :]]


def _parts(at: Coordinates) -> list[Value]:
    return [*at.values, *([at.layer] if at.layer else [])]


def _rebuilt(at: Coordinates, values: Values) -> Coordinates:
    """Coordinates from the arguments of an outlined function."""
    kind, count = at.values[0].type, len(at.values)
    numbers = tuple(Value(v, kind) for v in values[:count])
    return Coordinates(numbers, Value(values[count], I32) if at.layer else None)


def for_each_texture(
    b: LaneBuilder,
    name: str,
    handles: Handles,
    arguments: list[Value],
    results: list[Type],
    emit: Callable[..., Values],
) -> list[Value]:
    """``emit(builder, texture, *arguments)`` for the lanes of each texture; what it gives them."""

    def body(inner: LaneBuilder, numbers, bad, *values: ir.Value) -> Values:
        host = _records(inner, Handles(Value(numbers, I64), bad))
        places = [spill(inner, ir.Constant(inner.vector(r), None)) for r in results]
        with value_by_value(inner, host.ir) as record:
            found = emit(inner, Texture(inner, record), *values)
            for place, kind, value in zip(places, results, found):
                inner.store_vector(place, Value(value, kind), inner.active)
        return [inner.load_vector(p, r).ir for p, r in zip(places, results)]

    words = [handles.numbers.ir, handles.bad, *(a.ir for a in arguments)]
    found = outlined(b, name, [b.vector(r) for r in results], words, body)
    return [Value(v, r) for v, r in zip(found, results)]


def _records(b: LaneBuilder, handles: Handles) -> Value:
    """Host addresses of the records; the launch ends if one is no texture's.

    All of device memory can be read, so that the first word of a record tells whether it is one.
    """
    access = Access(Window.GLOBAL, handles.numbers, 1, handles.bad)
    before = b.ir.sub(handles.numbers.ir, b.constant(I64, 1).ir)
    room = b.ir.udiv(b.field("launch", "memory_bytes"), ir.Constant(WORD, HEADER_BYTES))
    beyond = b.ir.icmp_unsigned(">=", before, b.splat(room, I64).ir)
    refuse(b, access, Value(beyond, PRED))
    offset = b.ir.mul(before, b.constant(I64, HEADER_BYTES).ir)
    host = Value(b.ir.add(b.splat(b.field("launch", "memory"), I64).ir, offset), I64)
    wrong = b.ir.icmp_unsigned("!=", gather(b, host, I64), b.constant(I64, MAGIC).ir)
    refuse(b, access, Value(wrong, PRED))
    return host


# Coordinates to elements


def _filtered(b: LaneBuilder, texture: Texture, at: Coordinates) -> Values:
    linear = b.ir.icmp_unsigned("!=", texture.field("linear"), ir.Constant(WORD, 0))
    return either(b, linear, lambda: _linear(b, texture, at), lambda: _nearest(b, texture, at))


def _nearest(b: LaneBuilder, texture: Texture, at: Coordinates) -> Values:
    indices = []
    for axis, value in enumerate(at.values):
        index = value.ir
        if value.type == F32:
            index = _whole(b, b.elementwise("floor", _scaled(b, texture, axis, value)))
        indices.append(_inside(b, texture, axis, index, at))
    return fetch(b, texture, _place(b, texture, indices, at.layer))


def _linear(b: LaneBuilder, texture: Texture, at: Coordinates) -> Values:
    """Weighted sums of the two nearest elements on each axis."""
    sides = [_sides(b, texture, axis, value, at) for axis, value in enumerate(at.values)]
    sums, address = [b.constant(F32, 0.0).ir] * CHANNELS, None
    for corner in range(1 << len(sides)):
        chosen = [side[corner >> axis & 1] for axis, side in enumerate(sides)]
        weight = chosen[0][1]
        for _, other in chosen[1:]:
            weight = b.ir.fmul(weight, other)
        place = _place(b, texture, [index for index, _ in chosen], at.layer)
        *channels, where = fetch(b, texture, place)
        numbers = [b.ir.bitcast(c, b.vector(F32)) for c in channels]
        sums = [_fused(b, weight, n, s) for n, s in zip(numbers, sums)]
        address = address or where
    return [*(b.cast(Value(s, F32, settled=False), I32).ir for s in sums), address]


def _corners(b: LaneBuilder, texture: Texture, at: Coordinates, channel: int) -> Values:
    sides = [_sides(b, texture, axis, value, at) for axis, value in enumerate(at.values)]
    found = []
    for x, y in ((0, 1), (1, 1), (1, 0), (0, 0)):
        place = _place(b, texture, [sides[0][x][0], sides[1][y][0]], at.layer)
        found.append(fetch(b, texture, place))
    return [*(f[channel] for f in found), found[-1][CHANNELS]]


Index = tuple[ir.Value, ir.Value]  # within the texture (i32), and whether it was before


def _sides(
    b: LaneBuilder, texture: Texture, axis: int, value: Value, at: Coordinates
) -> list[tuple[Index, ir.Value]]:
    """The elements below and above a coordinate, each with its weight."""
    centred = b.ir.fsub(_scaled(b, texture, axis, value).ir, b.constant(F32, 0.5).ir)
    low = b.elementwise("floor", Value(centred, F32))
    fraction = b.ir.fmul(b.ir.fsub(centred, low.ir), b.constant(F32, FRACTIONS).ir)
    half = b.ir.fadd(fraction, b.constant(F32, 0.5).ir)
    steps = b.elementwise("floor", Value(half, F32))
    upper = b.ir.fmul(steps.ir, b.constant(F32, 1 / FRACTIONS).ir)
    lower = b.ir.fsub(b.constant(F32, 1.0).ir, upper)
    first = _whole(b, low)
    second = b.ir.add(first, b.constant(I32, 1).ir)
    return [
        (_inside(b, texture, axis, index, at), weight)
        for index, weight in ((first, lower), (second, upper))
    ]


def _scaled(b: LaneBuilder, texture: Texture, axis: int, value: Value) -> Value:
    """A coordinate in elements; what repeats is brought near the first time."""
    mode = f"address_{AXES[axis]}"
    near = value.ir
    for which, period in ((Address.WRAP, 1.0), (Address.MIRROR, 2.0)):
        turns = b.ir.fmul(value.ir, b.constant(F32, 1 / period).ir)
        whole = b.elementwise("floor", Value(turns, F32))
        rest = b.ir.fsub(value.ir, b.ir.fmul(whole.ir, b.constant(F32, period).ir))
        near = b.ir.select(texture.holds(mode, which), rest, near)
    size = b.ir.sitofp(texture.number(SIZES[axis]).ir, b.vector(F32))
    in_elements = b.ir.fmul(near, size)
    normalized = texture.holds("normalized", 1)
    return Value(b.ir.select(normalized, in_elements, value.ir), F32)


def _whole(b: LaneBuilder, number: Value) -> ir.Value:
    """As i32; what is beyond becomes the nearest, NaN zero."""
    vector = b.vector(I32)
    name = f"llvm.fptosi.sat.{type_suffix(vector)}.{type_suffix(b.vector(F32))}"
    return b.intrinsic(name, vector, [number.ir])


def _inside(b: LaneBuilder, texture: Texture, axis: int, index: ir.Value, at: Coordinates) -> Index:
    """An index by the axis's address mode, and whether it was inside or the border is not asked.

    Integer coordinates do not repeat; those of one dimension have a border of zeros.
    """
    emit, size = b.ir, texture.number(SIZES[axis]).ir
    zero, last = b.constant(I32, 0).ir, b.ir.sub(size, b.constant(I32, 1).ir)
    mode = f"address_{AXES[axis]}"
    within = emit.icmp_unsigned("<", index, size)
    border = texture.holds(mode, Address.BORDER)
    if at.values[0].type == I32:
        border = ir.Constant(border.type, 1) if len(at.values) == 1 else border
    else:
        under = emit.icmp_signed("<", index, zero)
        around = emit.select(under, emit.add(index, size), emit.sub(index, size))
        around = emit.select(within, index, around)
        back = emit.sub(emit.add(last, size), index)
        back = emit.select(emit.icmp_signed("<", last, index), back, index)
        back = emit.select(emit.icmp_signed("<", back, zero), emit.not_(back), back)
        index = emit.select(texture.holds(mode, Address.WRAP), around, index)
        index = emit.select(texture.holds(mode, Address.MIRROR), back, index)
    everywhere = b.constant(PRED, 1).ir
    exists = emit.select(border, within, everywhere)
    clamped = _limit(b, "smax", _limit(b, "smin", index, last), zero)
    return clamped, exists


def _limit(b: LaneBuilder, name: str, one: ir.Value, other: ir.Value) -> ir.Value:
    return b.elementwise(name, Value(one, I32), Value(other, I32)).ir


def _fused(b: LaneBuilder, one: ir.Value, other: ir.Value, more: ir.Value) -> ir.Value:
    return b.elementwise("fma", Value(one, F32), Value(other, F32), Value(more, F32)).ir


def _place(b: LaneBuilder, texture: Texture, indices: list[Index], layer: Value | None) -> Place:
    """Indices on the three axes; a layer is clamped."""
    axes = [index for index, _ in indices]
    exists = indices[0][1]
    for _, other in indices[1:]:
        exists = b.ir.and_(exists, other)
    zero = b.constant(I32, 0).ir
    axes += [zero] * (3 - len(axes))
    if layer is not None:
        last = b.ir.sub(texture.number("depth").ir, b.constant(I32, 1).ir)
        axes[2] = _limit(b, "umin", layer.ir, last)
    return Place(*axes, exists)
