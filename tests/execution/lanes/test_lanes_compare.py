"""Comparison of floats, pairs included."""

import numpy as np
import pytest

ORDERS = {
    "eq": np.equal,
    "ne": np.not_equal,
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
}


@pytest.fixture(scope="module")
def columns():
    values = np.array([0.0, -0.0, 1, -1, 1e-40, -1e-40, np.inf, -np.inf, np.nan], np.float32)
    return [v.ravel() for v in np.meshgrid(values, values)]


@pytest.mark.parametrize("unordered", ["", "u"])
def test_every_order(apply, columns, unordered):
    a, b = columns
    texts = [f"set.{name}{unordered}.u32.f32 {{r}}, {{a}}, {{b}};" for name in ORDERS]
    either = np.isnan(a) | np.isnan(b)
    for (name, compare), got in zip(ORDERS.items(), apply(texts, np.uint32, a, b)):
        expected = np.where(either, bool(unordered), compare(a, b))
        assert np.array_equal(got == 0xFFFFFFFF, expected), name
        assert np.array_equal(got == 0, ~expected), name


def test_flushed_subnormals_equal_zero(apply, columns):
    a, b = columns
    texts = ["set.eq.f32.f32 {r}, {a}, {b};", "set.eq.ftz.f32.f32 {r}, {a}, {b};"]
    kept, flushed = apply(texts, np.float32, a, b)
    tiny = [np.where(np.abs(v) < 1e-39, 0, v) for v in (a, b)]
    assert np.array_equal(kept, (a == b).astype(np.float32))
    assert np.array_equal(flushed, (tiny[0] == tiny[1]).astype(np.float32))


def test_masks_of_pairs(apply, rng):
    a, b = (rng.integers(-3, 4, 512).astype(np.float16).view(np.uint32) for _ in range(2))
    texts = ["set.lt.u32.f16x2 {r}, {a}, {b};", "set.lt.f16x2.f16x2 {r}, {a}, {b};"]
    masks, numbers = apply(texts, np.uint32, a, b)
    less = a.view(np.float16) < b.view(np.float16)
    assert np.array_equal(masks.view(np.uint16), np.where(less, 0xFFFF, 0))
    assert np.array_equal(numbers.view(np.float16), less.astype(np.float16))
