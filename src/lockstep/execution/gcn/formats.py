"""Data formats of buffers and images: from the bytes of an element to channels, and back.

The format is a scalar of the wavefront: descriptors hold it. So what each channel's place, width
and kind are is chosen from tables by scalars, and the lanes shift and convert by these.
"""

from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum

from llvmlite import ir

from lockstep.execution.lanes.builder import HALF, WORD, LaneBuilder
from lockstep.execution.lanes.convert import to_float, to_integer
from lockstep.execution.lanes.flow import Values
from lockstep.execution.lanes.formats import from_raw, raw, widen
from lockstep.execution.lanes.integer import resize
from lockstep.execution.lanes.rounding import Rounding
from lockstep.execution.lanes.types import F16, F32, I16, I32, Value

CHANNELS = 4
_WIDTHS = {  # bits of the channels by data format, the lowest one first
    1: (8,), 2: (16,), 3: (8, 8), 4: (32,), 5: (16, 16), 6: (11, 11, 10), 7: (10, 11, 11),
    8: (2, 10, 10, 10), 9: (10, 10, 10, 2), 10: (8,) * 4, 11: (32,) * 2, 12: (16,) * 4,
    13: (32,) * 3, 14: (32,) * 4,
}  # fmt: skip
_FIELD, _WIDTH_SHIFT = 16, 8  # bits of a channel in a packed layout, and to its width
_ONE = 0x3F800000


class ChannelNumber(IntEnum):
    """What the bits of a channel are."""

    UNORM = 0
    SNORM = 1
    USCALED = 2
    SSCALED = 3
    UINT = 4
    SINT = 5
    SNORM_OGL = 6
    FLOAT = 7


def bytes_of(data_format: int) -> int:
    """Of an element; 0 for a format that there is none."""
    return sum(_WIDTHS.get(data_format, ())) // 8


def channels_of(data_format: int) -> int:
    """How many channels an element has."""
    return len(_WIDTHS.get(data_format, ()))


def words_of(data_format: int) -> int:
    """32-bit words that hold an element's channels."""
    return max(-(-bytes_of(data_format) // 4), 1)


def size_of(b: LaneBuilder, data_format: ir.Value) -> ir.Value:
    """Bytes of an element (i32) whose format is a scalar (i32)."""
    return _chosen(b, data_format, {k: bytes_of(k) for k in _WIDTHS}, HALF)


def _chosen(b: LaneBuilder, number: ir.Value, table: dict[int, int], kind: ir.IntType) -> ir.Value:
    """The entry of a table, 0 if there is none."""
    found = ir.Constant(kind, 0)
    for key, entry in table.items():
        here = b.ir.icmp_unsigned("==", number, ir.Constant(number.type, key))
        found = b.ir.select(here, ir.Constant(kind, entry), found)
    return found


def _packed(widths: tuple[int, ...]) -> int:
    word = place = 0
    for k, width in enumerate(widths):
        word |= (place | width << _WIDTH_SHIFT) << _FIELD * k
        place += width
    return word


@dataclass(frozen=True)
class _Channel:
    """Where a channel is (i32 scalars): its word, the shift in it, its width."""

    word: ir.Value
    shift: ir.Value
    width: ir.Value
    exists: ir.Value


def _channels(b: LaneBuilder, data_format: ir.Value) -> list[_Channel]:
    e = b.ir
    layout = _chosen(b, data_format, {k: _packed(w) for k, w in _WIDTHS.items()}, WORD)
    found = []
    for k in range(CHANNELS):
        field = e.trunc(e.lshr(layout, ir.Constant(WORD, _FIELD * k)), HALF)
        place = e.and_(field, ir.Constant(HALF, 0xFF))
        width = e.and_(e.lshr(field, ir.Constant(HALF, _WIDTH_SHIFT)), ir.Constant(HALF, 0xFF))
        word = e.lshr(place, ir.Constant(HALF, 5))
        shift = e.and_(place, ir.Constant(HALF, 31))
        exists = e.icmp_unsigned("!=", width, ir.Constant(HALF, 0))
        found.append(_Channel(word, shift, width, exists))
    return found


def decode(b: LaneBuilder, words: Values, data_format: ir.Value, number: ir.Value) -> Values:
    """The four channels (i32) of elements; those that a format lacks are 0, 0 and 1."""
    one, found = _one(b, number), []
    for k, channel in enumerate(_channels(b, data_format)):
        missing = b.splat(one, I32).ir if k == CHANNELS - 1 else b.constant(I32, 0).ir
        value = _number_of(b, _bits_of(b, words, channel), channel.width, number)
        found.append(b.ir.select(channel.exists, value.ir, missing))
    return found


def _is(b: LaneBuilder, number: ir.Value, *numbers: ChannelNumber) -> ir.Value:
    here = [b.ir.icmp_unsigned("==", number, ir.Constant(number.type, n)) for n in numbers]
    return here[0] if len(here) == 1 else b.ir.or_(*here)


def _bits_of(b: LaneBuilder, words: Values, channel: _Channel) -> Value:
    """A channel's bits at the top of a word."""
    word = words[0]
    for k, other in enumerate(words[1:], 1):
        here = b.ir.icmp_unsigned("==", channel.word, ir.Constant(HALF, k))
        word = b.ir.select(here, other, word)
    left = b.ir.sub(ir.Constant(HALF, 32), b.ir.add(channel.shift, channel.width))
    left = b.ir.and_(left, ir.Constant(HALF, 31))
    return Value(b.ir.shl(word, b.splat(left, I32).ir), I32)


def _number_of(b: LaneBuilder, top: Value, width: ir.Value, number: ir.Value) -> Value:
    """What the bits at the top of a word stand for."""
    e = b.ir
    down = b.splat(e.and_(e.sub(ir.Constant(HALF, 32), width), ir.Constant(HALF, 31)), I32).ir
    unsigned, signed = e.lshr(top.ir, down), e.ashr(top.ir, down)
    single = b.vector(F32)
    as_unsigned, as_signed = e.uitofp(unsigned, single), e.sitofp(signed, single)
    most, most_signed = (b.splat(v, F32).ir for v in _most(b, width))
    norm = e.fdiv(as_signed, most_signed)
    least = b.constant(F32, -1.0)
    kinds: dict[ChannelNumber, ir.Value] = {
        ChannelNumber.UNORM: e.fdiv(as_unsigned, most),
        ChannelNumber.SNORM: b.elementwise("maxnum", Value(norm, F32), least).ir,
        ChannelNumber.USCALED: as_unsigned,
        ChannelNumber.SSCALED: as_signed,
    }
    kinds[ChannelNumber.SNORM_OGL] = kinds[ChannelNumber.SNORM]
    value = e.select(_is(b, number, ChannelNumber.SINT), signed, unsigned)
    for kind, result in kinds.items():
        bits = e.bitcast(result, b.vector(I32))
        value = e.select(_is(b, number, kind), bits, value)
    value = e.select(_is(b, number, ChannelNumber.FLOAT), _small_float(b, top, width).ir, value)
    return Value(value, I32)


def _most(b: LaneBuilder, width: ir.Value) -> tuple[ir.Value, ir.Value]:
    """The largest numbers of so many bits, without and with a sign, as f32 scalars."""
    e, one = b.ir, ir.Constant(WORD, 1)
    bits = e.zext(width, WORD)
    half = e.lshr(e.shl(one, bits), one)
    numbers = e.sub(e.shl(one, bits), one), e.sub(half, one)
    unsigned, signed = (e.uitofp(n, ir.FloatType()) for n in numbers)
    return unsigned, signed


def _small_float(b: LaneBuilder, top: Value, width: ir.Value) -> Value:
    """Floats of 32 and 16 bits; those of 11 and 10 bits have no sign, and an f16's exponent."""
    e = b.ir
    plain = e.icmp_unsigned("==", width, ir.Constant(HALF, 32))
    signed = e.icmp_unsigned("==", width, ir.Constant(HALF, 16))
    places = b.splat(e.select(signed, ir.Constant(HALF, 16), ir.Constant(HALF, 17)), I32)
    half = resize(b, Value(e.lshr(top.ir, places.ir), I32), I16)
    wide = raw(b, widen(b, from_raw(b, half, F16)))
    return Value(e.select(plain, top.ir, wide.ir), I32)


def encode(b: LaneBuilder, values: Values, data_format: ir.Value, number: ir.Value) -> Values:
    """The words of elements from four channels (i32); those that a format lacks are dropped."""
    e = b.ir
    words = [b.constant(I32, 0).ir] * CHANNELS
    for value, channel in zip(values, _channels(b, data_format), strict=True):
        bits = _fitted(b, Value(value, I32), channel.width, number)
        bits = e.shl(bits, b.splat(channel.shift, I32).ir)
        for k in range(CHANNELS):
            here = e.icmp_unsigned("==", channel.word, ir.Constant(HALF, k))
            here = e.and_(here, channel.exists)
            words[k] = e.select(here, e.or_(words[k], bits), words[k])
    return words


def _fitted(b: LaneBuilder, value: Value, width: ir.Value, number: ir.Value) -> ir.Value:
    """The bits of a channel, in the low bits of a word: the nearest number that there is."""
    e, single = b.ir, b.cast(value, F32)
    e_most, e_signed = _most(b, width)
    most, most_signed = b.splat(e_most, F32), b.splat(e_signed, F32)
    down = e.and_(e.sub(ir.Constant(HALF, 32), width), ir.Constant(HALF, 31))
    ones = b.splat(e.lshr(ir.Constant(HALF, -1), down), I32)
    half = b.splat(e.lshr(e.lshr(ir.Constant(HALF, -1), down), ir.Constant(HALF, 1)), I32)

    def scaled(scale: Value | None, signed: bool) -> ir.Value:
        """A float times a scale as an integer; without one it is cut off."""
        x = single
        if scale is not None:
            low = b.constant(F32, -1.0 if signed else 0.0)
            x = b.elementwise("minnum", x, b.constant(F32, 1.0))
            x = b.elementwise("maxnum", x, low)
            x = Value(e.fmul(x.ir, scale.ir), F32)
        rounding = Rounding.NEAREST if scale is not None else Rounding.ZERO
        return to_integer(b, x, I32, signed, rounding).ir

    def clamped(x: ir.Value, signed: bool) -> ir.Value:
        number = Value(x, I32)
        if not signed:
            return b.elementwise("umin", number, ones).ir
        number = b.elementwise("smin", number, half)
        return b.elementwise("smax", number, Value(e.not_(half.ir), I32)).ir

    kinds: dict[ChannelNumber, Callable[[], ir.Value]] = {
        ChannelNumber.UNORM: lambda: scaled(most, False),
        ChannelNumber.SNORM: lambda: scaled(most_signed, True),
        ChannelNumber.SNORM_OGL: lambda: scaled(most_signed, True),
        ChannelNumber.USCALED: lambda: clamped(scaled(None, False), False),
        ChannelNumber.SSCALED: lambda: clamped(scaled(None, True), True),
        ChannelNumber.UINT: lambda: clamped(value.ir, False),
        ChannelNumber.SINT: lambda: clamped(value.ir, True),
    }
    bits = _small_bits(b, value, width)
    for kind, emit in kinds.items():
        bits = e.select(_is(b, number, kind), emit(), bits)
    return e.and_(bits, ones.ir)


def _small_bits(b: LaneBuilder, value: Value, width: ir.Value) -> ir.Value:
    """The inverse of :func:`_small_float`; what has no sign is at least 0."""
    e = b.ir
    single = b.cast(value, F32)
    half = resize(b, raw(b, to_float(b, single, F16)), I32).ir
    above = b.elementwise("maxnum", single, b.constant(F32, 0.0))
    positive = resize(b, raw(b, to_float(b, above, F16)), I32).ir
    cut = b.splat(e.and_(e.sub(ir.Constant(HALF, 15), width), ir.Constant(HALF, 31)), I32).ir
    narrow = e.lshr(positive, cut)
    bits = e.select(e.icmp_unsigned("==", width, ir.Constant(HALF, 16)), half, narrow)
    return e.select(e.icmp_unsigned("==", width, ir.Constant(HALF, 32)), value.ir, bits)


def bordered(
    b: LaneBuilder, channels: Values, data: ir.Value, number: ir.Value, border: ir.Value
) -> Values:
    """The channels of elements, or of the border where lanes are not active.

    ``border`` (i32): 1 is opaque black, 2 white, others are transparent black. Channels that a
    format lacks are there as they are inside.
    """
    e, found = b.ir, []
    layout = _channels(b, data)
    for k, (channel, value) in enumerate(zip(layout, channels, strict=True)):
        white = e.icmp_unsigned("==", border, ir.Constant(HALF, 2))
        if k == CHANNELS - 1:
            white = e.or_(white, e.icmp_unsigned("==", border, ir.Constant(HALF, 1)))
        color = e.select(white, _one(b, number), ir.Constant(HALF, 0))
        outside = e.select(channel.exists, b.splat(color, I32).ir, value)
        found.append(e.select(b.active.ir, value, outside))
    return found


def _one(b: LaneBuilder, number: ir.Value) -> ir.Value:
    """A channel (i32) that is one."""
    whole = _is(b, number, ChannelNumber.UINT, ChannelNumber.SINT)
    return b.ir.select(whole, ir.Constant(HALF, 1), ir.Constant(HALF, _ONE))


def swizzled(b: LaneBuilder, channels: Values, selects: ir.Value, number: ir.Value) -> Values:
    """What a descriptor's selects (i32, three bits a channel) make of channels: 0, 1, or one."""
    e, one, found = b.ir, _one(b, number), []
    for k in range(CHANNELS):
        select = e.and_(e.lshr(selects, ir.Constant(HALF, 3 * k)), ir.Constant(HALF, 7))
        value = b.constant(I32, 0).ir
        for code, choice in ((1, b.splat(one, I32).ir), *enumerate(channels, 4)):
            here = e.icmp_unsigned("==", select, ir.Constant(HALF, code))
            value = e.select(here, choice, value)
        found.append(value)
    return found
