"""Numbers into the elements of surfaces, as these store them."""

from llvmlite import ir

from lockstep.execution.lanes import written
from lockstep.execution.lanes.builder import WORD, LaneBuilder
from lockstep.execution.lanes.convert import to_integer
from lockstep.execution.lanes.fetch import Texture
from lockstep.execution.lanes.gathering import scatter
from lockstep.execution.lanes.integer import resize
from lockstep.execution.lanes.narrow import narrow
from lockstep.execution.lanes.rounding import Rounding
from lockstep.execution.lanes.types import F16, F32, I8, I16, I32, I64, PRED, Value
from lockstep.execution.memory.textures import Number

_SIZES = {1: I8, 2: I16, 4: I32}


def store_number(
    b: LaneBuilder, texture: Texture, element: Value, channel: int, value: Value
) -> None:
    """Write one channel (i32, or f32 as i32) of elements at host addresses, if they have it."""
    encoded = _encoded(b, texture, value)
    exists = b.ir.icmp_unsigned(">", texture.field("channels"), ir.Constant(WORD, channel))
    offset = b.ir.mul(texture.field("number_bytes"), ir.Constant(WORD, channel))
    place = Value(b.ir.add(element.ir, b.splat(offset, I64).ir), I64)
    for size, kind in _SIZES.items():
        fits = b.ir.and_(exists, texture.holds("number_bytes", size))
        with b.guarded(b.splat(fits, PRED)):
            written.write_at(b, place, kind.bytes)
            scatter(b, place, resize(b, encoded, kind))


def _encoded(b: LaneBuilder, texture: Texture, value: Value) -> Value:
    """The bits of a number: integers, and floats that stand for them, kept within their range."""
    emit = b.ir
    single = b.cast(value, F32)
    half = narrow(b, single, F16, Rounding.NEAREST)
    half_bits = resize(b, b.cast(half, I16), I32).ir
    is_half = texture.holds("number_bytes", 2)
    as_float = emit.select(is_half, half_bits, value.ir)
    signed = texture.holds("number", Number.SIGNED)
    whole = emit.select(texture.is_scaled(), _steps(b, texture, single), value.ir)
    as_integer = emit.select(
        signed, _kept(b, texture, whole, True), _kept(b, texture, whole, False)
    )
    is_float = texture.holds("number", Number.FLOAT)
    return Value(emit.select(is_float, as_float, as_integer), I32)


def _steps(b: LaneBuilder, texture: Texture, single: Value) -> ir.Value:
    """A number up to 1 as an integer of 8 or 16 bits."""
    one = b.constant(F32, 1.0)
    least = b.ir.select(
        texture.holds("number", Number.SIGNED), b.constant(F32, -1.0).ir, b.constant(F32, 0.0).ir
    )
    low = b.elementwise("maxnum", single, Value(least, F32))
    inside = b.elementwise("minnum", low, one)
    steps = Value(b.ir.fmul(inside.ir, texture.real("scale").ir), F32)
    return to_integer(b, steps, I32, True, Rounding.NEAREST).ir


def _kept(b: LaneBuilder, texture: Texture, whole: ir.Value, signed: bool) -> ir.Value:
    """An integer within those of as many bits as numbers have."""
    bits = b.ir.shl(texture.number("number_bytes").ir, b.constant(I32, 3).ir)
    unused = b.ir.sub(b.constant(I32, 32).ir, bits)
    if not signed:
        most = b.ir.lshr(b.constant(I32, -1).ir, unused)
        scaled = texture.is_scaled()  # those are not negative
        kept = b.elementwise("umin", Value(whole, I32), Value(most, I32)).ir
        return b.ir.select(scaled, whole, kept)
    most = b.ir.lshr(b.constant(I32, (1 << 31) - 1).ir, unused)
    low = b.elementwise("smin", Value(whole, I32), Value(most, I32))
    return b.elementwise("smax", low, Value(b.ir.not_(most), I32)).ir
