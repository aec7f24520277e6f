"""Kernels of one wavefront whose instructions are not arithmetic, against NumPy.

Each puts rows of 64 words into ``out``. Their binaries are made by
``scripts/southern_islands_kernels.py``.
"""

import shutil
from pathlib import Path

import numpy as np
import pytest

import cal_files
import lockstep

FOLDER = Path(__file__).parent / "kernels"
LANES, ROWS = 64, 80
lanes = np.arange(LANES)
needs_assembler = pytest.mark.skipif(
    shutil.which(cal_files.ASSEMBLER[0]) is None, reason="needs llvm-mc, LLVM's assembler"
)


@pytest.fixture(scope="module")
def words():
    """256 words of all kinds."""
    return np.random.default_rng(64).integers(0, 1 << 32, 256, np.uint32)


@pytest.fixture(scope="module")
def out(words):
    """Function from a kernel's name to the rows that it writes."""

    def of(name, items=LANES):
        with lockstep.Device(memory_bytes=1 << 26) as device:
            module = device.load_gcn(FOLDER / f"{name}.bin")
            made = device.zeros((ROWS, LANES), np.uint32)
            module[name][items, items](device.array(words), made)
            return made.numpy()

    return of


@needs_assembler
@pytest.mark.parametrize("source", sorted(FOLDER.glob("*.s")), ids=lambda path: path.stem)
def test_a_binary_is_its_source_assembled(source):
    made = cal_files.from_source(source.read_text())
    assert source.with_suffix(".bin").read_bytes() == made


class Memory:
    """Words that lanes change in their order."""

    def __init__(self, size, start=0):
        self.words = np.full(size, start, np.uint32)

    def each(self, change, values):
        """What was there when each lane came; ``change(old, lane)`` is what it leaves."""
        found = np.zeros(LANES, np.uint32)
        for lane in range(LANES):
            place = lane % len(self.words)
            found[lane] = self.words[place]
            self.words[place] = change(int(found[lane]), int(values[lane])) & 0xFFFFFFFF
        return found


def signed(number):
    """A word as a number with a sign."""
    return number - (number >> 31 << 32)


def test_local_memory(out, words):
    a, b = words[:LANES], words[LANES : 2 * LANES]
    rows = iter(out("lds"))

    def got(expected, what):
        assert np.array_equal(next(rows), expected), what

    got(b, "read2, second word")
    got(a, "read2, first word")
    got(a, "read2st64, first row")
    got(b, "read2st64, second row")
    raw = a.view(np.int8)
    got(raw[lanes + 1].astype(np.int32).view(np.uint32), "a byte with its sign")
    got(a >> 16, "the upper half of a word")
    got(a & 0xFF, "a byte that was written")
    got(a[lanes & ~3 | 0x1B >> 2 * (lanes & 3) & 3], "each quad backwards")
    got(a[lanes ^ 3], "lanes by masks of their number")
    memory = Memory(8, 5)
    got(memory.each(lambda old, x: old + x, a), "add")
    got(memory.each(lambda old, x: x - old, a), "rsub")
    got(memory.each(lambda old, x: max(signed(old), signed(x)), a), "max of signed numbers")
    got(memory.each(min, b), "min")
    both = {int(x): int(y) for x, y in zip(a, b, strict=True)}
    got(memory.each(lambda old, x: old & ~x | both[x], a), "mskor")
    got(memory.each(lambda old, x: both[x] if old == x else old, a), "cmpst")
    got(memory.each(lambda old, x: x, a), "exchange")
    got(memory.each(lambda old, x: 0 if old >= x else old + 1, np.full(LANES, 5)), "inc")
    memory.each(lambda old, x: old - x, a)
    memory.each(lambda old, x: old ^ x, b)
    got(memory.words[lanes % 8], "sub and xor, read at last")
    pairs = np.stack([a, b], axis=1).reshape(-1)[:LANES]
    got(np.where(lanes < 16, pairs, 0), "no more than M0 says")


def test_buffers(out, words):
    a, b = words[:LANES], words[LANES : 2 * LANES]
    found = out("buffers")
    rows = iter(found)

    def got(expected, what):
        assert np.array_equal(next(rows), np.asarray(expected, np.uint32)), what

    raw = words.view(np.uint8)
    got(raw.view(np.int8)[lanes].astype(np.int32).view(np.uint32), "signed bytes")
    got(raw[lanes + 0x83], "bytes behind a scalar offset")
    halves = words.view(np.int16)
    got(halves[2 * lanes + 1].astype(np.int32).view(np.uint32), "signed halves")
    got(a & 0xFFFF, "halves")
    got(words[4 * lanes], "the first of four words")
    got(words[4 * lanes + 3], "the last of four words")
    got(words[lanes + 1], "the first of two words that are not aligned")
    got(words[lanes + 2], "the second")
    got(np.where(lanes < 40, words[4 * lanes + 2], 0), "40 records of 16 bytes")
    got(np.where(lanes < 25, a, 0), "100 bytes")
    memory = Memory(8)
    got(memory.each(lambda old, x: old + x, a), "add")
    got(memory.each(lambda old, x: min(signed(old), signed(x)), a), "smin")
    got(memory.each(max, b), "umax")
    new = {int(x): int(y) for x, y in zip(a, b, strict=True)}
    got(memory.each(lambda old, x: new[x] if old == x else old, a), "cmpswap")
    memory.each(lambda old, x: x if old == 0 or old > x else old - 1, np.full(LANES, 3))
    memory.each(lambda old, x: old - x, a)
    got(np.full(LANES, 3), "what an atomic without a result leaves of its operand")
    tail = found[LANES:].reshape(-1)
    assert np.array_equal(tail[:8], memory.words)
    assert np.array_equal(tail[LANES : LANES + 16], (b & 0xFF).astype(np.uint8).view(np.uint32))
    assert np.array_equal(tail[2 * LANES : 3 * LANES], b & 0xFFFF)


def test_masks_and_moves(out, words):
    a = words[:LANES]
    rows = iter(out("lanes"))

    def got(expected, what):
        expected = np.broadcast_to(np.asarray(expected, np.uint32), LANES)
        assert np.array_equal(next(rows), expected), what

    got(a[17], "readlane")
    got(np.where(lanes == 63, 1234, a), "writelane")
    written = np.where(lanes == 63, 1234, a)
    got(np.where(lanes > 31, 0, written), "what a mask left out keeps its value")
    got(32, "the first lane of a mask")
    got(32, "nothing is written without lanes")
    got(a[0], "lane 0 is the first of none, and EXEC was seen to be zero")
    got(np.where(lanes == 5, 9, a), "cmpx changes EXEC")
    got(np.where(lanes == 5, a, lanes), "VCC holds what it found")
    got(a, "movrels")
    got(np.where(lanes < 8, lanes, 102), "movreld in some lanes")
    got(4, "s_movrels")
    got(1234, "s_movreld")
    got(6, "a loop of three turns")
    got(words[5], "four words of a buffer")
    got(words[5], "a word at a byte")
    got(words[11], "eight words at an address")


def test_formats(out, words):
    a = words[:LANES]
    rows = iter(out("formats"))

    def got(expected, what):
        expected = np.asarray(expected)
        if expected.dtype.kind == "f":
            found = next(rows).view(np.float32)
            assert np.array_equal(found, expected.astype(np.float32), equal_nan=True), what
        else:
            assert np.array_equal(next(rows), expected.astype(np.uint32)), what

    single = np.float32
    raw, halves = a.view(np.uint8).reshape(LANES, 4), a.view(np.int16).reshape(LANES, 2)
    got(raw[:, 0].astype(single) / single(255), "unorm, the first of four")
    got(raw[:, 3].astype(single) / single(255), "unorm, the last")
    snorm = np.maximum(halves[:, 1].astype(single) / single(32767), single(-1))
    got(snorm, "snorm")
    got(np.zeros(LANES, single), "a channel that is missing")
    got(np.ones(LANES, single), "the last one, if it is missing")
    got(a & 0x3FF, "ten bits")
    got(a >> 20 & 0x3FF, "the third ten bits")
    floats = a.view(np.float16).reshape(LANES, 2)
    for channel in range(2):
        found = next(rows).view(np.float32)
        wanted = floats[:, channel].astype(single)
        assert np.array_equal(found, wanted, equal_nan=True)
    got(words.view(np.int8)[:LANES].astype(single), "bytes that are scaled, with a sign")
    got(raw[:, 0], "a format of the descriptor")
    got(raw[:, 2], "its third channel")
    four = np.stack([words[lanes + LANES + k] for k in range(4)], axis=1).view(single)
    with np.errstate(invalid="ignore"):
        unorm = np.rint(np.clip(np.nan_to_num(four, nan=0.0), 0, 1) * single(255)).astype(np.uint8)
    got(unorm.reshape(-1).view(np.uint32), "unorm, written")
    pair = four[:, :2].copy()
    found = next(rows).view(np.float16).reshape(LANES, 2)
    with np.errstate(over="ignore", invalid="ignore"):
        assert np.array_equal(found, pair.astype(np.float16), equal_nan=True)


@pytest.mark.parametrize("items", [1, 40])
def test_a_wavefront_may_have_fewer_items(out, words, items):
    found = out("buffers", items)
    assert np.array_equal(found[3][:items], words[:items] & 0xFFFF)
    assert not found[3][items:].any()
