"""Textures: samples, gathers and queries, at a level of detail."""

from llvmlite import ir

from lockstep.execution.lanes.builder import LaneBuilder
from lockstep.execution.lanes.fetch import CHANNELS, Texture
from lockstep.execution.lanes.filtering import Coordinates, elements
from lockstep.execution.lanes.flow import Values, either
from lockstep.execution.lanes.handles import Handles, for_each_texture, keys_of
from lockstep.execution.lanes.levels import Detail, blended, by_longest, level_of
from lockstep.execution.lanes.narrow import narrow
from lockstep.execution.lanes.rounding import Rounding
from lockstep.execution.lanes.types import F16, F32, I32, I64, Value
from lockstep.execution.memory.textures import MAGIC


def sample(
    b: LaneBuilder,
    handles: Handles,
    at: Coordinates,
    detail: Detail | None = None,
    corners: int | None = None,
) -> tuple[list[Value], Value]:
    """The four channels at coordinates (bits, i32), and the address of the element there (i64).

    ``corners`` as in :func:`filtering.elements`. Without ``detail`` it is the first level.
    """
    keys = keys_of(b, handles)
    if detail is None:
        found = _at_level(b, keys, at, corners)
        return found[:CHANNELS], found[CHANNELS]
    if at.cube and detail.gradients:
        detail = by_longest(b, detail, at)
    level, weight, some = level_of(b, keys, detail, at)
    near = _at_level(b, Value(b.ir.add(keys.ir, level.ir), I64), at, corners)

    def between() -> Values:
        above = b.ir.add(b.ir.add(keys.ir, level.ir), b.constant(I64, 1).ir)
        inside = b.ir.fcmp_ordered(">", weight.ir, b.constant(F32, 0.0).ir)
        with b.guarded(Value(inside, b.active.type)):
            far = _at_level(b, Value(above, I64), at, corners)
        return blended(b, near[:CHANNELS], far[:CHANNELS], weight)

    channels = either(b, some, between, lambda: [c.ir for c in near[:CHANNELS]])
    return [Value(c, I32) for c in channels], near[CHANNELS]


def _at_level(b: LaneBuilder, keys: Value, at: Coordinates, corners: int | None) -> list[Value]:
    def one(inner: LaneBuilder, texture: Texture, *values: ir.Value) -> Values:
        return elements(inner, texture, at.rebuilt(values), corners)

    name = f"sample_{at.name}" + (f"_corners{corners}" if corners is not None else "")
    return for_each_texture(b, name, keys, at.parts, [*[I32] * CHANNELS, I64], one)


def query(
    b: LaneBuilder, handles: Handles, field: str, level: Value | None = None, what: int = MAGIC
) -> Value:
    """A field of the textures' records (i32), or of that of a level (i32) of each; 0 beyond.

    ``what`` is the first word of the records: samplers have another one.
    """
    keys = keys_of(b, handles, what)
    if level is None:
        return _fields(b, keys, field)
    levels = _fields(b, keys, "levels")
    beyond = b.ir.icmp_unsigned(">=", level.ir, levels.ir)
    inside = b.ir.select(beyond, b.constant(I32, 0).ir, level.ir)
    wide = b.ir.zext(inside, b.vector(I64))
    own = _fields(b, Value(b.ir.add(keys.ir, wide), I64), field)
    return Value(b.ir.select(beyond, b.constant(I32, 0).ir, own.ir), I32)


def _fields(b: LaneBuilder, keys: Value, field: str) -> Value:
    def one(inner: LaneBuilder, texture: Texture) -> Values:
        return [texture.number(field).ir]

    return for_each_texture(b, f"query_{field}", keys, [], [I32], one)[0]


def halves(b: LaneBuilder, channels: list[Value]) -> list[Value]:
    """Channels (f32 as i32) as pairs of f16, the first in the lower half; the last may be alone."""
    words = []
    for channel in channels:
        half = narrow(b, b.cast(channel, F32), F16, Rounding.NEAREST)
        words.append(b.ir.zext(b.cast(half, F16.integer).ir, b.vector(I32)))
    shift = b.constant(I32, 16).ir
    pairs = [b.ir.or_(x, b.ir.shl(y, shift)) for x, y in zip(words[::2], words[1::2])]
    return [Value(p, I32) for p in pairs + words[2 * len(pairs) :]]
