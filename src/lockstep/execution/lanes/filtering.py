"""Coordinates to elements: addressing and filtering, for the texture that lanes have in common.

Weights of the linear filter have 8 bits of fraction, as the CUDA C++ Programming Guide has it
("Linear Filtering"); they are rounded to the nearest, and the products are added in f32, x fastest.
"""

import msgspec
from llvmlite import ir
from msgspec.structs import replace

from lockstep.execution.lanes.builder import WORD, LaneBuilder, type_suffix
from lockstep.execution.lanes.fetch import CHANNELS, ONE, ElementPlace, Texture, fetch
from lockstep.execution.lanes.flow import Values, either
from lockstep.execution.lanes.types import F32, I32, PRED, Value
from lockstep.execution.memory.textures import COMPARISONS, AddressMode

AXES = "xyz"
SIZES = ("width", "height", "depth")
FRACTIONS = 256.0  # weights of the linear filter are multiples of its inverse
FACES = 6
_TURNS = 16  # times its size that an index is moved up before its remainder is taken


class Coordinates(msgspec.Struct, frozen=True):
    """Where lanes look: ``values`` for x, y, z, f32 or i32; ``layer`` (i32) if it is layered.

    ``offsets`` (i32) count in elements. ``cube``: the values are a direction. ``sample`` (i32): of
    each element. ``depth`` (f32): elements are compared with it, and become 1 or 0.
    """

    values: tuple[Value, ...]
    layer: Value | None = None
    offsets: tuple[Value, ...] = ()
    cube: bool = False
    sample: Value | None = None
    depth: Value | None = None

    @property
    def name(self) -> str:
        """Distinguishes coordinates for which different code is needed."""
        parts = "a" * bool(self.layer) + "o" * bool(self.offsets) + "c" * self.cube
        parts += "s" * bool(self.sample) + "d" * bool(self.depth)
        return f"{len(self.values)}{self.values[0].type.name}{parts}"

    @property
    def parts(self) -> list[Value]:
        """What an outlined function needs."""
        single = (self.layer, self.sample, self.depth)
        return [*self.values, *self.offsets, *(v for v in single if v)]

    def rebuilt(self, values: Values) -> "Coordinates":
        """The same from the arguments of an outlined function."""
        own = [Value(v, part.type) for v, part in zip(values, self.parts)]
        axes = len(self.values)
        depth, sample, layer = (
            own.pop() if value else None for value in (self.depth, self.sample, self.layer)
        )
        values, offsets = tuple(own[:axes]), tuple(own[axes:])
        return Coordinates(values, layer, offsets, self.cube, sample, depth)


def elements(b: LaneBuilder, texture: Texture, at: Coordinates, corners: int | None) -> Values:
    """The four channels (bits, i32), and the address of an element (i64).

    ``corners``: instead this channel of the four elements that the linear filter would use,
    counterclockwise from that with the smaller x and the larger y.
    """
    if at.cube:
        at = _on_face(b, at)
    if corners is not None:
        return _corners(b, texture, at, corners)
    if at.values[0].type == I32:
        return _nearest(b, texture, at)
    if len(at.values) == 2 and at.layer is None:  # machine code gives one axis another one
        first = replace(at, values=at.values[:1], offsets=at.offsets[:1])
        return either(
            b,
            texture.holds("dimensions", 1),
            lambda: _filtered(b, texture, first),
            lambda: _filtered(b, texture, at),
        )
    return _filtered(b, texture, at)


def _on_face(b: LaneBuilder, at: Coordinates) -> Coordinates:
    """A direction as coordinates from 0 to 1 on one of six layers.

    From the CUDA C++ Programming Guide, "Cubemap Textures"; where two axes are the longest, y goes
    before x, and z before both, as in OpenGL's examples.
    """
    emit = b.ir
    x, y, z = (v.ir for v in at.values)
    ax, ay, az = (b.elementwise("fabs", v).ir for v in at.values)
    by_z = emit.and_(_at_least(b, az, ax), _at_least(b, az, ay))
    by_y = _at_least(b, ay, ax)
    nx, ny, nz = (emit.fneg(v) for v in (x, y, z))

    def choose(of_x, of_y, of_z):
        return emit.select(by_z, of_z, emit.select(by_y, of_y, of_x))

    longest, signed = choose(ax, ay, az), choose(x, y, z)
    below = emit.icmp_signed("<", emit.bitcast(signed, b.vector(I32)), b.constant(I32, 0).ir)
    s = choose(emit.select(below, z, nz), x, emit.select(below, nx, x))
    t = choose(ny, emit.select(below, nz, z), ny)
    first = choose(*(b.constant(I32, k).ir for k in (0, 2, 4)))
    face = emit.add(first, emit.zext(below, b.vector(I32)))
    half = b.constant(F32, 0.5).ir
    values = []
    for number in (s, t):
        part = emit.fdiv(number, longest)
        values.append(Value(emit.fadd(emit.fmul(part, half), half), F32))
    if at.layer is not None:
        face = emit.add(emit.mul(at.layer.ir, b.constant(I32, FACES).ir), face)
    return replace(at, values=tuple(values), layer=Value(face, I32))


def _at_least(b: LaneBuilder, one: ir.Value, other: ir.Value) -> ir.Value:
    return b.ir.fcmp_ordered(">=", one, other)


def _filtered(b: LaneBuilder, texture: Texture, at: Coordinates) -> Values:
    linear = b.ir.icmp_unsigned("!=", texture.field("linear"), ir.Constant(WORD, 0))
    return either(b, linear, lambda: _linear(b, texture, at), lambda: _nearest(b, texture, at))


def _nearest(b: LaneBuilder, texture: Texture, at: Coordinates) -> Values:
    indices = []
    for axis, value in enumerate(at.values):
        index = value.ir
        if value.type == F32:
            index = _whole(b, b.elementwise("floor", _scaled(b, texture, axis, value, at.cube)))
        indices.append(_inside(b, texture, axis, index, at))
    if at.sample is not None:
        indices[0] = (_sample(b, texture, indices[0][0], at.sample), indices[0][1])
    return _fetched(b, texture, _place(b, texture, indices, at.layer), at)


def _sample(b: LaneBuilder, texture: Texture, x: ir.Value, sample: Value) -> ir.Value:
    """Where a sample of an element is in its row; a number that there is not is the last."""
    samples = texture.number("samples").ir
    last = b.ir.sub(samples, b.constant(I32, 1).ir)
    return b.ir.add(b.ir.mul(x, samples), _limit(b, "umin", sample.ir, last))


def _fetched(
    b: LaneBuilder, texture: Texture, place: ElementPlace, at: Coordinates, channel: int = 0
) -> Values:
    """The channels of an element, and its address; after a comparison only one has its outcome."""
    *channels, address = fetch(b, texture, place)
    if at.depth is None:
        return [*channels, address]
    element = b.cast(Value(channels[channel], I32), F32)
    passed, nothing = b.constant(PRED, 0).ir, b.constant(PRED, 0).ir
    compare = texture.field("compare")
    for bit, order in enumerate(("<", "==", ">")):
        wanted = b.ir.and_(compare, ir.Constant(WORD, 1 << bit))
        asked = b.ir.icmp_unsigned("!=", wanted, ir.Constant(WORD, 0))
        holds = b.ir.fcmp_ordered(order, at.depth.ir, element.ir)
        passed = b.ir.or_(passed, b.ir.select(asked, holds, nothing))
    always = texture.holds("compare", COMPARISONS.index("always"))
    passed = b.ir.select(always, b.constant(PRED, 1).ir, passed)
    zero, one = (b.constant(I32, bits).ir for bits in (0, ONE))
    outcome = b.ir.select(passed, one, zero)
    return [*(outcome if k == channel else (zero, one)[k == 3] for k in range(CHANNELS)), address]


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
        *channels, where = _fetched(b, texture, place, at)
        numbers = [b.ir.bitcast(c, b.vector(F32)) for c in channels]
        sums = [_fused(b, weight, n, s) for n, s in zip(numbers, sums)]
        address = address or where
    return [*(b.cast(Value(s, F32, settled=False), I32).ir for s in sums), address]


def _corners(b: LaneBuilder, texture: Texture, at: Coordinates, channel: int) -> Values:
    sides = [_sides(b, texture, axis, value, at) for axis, value in enumerate(at.values)]
    found = []
    for x, y in ((0, 1), (1, 1), (1, 0), (0, 0)):
        place = _place(b, texture, [sides[0][x][0], sides[1][y][0]], at.layer)
        found.append(_fetched(b, texture, place, at, channel))
    return [*(f[channel] for f in found), found[-1][CHANNELS]]


Index = tuple[ir.Value, ir.Value]  # within the texture (i32), and whether it was before


def _sides(
    b: LaneBuilder, texture: Texture, axis: int, value: Value, at: Coordinates
) -> list[tuple[Index, ir.Value]]:
    """The elements below and above a coordinate, each with its weight."""
    centred = b.ir.fsub(_scaled(b, texture, axis, value, at.cube).ir, b.constant(F32, 0.5).ir)
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


def _scaled(b: LaneBuilder, texture: Texture, axis: int, value: Value, cube: bool) -> Value:
    """A coordinate in elements; what repeats is brought near the first time."""
    size = b.ir.sitofp(texture.number(SIZES[axis]).ir, b.vector(F32))
    if cube:
        return Value(b.ir.fmul(value.ir, size), F32)
    mode = f"address_{AXES[axis]}"
    near = value.ir
    for which, period in ((AddressMode.WRAP, 1.0), (AddressMode.MIRROR, 2.0)):
        turns = b.ir.fmul(value.ir, b.constant(F32, 1 / period).ir)
        whole = b.elementwise("floor", Value(turns, F32))
        rest = b.ir.fsub(value.ir, b.ir.fmul(whole.ir, b.constant(F32, period).ir))
        near = b.ir.select(texture.holds(mode, which), rest, near)
    in_elements = b.ir.fmul(near, size)
    return Value(b.ir.select(texture.is_normalized(), in_elements, value.ir), F32)


def _whole(b: LaneBuilder, number: Value) -> ir.Value:
    """As i32; what is beyond becomes the nearest, NaN zero."""
    vector = b.vector(I32)
    name = f"llvm.fptosi.sat.{type_suffix(vector)}.{type_suffix(b.vector(F32))}"
    return b.intrinsic(name, vector, [number.ir])


def _inside(b: LaneBuilder, texture: Texture, axis: int, index: ir.Value, at: Coordinates) -> Index:
    """An index by the axis's address mode, and whether it was inside or the border is not asked.

    Integer coordinates do not repeat; those of one dimension have a border of zeros. Faces of a
    cube repeat their borders.
    """
    emit, size = b.ir, texture.number(SIZES[axis]).ir
    if at.offsets:
        index = emit.add(index, at.offsets[axis].ir)
    mode = f"address_{AXES[axis]}"
    everywhere = b.constant(PRED, 1).ir
    zero, last = b.constant(I32, 0).ir, emit.sub(size, b.constant(I32, 1).ir)
    exists = everywhere
    if not at.cube:
        border = texture.holds(mode, AddressMode.BORDER)
        if at.values[0].type == I32:
            border = ir.Constant(border.type, 1) if len(at.values) == 1 else border
        exists = emit.select(border, emit.icmp_unsigned("<", index, size), everywhere)
    if not at.cube and at.values[0].type != I32:
        around, back = _repeated(b, index, size, bool(at.offsets))
        index = emit.select(texture.holds(mode, AddressMode.WRAP), around, index)
        index = emit.select(texture.holds(mode, AddressMode.MIRROR), back, index)
    clamped = _limit(b, "smax", _limit(b, "smin", index, last), zero)
    return clamped, exists


def _repeated(b: LaneBuilder, index: ir.Value, size: ir.Value, far: bool) -> Values:
    """An index near the texture as one in it, wrapped around and mirrored; ``far``: or not near."""
    emit = b.ir
    zero, last = b.constant(I32, 0).ir, emit.sub(size, b.constant(I32, 1).ir)
    if far:
        twice = emit.add(size, size)
        up = emit.add(index, emit.mul(twice, b.constant(I32, _TURNS).ir))
        around, turn = emit.urem(up, size), emit.urem(up, twice)
        back = emit.sub(emit.add(last, size), turn)
        return [around, emit.select(emit.icmp_unsigned("<", turn, size), turn, back)]
    within = emit.icmp_unsigned("<", index, size)
    under = emit.icmp_signed("<", index, zero)
    around = emit.select(under, emit.add(index, size), emit.sub(index, size))
    back = emit.sub(emit.add(last, size), index)
    back = emit.select(emit.icmp_signed("<", last, index), back, index)
    back = emit.select(emit.icmp_signed("<", back, zero), emit.not_(back), back)
    return [emit.select(within, index, around), back]


def _limit(b: LaneBuilder, name: str, one: ir.Value, other: ir.Value) -> ir.Value:
    return b.elementwise(name, Value(one, I32), Value(other, I32)).ir


def _fused(b: LaneBuilder, one: ir.Value, other: ir.Value, more: ir.Value) -> ir.Value:
    return b.elementwise("fma", Value(one, F32), Value(other, F32), Value(more, F32)).ir


def _place(
    b: LaneBuilder, texture: Texture, indices: list[Index], layer: Value | None
) -> ElementPlace:
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
    return ElementPlace(*axes, exists)
