"""Arithmetic of 16-bit floats, pairs and mixed types; minimum and maximum."""

import numpy as np
import pytest

from ptx_twin.numbers import decode, encode

wide = np.longdouble


@pytest.fixture(scope="module")
def halves(rng):
    """Three columns of f16 patterns, all of the first."""
    every = np.arange(1 << 16, dtype=np.uint16)
    return every, rng.permutation(every), rng.permutation(every)


def floats(patterns):
    return patterns.view(np.float16).astype(np.float64)


def same(got, expected):
    """Equal f16 results; NaNs are canonical."""
    patterns = np.where(np.isnan(expected), 0x7FFF, expected.view(np.uint16))
    return np.array_equal(got, patterns)


@pytest.mark.parametrize("name", ["add", "sub", "mul"])
def test_f16_is_rounded_once(apply, halves, name):
    a, b, _ = halves
    operation = {"add": np.add, "sub": np.subtract, "mul": np.multiply}[name]
    (got,) = apply([f"{name}.f16 {{r}}, {{a}}, {{b}};"], np.uint16, a, b)
    with np.errstate(all="ignore"):
        assert same(got, operation(floats(a), floats(b)).astype(np.float16))


def test_fused_f16_is_rounded_once(apply, halves):
    a, b, c = halves
    (got,) = apply(["fma.rn.f16 {r}, {a}, {b}, {c};"], np.uint16, a, b, c)
    with np.errstate(all="ignore"):
        exact = floats(a).astype(wide) * floats(b) + floats(c)
        assert same(got, exact.astype(np.float64).astype(np.float16))


def test_pairs_are_two_single_operations(apply, halves):
    low = [h[: 1 << 12] for h in halves]
    high = [h[-(1 << 12) :] for h in halves]
    words = [x.astype(np.uint32) | y.astype(np.uint32) << 16 for x, y in zip(low, high)]
    for form in ("fma.rn", "fma.rn.ftz", "fma.rn.sat", "fma.rn.relu"):
        (pair,) = apply([f"{form}.f16x2 {{r}}, {{a}}, {{b}}, {{c}};"], np.uint32, *words)
        for shift, columns in ((0, low), (16, high)):
            (single,) = apply([f"{form}.f16 {{r}}, {{a}}, {{b}}, {{c}};"], np.uint16, *columns)
            assert np.array_equal(pair >> shift & 0xFFFF, single), form


def test_fused_bf16_near_ties_and_at_the_ends_of_the_range(apply, rng):
    """Sums that lie just beside the middle between two bf16 numbers."""
    count = 3000
    a = rng.integers(0x3F80, 0x4000, count).astype(np.uint16)
    b = rng.integers(0x3F80, 0x4000, count).astype(np.uint16)
    tiny = rng.integers(0, 1 << 16, count).astype(np.uint16)
    a[:1000] = rng.integers(0, 1 << 16, 1000)
    b[1000:1500] = rng.integers(0, 0x1000, 500)
    (got,) = apply(["fma.rn.bf16 {r}, {a}, {b}, {c};"], np.uint16, a, b, tiny)
    for k in range(count):
        x, y, z = (decode(int(v[k]), "bf16") for v in (a, b, tiny))
        if x.is_finite and y.is_finite and z.is_finite and (total := x.value * y.value + z.value):
            exact = x._replace(sign=int(total < 0), magnitude=abs(total))
            assert got[k] == encode(exact, "bf16"), (a[k], b[k], tiny[k])


def test_mixed_types_are_rounded_once_to_f32(apply, rng, halves):
    a, b, _ = halves
    c = rng.uniform(-1e4, 1e4, len(a)).astype(np.float32)
    texts = [
        "add.rn.f32.f16 {r}, {a}, {c};",
        "sub.f32.f16 {r}, {a}, {c};",
        "fma.rn.f32.f16 {r}, {a}, {b}, {c};",
    ]
    total, difference, fused = apply(texts, np.float32, a, b, c)
    with np.errstate(all="ignore"):
        x, y, z = floats(a).astype(wide), floats(b).astype(wide), c.astype(wide)
        for got, exact in ((total, x + z), (difference, x - z), (fused, x * y + z)):
            assert np.array_equal(got, exact.astype(np.float32), equal_nan=True)


def test_pairs_of_f32(apply, rng):
    a, b, c = rng.uniform(-8, 8, (3, 512)).astype(np.float32)
    words = [v.view(np.uint64) for v in (a, b, c)]
    texts = ["add.rz.f32x2 {r}, {a}, {b};", "fma.rn.f32x2 {r}, {a}, {b}, {c};"]
    pairs = apply(texts, np.uint64, *words)
    singles = apply([t.replace("f32x2", "f32") for t in texts], np.float32, a, b, c)
    for pair, single in zip(pairs, singles):
        assert np.array_equal(pair.view(np.float32), single)


def test_minimum_of_three(apply):
    nan = np.nan
    a = np.array([1, nan, nan, -5, -0.0], np.float32)
    b = np.array([-2, 3, nan, 4, 0.0], np.float32)
    c = np.array([3, -4, nan, 1, 0.0], np.float32)
    words = ["min", "min.NaN", "max.abs", "min.abs"]
    texts = [f"{w}.f32 {{r}}, {{a}}, {{b}}, {{c}};" for w in words]
    least, strict, largest, smallest = apply(texts, np.float32, a, b, c)
    assert np.array_equal(least, np.array([-2, -4, nan, -5, -0.0]), equal_nan=True)
    assert np.signbit(least[4])
    assert np.array_equal(strict, np.array([-2, nan, nan, -5, -0.0]), equal_nan=True)
    assert np.array_equal(largest, np.array([3, 4, nan, 5, 0.0]), equal_nan=True)
    assert np.array_equal(smallest, np.array([1, 3, nan, 1, 0.0]), equal_nan=True)


def test_nans_of_single_precision_are_canonical(apply, singles):
    texts = ["add.f32 {r}, {a}, {a};", "min.NaN.f32 {r}, {a}, {a};", "cvt.f32.f32 {r}, {a};"]
    nans = np.isnan(singles)
    for got in apply(texts, np.uint32, singles):
        assert np.all(got[nans] == 0x7FFFFFFF)
        assert not np.isnan(got[~nans].view(np.float32)).any()
