"""The twin's floating point against NumPy, and against values worked out by hand."""

import math
from fractions import Fraction

import numpy as np
import pytest

from ptx_twin import compare, conversion, floating, special
from ptx_twin.numbers import FORMATS, NAN, decode, encode, real
from ptx_twin.table import OPERATIONS
from ptx_twin.values import edges

NUMPY = {
    "f16": (np.float16, np.uint16),
    "f32": (np.float32, np.uint32),
    "f64": (np.float64, np.uint64),
}
COUNT = 400


def patterns(kind, seed):
    """Random patterns and all edges, as an array of the format's bits."""
    rng = np.random.default_rng(seed)
    bits = FORMATS[kind].bits
    drawn = rng.integers(0, 2**bits, COUNT, dtype=np.uint64, endpoint=False) if bits < 64 else None
    if drawn is None:
        drawn = rng.integers(0, 2**63, COUNT, dtype=np.uint64) * np.uint64(2) + np.uint64(seed & 1)
    known = np.array(edges(kind), np.uint64)
    return rng.permutation(np.concatenate([drawn, known, known])).astype(NUMPY[kind][1])


def numpy_pattern(value, kind):
    """A NumPy scalar's pattern; NaNs become the canonical one."""
    number, bits = NUMPY[kind]
    return FORMATS[kind].nan if np.isnan(value) else int(number(value).view(bits))


@pytest.mark.parametrize("kind", NUMPY)
@pytest.mark.parametrize("name", ["add", "sub", "mul", "div"])
def test_arithmetic_is_numpys(kind, name):
    a, b = patterns(kind, 1), patterns(kind, 2)
    function = {"add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide}[name]
    with np.errstate(all="ignore"):
        expected = function(a.view(NUMPY[kind][0]), b.view(NUMPY[kind][0]))
    for x, y, value in zip(a, b, expected):
        got = OPERATIONS[f"{name}.float"](("rn", kind), kind, int(x), int(y))
        assert got == numpy_pattern(value, kind), (hex(x), hex(y))


@pytest.mark.parametrize("kind", NUMPY)
def test_square_roots_are_numpys(kind):
    for x in patterns(kind, 3):
        with np.errstate(all="ignore"):
            expected = numpy_pattern(np.sqrt(x.view(NUMPY[kind][0])), kind)
        assert OPERATIONS["sqrt"](("rn", kind), kind, int(x)) == expected


@pytest.mark.parametrize("source", NUMPY)
@pytest.mark.parametrize("target", NUMPY)
def test_conversions_between_floats_are_numpys(source, target):
    for x in patterns(source, 4):
        with np.errstate(all="ignore"):
            expected = numpy_pattern(x.view(NUMPY[source][0]).astype(NUMPY[target][0]), target)
        assert conversion.float_to_float(("rn",), source, target, int(x)) == expected


def test_a_fused_product_is_rounded_once():
    # (1 + 2**-12)**2 - (1 + 2**-11) is 2**-24: nothing is left of it if the product is rounded.
    a, c = encode(real(1 + 2**-12), "f32"), encode(real(-1 - 2**-11), "f32")
    assert floating.fma(("rn",), "f32", a, a, c) == encode(real(Fraction(1, 2**24)), "f32")


@pytest.mark.parametrize("kind", ["f16", "bf16", "f32", "f64"])
def test_directed_modes_enclose_the_exact_value_between_neighbours(kind):
    third = real(Fraction(-1, 3))
    down, up = (encode(third, kind, mode) for mode in ("rm", "rp"))
    assert decode(down, kind).value < third.value < decode(up, kind).value
    assert down == up + 1  # neighbours: negative, so the larger pattern is the lower number
    assert encode(third, kind, "rz") == up
    assert encode(third, kind, "rn") in (down, up)


@pytest.mark.parametrize(
    "mode, positive, negative",
    [
        ("rn", 0x7F800000, 0xFF800000),
        ("rz", 0x7F7FFFFF, 0xFF7FFFFF),
        ("rm", 0x7F7FFFFF, 0xFF800000),
        ("rp", 0x7F800000, 0xFF7FFFFF),
    ],
)
def test_overflow_follows_the_rounding_mode(mode, positive, negative):
    assert encode(real(2**128), "f32", mode) == positive
    assert encode(real(-(2**128)), "f32", mode) == negative


@pytest.mark.parametrize("a, b, mode, zero", [(1, 1, "rn", 0), (1, 1, "rm", 0x80000000)])
def test_an_exact_difference_of_zero_is_negative_only_rounding_down(a, b, mode, zero):
    pattern = encode(real(a), "f32")
    assert floating.sub((mode,), "f32", pattern, pattern) == zero


def test_flushing_keeps_signs_and_counts_results_after_rounding():
    tiny, one = 0x80000001, 0x3F800000
    assert floating.mul(("ftz",), "f32", tiny, one) == 0x80000000
    assert floating.mul((), "f32", tiny, one) == tiny
    half_smallest = floating.mul(("ftz",), "f32", 0x00800000, 0x3F000000)
    assert half_smallest == 0


def test_saturation_clamps_and_makes_nan_zero():
    nan, two, minus = 0x7FFFFFFF, 0x40000000, 0xBF800000
    assert floating.add(("sat",), "f32", nan, two) == 0
    assert floating.add(("sat",), "f32", two, two) == 0x3F800000
    assert floating.add(("sat",), "f32", minus, minus) == 0


def test_min_and_max_ignore_a_nan_unless_told_and_order_zeros():
    nan, one, zero, minus_zero = 0x7FC00001, 0x3F800000, 0, 0x80000000
    assert floating.minimum((), "f32", nan, one) == one
    assert floating.minimum(("NaN",), "f32", nan, one) == 0x7FFFFFFF
    assert floating.minimum((), "f32", nan, nan) == 0x7FFFFFFF
    assert floating.minimum((), "f32", zero, minus_zero) == minus_zero
    assert floating.maximum((), "f32", minus_zero, zero) == zero
    assert floating.maximum(("xorsign", "abs"), "f32", minus_zero | one, 0x40000000) == 0xC0000000


def test_packed_halves_are_independent():
    one_and_inf, ones = 0x7C003C00, 0x3C003C00
    assert floating.add(("rn",), "f16x2", one_and_inf, ones) == 0x7C004000


def test_brain_floats_are_the_upper_half_of_singles():
    for x in patterns("f32", 5):
        got = conversion.float_to_float(("rz",), "f32", "bf16", int(x))
        magnitude = int(x) & 0x7FFFFFFF
        expected = 0x7FFF if magnitude > 0x7F800000 else int(x) >> 16
        assert got == expected


@pytest.mark.parametrize(
    "form, value, pattern",
    [
        ("e4m3", 448, 0x7E),
        ("e4m3", -0.015625, 0x88),
        ("e4m3", Fraction(1, 512), 0x01),
        ("e5m2", 57344, 0x7B),
        ("e5m2", 1.5, 0x3E),
        ("tf32", 1.5, 0x3FC00000),
    ],
)
def test_small_formats(form, value, pattern):
    assert encode(real(Fraction(value)), form) == pattern
    assert decode(pattern, form).value == Fraction(value)


def test_satfinite_of_eight_bits():
    assert encode(real(1e6), "e4m3", finite=True) == 0x7E
    assert encode(real(-1e6), "e5m2", finite=True) == 0xFB
    assert encode(NAN, "e4m3", finite=True) == 0x7F


@pytest.mark.parametrize(
    "source, target, pattern, expected",
    [
        ("f32", "s32", 0x7FC00000, 0),
        ("f32", "s64", 0x7FC00000, 1 << 63),
        ("f64", "u32", 0x7FF8000000000000, 1 << 31),
        ("f32", "u8", 0x43800000, 255),
        ("f32", "s8", 0xC3800000, 0x80),
        ("f32", "u32", 0xBF800000, 0),
        ("f16", "s32", 0x7C00, 0x7FFFFFFF),
    ],
)
def test_floats_out_of_range_are_clamped_and_nans_defined(source, target, pattern, expected):
    assert conversion.float_to_int(("rzi",), source, target, pattern) == expected


@pytest.mark.parametrize(
    "mode, values",
    [("rni", (2, 2, -2)), ("rzi", (1, 2, -1)), ("rmi", (1, 2, -2)), ("rpi", (2, 3, -1))],
)
def test_rounding_to_whole_numbers(mode, values):
    for value, expected in zip((1.5, 2.5, -1.5), values):
        pattern = encode(real(value), "f32")
        got = conversion.float_to_int((mode,), "f32", "s32", pattern)
        assert got == expected % 2**32


@pytest.mark.parametrize(
    "name, function, low, high",
    [
        ("ex2", lambda x: 2.0**x, -100, 100),
        ("lg2", math.log2, 1e-30, 1e30),
        ("sin", math.sin, -300, 300),
        ("cos", math.cos, -300, 300),
        ("tanh", math.tanh, -10, 10),
        ("rsqrt", lambda x: 1 / math.sqrt(x), 1e-30, 1e30),
        ("rcp", lambda x: 1 / x, 1e-30, 1e30),
    ],
)
def test_special_functions_are_those_of_the_mathematical_library(name, function, low, high):
    for x in np.random.default_rng(6).uniform(low, high, 50):
        exact = special.FUNCTIONS[name](real(float(x)))
        assert float(exact.value) == pytest.approx(function(float(x)), rel=1e-13, abs=1e-15)


def test_the_bound_accepts_the_nearest_and_refuses_what_is_far():
    third = real(Fraction(1, 3))
    exact = special.ex2(third)
    near = decode(encode(exact, "f32"), "f32")
    far = real(exact.value * (1 + Fraction(1, 2**21)))
    assert special.within(near, exact, "ex2", "f32")
    assert not special.within(far, exact, "ex2", "f32")


@pytest.mark.parametrize(
    "name, less, equal, greater, unordered",
    [
        ("lt", 1, 0, 0, 0),
        ("ltu", 1, 0, 0, 1),
        ("ne", 1, 0, 1, 0),
        ("neu", 1, 0, 1, 1),
        ("equ", 0, 1, 0, 1),
        ("num", 1, 1, 1, 0),
        ("nan", 0, 0, 0, 1),
        ("ls", 1, 1, 0, 0),
        ("hi", 0, 0, 1, 0),
    ],
)
def test_comparisons(name, less, equal, greater, unordered):
    answers = [compare.holds(name, order) for order in (-1, 0, 1, None)]
    assert answers == [less, equal, greater, unordered]


def test_setp_gives_the_complement_under_the_same_predicate():
    assert compare.setp(("lt", "and", "s32"), "s32", 1, 2, 1) == (1, 0)
    assert compare.setp(("lt", "and", "s32"), "s32", 1, 2, 0) == (0, 0)
    assert compare.setp(("lt", "or", "s32"), "s32", 1, 2, 1) == (1, 1)
    assert compare.setp(("lt", "f16x2"), "f16x2", 0x3C007E00, 0x40003C00) == (0, 1)
