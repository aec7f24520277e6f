"""Handles of textures, surfaces and samplers: their records, one after the other.

The lanes of a warp mostly name one texture; a loop takes the lanes of each that is named.
"""

from collections.abc import Callable

import msgspec
from llvmlite import ir

from lockstep.execution.lanes.addresses import Access, refuse
from lockstep.execution.lanes.builder import WORD, LaneBuilder
from lockstep.execution.lanes.fetch import Texture
from lockstep.execution.lanes.flow import Values, outlined, spill, value_by_value
from lockstep.execution.lanes.gathering import gather
from lockstep.execution.lanes.types import I64, PRED, Type, Value
from lockstep.execution.memory.textures import HEADER_BYTES, MAGIC, SAMPLER_MAGIC
from lockstep.execution.state import Window

_SAMPLER = 32  # where the number of a sampler begins in a key


class Handles(msgspec.Struct, frozen=True):
    """Handles of the active lanes (i64), and the site that reports bad ones (Window.TEXTURE).

    ``samplers``: handles of what says how to read the textures, where it is not they themselves.
    """

    textures: Value
    bad: ir.Value
    samplers: Value | None = None


def keys_of(b: LaneBuilder, handles: Handles, what: int = MAGIC) -> Value:
    """Numbers of records (i64): a texture's, and above it its sampler's, zero if it has none.

    The launch ends if a handle is nobody's. ``what`` is the first word of the records.
    """

    def body(inner: LaneBuilder, numbers, bad) -> Values:
        _check(inner, Value(numbers, I64), bad, what)
        return []

    name = "check_textures" if what == MAGIC else "check_samplers"
    outlined(b, name, [], [handles.textures.ir, handles.bad], body)
    if handles.samplers is None:
        return handles.textures
    samplers = keys_of(b, Handles(handles.samplers, handles.bad), SAMPLER_MAGIC)
    above = b.ir.shl(samplers.ir, b.constant(I64, _SAMPLER).ir)
    return Value(b.ir.or_(above, handles.textures.ir), I64)


def _check(b: LaneBuilder, numbers: Value, bad: ir.Value, what: int) -> None:
    """All of device memory can be read: the first word of a record tells whether it is one."""
    access = Access(Window.GLOBAL, numbers, 1, bad)
    before = b.ir.sub(numbers.ir, b.constant(I64, 1).ir)
    room = b.ir.udiv(b.field("launch", "memory_bytes"), ir.Constant(WORD, HEADER_BYTES))
    beyond = b.ir.icmp_unsigned(">=", before, b.splat(room, I64).ir)
    refuse(b, access, Value(beyond, PRED))
    offset = b.ir.mul(before, b.constant(I64, HEADER_BYTES).ir)
    host = Value(b.ir.add(b.splat(b.field("launch", "memory"), I64).ir, offset), I64)
    wrong = b.ir.icmp_unsigned("!=", gather(b, host, I64), b.constant(I64, what).ir)
    refuse(b, access, Value(wrong, PRED))


def for_each_texture(
    b: LaneBuilder,
    name: str,
    keys: Value,
    arguments: list[Value],
    results: list[Type],
    emit: Callable[..., Values],
) -> list[Value]:
    """``emit(builder, texture, *arguments)`` for the lanes of each texture; what it gives them.

    ``keys`` are those of :func:`keys_of`.
    """

    def body(inner: LaneBuilder, numbers, *values: ir.Value) -> Values:
        places = [spill(inner, ir.Constant(inner.vector(r), None)) for r in results]
        with value_by_value(inner, numbers) as key:
            found = emit(inner, _texture(inner, key), *values)
            for place, kind, value in zip(places, results, found):
                inner.store_vector(place, Value(value, kind), inner.active)
        return [inner.load_vector(p, r).ir for p, r in zip(places, results)]

    words = [keys.ir, *(a.ir for a in arguments)]
    found = outlined(b, name, [b.vector(r) for r in results], words, body)
    return [Value(v, r) for v, r in zip(found, results)]


def _texture(b: LaneBuilder, key: ir.Value) -> Texture:
    own = b.ir.and_(key, ir.Constant(WORD, (1 << _SAMPLER) - 1))
    sampler = b.ir.lshr(key, ir.Constant(WORD, _SAMPLER))
    apart = b.ir.icmp_unsigned("!=", sampler, ir.Constant(WORD, 0))
    return Texture(b, _record(b, own), _record(b, b.ir.select(apart, sampler, own)))


def _record(b: LaneBuilder, number: ir.Value) -> ir.Value:
    """Host address of a record."""
    before = b.ir.sub(number, ir.Constant(WORD, 1))
    offset = b.ir.mul(before, ir.Constant(WORD, HEADER_BYTES))
    return b.ir.add(b.field("launch", "memory"), offset)
