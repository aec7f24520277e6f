"""Elements of textures and surfaces: where they are, and what their bytes mean."""

import msgspec
from llvmlite import ir

from lockstep.execution.lanes.builder import HALF, POINTER, WORD, LaneBuilder, offset_of
from lockstep.execution.lanes.flow import Values, either, outlined
from lockstep.execution.lanes.formats import widen
from lockstep.execution.lanes.gathering import gather
from lockstep.execution.lanes.types import F16, F32, I16, I32, I64, PRED, Value
from lockstep.execution.memory.textures import TEXTURE, Number

CHANNELS = 4
ONE = 0x3F800000  # as f32


class ElementPlace(msgspec.Struct, frozen=True):
    """Indices of elements (i32) on three axes; where ``exists`` (i1) fails, it is the border."""

    x: ir.Value
    y: ir.Value
    z: ir.Value
    exists: ir.Value


_BORDER = tuple(f"border_{channel}" for channel in range(CHANNELS))
_SAMPLING = ("linear", "address_x", "address_y", "address_z", "level_linear", "level_bias")
_SAMPLING += ("level_least", "level_most", "compare", *_BORDER)


class Texture:
    """The record of the texture that the active lanes have in common, and of its sampler."""

    def __init__(self, b: LaneBuilder, record: ir.Value, sampler: ir.Value):
        self.b, self.record, self.sampler = b, record, sampler

    def _place(self, name: str) -> ir.Value:
        record = self.sampler if name in _SAMPLING else self.record
        pointer = self.b.ir.inttoptr(record, POINTER)
        return self.b.member(pointer, TEXTURE, name)

    def field(self, name: str) -> ir.Value:
        """A field (i64)."""
        return self.b.ir.load(self._place(name), typ=WORD)

    def number(self, name: str) -> Value:
        """A field in every lane (i32)."""
        return self.b.splat(self.b.ir.trunc(self.field(name), HALF), I32)

    def holds(self, name: str, value: int) -> ir.Value:
        """Whether a field has a value (i1)."""
        return self.b.ir.icmp_unsigned("==", self.field(name), ir.Constant(WORD, value))

    def is_normalized(self) -> ir.Value:
        """Whether coordinates go from 0 to 1 (i1): a sampler may make them elements."""
        offset = offset_of(TEXTURE, "normalized")
        pointers = [self.b.ir.inttoptr(r, POINTER) for r in (self.record, self.sampler)]
        words = [self.b.ir.load(self.b.offset(p, offset), typ=WORD) for p in pointers]
        both = self.b.ir.and_(*words)
        return self.b.ir.icmp_unsigned("!=", both, ir.Constant(WORD, 0))

    def is_scaled(self) -> ir.Value:
        """Whether integers are read as floats (i1)."""
        return self.b.ir.icmp_unsigned("!=", self.field("scale"), ir.Constant(WORD, 0))

    def real(self, name: str) -> Value:
        """A field that is no integer, in every lane (f32)."""
        double = self.b.ir.load(self._place(name), typ=ir.DoubleType())
        return self.b.splat(self.b.ir.fptrunc(double, ir.FloatType()), F32)


def fetch(b: LaneBuilder, texture: Texture, place: ElementPlace) -> Values:
    """The four channels of an element (bits, i32), and its address (i64)."""

    def emit(inner: LaneBuilder, record, sampler, x, y, z, exists) -> Values:
        own = Texture(inner, record, sampler)
        address = _address(inner, own, x, y, z)
        channels = [_channel(inner, own, address, c) for c in range(CHANNELS)]
        there, outside = inner.lanes_of(exists).ir, [own.number(name).ir for name in _BORDER]
        chosen = [inner.ir.select(there, c, o) for c, o in zip(channels, outside, strict=True)]
        return [*chosen, address]

    exists = b.bits_of(Value(place.exists, PRED))
    arguments = [texture.record, texture.sampler, place.x, place.y, place.z, exists]
    results = [*[b.vector(I32)] * CHANNELS, b.vector(I64)]
    return outlined(b, "fetch_element", results, arguments, emit, faults=False)


def _address(b: LaneBuilder, texture: Texture, x, y, z) -> ir.Value:
    """Host address of elements."""
    element = b.ir.mul(texture.field("channels"), texture.field("number_bytes"))
    address = b.splat(texture.field("data"), I64).ir
    sizes = (element, texture.field("row_bytes"), texture.field("slice_bytes"))
    for index, size in zip((x, y, z), sizes):
        offset = b.ir.mul(b.ir.zext(index, b.vector(I64)), b.splat(size, I64).ir)
        address = b.ir.add(address, offset)
    return address


def _channel(b: LaneBuilder, texture: Texture, address: ir.Value, channel: int) -> ir.Value:
    """One number of each element; a missing one is 0, the last one 1."""

    def present() -> Values:
        offset = b.ir.mul(texture.field("number_bytes"), ir.Constant(WORD, channel))
        place = b.ir.add(address, b.splat(offset, I64).ir)
        return [_number(b, texture, place)]

    def missing() -> Values:
        if channel < CHANNELS - 1:
            return [b.constant(I32, 0).ir]
        is_float = b.ir.or_(texture.holds("number", Number.FLOAT), texture.is_scaled())
        return [b.ir.select(is_float, b.constant(I32, ONE).ir, b.constant(I32, 1).ir)]

    if channel == 0:
        return present()[0]
    more = b.ir.icmp_unsigned(">", texture.field("channels"), ir.Constant(WORD, channel))
    return either(b, more, present, missing)[0]


def _number(b: LaneBuilder, texture: Texture, address: ir.Value) -> ir.Value:
    """A number of 1, 2 or 4 bytes from the aligned word around it, as 32 bits."""
    emit = b.ir
    word = emit.and_(address, b.constant(I64, -4).ir)
    within = emit.trunc(emit.and_(address, b.constant(I64, 3).ir), b.vector(I32))
    shift = emit.shl(within, b.constant(I32, 3).ir)
    raw = emit.lshr(gather(b, Value(word, I64), I32), shift)
    bits = emit.shl(texture.number("number_bytes").ir, b.constant(I32, 3).ir)
    unused = emit.sub(b.constant(I32, 32).ir, bits)
    left = emit.shl(raw, unused)
    signed, unsigned = emit.ashr(left, unused), emit.lshr(left, unused)
    whole = emit.select(texture.holds("number", Number.SIGNED), signed, unsigned)
    half = widen(b, Value(emit.trunc(unsigned, b.vector(I16)), F16))
    half_bits = b.cast(Value(half.ir, F32), I32).ir
    is_half = emit.and_(texture.holds("number", Number.FLOAT), texture.holds("number_bytes", 2))
    plain = emit.select(is_half, half_bits, whole)
    return emit.select(texture.is_scaled(), _scaled(b, texture, whole), plain)


def _scaled(b: LaneBuilder, texture: Texture, whole: ir.Value) -> ir.Value:
    """An integer of up to 16 bits as an f32 between 0 or -1, and 1."""
    number = b.ir.fdiv(b.ir.sitofp(whole, b.vector(F32)), texture.real("scale").ir)
    least = b.constant(F32, -1.0)
    return b.cast(b.elementwise("maxnum", Value(number, F32), least), I32).ir
