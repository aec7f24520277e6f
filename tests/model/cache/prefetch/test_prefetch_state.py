"""The queue of a prefetcher, and the marks of lines that nobody has used."""

import pytest

from lockstep.model.cache import tags
from lockstep.model.cache.prefetch import state, table

pytestmark = pytest.mark.plain
LAST = 1000


def make():
    return state.build(tags.build(2, 4, 3, "lru"), LAST, table.build(2, 1, 1))


def push(prefetch, *lines, cache=1, n=None):
    for k, line in enumerate(lines):
        prefetch.out[cache, k].line = line
    return state.push(prefetch, cache, len(lines) if n is None else n)


def queued(prefetch, cache=1):
    found = []
    while prefetch.queues[cache].count:
        assert state.first(prefetch, cache) == prefetch.lines[cache, prefetch.queues[cache].head]
        found.append(int(state.pop(prefetch, cache)))
    return found


def test_lines_wait_in_order_each_cache_by_itself():
    prefetch = make()
    assert push(prefetch, 3, 1, 2) == push(prefetch, 9, cache=0) == 0
    assert queued(prefetch) == [3, 1, 2] and queued(prefetch, 0) == [9]


@pytest.mark.parametrize(("n", "taken"), [(-1, 0), (0, 0), (16, 16), (17, 0), (1 << 40, 0)])
def test_an_answer_that_is_no_number_of_lines_asks_for_nothing(n, taken):
    prefetch = make()
    assert push(prefetch, *range(table.MOST), n=n) == 0
    assert queued(prefetch) == list(range(taken))


def test_lines_that_there_are_not_are_left_out():
    prefetch = make()
    push(prefetch, -1, 0, LAST, LAST + 1, 1 << 62, -(1 << 62))
    assert queued(prefetch) == [0, LAST]


def test_the_oldest_lines_of_a_full_queue_make_room():
    prefetch = make()
    pushes = [push(prefetch, line) for line in range(state.ROOM)]
    assert sum(pushes) == 0
    assert push(prefetch, 100, 101) == 2
    assert queued(prefetch) == [*range(2, state.ROOM), 100, 101]


def test_a_mark_counts_once():
    prefetch = make()
    prefetch.marks[7, 2] = state.HERE
    assert [state.leave(prefetch, 7, 2) for _ in range(2)] == [1, 0]
    for mark in (state.COMING, state.AWAITED):
        prefetch.marks[7, 2] = mark
        assert state.leave(prefetch, 7, 2) == 0 and prefetch.marks[7, 2] == mark


def test_without_a_prefetcher_nobody_looks_at_what_is_there():
    prefetch = state.absent()
    assert prefetch.marks.shape == (1, 1) and len(prefetch.tables) == 1
    assert state.leave(prefetch, 7, 2) == 0
