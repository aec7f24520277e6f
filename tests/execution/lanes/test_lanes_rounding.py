"""Directed rounding: the result and its neighbour enclose the exact one."""

import numpy as np
import pytest

MODES = ("rn", "rz", "rm", "rp")
wide = np.longdouble


@pytest.fixture(scope="module")
def operands(rng):
    """Three columns of f32 whose sums and products are exact in extended precision."""
    mantissa = rng.integers(0, 1 << 23, (3, 1 << 13), np.uint32)
    exponent = rng.integers(117, 137, (3, 1 << 13), np.uint32)
    sign = rng.integers(0, 2, (3, 1 << 13), np.uint32)
    return (sign << 31 | exponent << 23 | mantissa).view(np.float32)


def expected(exact, mode):
    """An exact number rounded to f32."""
    near = exact.astype(np.float32)
    inside = np.nextafter(near, np.float32(0))
    down, up = np.nextafter(near, np.float32(-np.inf)), np.nextafter(near, np.float32(np.inf))
    if mode == "rz":
        return np.where(np.abs(near.astype(wide)) > np.abs(exact), inside, near)
    if mode == "rm":
        return np.where(near.astype(wide) > exact, down, near)
    return np.where(near.astype(wide) < exact, up, near) if mode == "rp" else near


def check(apply, name, exact, *columns):
    letters = ", ".join("{" + letter + "}" for letter in "abc"[: len(columns)])
    texts = [f"{name}.{mode}.f32 {{r}}, {letters};" for mode in MODES]
    for mode, got in zip(MODES, apply(texts, np.float32, *columns)):
        assert np.array_equal(got, expected(exact, mode)), mode


def test_sums(apply, operands):
    a, c, _ = operands
    check(apply, "add", a.astype(wide) + c.astype(wide), a, c)
    check(apply, "sub", a.astype(wide) - c.astype(wide), a, c)


def test_products(apply, operands):
    a, c, _ = operands
    check(apply, "mul", a.astype(wide) * c.astype(wide), a, c)


def test_fused(apply, operands):
    a, c, d = operands
    product = a.astype(np.float64) * c.astype(np.float64)
    exact = product.astype(wide) + d.astype(wide)
    sure = (exact - product) == d  # not all of the sums fit 64 bits
    check(apply, "fma", exact[sure], a[sure], c[sure], d[sure])


@pytest.mark.parametrize("name", ["div", "sqrt"])
def test_quotients_and_roots_enclose_the_exact_result(apply, operands, name):
    a, c, _ = operands
    a, columns = (np.abs(a), (np.abs(a),)) if name == "sqrt" else (a, (a, c))
    letters = "{a}" if name == "sqrt" else "{a}, {b}"
    texts = [f"{name}.{mode}.f32 {{r}}, {letters};" for mode in ("rm", "rp", "rn", "rz")]
    down, up, near, zero = apply(texts, np.float32, *columns)
    other = down if name == "sqrt" else c
    back = down.astype(wide) * other.astype(wide)
    sign = 1 if name == "sqrt" else np.sign(c).astype(wide)
    assert np.all(back * sign <= a * sign)
    exact = back == a
    assert np.array_equal(up[exact], down[exact])
    assert np.array_equal(up[~exact], np.nextafter(down, np.float32(np.inf))[~exact])
    assert np.all((near == up) | (near == down))
    assert np.array_equal(zero, np.where(near > 0, down, up))


def test_the_mode_of_one_instruction_does_not_reach_the_next(apply):
    third = np.full(256, 3, np.float32)
    up, near = apply(["rcp.rp.f32 {r}, {a};", "rcp.rn.f32 {r}, {a};"], np.float32, third)
    assert up[0] > np.float32(1) / 3 or up[0] == np.float32(1) / 3
    assert np.all(near == np.float32(1) / np.float32(3))


def test_overflow_stays_finite_where_rounding_is_inward(apply):
    largest = np.array([np.finfo(np.float32).max], np.float32)
    texts = [f"mul.{mode}.f32 {{r}}, {{a}}, 0f40000000;" for mode in MODES]
    near, zero, down, up = (got[0] for got in apply(texts, np.float32, largest))
    assert (near, zero, down, up) == (np.inf, largest[0], largest[0], np.inf)


def test_rounding_to_whole_numbers(apply):
    x = np.array([0.5, 1.5, 2.5, -0.5, -1.5, 2.4, -2.4, 1e30, -0.0], np.float32)
    functions = {"rni": np.rint, "rzi": np.trunc, "rmi": np.floor, "rpi": np.ceil}
    texts = [f"cvt.{mode}.f32.f32 {{r}}, {{a}};" for mode in functions]
    for function, got in zip(functions.values(), apply(texts, np.float32, x)):
        assert np.array_equal(got.view(np.uint32), function(x).view(np.uint32))
