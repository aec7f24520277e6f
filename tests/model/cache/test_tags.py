"""Tags: what is where, several caches in one, fewer ways, and emptying."""

import pytest

from lockstep.model.cache import replacement, tags
from lockstep.model.cache.tags import NO_LINE

pytestmark = pytest.mark.plain

CACHES, SETS, WAYS = 3, 7, 5


@pytest.fixture
def state():
    return tags.build(CACHES, SETS, WAYS, "lru")


def insert(state, cache, set_index, way, line):
    row = tags.row_of(state, cache, set_index)
    return replacement.insert(state, cache, row, way, line, 0)


def find(state, cache, set_index, line):
    return tags.find(state, cache, tags.row_of(state, cache, set_index), line)


def test_new_tags_are_empty(state):
    assert find(state, 0, 0, 0) == -1
    assert not state.lines.any() and tags.line_of(state, 0, 0) == NO_LINE


def test_every_row_belongs_to_one_set_of_one_cache(state):
    rows = [tags.row_of(state, c, s) for c in range(CACHES) for s in range(SETS)]
    assert rows == list(range(CACHES * SETS)) == list(range(len(state.lines)))


@pytest.mark.parametrize("way", range(WAYS))
def test_a_line_is_found_in_its_way_and_nowhere_else(state, way):
    insert(state, 1, 3, way, 99)
    assert find(state, 1, 3, 99) == way
    assert find(state, 1, 3, 98) == find(state, 1, 2, 99) == find(state, 0, 3, 99) == -1
    assert tags.line_of(state, tags.row_of(state, 1, 3), way) == 99


def test_every_way_has_a_record_of_its_own(state):
    for row in range(CACHES * SETS):
        for way in range(WAYS):
            tags.way_of(state, row, way).valid += 1
    assert (state.held["valid"] == 1).all()


def test_history_is_kept_for_a_users_policy_alone(state):
    assert len(state.history) == len(state.ways) == 1
    users = tags.build(CACHES, SETS, WAYS, "user")
    assert len(users.history) == len(users.held) and len(users.ways) == CACHES * WAYS
    insert(users, 2, 4, 3, 99)
    row = tags.row_of(users, 2, 4)
    replacement.touch(users, 2, row, 3, 0)
    history = tags.history_of(users, row, 3)
    assert (history.inserted, history.used, history.mark) == (1, 2, 0)


def test_an_invalid_way_forgets_everything_and_goes_first(state):
    for way in range(WAYS):
        insert(state, 0, 0, way, way)
    record = tags.way_of(state, 0, 3)
    record.valid, record.dirty, record.partial, record.pending = 1, 2, 4, 8
    tags.invalidate(state, 0, 3)
    assert find(state, 0, 0, 3) == -1
    assert not any(record[n] for n in ("valid", "dirty", "partial", "pending"))
    assert record.waiters == -1
    assert replacement.victim(state, 0, 0, None) == 3


def test_an_inserted_line_has_no_sector(state):
    insert(state, 0, 0, 2, 5).valid = 15
    record = insert(state, 0, 0, 2, 6)
    assert (record.valid, record.dirty, record.pending) == (0, 0, 0)
    assert find(state, 0, 0, 5) == -1


def test_clearing_a_cache_leaves_the_others(state):
    for cache in range(CACHES):
        insert(state, cache, 1, 0, 7)
    tags.clear(state, 1)
    assert [find(state, cache, 1, 7) for cache in range(CACHES)] == [0, -1, 0]


@pytest.mark.parametrize("ways, used", [(2, 2), (1, 1), (WAYS + 3, WAYS)])
def test_a_cache_may_use_fewer_ways(state, ways, used):
    insert(state, 1, 0, 0, 7)
    tags.set_ways(state, 1, ways)
    assert find(state, 1, 0, 7) == -1, "it is empty afterwards"
    row = tags.row_of(state, 1, 0)
    chosen = []
    for line in range(2 * WAYS):
        way = int(replacement.victim(state, 1, row, None))
        replacement.insert(state, 1, row, way, line, 0)
        chosen.append(way)
    assert set(chosen) == set(range(used))
    assert [line for line in range(2 * WAYS) if find(state, 1, 0, line) >= 0] == list(
        range(2 * WAYS - used, 2 * WAYS)
    )
