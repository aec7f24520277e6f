"""Formats of floats, flushing, and the way from small ones to f32."""

import numpy as np
import pytest

from lockstep.execution.lanes.formats import FORMATS
from ptx_twin.numbers import FORMATS as TWIN


@pytest.mark.parametrize("kind", FORMATS, ids=lambda kind: kind.name)
def test_the_table_is_the_twins(kind):
    ours, theirs = FORMATS[kind], TWIN[kind.name]
    for name in ("infinity", "largest", "minimum_exponent"):
        assert getattr(ours, name) == getattr(theirs, name), name
    assert ours.sign == 1 << theirs.bits - 1


def test_flush_keeps_the_sign_and_the_smallest_normal_number(apply):
    bits = np.array([0, 1, 0x7FFFFF, 0x800000, 0x7F800000, 0x3F800000], np.uint32)
    bits = np.concatenate([bits, bits | 1 << 31])
    (got,) = apply(["neg.ftz.f32 {r}, {a};"], np.uint32, bits)
    kept = np.where(bits & 0x7F800000, bits, bits & 1 << 31)
    assert np.array_equal(got, kept ^ 1 << 31)


def test_flush_of_pairs_is_by_element(apply):
    words = np.array([0x000103FF, 0x04008001, 0x83FF0400, 0x7C013C00], np.uint32)
    (got,) = apply(["abs.ftz.f16x2 {r}, {a};"], np.uint32, words)
    assert [hex(g) for g in got] == ["0x0", "0x4000000", "0x400", "0x7c013c00"]


@pytest.mark.parametrize("name", ["f16", "bf16"])
def test_every_short_pattern_as_f64(apply, name):
    patterns = np.arange(1 << 16, dtype=np.uint16)
    (got,) = apply([f"cvt.f64.{name} {{r}}, {{a}};"], np.float64, patterns)
    if name == "f16":
        expected = patterns.view(np.float16)
    else:
        expected = (patterns.astype(np.uint32) << 16).view(np.float32)
    with np.errstate(invalid="ignore"):
        assert np.array_equal(got, expected.astype(np.float64), equal_nan=True)
    assert np.array_equal(np.signbit(got[patterns == 0x8000]), [True])
