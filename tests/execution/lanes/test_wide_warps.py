"""Operations of the lane builder in warps of 32 and of 64 lanes, against NumPy.

Some warps have few active lanes, some just the last one: a mask of 64 lanes uses the sign bit.
"""

import numpy as np
import pytest
from llvmlite import ir

from lane_kernels import WARPS, apply
from lockstep.execution.lanes import bits, compare, convert, floating, integer, warp
from lockstep.execution.lanes.builder import HALF
from lockstep.execution.lanes.flow import (
    element,
    lanes_in_order,
    slot,
    spill,
    value_by_value,
)
from lockstep.execution.lanes.rounding import Rounding
from lockstep.execution.lanes.types import F16, F32, F64, I16, I32, I64, Value


@pytest.fixture
def check(lanes, active):
    """Compare ``emit(lift, *values)`` in active lanes, the others zero, with arrays."""

    def check(emit, expected, *sources):
        found = apply(lanes, active, emit, [e.dtype for e in expected], *sources)
        for got, wanted in zip(found, expected, strict=True):
            np.testing.assert_array_equal(got, np.where(active, wanted, 0))

    return check


def numbers(rng, count, kind=np.uint32):
    """Of all sizes."""
    width = 8 * np.dtype(kind).itemsize
    wide = rng.integers(0, 1 << 64, count, np.uint64) >> rng.integers(0, 64, count, np.uint64)
    return (wide & np.uint64((1 << width) - 1)).astype(kind)


@pytest.mark.parametrize("kind", [np.uint32, np.uint64])
def test_sums_and_products(check, active, rng, kind):
    x, y = numbers(rng, len(active), kind), numbers(rng, len(active), kind)

    def emit(lift, a, c):
        e = lift.b.ir
        pairs = (e.add(a.ir, c.ir), e.sub(a.ir, c.ir), e.mul(a.ir, c.ir))
        high = integer.multiply_high(lift.b, a, c, False)
        return [*(Value(p, a.type) for p in pairs), high]

    width = 8 * x.itemsize
    high = np.array([int(p) * int(q) >> width for p, q in zip(x, y)], kind)
    check(emit, [x + y, x - y, x * y, high], x, y)


@pytest.mark.parametrize("kind", [np.uint32, np.uint64])
@pytest.mark.parametrize("signed", [False, True])
def test_quotients(check, active, rng, kind, signed):
    x, y = numbers(rng, len(active), kind), numbers(rng, len(active), kind) | kind(1)

    def emit(lift, a, c):
        return integer.divide(lift.b, a, c, signed)

    plain = [v.view(np.dtype(kind).name[1:]) if signed else v for v in (x, y)]
    pairs = [(int(p), int(q)) for p, q in zip(*plain)]
    quotients = [abs(p) // abs(q) * (1 if (p < 0) == (q < 0) else -1) for p, q in pairs]
    rests = [p - q * r for (p, q), r in zip(pairs, quotients)]
    size = 1 << 8 * x.itemsize
    check(emit, [np.array([n % size for n in v], kind) for v in (quotients, rests)], x, y)


def test_floats(check, active, rng):
    x, y = (rng.normal(size=len(active)).astype(np.float32) for _ in range(2))

    def emit(lift, a, c):
        b = lift.b
        plain = [floating.arithmetic(b, n, floating.PLAIN, a, c) for n in ("fadd", "fmul", "fdiv")]
        return [*plain, floating.choose(b, True, floating.Choice(), a, c)]

    check(emit, [x + y, x * y, x / y, np.maximum(x, y)], x, y)


@pytest.mark.long
@pytest.mark.parametrize("order", ["eq", "ne", "lt", "le", "gt", "ge"])
def test_comparisons_and_their_masks(check, lanes, active, rng, order):
    """In each lane the choice; and the mask of the active lanes where it holds, as a word."""
    x, y = (rng.integers(-2, 2, len(active)).astype(np.int32) for _ in range(2))
    f, g = x.astype(np.float64), y.astype(np.float64)

    def emit(lift, a, c, d, e):
        b = lift.b
        whole, real = (
            compare.compare_integers(b, order, a, c, True),
            compare.compare_floats(b, order, d, e),
        )
        mask = b.ir.and_(b.bits_of(whole), b.bits_of(b.active))
        return [
            b.select(whole, a, c),
            b.select(real, d, e),
            b.splat(b.ir.zext(mask, I64.element), I64),
            b.splat(b.count(mask), I64),
        ]

    holds = {"eq": x == y, "ne": x != y, "lt": x < y, "le": x <= y, "gt": x > y, "ge": x >= y}[
        order
    ]
    rows = (holds & active).reshape(WARPS, lanes)
    words = np.array([sum(1 << k for k in np.flatnonzero(row)) for row in rows.tolist()], np.uint64)
    check(
        emit,
        [
            np.where(holds, x, y), np.where(holds, f, g),
            np.repeat(words, lanes), np.repeat(rows.sum(axis=1).astype(np.uint64), lanes),
        ],
        x, y, f, g,
    )  # fmt: skip


def test_conversions(check, active, rng):
    x = (rng.normal(size=len(active)) * 2.0 ** rng.integers(-3, 40, len(active))).astype(np.float64)
    n = numbers(rng, len(active), np.uint64).view(np.int64)

    def emit(lift, a, c):
        b, near = lift.b, Rounding.NEAREST
        half = convert.to_float(b, convert.to_float(b, a, F32), F16)
        return [
            convert.to_float(b, a, F32),
            integer.resize(b, b.cast(half, I16), I32),
            convert.to_integer(b, a, I64, True, Rounding.ZERO),
            convert.to_integer(b, a, I32, True, near),
            convert.from_integer(b, c, F64, True, near),
            convert.from_integer(b, c, F32, True, Rounding.ZERO),
        ]

    single = x.astype(np.float32)
    with np.errstate(over="ignore"):
        half = single.astype(np.float16).view(np.uint16).astype(np.uint32)
    near = np.clip(np.rint(x), -(1 << 31), (1 << 31) - 1).astype(np.int32)
    down = n.astype(np.float32)
    away = np.array([abs(int(d)) > abs(int(k)) for d, k in zip(down, n)])
    down = np.where(away, np.nextafter(down, np.float32(0)), down)
    check(emit, [single, half, x.astype(np.int64), near, n.astype(np.float64), down], x, n)


@pytest.mark.parametrize("kind", [np.uint32, np.uint64])
def test_bits(check, active, rng, kind):
    x, count = numbers(rng, len(active), kind), rng.integers(0, 70, len(active), np.uint32)
    width = 8 * x.itemsize

    def emit(lift, a, c):
        b = lift.b
        shifted = [bits.shift(b, a, c, d) for d in (bits.LEFT, bits.RIGHT, bits.RIGHT_SIGNED)]
        return [*shifted, bits.count_ones(b, a), bits.leading_zeros(b, a)]

    pairs = [(int(p), int(k)) for p, k in zip(x, count)]
    size = 1 << width
    signed = [p - (p >> width - 1 << width) >> k for p, k in pairs]
    left, right = [p << k for p, k in pairs], [p >> k for p, k in pairs]
    arrays = [np.array([n % size for n in v], kind) for v in (left, right, signed)]
    ones = np.array([p.bit_count() for p, _ in pairs], np.uint32)
    zeros = np.array([width - p.bit_length() for p, _ in pairs], np.uint32)
    check(emit, [*arrays, ones, zeros], x, count)


def test_bytes_and_truth_tables(check, active, rng):
    x, y, z = (rng.integers(0, 1 << 32, len(active), np.uint32) for _ in range(3))

    def emit(lift, a, c, d):
        b = lift.b
        picks, zero, one = (b.constant(I32, n) for n in (0x3715, 0, 1))
        nth = bits.find_nth(b, a, zero, one)
        return [bits.lookup(b, a, c, d, 0xE8), bits.permute(b, a, c, picks), nth]

    whole = x.astype(np.uint64) | y.astype(np.uint64) << np.uint64(32)
    parts = [(whole >> np.uint64(8 * k) & np.uint64(255)).astype(np.uint32) for k in (5, 1, 7, 3)]
    chosen = sum(p << np.uint32(8 * k) for k, p in enumerate(parts)).astype(np.uint32)
    lowest = np.array([(int(v) & -int(v)).bit_length() - 1 for v in x], np.int32).view(np.uint32)
    check(emit, [x & y | x & z | y & z, chosen, lowest], x, y, z)


def test_lanes_in_order_are_the_active_ones_from_the_lowest_on(check, lanes, active):
    """Each lane learns how many came before it."""

    def emit(lift):
        b = lift.b
        places, turn = spill(b, b.constant(I32, 0).ir), slot(b, HALF)
        b.ir.store(ir.Constant(HALF, 0), turn)
        with lanes_in_order(b) as lane:
            number = b.ir.load(turn, typ=HALF)
            b.ir.store(number, element(b, places, HALF, lane))
            b.ir.store(b.ir.add(number, ir.Constant(HALF, 1)), turn)
        return [b.load_vector(places, I32)]

    rows = active.reshape(WARPS, lanes)
    before = np.cumsum(rows, axis=1) - rows
    check(emit, [before.reshape(-1).astype(np.uint32)])


def test_a_loop_over_values_meets_each_once(check, lanes, active, rng):
    """Each lane learns how many active lanes have its value."""
    x = rng.integers(0, 5, len(active)).astype(np.uint64) << np.uint64(60)

    def emit(lift, a):
        b = lift.b
        place = spill(b, b.constant(I64, 0).ir)
        with value_by_value(b, a.ir):
            b.store_vector(place, b.splat(b.count(b.bits_of(b.active)), I64), b.active)
        return [b.load_vector(place, I64)]

    rows, chosen = x.reshape(WARPS, lanes), active.reshape(WARPS, lanes)
    counts = [[(row[on] == v).sum() for v in row] for row, on in zip(rows, chosen)]
    check(emit, [np.array(counts, np.uint64).reshape(-1)], x)


def test_lanes_are_picked_and_reduced(check, lanes, active, rng):
    active[lanes - 1 :: lanes] |= active.reshape(WARPS, lanes).any(axis=1)
    x = rng.integers(0, 1 << 32, len(active), np.uint32)
    first = np.repeat(np.arange(WARPS) * lanes, lanes)
    source = rng.integers(0, lanes, len(active)).astype(np.uint32)
    source[~active[first + source]] = lanes - 1  # the others hold anything

    def emit(lift, a, place):
        b = lift.b
        return [warp.pick(b, a, place), *(warp.reduce(b, n, a, -1) for n in ("add", "umax", "xor"))]

    rows, on = x.reshape(WARPS, lanes), active.reshape(WARPS, lanes)
    sources = source.reshape(WARPS, lanes)
    wanted = np.take_along_axis(rows, sources.astype(np.int64), axis=1).reshape(-1)
    inside = np.where(on, rows, 0)
    results = [f(inside, axis=1) for f in (np.add.reduce, np.max, np.bitwise_xor.reduce)]
    check(emit, [wanted, *(np.repeat(r.astype(np.uint32), lanes) for r in results)], x, source)
