"""Conversions between integers and floats."""

import numpy as np
import pytest

from ptx_twin.conversion import float_to_int, int_to_float

MODES = ("rn", "rz", "rm", "rp")
WHOLE = ("rni", "rzi", "rmi", "rpi")
SIZES = {"f16": np.uint16, "bf16": np.uint16, "f32": np.uint32, "f64": np.uint64}


@pytest.fixture(scope="module")
def large(rng):
    """64-bit integers of all sizes, most of them beside a tie of some format."""
    bits = rng.integers(0, 1 << 64, 250, np.uint64) >> rng.integers(0, 64, 250, np.uint64)
    ties = [1 << k | 1 << max(k - p, 0) for k in range(1, 64) for p in (8, 11, 24, 53)]
    near = [t + d for t in ties for d in (-1, 0, 1)]
    edges = [0, 2**53, 2**63 - 1, 2**63, 2**64 - 1, 2**64 - 2**11, 2**64 - 2**39, 65504, 65520]
    both = np.array(near + edges, np.uint64)
    return np.concatenate([bits, both, -both])


@pytest.mark.parametrize("target", SIZES)
@pytest.mark.parametrize("source", ["s64", "u64"])
def test_from_64_bits(apply, large, target, source):
    texts = [f"cvt.{mode}.{target}.{source} {{r}}, {{a}};" for mode in MODES]
    for mode, got in zip(MODES, apply(texts, SIZES[target], large)):
        expected = [int_to_float((mode,), source, target, int(x)) for x in large]
        assert list(got) == expected, mode


@pytest.mark.parametrize("target", ["s32", "u64", "s64", "u8"])
def test_from_single_precision(apply, rng, singles, target):
    near = (rng.integers(-600, 600, 1500) / 4).astype(np.float32).view(np.uint32)
    patterns = np.concatenate([singles[:1500].view(np.uint32), near])
    texts = [f"cvt.{mode}.{target}.f32 {{r}}, {{a}};" for mode in WHOLE]
    size = np.uint64 if "64" in target else np.uint32
    for mode, got in zip(WHOLE, apply(texts, size, patterns)):
        expected = [float_to_int((mode,), "f32", target, int(x)) for x in patterns]
        mask = (1 << int(target[1:])) - 1
        assert [int(g) & mask for g in got] == expected, mode


def test_literals_of_the_other_precision(apply):
    x = np.array([0.0], np.float64)
    (got,) = apply(["add.f64 {r}, {a}, 0f3DCCCCCD;"], np.float64, x)
    assert got[0] == np.float64(np.float32(0.1))
    (got,) = apply(["add.f32 {r}, {a}, 0.1;"], np.float32, x.astype(np.float32))
    assert got[0] == np.float32(0.1)
