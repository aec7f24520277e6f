"""cvt and cvt.pack."""

from fractions import Fraction

from ptx_twin import arithmetic
from ptx_twin.floating import split
from ptx_twin.integer import limits, reader
from ptx_twin.numbers import (
    Real,
    clamp,
    decode,
    encode,
    flush,
    is_subnormal,
    mask,
    real,
    round_whole,
    signed,
)
from ptx_twin.table import is_float, operation, typed

WHOLE = {"rni": "rn", "rzi": "rz", "rmi": "rm", "rpi": "rp"}
MODES = ("rn", "rz", "rm", "rp", "rna")


def whole_mode(words):
    return next((WHOLE[word] for word in words if word in WHOLE), None)


def to_whole(number, mode):
    """Round a finite Real to a whole number; zero keeps its sign."""
    return Real(number.sign, Fraction(round_whole(number.magnitude, number.sign, mode)))


def float_to_int(words, source, target, pattern):
    """Clamped; a NaN becomes zero, or the top bit where f64 or 64 bits are involved."""
    number = decode(pattern, source)
    if "ftz" in words and source == "f32":
        number = flush(number, source)
    bits = int(target[1:])
    if number.is_nan:
        return 1 << (bits - 1) if source == "f64" or bits == 64 else 0
    low, high = limits(target)
    if number.is_infinite:
        return (low if number.sign else high) & mask(bits)
    rounded = to_whole(number, whole_mode(words) or "rz")
    return clamp(int(rounded.value), low, high) & mask(bits)


def int_to_int(words, source, target, pattern):
    value = reader(source)[0](pattern)
    if "sat" in words:
        value = clamp(value, *limits(target))
    return value & mask(int(target[1:]))


def finish(words, target, number):
    """Saturate, rectify, round and flush a number on its way into a float format."""
    if "sat" in words:
        number = arithmetic.saturate(number)
    if "relu" in words:
        number = arithmetic.rectify(number)
    mode = next((word for word in words if word in MODES), "rn")
    pattern = encode(number, target, mode, "satfinite" in words)
    rounded = decode(pattern, target)
    if "ftz" in words and target == "f32" and is_subnormal(rounded, target):
        return encode(flush(rounded, target), target)
    return pattern


def float_to_float(words, source, target, pattern):
    number = decode(pattern, source)
    if "ftz" in words and source == "f32":
        number = flush(number, source)
    mode = whole_mode(words)
    if mode and number.is_finite:
        number = to_whole(number, mode)
    return finish(words, target, number)


def int_to_float(words, source, target, pattern):
    return finish(words, target, real(reader(source)[0](pattern)))


def single(words, source, target, pattern):
    if is_float(source) and is_float(target):
        return float_to_float(words, source, target, pattern)
    if is_float(source):
        return float_to_int(words, source, target, pattern)
    if is_float(target):
        return int_to_float(words, source, target, pattern)
    return int_to_int(words, source, target, pattern)


@operation("cvt")
def cvt(words, kind, a, b=None):
    """Two sources fill the upper and lower half; a packed source is converted lane by lane."""
    target, source = typed(words)[-2:]
    if b is not None:
        name, _, bits = split(target)
        high, low = (single(words, source, name, value) for value in (a, b))
        return high << bits | low
    if "x" in target:
        return packed(words, source, target, a)
    return single(words, source, target, a)


def packed(words, source, target, pattern):
    name, count, bits = split(target)
    origin, _, width = split(source)
    parts = [pattern >> (i * width) & mask(width) for i in range(count)]
    return sum(single(words, origin, name, p) << (i * bits) for i, p in enumerate(parts))


@operation("cvt.pack")
def cvt_pack(words, kind, a, b, c=None):
    target = next(word for word in words if word[0] in "su" and word[1:].isdigit())
    bits = int(target[1:])
    high, low = (clamp(signed(v, 32), *limits(target)) & mask(bits) for v in (a, b))
    pair = high << bits | low
    return pair if c is None else (c << (2 * bits) | pair) & mask(32)
