"""The approximations against f64, all over their ranges, within the errors of the PTX ISA."""

import numpy as np
import pytest

TINY = 2.0**-126
GRID = 2.0**-149


def spread(rng, low, high, count=1 << 16):
    return rng.uniform(low, high, count).astype(np.float32)


def relative_error(got, exact):
    """Largest error; below the normal numbers in steps of their grid."""
    size = np.maximum(np.abs(exact), TINY)
    return np.max(np.abs(got.astype(np.float64) - exact) / size)


def test_ex2_over_its_range(apply, rng):
    x = np.concatenate([spread(rng, -126, 127.9), spread(rng, -1, 1)])
    (got,) = apply(["ex2.approx.f32 {r}, {a};"], np.float32, x)
    assert relative_error(got, np.exp2(x.astype(np.float64))) < 2.0**-22


def test_ex2_rounds_subnormal_results_once_and_flushes_them_on_request(apply, rng):
    x = spread(rng, -151, -126)
    kept, flushed = apply(
        ["ex2.approx.f32 {r}, {a};", "ex2.approx.ftz.f32 {r}, {a};"], np.float32, x
    )
    exact = np.exp2(x.astype(np.float64))
    assert np.all(np.abs(kept - exact) <= GRID / 2 + exact * 2.0**-22)
    assert not flushed[kept < TINY].any()


def test_ex2_of_whole_numbers_is_exact(apply):
    x = np.arange(-160, 140, dtype=np.float32)
    (got,) = apply(["ex2.approx.f32 {r}, {a};"], np.float32, x)
    with np.errstate(over="ignore"):
        assert np.array_equal(got, np.exp2(x.astype(np.float64)).astype(np.float32))


def test_lg2_over_its_range(apply, rng, singles):
    x = np.concatenate([np.abs(singles), spread(rng, 0.4, 2.2)])
    x = x[np.isfinite(x) & (x > 0)]
    (got,) = apply(["lg2.approx.f32 {r}, {a};"], np.float32, x)
    exact = np.log2(x.astype(np.float64))
    assert np.max(np.abs(got - exact) / np.maximum(np.abs(exact), 1)) < 2.0**-22


def test_lg2_flushes_subnormal_operands(apply):
    x = np.array([1, 0x7FFFFF], np.uint32).view(np.float32)
    (got,) = apply(["lg2.approx.ftz.f32 {r}, {a};"], np.float32, x)
    assert np.all(got == -np.inf)


@pytest.mark.parametrize("name", ["sin", "cos"])
def test_sine_and_cosine(apply, rng, name):
    x = np.concatenate([spread(rng, -2 * np.pi, 2 * np.pi), spread(rng, -1e6, 1e6)])
    (got,) = apply([f"{name}.approx.f32 {{r}}, {{a}};"], np.float32, x)
    exact = getattr(np, name)(x.astype(np.float64))
    assert np.max(np.abs(got - exact)) < 2.0**-22


def test_circular_functions_of_anything_lie_within_one(apply, singles):
    sine, cosine = apply(
        ["sin.approx.f32 {r}, {a};", "cos.approx.f32 {r}, {a};"], np.float32, singles
    )
    finite = np.isfinite(singles)
    for got in (sine, cosine):
        assert np.all(np.abs(got[finite]) <= 1)
        assert np.all(np.isnan(got[~finite]))
    small = np.abs(singles) < 2.0**-20
    assert np.array_equal(sine[small].view(np.uint32), singles[small].view(np.uint32))


def test_tanh_keeps_its_relative_error_toward_zero(apply, rng):
    x = np.concatenate([spread(rng, -12, 12), spread(rng, -0.3, 0.3), spread(rng, -1e-6, 1e-6)])
    (got,) = apply(["tanh.approx.f32 {r}, {a};"], np.float32, x)
    exact = np.tanh(x.astype(np.float64))
    assert np.max(np.abs(got - exact) / np.abs(exact)) < 2.0**-20


def test_reciprocal_and_roots(apply, singles):
    x = singles[np.isfinite(singles) & (np.abs(singles) >= TINY)]
    reciprocal, root, inverse = apply(
        [f"{name}.approx.f32 {{r}}, {{a}};" for name in ("rcp", "sqrt", "rsqrt")],
        np.float32,
        np.abs(x),
    )
    exact = np.abs(x).astype(np.float64)
    assert relative_error(reciprocal, 1 / exact) < 2.0**-23
    assert relative_error(root, np.sqrt(exact)) < 2.0**-23
    assert relative_error(inverse, 1 / np.sqrt(exact)) < 2.0**-22.9


def test_quotients_by_vast_numbers_vanish(apply):
    x = np.array([3, -3, np.inf, np.nan, 3, 3], np.float32)
    y = np.array([2.0**127, 2.0**127, 2.0**127, 2.0**127, 2.0**126, np.inf], np.float32)
    (got,) = apply(["div.approx.f32 {r}, {a}, {b};"], np.float32, x, y)
    assert list(got[:2]) == [0, 0]
    assert np.signbit(got[1]) and not np.signbit(got[0])
    assert np.isnan(got[2:4]).all()
    assert list(got[4:]) == [np.float32(3 / 2.0**126), 0]


def test_coarse_functions_use_and_give_the_upper_half_of_f64(apply, rng):
    x = rng.uniform(0.1, 100, 4096)
    texts = ["rcp.approx.ftz.f64 {r}, {a};", "rsqrt.approx.ftz.f64 {r}, {a};"]
    reciprocal, inverse = apply(texts, np.float64, x)
    for got, exact in ((reciprocal, 1 / x), (inverse, 1 / np.sqrt(x))):
        assert not (got.view(np.uint64) & 0xFFFFFFFF).any()
        assert np.max(np.abs(got / exact - 1)) < 2.0**-18
