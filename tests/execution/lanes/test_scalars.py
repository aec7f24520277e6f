"""Values that a warp holds once, against NumPy: those of its first active lane."""

import numpy as np
import pytest
from llvmlite import ir

from lane_kernels import WARPS, apply
from lockstep.execution.lanes import bits, compare, convert, floating, integer
from lockstep.execution.lanes.builder import WORD
from lockstep.execution.lanes.dry import DryBuilder
from lockstep.execution.lanes.rounding import Rounding
from lockstep.execution.lanes.scalars import Scalars, first_lane, is_scalar, spread
from lockstep.execution.lanes.types import F32, F64, I32, I64, PRED, Value


@pytest.fixture
def check(lanes, active):
    """Compare scalars that ``emit(scalars, *values)`` makes of first lanes' elements with arrays.

    Both are by warp.
    """

    def check(emit, expected, *sources):
        def block(lift, *values):
            s = Scalars(lift.b)
            found = emit(s, *(first_lane(lift.b, v) for v in values))
            assert all(is_scalar(value) for value in found)
            return [spread(lift.b, value) for value in found]

        everywhere = [np.repeat(s, lanes) for s in sources]
        for values in everywhere:  # only the first active lanes have them
            first = active & (np.cumsum(active.reshape(WARPS, lanes), axis=1) == 1).reshape(-1)
            values[~first] = 0
        found = apply(lanes, active, block, [e.dtype for e in expected], *everywhere)
        for got, wanted in zip(found, expected, strict=True):
            np.testing.assert_array_equal(got, np.where(active, np.repeat(wanted, lanes), 0))

    return check


@pytest.mark.parametrize("kind", [np.uint32, np.uint64])
def test_whole_numbers(check, rng, kind):
    width = 8 * np.dtype(kind).itemsize
    x, y = (rng.integers(1, 1 << width - 1, WARPS).astype(kind) for _ in range(2))
    count = rng.integers(0, 70, WARPS).astype(np.uint32)

    def emit(s, a, c, by):
        product = Value(s.ir.mul(a.ir, c.ir), a.type)
        quotient, rest = integer.divide(s, a, c, False)
        least = integer.minimum(s, a, c, False)
        high = integer.multiply_high(s, a, c, False)
        left = bits.shift(s, a, by, bits.LEFT)
        return [product, quotient, rest, least, high, left, bits.count_ones(s, a)]

    pairs = [(int(p), int(q)) for p, q in zip(x, y)]
    high = np.array([p * q >> width for p, q in pairs], kind)
    left = np.array([(p << int(n)) % (1 << width) for (p, _), n in zip(pairs, count)], kind)
    ones = np.array([p.bit_count() for p, _ in pairs], np.uint32)
    check(emit, [x * y, x // y, x % y, np.minimum(x, y), high, left, ones], x, y, count)


def test_real_numbers(check, rng):
    x, y = (rng.normal(size=WARPS).astype(np.float32) * 100 for _ in range(2))

    def emit(s, a, c):
        total = floating.arithmetic(s, "fadd", floating.PLAIN, a, c)
        wide = convert.to_float(s, a, F64)
        whole = convert.to_integer(s, c, I32, True, Rounding.ZERO)
        half = floating.arithmetic(s, "fmul", floating.PLAIN, a, s.constant(F32, 0.5))
        return [total, wide, whole, half]

    expected = [x + y, x.astype(np.float64), y.astype(np.int32).view(np.uint32), x / 2]
    check(emit, expected, x, y)


def test_a_comparison_is_one_bit_that_chooses(check, rng):
    x, y = (rng.integers(-9, 9, WARPS).astype(np.int32) for _ in range(2))

    def emit(s, a, c):
        holds = compare.compare_integers(s, "lt", a, c, True)
        assert str(holds.ir.type) == "i1"
        return [s.select(holds, a, c), s.select(holds, s.constant(I32, 1), s.constant(I32, 0))]

    check(emit, [np.minimum(x, y), (x < y).astype(np.uint32)], x, y)


def test_masks_are_scalars_and_back(lanes, active, rng):
    """A mask of lanes is shifted as a number, and is a predicate again."""
    x = rng.integers(0, 2, len(active)).astype(np.uint32)

    def emit(lift, a):
        b = lift.b
        s, mask = Scalars(b), b.bits_of(lift.nonzero(a))
        shifted = s.ir.lshr(mask, ir.Constant(b.mask_type, 1))
        return [b.select(b.lanes_of(shifted), b.constant(I32, 1), b.constant(I32, 0))]

    [found] = apply(lanes, np.ones(len(active), bool), emit, [np.uint32], x)
    expected = np.roll(x.reshape(WARPS, lanes), -1, axis=1)
    expected[:, -1] = 0
    assert found.tolist() == expected.reshape(-1).tolist()


def test_slots_keep_scalars(lanes, active):
    """Of each type, from one place to the next."""

    def emit(lift):
        b = lift.b
        s, index = Scalars(b), b.field("warp", "index")
        words = {
            PRED: s.ir.icmp_unsigned("!=", index, ir.Constant(WORD, 0)),
            I32: s.ir.trunc(index, I32.element),
            I64: s.ir.sub(ir.Constant(WORD, -1), index),
            F64: s.ir.uitofp(index, F64.element),
        }
        places = {kind: b.offset(b.scratch(), 8 * k) for k, kind in enumerate(words)}
        for kind, number in words.items():
            s.store(places[kind], Value(number, kind))
        kept = {kind: s.load(place, kind) for kind, place in places.items()}
        chosen = s.select(kept[PRED], kept[I64], s.constant(I64, 5))
        return [spread(b, value) for value in (chosen, kept[I32], kept[F64])]

    found = apply(lanes, active, emit, [np.uint64, np.uint32, np.float64])
    index = np.repeat(np.arange(WARPS, dtype=np.uint64), lanes)
    chosen = np.where(index > 0, ~index, np.uint64(5))
    for got, wanted in zip(found, (chosen, index, index.astype(np.float64)), strict=True):
        np.testing.assert_array_equal(got, np.where(active, wanted, 0))


def test_constants_are_known():
    s = Scalars(DryBuilder(64))
    assert s.known(s.constant(I32, 7)) == 7
    assert s.known(s.splat(ir.Undefined, I32)) is None
    assert str(s.constant(F32, 0x3F800000).ir.type) == "float"
    assert spread(DryBuilder(64), s.constant(I64, 1)).ir.type.count == 64
