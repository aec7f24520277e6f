"""Integer arithmetic that takes more than one vector instruction."""

import numpy as np
import pytest


@pytest.fixture(scope="module")
def wide(rng):
    """64-bit numbers of all sizes, edges included."""
    bits = rng.integers(0, 1 << 64, 4096, np.uint64) >> rng.integers(0, 64, 4096, np.uint64)
    bits[:6] = [0, 1, 2**63, 2**64 - 1, 2**32, 2**32 - 1]
    return bits


def python(values, signed):
    return [int(v) for v in (values.view(np.int64) if signed else values)]


@pytest.mark.parametrize("signed", [False, True])
def test_64_bit_quotients_and_high_products(apply, rng, wide, signed):
    other = rng.permutation(wide)
    kind = "s64" if signed else "u64"
    texts = [f"{name}.{kind} {{r}}, {{a}}, {{b}};" for name in ("div", "rem", "mul.hi")]
    quotient, rest, high = apply(texts, np.uint64, wide, other)
    for k, (x, y) in enumerate(zip(python(wide, signed), python(other, signed))):
        assert int(high[k]) == (x * y >> 64) % 2**64
        if y:
            size = abs(x) // abs(y)
            exact = size if (x < 0) == (y < 0) else -size
            assert int(quotient[k]) == exact % 2**64
            assert int(rest[k]) == (x - exact * y) % 2**64
        else:
            assert int(quotient[k]) == 2**64 - 1
            assert int(rest[k]) == x % 2**64


@pytest.mark.parametrize("kind", ["u32", "s32"])
def test_32_bit_division_is_exact_where_its_float_is_nearly_whole(apply, rng, kind):
    divisor = rng.integers(1, 1 << 17, 1 << 15, np.uint32)
    factor = rng.integers(1, 1 << 15, 1 << 15, np.uint32)
    for step in (-1, 0, 1):
        dividend = divisor * factor + np.uint32(step % 2**32)
        (got,) = apply([f"div.{kind} {{r}}, {{a}}, {{b}};"], np.uint32, dividend, divisor)
        if kind == "u32":
            assert np.array_equal(got, dividend // divisor)
        else:
            signed = dividend.view(np.int32).astype(np.int64)
            exact = np.trunc(signed / divisor).astype(np.int64)
            assert np.array_equal(got.view(np.int32), exact)


def test_the_least_number_by_minus_one_wraps(apply):
    least, minus = np.array([1 << 31], np.uint32), np.array([-1], np.int32)
    quotient, rest = apply(
        ["div.s32 {r}, {a}, {b};", "rem.s32 {r}, {a}, {b};"], np.uint32, least, minus
    )
    assert (quotient[0], rest[0]) == (1 << 31, 0)


def test_a_guarded_carry_is_kept_where_the_guard_fails(apply):
    """Even threads carry out of the first sum, odd ones skip the second."""
    lane = np.arange(64, dtype=np.uint32)
    text = """add.cc.u32 {r}, {a}, 0xFFFFFFFF;
    {{ .reg .b32 %low; .reg .pred %odd; and.b32 %low, {a}, 1; setp.ne.u32 %odd, %low, 0;
    @%odd sub.cc.u32 %low, 0, 1; }}
    addc.u32 {r}, 0, 0;"""
    (got,) = apply([text], np.uint32, lane)
    assert list(got) == [int(k > 0 and k % 2 == 0) for k in lane]


def test_dot_products_wrap(apply):
    word = np.array([0x80808080], np.uint32)
    total = np.array([0xFFFFFFFF], np.uint32)
    (got,) = apply(["dp4a.u32.u32 {r}, {a}, {a}, {b};"], np.uint32, word, total)
    assert int(got[0]) == (4 * 128 * 128 - 1) % 2**32
