"""Read-only caches of lines: arrival, the order of replacement, and a naive twin."""

import random

import pytest

from lockstep.model.cache import line_cache
from lockstep.model.cache.line_cache import ABSENT
from lockstep.model.clock import NEVER

pytestmark = pytest.mark.plain
LINE = 64


@pytest.mark.parametrize(
    "size, ways, line, shape",
    [(12288, 4, 128, (24, 4)), (256, 8, 128, (1, 2)), (0, 4, 128, (0, 1)), (384, 2, 128, (1, 2))],
)
def test_sets_and_ways_of_small_caches(size, ways, line, shape):
    assert line_cache.shape_of(size, ways, line) == shape


def test_a_cache_of_no_bytes_is_perfect():
    assert line_cache.is_perfect(line_cache.build(3, 0, 4, LINE))
    assert not line_cache.is_perfect(line_cache.build(3, LINE, 4, LINE))


def test_a_line_on_its_way_is_found_with_its_arrival():
    lines = line_cache.build(2, 4 * LINE, 2, LINE)
    assert line_cache.look_up(lines, 1, 7, 10) == ABSENT
    line_cache.insert(lines, 1, 7, 10, 90)
    assert line_cache.look_up(lines, 1, 7, 11) == 90
    assert line_cache.look_up(lines, 0, 7, 11) == line_cache.look_up(lines, 1, 5, 11) == ABSENT


class Twin:
    """The sets of a cache as lists of [line, used, arrives], in the order of their ways."""

    def __init__(self, sets, ways):
        self.sets = [[[None, -1, 0] for _ in range(ways)] for _ in range(sets)]

    def look_up(self, line, now):
        for way in self.sets[line % len(self.sets)]:
            if way[0] == line:
                way[1] = now
                return way[2]
        return ABSENT

    def insert(self, line, now, arrives):
        oldest = min(self.sets[line % len(self.sets)], key=lambda way: way[1])
        oldest[:] = line, now, arrives


@pytest.mark.parametrize("seed", range(20))
def test_it_is_as_its_naive_twin(seed):
    """Cycles that go back now and then, as with lines that are fetched ahead; lines below zero."""
    rng = random.Random(seed)
    sets, ways = rng.choice([1, 2, 3, 5]), rng.choice([1, 2, 4])
    lines = line_cache.build(2, sets * ways * LINE, ways, LINE)
    twins, now = [Twin(sets, ways), Twin(sets, ways)], 0
    for _ in range(500):
        now = max(0, now + rng.randrange(-3, 5))
        i, line = rng.randrange(2), rng.randrange(-12, 12)
        arrives = twins[i].look_up(line, now)
        assert line_cache.look_up(lines, i, line, now) == arrives
        if arrives == ABSENT:
            twins[i].insert(line, now, now + 30)
            line_cache.insert(lines, i, line, now, now + 30)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("now", [0, 3, 50, 500])
def test_settled_uses_were_by_now_and_in_the_same_order(seed, now):
    draw = random.Random(seed)
    lines = line_cache.build(2, 8 * 2 * LINE, 8, LINE)
    cycle = 0
    for _ in range(draw.choice([3, 10, 60])):
        cycle += draw.choice([0, 1, 30])
        cache, line = draw.randrange(2), draw.randrange(24)
        if line_cache.look_up(lines, cache, line, cycle) == ABSENT:
            line_cache.insert(lines, cache, line, cycle, cycle + 40)
    before, keys = lines.lines.copy(), lines.keys.copy()
    line_cache.settle(lines, now)
    assert (lines.lines == before).all()
    assert (lines.keys.argsort(axis=1) == keys.argsort(axis=1)).all(), "they go in the same order"
    assert (lines.keys <= keys).all() and (lines.keys >> 21).max() - 2 <= max(now, 8)
    for row in range(len(keys)):
        if (keys[row] >> 21).max() - 2 > now:
            held = lines.held[8 * row : 8 * (row + 1)]
            assert all(h.arrives <= now for h, line in zip(held, before[row]) if line)
        else:
            assert (lines.keys[row] == keys[row]).all(), "nothing was used later"


def test_a_line_comes_when_it_is_said():
    lines = line_cache.build(1, 2 * LINE, 2, LINE)
    line_cache.insert(lines, 0, 7, 10, NEVER)
    assert line_cache.look_up(lines, 0, 7, 11) == NEVER
    line_cache.here(lines, 0, 7, 60)
    assert line_cache.look_up(lines, 0, 7, 61) == 60
    for line in (8, 9):
        line_cache.insert(lines, 0, line, 70 + line, NEVER)
    line_cache.here(lines, 0, 7, 90)  # its way is another line's
    assert line_cache.look_up(lines, 0, 7, 91) == ABSENT
    assert line_cache.look_up(lines, 0, 9, 91) == NEVER
