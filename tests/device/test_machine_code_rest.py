"""Opcodes that no case of the twin has, in code that nvcc makes of ``cubins/rest.cu``."""

from pathlib import Path

import numpy as np
import pytest

import lockstep

CUBINS = Path(__file__).parent / "cubins"
CODE = CUBINS / "rest.sm_90.cubin"
LANES = 32
WORD = 1 << 32


@pytest.fixture(scope="module")
def module():
    with lockstep.Device("QV100", timing=False) as device:
        yield device.load_cubin(CODE)


def launch(module, name, content, words, *arguments):
    """What a warp writes to an array of words, after whose start its input lies if it has one."""
    out = module.device.array(np.zeros(words, np.uint32))
    arrays = [] if content is None else [module.device.array(content.astype(np.uint32))]
    module[name][1, LANES](*arrays, out, *arguments)
    return out.numpy()


def random_words(count, seed=0):
    return np.random.default_rng(seed).integers(0, WORD, count, dtype=np.uint64)


def test_bits_of_words_as_predicates(module):
    content, same = random_words(44), 0xA5C
    out = launch(module, "bits", content, 64, same)
    product = 1
    for k in range(12):
        product = product * 3 + k if same >> k & 1 else product
    for lane, own in enumerate(map(int, content[:LANES])):
        assert out[lane] == sum(int(content[32 + k]) for k in range(12) if own >> k & 1) % WORD
        assert out[32 + lane] == product


def test_predicates_kept_in_words(module):
    rows = np.random.default_rng(1).integers(-3, 8, (LANES, 16))
    out = launch(module, "flags", rows.reshape(-1), 36, 3)
    turns = np.arange(1, 4)[:, None, None] * np.arange(1, 17)
    expected = (turns * (rows < 3)).sum((0, 2))
    np.testing.assert_array_equal(out[4:], expected)


def signed_bytes(words):
    return words.astype(np.uint32).view(np.int8).reshape(-1, 4).astype(int)


def test_differences_of_bytes(module):
    content = random_words(64)
    out = launch(module, "bytes", content, 128).reshape(LANES, 4)
    for columns, numbers in (
        ((0, 1), content.astype(np.uint32).view(np.uint8).reshape(-1, 4).astype(int)),
        ((2, 3), signed_bytes(content)),
    ):
        size = abs(numbers[:LANES] - numbers[LANES:])
        packed = size.astype(np.uint8).view(np.uint32)[:, 0]
        np.testing.assert_array_equal(out[:, columns[0]], packed)
        np.testing.assert_array_equal(out[:, columns[1]], size.sum(1))


@pytest.mark.parametrize("a, b, c", [(5, 9, 7), (9, 3, 4), (0x80000001, 6, 2), (12, 12, 13)])
def test_conditions_of_all_threads(module, a, b, c):
    place, size = a & 15, (b & 15) + 1
    mask = ((1 << size) - 1) << place
    p, q, r = (a ^ WORD >> 1) - (WORD >> 1) < c, b > a, c % 2 == 0
    x = mask * a + b if (p and q) or (not p and r) else mask ^ b
    x += 77 if p != q and not r else 0
    out = launch(module, "uniform", None, 64, a, b, c)
    np.testing.assert_array_equal(out[:LANES], (x + np.arange(LANES)) % WORD)
    np.testing.assert_array_equal(out[LANES:], (p + 2 * q + 4 * r) * size)


def halves(words, kind):
    return words.astype(np.uint32).view(kind).reshape(-1, 2).astype(np.int64)


def packed(pairs):
    return pairs.astype(np.uint16).view(np.uint32)[:, 0]


def test_extrema_of_words_and_halves(module):
    content = random_words(96, seed=2)
    out = launch(module, "extrema", content, 12 * LANES).reshape(LANES, 12)
    unsigned = content.reshape(3, LANES).astype(np.int64)
    signed = unsigned.astype(np.uint32).view(np.int32).reshape(3, LANES).astype(np.int64)
    ls, lu = ([halves(w, k) for w in unsigned] for k in (np.int16, np.uint16))
    wrapped = (signed[0] + signed[1]).astype(np.int32)
    relu = np.minimum((ls[0] + ls[1]).astype(np.int16), ls[2]).clip(0)
    expected = {
        0: signed.min(0).clip(0),
        1: unsigned.max(0),
        2: packed(np.max(ls, axis=0)),
        3: np.minimum(wrapped, signed[2]),
        4: packed(np.maximum((lu[0] + lu[1]) % 65536, lu[2])),
        5: packed(relu),
        6: packed(np.minimum(ls[0], ls[1])),
        7: (ls[0] <= ls[1]) @ [2, 1],  # the function gives the high half's first
        8: packed(np.maximum(lu[0], lu[1])),
        9: (lu[0] >= lu[1]) @ [2, 1],
        10: np.maximum(signed[0], signed[1]),
        11: signed[0] >= signed[1],
    }
    for column, values in expected.items():
        np.testing.assert_array_equal(
            out[:, column], np.asarray(values, np.int64) % WORD, err_msg=str(column)
        )


def test_what_only_orders_does_nothing(module):
    np.testing.assert_array_equal(launch(module, "fences", None, LANES), np.arange(LANES))
    out = launch(module, "prefetched", None, LANES, 3)
    np.testing.assert_array_equal(out, 3 * np.arange(LANES))


@pytest.mark.parametrize("least, expected", [(-4, 100), (-6, 0)])
def test_barriers_that_count(module, least, expected):
    content = np.arange(least, least + LANES)
    out = launch(module, "reducing", content % WORD, LANES)
    assert set(out) == {(content > 0).sum() + expected}


@pytest.mark.parametrize(
    "kernel, codes",
    [
        ("from_floats", {0.5: 0x30, -2.0: 0xC0, 1000.0: 0x7E, 0.0: 0, 1.75: 0x3E}),
        ("from_halves", {0.5: 0x38, -2.0: 0xC0, 1e5: 0x7B, 0.0: 0, 1.75: 0x3F}),
    ],
)
def test_four_floats_in_a_word(kernel, codes):
    numbers = np.resize(np.array(list(codes), np.float32), (LANES, 4))
    expected = np.vectorize(lambda x: codes[float(x)])(numbers).astype(np.uint8).view(np.uint32)
    with lockstep.Device("H100", timing=False) as device:
        out = device.zeros(LANES, np.uint32)
        device.load_cubin(CUBINS / "eighths.sm_90.cubin")[kernel][1, LANES](
            device.array(numbers), out
        )
        np.testing.assert_array_equal(out.numpy(), expected[:, 0])


def _extreme(name, a, b, c):
    """What a kernel of ``extremes.cu`` gives of f32."""
    a, b = (-a, abs(b)) if "signs" in name else (a, b)
    larger, smaller = (np.maximum, np.minimum) if "nan" in name else (np.fmax, np.fmin)
    choose = larger if "largest" in name else smaller
    return choose(choose(a, b), c)


@pytest.mark.parametrize(
    "name",
    ["largest", "smallest", "largest_nan", "largest_signs", "largest_bf16", "smallest_bf16_nan"],
)
def test_the_extreme_of_three_halves(name):
    rng = np.random.default_rng(8)
    numbers = rng.integers(-8, 8, (3, 64)).astype("f4") + 0.5
    numbers[rng.random((3, 64)) < 0.1] = np.nan
    bf16 = "bf16" in name
    words = (numbers.view("u4") >> 16).astype("u2") if bf16 else numbers.astype("f2").view("u2")
    with lockstep.Device("H100") as device:
        module = device.load_cubin((CUBINS / "extremes.sm_90.cubin").read_bytes())
        out = device.zeros(64, "u2")
        module[name][1, 32](device.array(words.reshape(-1)), out)
        bits = out.numpy()
    got = (bits.astype("u4") << 16).view("f4") if bf16 else bits.view("f2").astype("f4")
    np.testing.assert_array_equal(got, _extreme(name, *numbers))
