"""The lines that were touched are those of an LRU cache of lines without sets, line by line."""

import numpy as np
import pytest

from lockstep.execution.memory.touched import TouchedLines
from lockstep.workload import MemoryCopy

LINE, SECTOR = 128, 32
BASE = 1 << 40
BYTES = 1 << 16


class NaiveCache:
    """A list of [line, valid sectors, dirty sectors], the one used longest ago in front."""

    def __init__(self, lines):
        self.lines, self.held = lines, []

    def use(self, line):
        for k, entry in enumerate(self.held):
            if entry[0] == line:
                self.held.append(self.held.pop(k))
                return entry
        self.held.append([line, set(), set()])
        return self.held[-1]

    def touch(self, sector, written):
        _, valid, dirty = self.use(sector // 4)
        valid.add(sector % 4)
        if written:
            dirty.add(sector % 4)

    def copy(self, address, size):
        for sector in range(address // SECTOR, (address + size - 1) // SECTOR + 1):
            _, valid, dirty = self.use(sector // 4)
            valid.add(sector % 4)
            dirty.discard(sector % 4)

    def content(self):
        last = self.held[-self.lines :]
        return [(n, sum(1 << k for k in v), sum(1 << k for k in d)) for n, v, d in last]


def _content(runs):
    return [
        (first - BASE // LINE + n, sectors, dirty)
        for first, lines, sectors, dirty in runs.tolist()
        for n in range(lines)
    ]


def _numbers(sectors):
    return np.asarray(sectors) + BASE // SECTOR


@pytest.mark.parametrize("lines", [1, 2, 7, 40, 1000])
@pytest.mark.parametrize("seed", range(4))
def test_it_is_an_lru_cache_of_lines(lines, seed):
    random = np.random.default_rng(seed)
    touched, naive = TouchedLines(BASE, BYTES), NaiveCache(lines)
    for turn in range(60):
        if turn == 30:
            touched.begin()
            naive = NaiveCache(lines)
        if random.random() < 0.1:
            address, size = (int(n) for n in random.integers(0, [8000, 3000]))
            touched.copy(MemoryCopy(BASE + address, size))
            if size:
                naive.copy(address, size)
            continue
        sectors = np.sort(random.integers(0, 300, random.integers(0, 30)))
        if random.random() < 0.5:
            random.shuffle(sectors)
        writes = random.random(len(sectors)) < 0.3
        touched.touch(_numbers(sectors), writes)
        for sector, written in zip(sectors.tolist(), writes.tolist()):
            naive.touch(sector, written)
        assert _content(touched.runs(BASE + BYTES, lines)) == naive.content()


def test_lines_in_a_row_with_the_same_sectors_are_one_run():
    touched, first = TouchedLines(BASE, BYTES), BASE // LINE
    touched.touch(_numbers(np.arange(4 * 100)), np.zeros(400, bool))
    touched.touch(_numbers(np.arange(4 * 10, 4 * 12)), np.ones(8, bool))
    assert touched.runs(BASE + BYTES, 1000).tolist() == [
        (first, 10, 15, 0), (first + 12, 88, 15, 0), (first + 10, 2, 15, 15),
    ]  # fmt: skip


def test_what_is_outside_of_memory_is_passed_over():
    touched = TouchedLines(BASE, BYTES)
    outside = [-1, -4, BYTES // SECTOR + 4, 1 << 40]
    touched.touch(_numbers(outside), np.ones(4, bool))
    assert len(touched.runs(BASE + BYTES, 1000)) == 0


def test_addresses_that_were_not_given_out_are_not_looked_at():
    touched = TouchedLines(BASE, BYTES)
    touched.touch(_numbers([0, 400]), np.zeros(2, bool))
    assert _content(touched.runs(BASE + LINE, 10)) == [(0, 1, 0)]
    assert _content(touched.runs(BASE + 100 * LINE + 1, 10)) == [(0, 1, 0), (100, 1, 0)]


def test_what_was_displaced_is_not_there_when_its_line_is_touched_again():
    touched = TouchedLines(BASE, BYTES)
    touched.most = 10

    def masks_of_line_0(*lines):
        touched.touch(_numbers(4 * np.array(lines)), np.ones(len(lines), bool))
        touched.touch(_numbers([1]), np.zeros(1, bool))
        return next(
            masks for line, *masks in _content(touched.runs(BASE + BYTES, 1000)) if line == 0
        )

    touched.copy(MemoryCopy(BASE, LINE))
    assert masks_of_line_0(*range(1, 10)) == [15, 0], "nine others, which begin a new epoch"
    assert masks_of_line_0(*range(11, 20)) == [15, 0], "nine others have been touched since"
    touched.touch(_numbers(4 * np.arange(21, 30)), np.ones(9, bool))
    assert masks_of_line_0(*range(31, 41)) == [2, 0], "an epoch of ten others lies between"


def test_the_beginning_of_a_long_copy_is_displaced_by_its_end():
    touched = TouchedLines(BASE, BYTES)
    touched.most = 10
    touched.copy(MemoryCopy(BASE, 40 * LINE))
    touched.touch(_numbers([4 * 5, 4 * 35]), np.ones(2, bool))
    assert _content(touched.runs(BASE + BYTES, 2)) == [(5, 1, 1), (35, 15, 1)]
