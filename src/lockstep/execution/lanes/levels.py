"""Levels of detail: which one lanes read, and between which two.

A level that is asked for gets the bias of the sampler and is kept within its limits and those of
the texture. The weight of the next level has 8 bits of fraction, as those of the linear filter.
"""

import msgspec
from llvmlite import ir

from lockstep.execution.lanes.approximate import lg2
from lockstep.execution.lanes.builder import WORD, LaneBuilder, type_suffix
from lockstep.execution.lanes.fetch import Texture
from lockstep.execution.lanes.filtering import FRACTIONS, SIZES, Coordinates
from lockstep.execution.lanes.flow import Values, either
from lockstep.execution.lanes.handles import for_each_texture
from lockstep.execution.lanes.types import F32, I32, I64, Value


class Detail(msgspec.Struct, frozen=True):
    """How lanes say the level: ``level`` itself (f32, i32 for integer coordinates), or gradients.

    ``gradients`` are two vectors (f32), one value an axis, in the unit of the coordinates.
    """

    level: Value | None = None
    gradients: tuple[tuple[Value, ...], ...] = ()

    @property
    def parts(self) -> list[Value]:
        """What an outlined function needs."""
        return [self.level] if self.level else [v for axis in self.gradients for v in axis]


def level_of(
    b: LaneBuilder, keys: Value, detail: Detail, at: Coordinates
) -> tuple[Value, Value, ir.Value]:
    """The level (i64), the weight of the next one (f32), and whether there is any such (i1)."""
    parts = detail.parts
    whole = parts[0].type == I32

    def one(inner: LaneBuilder, texture: Texture, *values: ir.Value) -> Values:
        def several() -> Values:
            if whole:
                return [_inside(inner, texture, values[0]), inner.constant(F32, 0.0).ir]
            asked = values[0] if detail.level else _by_gradients(inner, texture, values, at)
            return _split(inner, texture, asked)

        def single() -> Values:
            return [inner.constant(I64, 0).ir, inner.constant(F32, 0.0).ir]

        return either(inner, texture.holds("levels", 1), single, several)

    name = f"level_{parts[0].type.name}_{len(parts)}{'_cube' * at.cube}"
    level, weight = for_each_texture(b, name, keys, parts, [I64, F32], one)
    above = b.ir.fcmp_ordered(">", weight.ir, b.constant(F32, 0.0).ir)
    bits = b.ir.and_(b.bits_of(Value(above, b.active.type)), b.bits_of(b.active))
    return level, weight, b.ir.icmp_unsigned("!=", bits, ir.Constant(bits.type, 0))


def by_longest(b: LaneBuilder, detail: Detail, at: Coordinates) -> Detail:
    """Gradients of directions for directions whose longest axis is one."""
    longest = b.elementwise("fabs", at.values[0])
    for value in at.values[1:]:
        longest = b.elementwise("maxnum", longest, b.elementwise("fabs", value))
    scaled = tuple(
        tuple(Value(b.ir.fdiv(v.ir, longest.ir), F32) for v in vector)
        for vector in detail.gradients
    )
    return Detail(gradients=scaled)


def blended(b: LaneBuilder, near: list[Value], far: list[Value], weight: Value) -> Values:
    """Channels (f32 as i32) of two levels, weighted; those of the near one where there is none."""
    rest = b.ir.fsub(b.constant(F32, 1.0).ir, weight.ir)
    alone = b.ir.fcmp_ordered("==", weight.ir, b.constant(F32, 0.0).ir)
    found = []
    for one, other in zip(near, far):
        part = b.ir.fmul(b.cast(other, F32).ir, weight.ir)
        total = b.elementwise("fma", b.cast(one, F32), Value(rest, F32), Value(part, F32))
        mixed = b.cast(Value(total.ir, F32, settled=False), I32)
        found.append(b.ir.select(alone, one.ir, mixed.ir))
    return found


def _inside(b: LaneBuilder, texture: Texture, level: ir.Value) -> ir.Value:
    """An integer level within those of the texture (i64)."""
    last = b.ir.sub(texture.number("levels").ir, b.constant(I32, 1).ir)
    low = b.elementwise("smin", Value(level, I32), Value(last, I32))
    return b.ir.zext(b.elementwise("smax", low, b.constant(I32, 0)).ir, b.vector(I64))


def _split(b: LaneBuilder, texture: Texture, asked: ir.Value) -> Values:
    """Bias and limits; then the nearest level, or the one below and the weight of that above."""
    biased = b.ir.fadd(asked, texture.real("level_bias").ir)
    level = _between(b, biased, texture.real("level_least").ir, texture.real("level_most").ir)
    last = b.ir.sub(texture.number("levels").ir, b.constant(I32, 1).ir)
    zero = b.constant(F32, 0.0).ir
    level = _between(b, level, zero, b.ir.sitofp(last, b.vector(F32)))

    def nearest() -> Values:
        half = b.ir.fadd(level, b.constant(F32, 0.5).ir)
        return [_number(b, half), zero]

    def mixed() -> Values:
        steps = b.ir.fadd(b.ir.fmul(level, b.constant(F32, FRACTIONS).ir), b.constant(F32, 0.5).ir)
        fixed = b.elementwise("floor", Value(steps, F32)).ir
        exact = b.ir.fmul(fixed, b.constant(F32, 1 / FRACTIONS).ir)
        low = b.elementwise("floor", Value(exact, F32)).ir
        return [_number(b, low), b.ir.fsub(exact, low)]

    linear = b.ir.icmp_unsigned("!=", texture.field("level_linear"), ir.Constant(WORD, 0))
    return either(b, linear, mixed, nearest)


def _between(b: LaneBuilder, number: ir.Value, least: ir.Value, most: ir.Value) -> ir.Value:
    low = b.elementwise("maxnum", Value(number, F32), Value(least, F32))
    return b.elementwise("minnum", low, Value(most, F32)).ir


def _number(b: LaneBuilder, level: ir.Value) -> ir.Value:
    """The whole part of a level that is not negative (i64)."""
    name = f"llvm.fptosi.sat.{type_suffix(b.vector(I64))}.{type_suffix(b.vector(F32))}"
    return b.intrinsic(name, b.vector(I64), [level])


def _by_gradients(b: LaneBuilder, texture: Texture, values: tuple, at: Coordinates) -> ir.Value:
    """The logarithm of how many elements the longer of two vectors covers.

    A face of a cube is two units wide in each direction.
    """
    axes = len(at.values)
    most, one = b.constant(F32, 0.0), b.constant(F32, 1.0).ir
    for vector in (values[:axes], values[axes:]):
        length = b.constant(F32, 0.0)
        for size, value in zip(SIZES, vector):
            extent = b.ir.sitofp(texture.number("width" if at.cube else size).ir, b.vector(F32))
            if at.cube:
                scale = b.ir.fmul(extent, b.constant(F32, 0.5).ir)
            else:
                scale = b.ir.select(texture.is_normalized(), extent, one)
            covered = Value(b.ir.fmul(value, scale), F32)
            length = b.elementwise("fma", covered, covered, length)
        most = b.elementwise("maxnum", most, length)
    return b.ir.fmul(lg2(b, most).ir, b.constant(F32, 0.5).ir)
