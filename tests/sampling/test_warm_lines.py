"""The warm set is what an LRU cache of lines without sets would hold, line by line."""

import numpy as np
import pytest

from lockstep.sampling.warm_lines import WarmLines
from lockstep.workload import MemoryCopy

LINE, SECTOR = 128, 32


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
        del self.held[: -self.lines]
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
        return [(n, sum(1 << k for k in v), sum(1 << k for k in d)) for n, v, d in self.held]


def _content(warm):
    return [
        (first + n, sectors, dirty)
        for first, lines, sectors, dirty in warm.runs().tolist()
        for n in range(lines)
    ]


@pytest.mark.parametrize("lines", [1, 2, 7, 40, 1000])
@pytest.mark.parametrize("seed", range(4))
def test_it_is_an_lru_cache_of_lines(lines, seed):
    random = np.random.default_rng(seed)
    warm, naive = WarmLines(lines * LINE), NaiveCache(lines)
    for _ in range(60):
        if random.random() < 0.1:
            address, size = (int(n) for n in random.integers(0, [8000, 3000]))
            warm.copy(MemoryCopy(address, size))
            if size:
                naive.copy(address, size)
            continue
        sectors = np.sort(random.integers(0, 300, random.integers(0, 30)))
        if random.random() < 0.5:
            random.shuffle(sectors)
        writes = random.random(len(sectors)) < 0.3
        warm.touch(sectors, writes)
        for sector, written in zip(sectors.tolist(), writes.tolist()):
            naive.touch(sector, written)
        assert _content(warm) == naive.content()
    assert len(warm) == len(naive.held) <= lines


def test_lines_in_a_row_with_the_same_sectors_are_one_run():
    warm = WarmLines(1 << 20)
    warm.touch(np.arange(4 * 100), np.zeros(400, bool))
    warm.touch(np.arange(4 * 10, 4 * 12), np.ones(8, bool))
    assert warm.runs().tolist() == [
        (0, 10, 15, 0), (12, 88, 15, 0), (10, 2, 15, 15),
    ]  # fmt: skip


def test_nothing_is_held_at_first():
    assert len(WarmLines(1 << 20).runs()) == 0


def test_of_a_copy_that_is_longer_than_the_l2_its_end_is_held():
    warm = WarmLines(3 * LINE)
    warm.copy(MemoryCopy(1 << 40, 1 << 40))
    end = (2 << 40) // LINE
    assert _content(warm) == [(end - 3, 15, 0), (end - 2, 15, 0), (end - 1, 15, 0)]
