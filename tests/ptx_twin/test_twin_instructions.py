"""The twin's integer, warp and matrix instructions on values worked out by hand, or by NumPy."""

import numpy as np
import pytest

from ptx_twin import carry, integer, matrix, warp
from ptx_twin.memory import Fault, Memory
from ptx_twin.table import OPERATIONS

NUMPY = {"u": "uint", "s": "int"}
NO = ()


@pytest.mark.parametrize("kind", ["u16", "s16", "u32", "s32", "u64", "s64"])
@pytest.mark.parametrize("name", ["add", "sub", "mul", "min", "max"])
def test_integer_arithmetic_wraps_as_numpys(kind, name):
    rng = np.random.default_rng(1)
    bits = int(kind[1:])
    a, b = rng.integers(0, 2**64, (2, 200), dtype=np.uint64) & np.uint64(2**bits - 1)
    unsigned, number = np.dtype(f"uint{bits}"), np.dtype(NUMPY[kind[0]] + str(bits))
    left, right = (v.astype(unsigned).view(number) for v in (a, b))
    functions = {"add": np.add, "sub": np.subtract, "mul": np.multiply}
    expected = (functions | {"min": np.minimum, "max": np.maximum})[name](left, right)
    for x, y, value in zip(a, b, expected.view(unsigned)):
        assert OPERATIONS[f"{name}.int"](("lo", kind), kind, int(x), int(y)) == value


@pytest.mark.parametrize(
    "name, words, kind, values, expected",
    [
        ("bfe", NO, "u32", (0xABCD1234, 8, 12), 0xD12),
        ("bfe", NO, "s32", (0x00000F00, 8, 4), 0xFFFFFFFF),
        ("bfe", NO, "s32", (0x80000000, 30, 8), 0xFFFFFFFE),
        ("bfe", NO, "s32", (0x80000000, 40, 8), 0xFFFFFFFF),
        ("bfe", NO, "u32", (0x80000000, 40, 8), 0),
        ("bfe", NO, "s32", (0xFFFFFFFF, 3, 0), 0),
        ("bfi", NO, "b32", (0xF, 0, 28, 8), 0xF0000000),
        ("bfi", NO, "b32", (0, 0xFFFFFFFF, 4, 8), 0xFFFFF00F),
        ("bfi", NO, "b32", (0xF, 0x55, 40, 8), 0x55),
        ("prmt", NO, "b32", (0x33221100, 0x77665544, 0x7531), 0x77553311),
        ("prmt", NO, "b32", (0x80000000, 0, 0xB3B3), 0xFF80FF80),
        ("prmt", ("f4e",), "b32", (0x33221100, 0x77665544, 1), 0x44332211),
        ("prmt", ("b4e",), "b32", (0x33221100, 0x77665544, 1), 0x66770011),
        ("prmt", ("rc8",), "b32", (0x33221100, 0x77665544, 2), 0x22222222),
        ("prmt", ("ecl",), "b32", (0x33221100, 0, 2), 0x33222222),
        ("prmt", ("ecr",), "b32", (0x33221100, 0, 2), 0x22221100),
        ("prmt", ("rc16",), "b32", (0x33221100, 0, 1), 0x33223322),
        ("shf", ("l", "wrap"), "b32", (0x80000000, 1, 33), 3),
        ("shf", ("l", "clamp"), "b32", (0x80000000, 1, 33), 0x80000000),
        ("shf", ("r", "clamp"), "b32", (0x80000000, 1, 33), 1),
        ("shl", NO, "b32", (1, 32), 0),
        ("shr", NO, "s32", (0x80000000, 99), 0xFFFFFFFF),
        ("shr", NO, "u32", (0x80000000, 32), 0),
        ("lop3", NO, "b32", (0xF0F0F0F0, 0xCCCCCCCC, 0xAAAAAAAA, 0x96), 0x96969696),
        ("szext", ("clamp",), "s32", (0x80, 8), 0xFFFFFF80),
        ("szext", ("wrap",), "u32", (0xFFFF, 36), 0xF),
        ("szext", ("clamp",), "u32", (0xFFFF, 36), 0xFFFF),
        ("bmsk", ("clamp",), "b32", (4, 8), 0xFF0),
        ("bmsk", ("clamp",), "b32", (4, 99), 0xFFFFFFF0),
        ("bmsk", ("wrap",), "b32", (36, 40), 0xFF0),
        ("fns", NO, "b32", (0b101100, 0, 2), 3),
        ("fns", NO, "b32", (0b101100, 31, 2**32 - 1), 5),
        ("fns", NO, "b32", (0b101100, 4, 0), 2**32 - 1),
        ("bfind", NO, "s32", (0xFFFFFFFE,), 0),
        ("bfind", NO, "s32", (0xFFFFFFFF,), 2**32 - 1),
        ("bfind", ("shiftamt",), "u32", (1,), 31),
        ("brev", NO, "b32", (1,), 0x80000000),
        ("clz", NO, "b64", (1,), 63),
        ("dp4a", ("s32", "u32"), "u32", (0xFF01FF01, 0x02020202, 10), 10),
        ("dp2a", ("hi", "s32", "s32"), "s32", (0xFFFF0003, 0x05040000, 1), 8),
        ("mul24", ("lo",), "s32", (0xFFFFFF, 2), 0xFFFFFFFE),
        ("mul24", ("hi",), "u32", (0xFFFFFF, 0xFFFFFF), 0xFFFFFE00),
        ("sad", NO, "s32", (0xFFFFFFFF, 2, 10), 13),
        ("add.int", ("sat",), "s32", (0x7FFFFFFF, 1), 0x7FFFFFFF),
        ("sub.int", ("sat",), "s32", (0x80000000, 1), 0x80000000),
        ("mad.int", ("hi", "sat"), "s32", (0x7FFFFFFF, 0x7FFFFFFF, 0x7FFFFFFF), 0x7FFFFFFF),
        ("mul.int", ("wide",), "s16", (0x8000, 0x8000), 0x40000000),
        ("div.int", NO, "s32", (0xFFFFFFF9, 2), 0xFFFFFFFD),
        ("rem", NO, "s32", (0xFFFFFFF9, 2), 0xFFFFFFFF),
        ("min.int", ("relu",), "s16x2", (0xFFFF0005, 0x00070003), 0x00000003),
    ],
)
def test_known_values(name, words, kind, values, expected):
    assert OPERATIONS[name](words, kind, *values) == expected


def test_carries_and_borrows():
    ones = 2**32 - 1
    assert carry.execute("add", ("cc", "u32"), "u32", 0, ones, 1) == (0, 1)
    assert carry.execute("addc", ("u32",), "u32", 1, 1, 1) == (3, 1)
    assert carry.execute("sub", ("cc", "u32"), "u32", 0, 0, 1) == (ones, 0)
    assert carry.execute("sub", ("cc", "u32"), "u32", 0, 1, 1) == (0, 1)
    assert carry.execute("subc", ("cc", "u32"), "u32", 0, 5, 4) == (0, 1)
    assert carry.execute("subc", ("cc", "u32"), "u32", 0, 4, 4) == (ones, 0)
    assert carry.execute("mad", ("hi", "cc", "u32"), "u32", 0, ones, ones, 2) == (0, 1)


@pytest.mark.parametrize(
    "mode, lane, b, c, expected",
    [
        ("up", 5, 2, 0, (3, 1)),
        ("up", 1, 2, 0, (1, 0)),
        ("up", 17, 2, 0x1000, (17, 0)),
        ("down", 30, 2, 0x1F, (30, 0)),
        ("down", 5, 2, 0x1F, (7, 1)),
        ("bfly", 5, 3, 0x1F, (6, 1)),
        ("idx", 20, 33, 0x1F, (1, 1)),
        ("idx", 20, 3, 0x1807, (20 & 0x18 | 3, 1)),
        ("idx", 20, 3, 0x1801, (20, 0)),
    ],
)
def test_shuffles_read_the_lane_of_the_manual(mode, lane, b, c, expected):
    assert warp.source_lane((mode,), lane, b, c) == expected


def test_fragments_of_m16n8k16_lie_as_in_the_manual():
    shape = (16, 8, 16)
    # Lane 6 is in group 1, second of its quad.
    assert matrix.place_a(6, 0, 0, shape, "f16") == (1, 4)
    assert matrix.place_a(6, 1, 1, shape, "f16") == (9, 5)
    assert matrix.place_a(6, 2, 0, shape, "f16") == (1, 12)
    assert matrix.place_b(6, 1, 1, shape, "f16") == (13, 1)
    assert matrix.place_c(6, 3, 0, shape, "f32") == (9, 5)
    assert matrix.place_c(6, 1, 1, shape, "f16") == (9, 5)


@pytest.mark.parametrize(
    "kind, shape, registers",
    [
        ("f16", (16, 8, 8), 2),
        ("tf32", (16, 8, 8), 4),
        ("f64", (8, 8, 4), 1),
        ("f64", (16, 8, 16), 8),
        ("s8", (8, 8, 16), 1),
        ("s8", (16, 8, 32), 4),
        ("u4", (16, 8, 64), 4),
        ("b1", (16, 8, 256), 4),
    ],
)
def test_every_element_of_a_is_in_one_place(kind, shape, registers):
    per = max(32 // matrix.bits_of(kind), 1)
    places = [
        matrix.place_a(lane, r, e, shape, kind)
        for lane in range(32)
        for r in range(registers)
        for e in range(per)
    ]
    assert sorted(places) == [(i, j) for i in range(shape[0]) for j in range(shape[2])]


@pytest.mark.parametrize("layout", ["row", "col"])
def test_the_quads_of_m8n8k4_hold_every_element(layout):
    lanes = [lane for lane in range(32) if lane // 4 % 4 == 2]
    places = [matrix.quad_a(layout, lane, i) for lane in lanes for i in range(4)]
    assert sorted(places) == [(i, j) for i in range(8) for j in range(4)]
    for kind in ("f16", "f32"):
        places = [matrix.quad_c(lane, i, kind) for lane in lanes for i in range(8)]
        assert sorted(places) == [(i, j) for i in range(8) for j in range(8)]


def test_products_of_matrices_are_numpys():
    rng = np.random.default_rng(2)
    a, b = rng.integers(-128, 128, (2, 8, 8))
    left, right = ({(i, j): int(m[i, j]) & 255 for i in range(8) for j in range(8)} for m in (a, b))
    zero = dict.fromkeys(left, 0)
    got = matrix.product(NO, (8, 8, 8), ("s32", "s8", "s8", "s32"), left, right, zero)
    assert [integer.signed(got[k], 32) for k in sorted(got)] == (a @ b).ravel().tolist()


def test_memory_knows_its_limits():
    memory = Memory(4096)
    place = memory.allocate(8)
    memory.write(place, 4, 0x01020304)
    assert memory.read(place, 2) == 0x0304
    for address, size in ((place + 8, 1), (place - 4, 4), (place + 2, 4)):
        with pytest.raises(Fault):
            memory.read(address, size)
