"""Replacement: rules that every policy obeys, and each one against a naive twin."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lockstep.isa.instruction import CachePolicy
from lockstep.model.cache import replacement, tags
from lockstep.model.cache.tags import NO_LINE

pytestmark = pytest.mark.plain

WAYS = 4
POLICIES = ["lru", "fifo", "random", "nru", "user"]


def most_recent(ways, first, count, now):
    """A user's policy for the tests: the opposite of LRU."""
    return max(range(count), key=lambda i: ways[first + i].used)


class Set:
    """One set of a cache."""

    def __init__(self, policy, user=most_recent, ways=WAYS, seed=1):
        self.tags = tags.build(2, 3, ways, policy, seed=seed)
        self.row = tags.row_of(self.tags, 1, 2)
        self.user = replacement.compile_victim(user)

    def victim(self):
        return int(replacement.victim(self.tags, 1, self.row, self.user))

    def access(self, line, hint=0):
        """Hit or replace; the line that went, NO_LINE for none, None for a hit."""
        way = tags.find(self.tags, 1, self.row, line)
        if way >= 0:
            replacement.touch(self.tags, 1, self.row, way, hint)
            return None
        way = self.victim()
        gone = int(tags.line_of(self.tags, self.row, way))
        replacement.insert(self.tags, 1, self.row, way, line, hint)
        return gone

    def lock(self, way):
        replacement.lock(self.tags, self.row, way)
        tags.way_of(self.tags, self.row, way).pending = 1

    def unlock(self, way):
        replacement.unlock(self.tags, 1, self.row, way, 0)
        tags.way_of(self.tags, self.row, way).pending = 0


LINES = st.lists(st.integers(0, 9), max_size=60)


class Twin:
    """A list of lines, the next victim first."""

    def __init__(self, policy):
        self.policy, self.order = policy, []

    def access(self, line):
        if line in self.order:
            if self.policy != "fifo":
                self.order.remove(line)
                self.order.append(line)
            return None
        gone = NO_LINE
        if len(self.order) == WAYS:
            gone = self.order.pop(-1 if self.policy == "user" else 0)
        self.order.append(line)
        return gone


@pytest.mark.parametrize("policy", ["lru", "fifo", "user"])
@given(lines=LINES)
def test_a_policy_is_as_its_naive_twin(policy, lines):
    ours, twin = Set(policy), Twin(policy)
    assert [ours.access(line) for line in lines] == [twin.access(line) for line in lines]


@pytest.mark.parametrize("policy", POLICIES)
class TestContract:
    """What holds for every policy."""

    def test_empty_ways_go_first(self, policy):
        cache = Set(policy)
        assert [cache.access(line) for line in range(WAYS)] == [NO_LINE] * WAYS

    def test_the_answer_is_a_way_in_use(self, policy):
        cache = Set(policy)
        tags.set_ways(cache.tags, 1, 3)
        for line in range(30):
            assert 0 <= cache.victim() < 3
            cache.access(line)

    def test_a_locked_way_stays_until_it_is_unlocked(self, policy):
        cache = Set(policy)
        for line in range(WAYS):
            cache.access(line)
        for way in range(1, WAYS):
            cache.lock(way)
        assert [cache.access(line) for line in range(10, 15)] == [0, 10, 11, 12, 13]
        replacement.touch(cache.tags, 1, cache.row, 2, 0)
        assert cache.victim() == 0, "a hit does not unlock"
        cache.lock(0)
        assert cache.victim() == -1
        cache.unlock(2)
        assert cache.victim() == 2

    def test_other_sets_and_caches_are_left_alone(self, policy):
        cache = Set(policy)
        before = cache.tags.lines.copy()
        for line in range(20):
            cache.access(line)
        before[cache.row] = cache.tags.lines[cache.row]
        assert (cache.tags.lines == before).all()

    def test_it_is_the_same_every_time(self, policy):
        first, second = Set(policy), Set(policy)
        for line in [1, 2, 3, 1, 4, 5, 6, 2, 7, 8, 9, 1, 3]:
            assert first.access(line) == second.access(line)

    def test_one_way_is_enough(self, policy):
        cache = Set(policy, ways=1)
        assert [cache.access(line) for line in (1, 2, 2, 3)] == [NO_LINE, 1, None, 2]


@given(LINES, st.integers(1, 99))
def test_random_keeps_a_set_of_distinct_lines(lines, seed):
    cache, held = Set("random", seed=seed), set()
    for line in lines:
        gone = cache.access(line)
        assert (gone is None) == (line in held)
        held -= {gone}
        held.add(line)
        assert len(held) <= WAYS


def test_random_chooses_every_way_about_as_often():
    cache = Set("random")
    counts = Counter()
    for line in range(800):
        counts[cache.victim()] += line >= WAYS
        cache.access(line)
    assert len(counts) == WAYS
    assert min(counts.values()) > 130


@given(LINES, st.integers(1, 99))
def test_nru_replaces_a_line_that_was_not_touched_in_its_epoch(lines, seed):
    cache, held, recent = Set("nru", seed=seed), set(), set()
    cache.tags.epochs[cache.row] = 1  # the first one began when the set was empty
    for line in lines:
        gone = cache.access(line)
        assert (gone is None) == (line in held)
        if gone is not None and gone != NO_LINE:
            if recent == held:
                recent = set()
            assert gone in held - recent
            held.remove(gone)
        held.add(line)
        recent.add(line)


@pytest.mark.long
@pytest.mark.parametrize(("share", "gone"), [(0.25, 0.031), (0.5, 0.125), (0.75, 0.281)])
def test_nru_displaces_half_the_square_of_what_a_part_of_the_cache_brings(share, gone):
    """Lines of sets whose epochs began at any time: see the module."""
    sets, ways = 600, 16
    state = tags.build(1, sets, ways, "nru")
    watched, lines, found = 3 * ways, 3 * ways + 1 + int(share * ways), 0
    for row in range(sets):
        for line in range(lines):
            way = int(replacement.victim(state, 0, row, None))
            replacement.insert(state, 0, row, way, line, 0)
        found += tags.find(state, 0, row, watched) >= 0
    assert found / sets == pytest.approx(1 - gone, abs=0.03)


@pytest.mark.parametrize("policy", ["random", "nru"])
def test_caches_draw_different_random_numbers(policy):
    state = tags.build(2, 1, WAYS, policy)
    chosen = []
    for cache in range(2):
        for way in range(WAYS):
            replacement.insert(state, cache, cache, way, way, 0)
        chosen.append([int(replacement.victim(state, cache, cache, None)) for _ in range(20)])
    assert chosen[0] != chosen[1]


@pytest.mark.parametrize("policy", ["lru", "fifo", "nru"])
def test_a_streaming_line_goes_before_older_ones(policy):
    cache = Set(policy)
    for line in range(WAYS):
        cache.access(line, CachePolicy.STREAMING if line == 2 else 0)
    assert cache.access(10) == 2
    assert policy == "nru" or cache.access(11) == 0


@pytest.mark.parametrize("policy", ["lru", "fifo", "nru"])
def test_a_line_to_keep_goes_last(policy):
    cache = Set(policy)
    cache.access(0, CachePolicy.KEEP)
    for line in range(1, 12):
        assert cache.access(line) != 0


def test_a_streaming_hit_lets_a_line_go():
    cache = Set("lru")
    for line in range(WAYS):
        cache.access(line)
    cache.access(3, CachePolicy.STREAMING)
    assert cache.access(10) == 3


def test_a_fill_makes_a_line_the_newest():
    cache = Set("lru")
    for line in range(WAYS):
        cache.access(line)
    cache.lock(0)
    cache.unlock(0)
    assert cache.access(10) == 1


@pytest.mark.parametrize("answer", [-1, WAYS, 1])
def test_where_a_users_answer_cannot_be_the_least_recent_goes(answer):
    cache = Set("user", user=lambda ways, first, count, now: answer)
    for line in range(WAYS):
        cache.access(line)
    cache.lock(1)
    assert cache.victim() == 0


def test_a_users_policy_sees_the_ways_of_its_set():
    seen = []

    def look(ways, first, count, now):
        seen.append(([int(w.inserted) for w in ways[first : first + count]], int(now)))
        ways[first].mark += 1
        return 1

    cache = Set("user", user=look)
    for line in (10, 11, 12, 13, 10, 14, 15):
        cache.access(line)
    assert seen == [([1, 2, 3, 4], 5), ([1, 6, 3, 4], 6)]
    assert tags.history_of(cache.tags, cache.row, 0).mark == 2
