"""Compressed traces with an index: what they serve, and damage of every part."""

import random
import struct
from contextlib import suppress

import pytest
import zstandard

from lockstep.errors import InputError

GRID = {"grid": (2, 1, 1), "block": (64, 1, 1)}


def lines(count, warp=0, tail=" 0 NoVal"):
    return [
        f"{16 * k:04x} ffffffff 1 R0 LDG.E 1 R2 4 1 {0x1000 * warp + k:#x} 4 {k % 3}{tail}"
        for k in range(count)
    ]


BLOCKS = {(1, 0, 0): [lines(5), lines(3, 1)], (0, 0, 0): [lines(1, 2), []]}


@pytest.mark.parametrize("frame", [1, 2, 1000])
def test_the_same_as_the_text(trace, build, naive, frame):
    text = build.header("6", **GRID) + build.body(BLOCKS)
    expected = naive.comparable(naive.read(text))
    kernel = trace(build.tracez(build.header("6", **GRID), BLOCKS, frame=frame), "k.tracez")
    assert naive.expand(kernel) == expected
    assert list(naive.expand(kernel)) == [(1, 0, 0), (0, 0, 0)]


def test_a_trained_dictionary(trace, build, naive):
    samples = [line.encode() for seed in range(40) for line in lines(20, seed)]
    dictionary = zstandard.train_dictionary(2048, samples).as_bytes()
    data = build.tracez(build.header("6", **GRID), BLOCKS, dictionary)
    expected = naive.comparable(naive.read(build.header("6", **GRID) + build.body(BLOCKS)))
    assert naive.expand(trace(data, "k.tracez")) == expected


def refused(trace, data):
    with pytest.raises(InputError) as caught:
        list(trace(bytes(data), "k.tracez").ctas())
    assert caught.value.where.startswith(("byte", "line")) or not caught.value.where
    return str(caught.value)


@pytest.fixture
def data(build):
    return bytearray(build.tracez(build.header("6", **GRID), BLOCKS))


def put(data, offset, layout, *values):
    struct.pack_into("<" + layout, data, offset, *values)
    return data


def parts(data):
    """Offsets of the sizes behind the header, of the first warp, and of the index."""
    start = data.index(0) + 1
    return start, start + 8, struct.unpack("<Q", data[-8:])[0]


def test_damaged_sizes(trace, data):
    start, first, index = parts(data)
    huge = 2**32 - 1
    cases = {
        (start, "I"): "dictionary",
        (first, "I"): "expected 5 instructions in 3 frames",
        (first + 4, "I"): "expected 5 instructions in 3 frames",
        (first + 8, "I"): "bytes of a frame",
        (index, "I"): "expected 2 thread blocks",
        (index + 4, "I"): "outside the grid",
        (index + 4 + 40, "I"): "expected 2 warps",
        (index + 4 + 44, "I"): "the warp 4294967295",
        (index + 4 + 48, "I"): "bytes of instruction counts",
        (index + 4 + 60, "I"): "instructions, the warp 5",
        (len(data) - 8, "I"): "index",
        (len(data) - 4, "I"): "index",
    }
    for (offset, layout), expected in cases.items():
        assert expected in refused(trace, put(bytearray(data), offset, layout, huge))


def test_damaged_offsets(trace, data):
    _, first, index = parts(data)
    for value in (0, first + 4, index + 4, 2**63, 2**64 - 1):
        refused(trace, put(bytearray(data), index + 4 + 52, "Q", value))
        refused(trace, put(bytearray(data), len(data) - 8, "Q", value))


def test_every_truncation_is_noticed(trace, data):
    for size in range(0, len(data), 7):
        refused(trace, data[:size])


def test_a_bomb_is_not_inflated(trace, build):
    bomb = zstandard.ZstdCompressor().compress(b" " * (1 << 26))
    data = build.tracez(build.header("6"), {(0, 0, 0): [lines(1)]})
    _, first, index = parts(data)
    (size,) = struct.unpack_from("<I", data, first + 8)
    old = data[first + 8 : first + 12 + size]
    new = struct.pack("<I", len(bomb)) + bomb
    moved = struct.pack("<Q", index + len(new) - len(old))
    message = refused(trace, data[:-8].replace(old, new) + moved)
    assert "expected a frame of up to 1 lines, found 67108864 bytes" in message


def test_flipped_bits_give_an_error_or_a_result(trace, data):
    rng = random.Random(5)
    for _ in range(200):
        damaged = bytearray(data)
        damaged[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
        with suppress(InputError):
            list(trace(bytes(damaged), "k.tracez").ctas())
