"""Rounding into small formats, of f32 all over the range and of all neighbours of ties."""

import numpy as np
import pytest

from ptx_twin.numbers import FORMATS, decode, encode, is_subnormal


@pytest.fixture(scope="module")
def halves():
    """All f16 patterns."""
    return np.arange(1 << 16, dtype=np.uint16)


@pytest.fixture(scope="module")
def around_ties(rng):
    """f32 numbers halfway between two short ones, just above, just below; and any others."""
    bits = rng.integers(0, 1 << 32, 600, np.uint32)
    parts = [bits]
    for dropped in (13, 16, 20, 21):
        tie = bits >> dropped << dropped | np.uint32(1 << dropped - 1)
        parts += [tie - 1, tie, tie + 1, tie ^ 1 << dropped]
    scaled = (rng.uniform(-1, 1, 600) * 2.0 ** rng.integers(-30, 20, 600)).astype(np.float32)
    return np.concatenate([*parts, scaled.view(np.uint32)])


def beside(patterns, distance):
    """f64 numbers that are a little larger than f32 ones."""
    with np.errstate(invalid="ignore"):
        return patterns.view(np.float32).astype(np.float64) * (1 + distance)


def nan_or_equal(got, expected, name):
    nans = [decode(int(e), name).is_nan for e in expected]
    return all(
        g == e or (nan and decode(int(g), name).is_nan) for g, e, nan in zip(got, expected, nans)
    )


@pytest.mark.parametrize("name", ["f16", "bf16", "tf32"])
@pytest.mark.parametrize("mode", ["rn", "rz"])
def test_from_f32(apply, around_ties, name, mode):
    result = np.uint32 if name == "tf32" else np.uint16
    texts = [
        f"cvt.{mode}.{name}.f32 {{r}}, {{a}};",
        f"cvt.{mode}.satfinite.{name}.f32 {{r}}, {{a}};",
    ]
    for finite, got in enumerate(apply(texts, result, around_ties)):
        expected = [encode(decode(int(x), "f32"), name, mode, bool(finite)) for x in around_ties]
        assert nan_or_equal(got, expected, name)


@pytest.mark.parametrize("mode", ["rm", "rp"])
def test_outward_from_f64(apply, around_ties, mode):
    texts = [f"cvt.{mode}.{name}.f64 {{r}}, {{a}};" for name in ("f16", "bf16")]
    doubles = beside(around_ties, 2.0**-40)
    for name, got in zip(("f16", "bf16"), apply(texts, np.uint16, doubles)):
        patterns = doubles.view(np.uint64)
        expected = [encode(decode(int(x), "f64"), name, mode) for x in patterns]
        assert nan_or_equal(got, expected, name)


@pytest.mark.parametrize("name", ["e4m3", "e5m2"])
def test_eight_bits(apply, around_ties, name):
    other = around_ties[::-1].copy()
    text = f"cvt.rn.satfinite.{name}x2.f32 {{r}}, {{a}}, {{b}};"
    (got,) = apply([text], np.uint16, other, around_ties)
    expected = [encode(decode(int(x), "f32"), name, "rn", True) for x in around_ties]
    assert nan_or_equal(got & 0xFF, expected, name)
    assert np.array_equal(got >> 8, (got & 0xFF)[::-1])


@pytest.mark.parametrize("name", ["e4m3", "e5m2"])
def test_every_pattern_of_eight_bits_as_f16(apply, name):
    eights = np.arange(256, dtype=np.uint16) * 257
    (got,) = apply([f"cvt.rn.f16x2.{name}x2 {{r}}, {{a}};"], np.uint32, eights)
    expected = [encode(decode(k, name), "f16") for k in range(256)]
    assert np.array_equal(got & 0xFFFF, expected)
    assert np.array_equal(got >> 16, expected)


def test_every_f16_there_and_back(apply, halves):
    (wide,) = apply(["cvt.f32.f16 {r}, {a};"], np.float32, halves)
    numbers = halves.view(np.float16).astype(np.float32)
    assert np.array_equal(wide, numbers, equal_nan=True)
    (back,) = apply(["cvt.rn.f16.f32 {r}, {a};"], np.uint16, wide)
    assert np.array_equal(back, np.where(np.isnan(numbers), 0x7FFF, halves))


def test_f64_is_rounded_once(apply, rng):
    """Numbers that are a tie only after a first rounding to f32."""
    tie = np.ldexp(1 + (2 * np.arange(200) + 1) * 2.0**-11, rng.integers(-14, 15, 200))
    doubles = np.concatenate([tie * (1 + 2.0**-40), tie * (1 - 2.0**-40), tie])
    (got,) = apply(["cvt.rn.f16.f64 {r}, {a};"], np.uint16, doubles)
    assert np.array_equal(got, doubles.astype(np.float16).view(np.uint16))


@pytest.mark.parametrize("mode", ["rn", "rz", "rm", "rp"])
def test_f64_to_f32(apply, around_ties, mode):
    extremes = [1e300, -1e300, 1e-300, -1e-300, 2.0**-150, 1.5 * 2.0**-149]
    doubles = np.concatenate([beside(around_ties[::4], 2.0**-30), extremes])
    (got,) = apply([f"cvt.{mode}.f32.f64 {{r}}, {{a}};"], np.uint32, doubles)
    expected = [encode(decode(int(x), "f64"), "f32", mode) for x in doubles.view(np.uint64)]
    assert nan_or_equal(got, expected, "f32")
    assert any(is_subnormal(decode(int(g), "f32"), "f32") for g in got)
    assert FORMATS["f32"].largest in got or mode in ("rn", "rp")
