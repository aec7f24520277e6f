"""Floating-point formats: what their bits mean, and the way from small ones to f32."""

import msgspec
from llvmlite import ir

from lockstep.execution.lanes.builder import LaneBuilder
from lockstep.execution.lanes.integer import is_zero, resize, shift_left
from lockstep.execution.lanes.types import (
    BF16,
    E4M3,
    E5M2,
    F16,
    F32,
    F64,
    PRED,
    TF32,
    Type,
    Value,
)


class FloatFormat(msgspec.Struct, frozen=True):
    """A binary floating-point format in the upper bits of its container.

    ``nan`` is the canonical NaN (PTX ISA, as pattern of the format's own bits).
    """

    exponent_bits: int
    fraction_bits: int
    nan: int
    infinite: bool = True  # e4m3 has no infinity, and one NaN of each sign
    unused_bits: int = 0  # below the fraction

    @property
    def minimum_exponent(self) -> int:
        """The exponent of the smallest normal number."""
        return 2 - (1 << self.exponent_bits - 1)

    @property
    def infinity(self) -> int:
        """The exponent's bits."""
        return (1 << self.exponent_bits) - 1 << self.fraction_bits

    @property
    def largest(self) -> int:
        """The largest finite number."""
        return self.infinity - 1 if self.infinite else self.nan - 1

    @property
    def sign(self) -> int:
        """The sign bit."""
        return 1 << self.exponent_bits + self.fraction_bits


FORMATS = {
    F16: FloatFormat(5, 10, 0x7FFF),
    BF16: FloatFormat(8, 7, 0x7FFF),
    TF32: FloatFormat(8, 10, 0x3FFFF, unused_bits=13),
    F32: FloatFormat(8, 23, 0x7FFFFFFF),
    F64: FloatFormat(11, 52, 0x7FFFFFFFFFFFFFFF),
    E4M3: FloatFormat(4, 3, 0x7F, infinite=False),
    E5M2: FloatFormat(5, 2, 0x7F),
}


def format_of(kind: Type) -> FloatFormat:
    """The format of a type's elements."""
    return FORMATS[kind.scalar]


def raw(b: LaneBuilder, x: Value) -> Value:
    """The bits of a float as they are, whatever a NaN holds."""
    kind = x.type.integer
    vector = b.vector(kind)
    return Value(x.ir if x.ir.type == vector else b.ir.bitcast(x.ir, vector), kind)


def from_raw(b: LaneBuilder, bits: Value, kind: Type, settled: bool = True) -> Value:
    """A float from its bits."""
    vector = b.vector(kind)
    same = bits.ir.type == vector
    return Value(bits.ir if same else b.ir.bitcast(bits.ir, vector), kind, settled)


def keep(b: LaneBuilder, bits: Value, pattern: int) -> Value:
    """The bits that a pattern has."""
    return Value(b.ir.and_(bits.ir, b.constant(bits.type, pattern).ir), bits.type)


def flush(b: LaneBuilder, x: Value) -> Value:
    """Subnormal numbers become zeros of their sign."""
    form, bits = format_of(x.type), raw(b, x)
    small = is_zero(b, keep(b, bits, form.infinity))
    flushed = b.select(small, keep(b, bits, form.sign), bits)
    return from_raw(b, flushed, x.type, x.settled)


def widen(b: LaneBuilder, x: Value) -> Value:
    """An f16, bf16, e4m3 or e5m2 as f32; other floats as they are."""
    kind = F32.times(x.type.count)
    match x.type.scalar:
        case t if t == BF16:
            wide = resize(b, raw(b, x), kind.integer)
            return from_raw(b, shift_left(b, wide, 16), kind, settled=False)
        case t if t == E5M2:
            wide = resize(b, raw(b, x), F16.times(x.type.count).integer)
            return _widen_half(b, shift_left(b, wide, 8))
        case t if t == E4M3:
            return _widen_e4m3(b, x)
        case t if t == F16:
            return _widen_half(b, raw(b, x))
    return x


def _widen_half(b: LaneBuilder, bits: Value) -> Value:
    kind = F32.times(bits.type.count)
    vector = b.vector(kind)
    halves = b.ir.bitcast(bits.ir, ir.VectorType(ir.HalfType(), vector.count))
    return Value(b.ir.fpext(halves, vector), kind, settled=False)


def _widen_e4m3(b: LaneBuilder, x: Value) -> Value:
    """The exponent in the place of an f16's is too small by the difference of the biases, 8."""
    bits = resize(b, raw(b, x), F16.times(x.type.count).integer)
    magnitude = keep(b, bits, 0x7F)
    sign = shift_left(b, keep(b, bits, 0x80), 8)
    place = Value(b.ir.or_(sign.ir, shift_left(b, magnitude, 7).ir), bits.type)
    number = _widen_half(b, place)
    number = Value(b.ir.fmul(number.ir, b.constant(number.type, 256.0).ir), number.type)
    nan = b.ir.icmp_unsigned("==", magnitude.ir, b.constant(bits.type, 0x7F).ir)
    nan = Value(nan, PRED.times(x.type.count))
    return b.select(nan, b.constant(number.type, FORMATS[F32].nan), number)
