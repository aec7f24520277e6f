"""Functions that PTX approximates: their values to 60 digits, and the documented error bounds.

The bounds are those of the PTX ISA's descriptions of the instructions.
"""

from decimal import Decimal, localcontext
from fractions import Fraction
from functools import lru_cache
from math import floor

from ptx_twin.arithmetic import divide, square_root
from ptx_twin.numbers import NAN, ONE, ZERO, Real, infinity, power, real, unit_in_last_place

DIGITS = 90


def _decimal(value):
    return Decimal(value.numerator) / Decimal(value.denominator)


def _evaluate(function, value):
    """Apply a Decimal function to a Fraction at full precision."""
    with localcontext(prec=DIGITS):
        return Fraction(function(_decimal(value)))


@lru_cache
def _pi():
    """Machin's formula."""

    def arctangent_of_inverse(n):
        total, term, k = Decimal(0), Decimal(1) / n, 0
        while abs(term) > Decimal(10) ** (-DIGITS - 5):
            total += term / (2 * k + 1) * (-1) ** k
            term, k = term / (n * n), k + 1
        return total

    with localcontext(prec=DIGITS + 10):
        return 16 * arctangent_of_inverse(5) - 4 * arctangent_of_inverse(239)


def _sine(x):
    """Taylor's series around zero of the reduced angle."""
    turn = 2 * _pi()
    x = x - turn * (x / turn).to_integral_value()
    total, term, k = Decimal(0), x, 1
    while abs(term) > Decimal(10) ** (-DIGITS):
        total += term
        term, k = -term * x * x / ((k + 1) * (k + 2)), k + 2
    return total


def ex2(a):
    if a.is_nan:
        return NAN
    if a.is_infinite:
        return ZERO if a.sign else infinity(0)
    whole = floor(a.value)
    if abs(whole) > 2000:
        return Real(0, power(-2000 if a.sign else 2000))
    if a.value == whole:
        return Real(0, power(whole))
    fraction = _evaluate(lambda x: (x * Decimal(2).ln()).exp(), a.value - whole)
    return Real(0, fraction * power(whole))


def lg2(a):
    if a.is_nan or (a.sign and not a.is_zero):
        return NAN
    if a.is_zero:
        return infinity(1)
    if a.is_infinite:
        return a
    return real(_evaluate(lambda x: x.ln() / Decimal(2).ln(), a.magnitude))


def sin(a):
    if not a.is_finite:
        return NAN
    return a if a.is_zero else real(_evaluate(_sine, a.value), a.sign)


def cos(a):
    if not a.is_finite:
        return NAN
    return ONE if a.is_zero else real(_evaluate(lambda x: _sine(x + _pi() / 2), a.value))


def tanh(a):
    if a.is_nan or a.is_zero:
        return a
    if a.is_infinite or a.magnitude > 200:
        return Real(a.sign, Fraction(1))
    if a.magnitude < power(-60):
        return a
    size = _evaluate(lambda x: 1 - 2 / ((2 * x).exp() + 1), a.magnitude)
    return Real(a.sign, size)


def rcp(a):
    return divide(ONE, a)


def sqrt(a):
    return square_root(a)


def rsqrt(a):
    return divide(ONE, square_root(a))


FUNCTIONS = {
    "ex2": ex2,
    "lg2": lg2,
    "sin": sin,
    "cos": cos,
    "tanh": tanh,
    "rcp": rcp,
    "sqrt": sqrt,
    "rsqrt": rsqrt,
}

RELATIVE = {
    ("ex2", "f32"): power(-22),
    ("ex2", "f16"): Fraction(2) ** -10 * Fraction(1072, 1000),  # 2**-9.9
    ("ex2", "bf16"): power(-7),
    ("tanh", "f32"): power(-11),
    ("sqrt", "f32"): power(-23),
    ("rsqrt", "f32"): power(-23) * Fraction(1072, 1000),  # 2**-22.9
    ("rcp", "f64"): power(-20),  # only the upper half of the pattern is computed
    ("rsqrt", "f64"): power(-20),
}
ABSOLUTE = {
    ("sin", "f32"): power(-21) * Fraction(1415, 1000),  # 2**-20.5, within 2 pi
    ("cos", "f32"): power(-21) * Fraction(1415, 1000),
    ("tanh", "f16"): power(-11) * Fraction(1009, 1000),  # 2**-10.987
    ("tanh", "bf16"): power(-8),
}
ULPS = {("rcp", "f32"): 1, ("div", "f32"): 2}


def bound(opcode, kind, exact):
    """The largest distance from a finite exact value that PTX allows, a Fraction."""
    key = (opcode, kind)
    size = exact.magnitude
    if opcode == "lg2":
        return max(power(-22), power(-22) * size)
    if key in ULPS:
        return ULPS[key] * unit_in_last_place(exact, kind)
    # A result below the normal numbers is rounded to their grid whatever the function does.
    grid = unit_in_last_place(ZERO, kind)
    return max(RELATIVE.get(key, 0) * size, ABSOLUTE.get(key, 0)) + grid


def within(value, exact, opcode, kind):
    """Whether a result (a Real) is acceptable where ``exact`` is the true one."""
    if exact.is_nan or value.is_nan:
        return exact.is_nan and value.is_nan
    if exact.is_infinite:
        return value.is_infinite and value.sign == exact.sign
    if value.is_infinite:
        return False
    return abs(value.value - exact.value) <= bound(opcode, kind, exact)
