"""Caches by the model's tags: with LRU they count what stacks count, which know nothing of tags."""

from itertools import product

import numpy as np
import pytest

from caches.streams import stream
from lockstep._jit import as_records
from lockstep.caches.accesses import READ
from lockstep.caches.geometry import Sets
from lockstep.caches.lookups import Level
from lockstep.caches.order import ENTRY
from lockstep.caches.stacks import Stacks
from lockstep.caches.tagged import Tagged

SETS = {
    "one": Sets(1, 128),
    "linear": Sets(16, 128),
    "ipoly": Sets(12, 64, "ipoly"),
    "sectors": Sets(32, 32, "xor"),
    "slices": Sets(24, 128, "linear", 6, "ipoly", 256),
}


def both(level: Level, seed: int, keeps: int):
    """Counts of a tagged pass and of a stack, and what each lets by."""
    kept = []
    for made in (Tagged(level._replace(keeps=keeps)), Stacks(level._replace(keeps=keeps))):
        out = []
        for part in range(3):
            if part == 2:
                made.forget()
            entries = stream(seed + part, count=1500)
            out.append(made.look_up(entries, len(entries)).copy())
        counted = made.accesses.copy(), made.misses(level.sets.count, level.ways).copy()
        kept.append((*counted, np.concatenate(out)))
    return kept


@pytest.mark.parametrize("sets", SETS)
@pytest.mark.parametrize("sectored", [False, True])
def test_lru_counts_what_stacks_count_and_lets_the_same_by(sets, sectored):
    for ways, evict in product((1, 3, 4, 8), (False, True)):
        level = Level(SETS[sets], ways, 3, evict=evict, sectored=sectored)
        for mine, other in zip(*both(level, 10 * ways + evict, keeps=ways)):
            assert mine.tolist() == other.tolist()


@pytest.mark.parametrize("sets", SETS)
@pytest.mark.parametrize("sectored", [False, True])
def test_an_l2_counts_what_stacks_count(sets, sectored):
    for ways in (1, 2, 5, 16):
        level = Level(SETS[sets], ways, l2=True, sectored=sectored)
        (accesses, misses, _), (others, missed, _) = both(level, ways, keeps=0)
        assert accesses.tolist() == others.tolist()
        assert misses.tolist() == missed.tolist()


def misses_of(how: str, lines: list[int], ways: int = 2, victim=None) -> int:
    """Misses of reads of some lines, one after the other, in one set."""
    made = np.zeros(len(lines), ENTRY)
    made["line"], made["sectors"], made["kind"] = lines, 15, READ
    tagged = Tagged(Level(Sets(1, 128), ways), how, victim)
    tagged.look_up(as_records(made), len(made))
    return int(tagged.misses(tagged.level.sets.count, ways)[READ])


def test_fifo_gives_up_what_came_first_and_lru_what_was_used_last():
    lines = [1, 2, 1, 3, 1]
    assert misses_of("lru", lines) == 3
    assert misses_of("fifo", lines) == 4


def test_a_users_policy_decides():
    def newest(ways, first, count, now):
        best = 0
        for k in range(count):
            if ways[first + k].inserted > ways[first + best].inserted:
                best = k
        return best

    assert misses_of("user", [1, 2, 3, 1, 1, 3, 1], victim=newest) == 3
    assert misses_of("lru", [1, 2, 3, 1, 1, 3, 1]) == 4


@pytest.mark.parametrize("how", ["random", "nru"])
def test_what_is_drawn_lies_between_all_and_compulsory_misses(how):
    lines = [k % 5 for k in range(1000)]
    assert misses_of("lru", lines, ways=4) == 1000
    assert 100 < misses_of(how, lines, ways=4) < 900
    assert misses_of(how, lines, ways=5) == 5


def test_a_policy_without_its_function_is_refused():
    with pytest.raises(ValueError, match="user"):
        Tagged(Level(Sets(1, 128), 2), "user")
