"""Bit operations against Python's integers."""

import itertools

import numpy as np
import pytest


@pytest.fixture(scope="module")
def words(rng):
    return rng.integers(0, 1 << 32, (3, 256), np.uint32)


@pytest.mark.parametrize("start", range(0, 256, 32))
def test_every_truth_table(apply, words, start):
    texts = [f"lop3.b32 {{r}}, {{a}}, {{b}}, {{c}}, {start + k};" for k in range(32)]
    a, b, c = words
    for k, got in enumerate(apply(texts, np.uint32, a, b, c)):
        expected = np.zeros_like(a)
        for index, (x, y, z) in enumerate(itertools.product((0, 1), repeat=3)):
            if start + k >> index & 1:
                expected |= (a if x else ~a) & (b if y else ~b) & (c if z else ~c)
        assert np.array_equal(got, expected)


def test_a_constant_selector_does_what_one_in_a_register_does(apply, words):
    a, b, _ = words
    selectors = [0x3210, 0x7654, 0x5410, 0x7632, 0x0123, 0xFEDC, 0x8888, 0x40C1]
    fixed = apply([f"prmt.b32 {{r}}, {{a}}, {{b}}, {s};" for s in selectors], np.uint32, a, b)
    for selector, got in zip(selectors, fixed):
        column = np.full_like(a, selector)
        (expected,) = apply(["prmt.b32 {r}, {a}, {b}, {c};"], np.uint32, a, b, column)
        assert np.array_equal(got, expected)


def test_shift_counts_are_not_cut_to_the_size(apply, words):
    counts = np.array([0, 1, 31, 32, 33, 64, 255, 256, 1 << 31, 0xFFFFFFFF], np.uint32)
    value = np.full(len(counts), 0x80000001, np.uint32)
    texts = ["shl.b32 {r}, {a}, {b};", "shr.u32 {r}, {a}, {b};", "shr.s32 {r}, {a}, {b};"]
    left, right, signed = apply(texts, np.uint32, value, counts)
    for k, count in enumerate(int(c) for c in counts):
        assert int(left[k]) == 0x80000001 << min(count, 32) & 0xFFFFFFFF
        assert int(right[k]) == 0x80000001 >> min(count, 32)
        assert int(signed[k]) == (0x80000001 - (1 << 32)) >> min(count, 32) & 0xFFFFFFFF


def test_find_nth_in_both_directions(apply):
    base, offset = (v.ravel() for v in np.meshgrid(np.arange(32), np.arange(-34, 35)))
    word = 0b1010_0110_0000_0001_1000_0000_0101_1001
    (got,) = apply(
        [f"fns.b32 {{r}}, {word:#x}, {{a}}, {{b}};"],
        np.int32,
        base.astype(np.uint32),
        offset.astype(np.int32),
    )
    places = [k for k in range(32) if word >> k & 1]
    for k, (b, n) in enumerate(zip(base, offset)):
        found = [p for p in places if p >= b] if n > 0 else [p for p in places if p <= b][::-1]
        if n == 0:
            expected = b if b in places else -1
        else:
            expected = found[abs(n) - 1] if abs(n) <= len(found) else -1
        assert got[k] == expected


def test_quads_of_words_are_packed_and_unpacked(apply, rng):
    low, high = rng.integers(0, 1 << 64, (2, 256), np.uint64)
    text = """{{ .reg .b128 %whole; .reg .b64 %l, %h;
    mov.b128 %whole, {{{a}, {b}}}; mov.b128 {{%l, %h}}, %whole; sub.u64 {r}, %h, %l; }}"""
    (got,) = apply([text], np.uint64, low, high)
    assert np.array_equal(got, high - low)
