"""Exact arithmetic on Reals, with IEEE 754's rules for zeros, infinities and NaNs."""

from fractions import Fraction
from math import isqrt

from ptx_twin.numbers import NAN, ZERO, Real, infinity, power


def add(a, b, mode="rn"):
    """The exact sum; an exact zero of different signs is negative only when rounding down."""
    if a.is_nan or b.is_nan or (a.is_infinite and b.is_infinite and a.sign != b.sign):
        return NAN
    if a.is_infinite or b.is_infinite:
        return a if a.is_infinite else b
    total = a.value + b.value
    if total:
        return Real(int(total < 0), abs(total))
    return Real(a.sign if a.sign == b.sign else int(mode == "rm"), Fraction(0))


def negate(a):
    return a if a.is_nan else a._replace(sign=a.sign ^ 1)


def absolute(a):
    return a if a.is_nan else a._replace(sign=0)


def subtract(a, b, mode="rn"):
    return add(a, negate(b), mode)


def multiply(a, b):
    if a.is_nan or b.is_nan:
        return NAN
    sign = a.sign ^ b.sign
    if a.is_infinite or b.is_infinite:
        return NAN if a.is_zero or b.is_zero else infinity(sign)
    return Real(sign, a.magnitude * b.magnitude)


def fused(a, b, c, mode="rn"):
    return add(multiply(a, b), c, mode)


def divide(a, b):
    sign = a.sign ^ b.sign
    if a.is_nan or b.is_nan or (a.is_infinite and b.is_infinite) or (a.is_zero and b.is_zero):
        return NAN
    if a.is_infinite or b.is_zero:
        return infinity(sign)
    if b.is_infinite:
        return Real(sign, Fraction(0))
    return Real(sign, a.magnitude / b.magnitude)


def square_root(a):
    """The root, cut after some 200 bits with a last bit that says whether it is exact."""
    if a.is_nan or a.is_zero:
        return a
    if a.sign:
        return NAN
    if a.is_infinite:
        return a
    scale = 1200
    scaled, rest = divmod(a.magnitude.numerator << (2 * scale), a.magnitude.denominator)
    root = isqrt(scaled)
    exact = root * root == scaled and not rest
    return Real(0, (2 * root + (not exact)) * power(-scale - 1))


def less(a, b):
    """Whether a < b, with -0 below +0: the order of min and max. No NaNs."""
    return _order(a) < _order(b)


def _order(a):
    if a.is_infinite:
        return (-1 if a.sign else 1, 0, 0)
    return (0, a.value, -a.sign)


def compare(a, b):
    """-1, 0 or 1, zeros alike; None if unordered."""
    if a.is_nan or b.is_nan:
        return None
    one, other = _order(a)[:2], _order(b)[:2]
    return (one > other) - (one < other)


def saturate(a):
    """Into [0, 1]; a NaN becomes +0."""
    if a.is_nan or a.sign or a.is_zero:
        return ZERO
    return Real(0, Fraction(1)) if a.is_infinite or a.magnitude > 1 else a


def rectify(a):
    """Below zero becomes +0; a NaN stays."""
    return a if a.is_nan or not a.sign else ZERO
