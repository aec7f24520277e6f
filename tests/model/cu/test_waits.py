"""Wait counters: what they are, and when they fall, compared with lists of what is on its way."""

import numpy as np
import pytest

from lockstep.model.clock import NEVER
from lockstep.model.core.kinds import EXPORT_COUNT, LGKM_COUNT, VECTOR_COUNT
from lockstep.model.core.state import WAIT_RING, WAITS
from lockstep.model.cu import waits
from lockstep.model.records import records

pytestmark = pytest.mark.plain


@pytest.fixture
def state():
    state = records(1, WAITS)[0]
    waits.begin(state)
    return state


def test_vector_memory_falls_at_the_nth_youngest_and_in_order(state):
    for end in (50, 90, 70, 80):
        waits.rise(state, VECTOR_COUNT, end)
    assert [waits.falls(state, VECTOR_COUNT, n) for n in range(5)] == [90, 90, 90, 50, 0]


def test_lgkm_falls_in_any_order(state):
    for end in (50, 90, 70, 80):
        waits.rise(state, LGKM_COUNT, end)
    assert [waits.falls(state, LGKM_COUNT, n) for n in range(5)] == [90, 80, 70, 50, 0]


def test_what_has_no_known_end_ends_never(state):
    first = waits.rise(state, VECTOR_COUNT, NEVER)
    waits.rise(state, VECTOR_COUNT, 30)
    assert waits.falls(state, VECTOR_COUNT, 1) == NEVER
    waits.end(state, first, 40)
    assert waits.falls(state, VECTOR_COUNT, 1) == 40
    assert waits.falls(state, VECTOR_COUNT, 0) == 40


@pytest.mark.parametrize(
    ("counter", "most"), [(VECTOR_COUNT, 15), (EXPORT_COUNT, 7), (LGKM_COUNT, 31)]
)
def test_a_counter_at_its_largest_does_not_rise(state, counter, most):
    for k in range(most):
        assert waits.room(state, counter) == 0
        waits.rise(state, counter, 100 + k)
    assert waits.room(state, counter) == 100


def test_a_wait_names_the_counter_that_falls_last(state):
    waits.rise(state, VECTOR_COUNT, 60)
    waits.rise(state, EXPORT_COUNT, 20)
    waits.rise(state, LGKM_COUNT, 40)
    nothing, all_of_them = 15 | 7 << 4 | 31 << 8, 0
    assert waits.satisfied(state, nothing, False)[0] == 0
    assert waits.satisfied(state, all_of_them, False) == (60, VECTOR_COUNT)
    assert waits.satisfied(state, 15 | 7 << 4, False) == (40, LGKM_COUNT)
    assert waits.satisfied(state, 15 | 31 << 8, False) == (20, EXPORT_COUNT)
    assert waits.satisfied(state, nothing, True) == (60, VECTOR_COUNT)


def test_a_store_ends_when_its_parts_are_acknowledged(state):
    first = waits.rise(state, VECTOR_COUNT, NEVER)
    second = waits.rise(state, VECTOR_COUNT, NEVER)
    waits.sent(state, first, 2, 10)
    waits.acknowledge(state, 50)
    waits.sent(state, second, 2, 55)  # one of the first store's, one of its own
    assert waits.falls(state, VECTOR_COUNT, 1) == NEVER
    waits.acknowledge(state, 60)
    assert waits.falls(state, VECTOR_COUNT, 1) == 60
    assert waits.falls(state, VECTOR_COUNT, 0) == NEVER
    waits.acknowledge(state, 70)
    assert waits.falls(state, VECTOR_COUNT, 0) == 70


def test_a_store_without_parts_ends_when_it_is_sent(state):
    waits.sent(state, waits.rise(state, VECTOR_COUNT, NEVER), 0, 30)
    assert waits.falls(state, VECTOR_COUNT, 0) == 30


class Twin:
    """All that was ever issued, and when it ended."""

    def __init__(self, ordered):
        self.ordered, self.ends = ordered, []

    def count(self, now):
        left = [end > now for end in self.ends]
        if self.ordered:  # what is behind something that has not ended has not ended either
            return len(left) - left.index(True) if True in left else 0
        return sum(left)

    def falls(self, n):
        return next(t for t in range(10_000) if self.count(t) <= n)


@pytest.mark.long
@pytest.mark.parametrize("counter", [VECTOR_COUNT, EXPORT_COUNT, LGKM_COUNT])
@pytest.mark.parametrize("seed", range(3))
def test_counters_are_those_of_a_list(state, counter, seed):
    random = np.random.default_rng(seed)
    twin, now = Twin(counter != LGKM_COUNT), 0
    for _ in range(120):
        now = max(now + int(random.integers(0, 4)), waits.room(state, counter))
        assert twin.count(now) < waits.most(counter)
        end = now + int(random.integers(1, 60))
        waits.rise(state, counter, end)
        twin.ends.append(end)
        for n in random.integers(0, waits.most(counter), 3):
            at, expected = waits.falls(state, counter, int(n)), twin.falls(int(n))
            assert max(at, now) == max(expected, now)


@pytest.mark.parametrize("seed", range(3))
def test_scalar_loads_end_with_the_last_of_their_lines(state, seed):
    """A list of sets of lines; of a line that comes, all loads that await it learn it."""
    random = np.random.default_rng(seed)
    twin = {}
    for now in range(400):
        if waits.room(state, LGKM_COUNT) <= now and random.random() < 0.4:
            lines = {int(random.integers(8)) for _ in range(2)}
            place = waits.rise(state, LGKM_COUNT, now)
            for nth, line in enumerate(sorted(lines)):
                waits.await_line(state, place, nth, line)
            twin[place] = lines
        line = int(random.integers(8))
        awaited = [place for place, lines in twin.items() if line in lines]
        assert waits.line_comes(state, line, now + 5) == bool(awaited)
        for place in awaited:
            twin[place].discard(line)
            end = state.ends[LGKM_COUNT * WAIT_RING + place]
            assert end == (NEVER if twin[place] else now + 5)
        assert state.lines_awaited == sum(map(len, twin.values()))
    waits.begin(state)
    assert state.lines_awaited == 0 and not state.lines.any()
