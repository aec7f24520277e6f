"""Bit patterns and exact real numbers: formats, decoding, rounding.

A decoded number keeps its sign apart from its magnitude, so that zeros are signed; the magnitude
is a Fraction, so that nothing is ever rounded but by ``encode``.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple


@lru_cache(None)
def mask(bits):
    """The largest unsigned number of so many bits."""
    return (1 << bits) - 1


def signed(value, bits):
    """The two's complement reading of the low ``bits`` of a value."""
    value &= mask(bits)
    return value - (1 << bits) if value >> (bits - 1) else value


def clamp(value, low, high):
    return max(low, min(high, value))


@dataclass(frozen=True)
class Format:
    """A binary floating-point format; ``shift`` unused low bits in its container (tf32: 13)."""

    exponent_bits: int
    fraction_bits: int
    nan: int  # the canonical NaN
    infinite: bool = True  # e4m3 has no infinity, and one NaN a sign
    shift: int = 0

    @property
    def bits(self):
        return 1 + self.exponent_bits + self.fraction_bits

    @property
    def minimum_exponent(self):
        """The exponent of the smallest normal number."""
        return 2 - (1 << (self.exponent_bits - 1))

    @property
    def infinity(self):
        return mask(self.exponent_bits) << self.fraction_bits

    @property
    def largest(self):
        """The pattern of the largest finite number."""
        return self.infinity - 1 if self.infinite else self.nan - 1


FORMATS = {
    "f16": Format(5, 10, 0x7FFF),
    "bf16": Format(8, 7, 0x7FFF),
    "tf32": Format(8, 10, 0x3FFFF, shift=13),
    "f32": Format(8, 23, 0x7FFFFFFF),
    "f64": Format(11, 52, 0x7FF8000000000000),
    "e4m3": Format(4, 3, 0x7F, infinite=False),
    "e5m2": Format(5, 2, 0x7F),
}


class Real(NamedTuple):
    """A sign (0 or 1) and a magnitude: a Fraction, or None for infinity; or not a number."""

    sign: int
    magnitude: Fraction | None
    is_nan: bool = False

    @property
    def is_infinite(self):
        return self.magnitude is None and not self.is_nan

    @property
    def is_zero(self):
        return self.magnitude == 0

    @property
    def is_finite(self):
        return self.magnitude is not None

    @property
    def value(self):
        """The number itself; only of finite ones."""
        return -self.magnitude if self.sign else self.magnitude


NAN = Real(0, None, True)
ZERO = Real(0, Fraction(0))
ONE = Real(0, Fraction(1))


def infinity(sign):
    return Real(sign, None)


def real(value, zero_sign=0):
    """The Real of a Fraction or int."""
    value = Fraction(value)
    return Real(int(value < 0) if value else zero_sign, abs(value))


@lru_cache(None)
def power(exponent):
    return Fraction(2) ** exponent


@lru_cache(1 << 16)
def decode(pattern, name):
    """The number that a pattern of a format means."""
    form = FORMATS[name]
    pattern >>= form.shift
    sign = pattern >> (form.bits - 1) & 1
    body = pattern & mask(form.bits - 1)
    if (body > form.infinity and form.infinite) or (not form.infinite and body == form.nan):
        return NAN._replace(sign=sign)
    if body == form.infinity and form.infinite:
        return infinity(sign)
    exponent, fraction = body >> form.fraction_bits, body & mask(form.fraction_bits)
    significand = fraction | (1 << form.fraction_bits if exponent else 0)
    scale = max(exponent, 1) - 1 + form.minimum_exponent - form.fraction_bits
    return Real(sign, significand * power(scale))


def exponent_of(magnitude):
    """The e of 2**e <= magnitude < 2**(e + 1)."""
    guess = magnitude.numerator.bit_length() - magnitude.denominator.bit_length()
    return guess if magnitude >= power(guess) else guess - 1


def round_whole(value, sign, mode):
    """A non-negative Fraction to a whole number; the sign says what up and down mean."""
    whole, rest = divmod(value.numerator, value.denominator)
    twice = 2 * rest - value.denominator  # its sign says on which side of the middle
    if mode == "rn":
        up = twice > 0 or (twice == 0 and whole & 1)
    elif mode == "rna":
        up = twice >= 0
    else:
        up = rest and {"rz": False, "rm": sign, "rp": not sign}[mode]
    return whole + bool(up)


def encode(number, name, mode="rn", finite=False):
    """The pattern of a number in a format; ``finite`` clamps to the largest one (satfinite)."""
    form = FORMATS[name]
    if number.is_nan:
        return form.nan << form.shift
    body = _body(number, form, mode, finite)
    return (number.sign << (form.bits - 1) | body) << form.shift


def _body(number, form, mode, finite):
    if number.is_zero:
        return 0
    if number.is_infinite:
        return form.infinity if form.infinite and not finite else form.largest
    exponent = max(exponent_of(number.magnitude), form.minimum_exponent)
    quantum = power(exponent - form.fraction_bits)
    steps = round_whole(number.magnitude / quantum, number.sign, mode)
    body = ((exponent - form.minimum_exponent) << form.fraction_bits) + steps
    if body <= form.largest:
        return body
    stays = finite or not form.infinite or mode == "rz" or mode == ("rp" if number.sign else "rm")
    return form.largest if stays else form.infinity


def is_subnormal(number, name):
    smallest = power(FORMATS[name].minimum_exponent)
    return number.is_finite and 0 < number.magnitude < smallest


def flush(number, name):
    """A subnormal number becomes a zero of its sign."""
    return Real(number.sign, Fraction(0)) if is_subnormal(number, name) else number


def unit_in_last_place(number, name):
    """The distance between neighbours of a format around a finite number."""
    form = FORMATS[name]
    if number.is_zero:
        return power(form.minimum_exponent - form.fraction_bits)
    exponent = max(exponent_of(number.magnitude), form.minimum_exponent)
    return power(exponent - form.fraction_bits)


def convert(pattern, source, target, mode="rn"):
    return encode(decode(pattern, source), target, mode)
