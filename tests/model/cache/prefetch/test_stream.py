"""The stream prefetcher of an L2 slice: training, directions, the window; a twin."""

import random

import pytest

from lockstep.model.cache.prefetch import stream as unit
from lockstep.model.cache.prefetch import table
from lockstep.model.records import records

pytestmark = pytest.mark.plain


class Prefetcher:
    """The policy with a table of its own."""

    def __init__(self, degree=1, distance=1, window=8):
        self.state = table.build(1, degree, distance, window)[0]
        self.out = records(table.MOST, table.OUT)

    def __call__(self, line, hit=table.MISS):
        n = unit.stream(line, hit, self.state, self.out)
        return self.out.line[:n].tolist()


def walk(prefetcher, lines):
    return [prefetcher(line) for line in lines]


@pytest.mark.parametrize("way", [1, -1])
def test_a_stream_asks_after_two_steps_in_one_direction_and_not_before(way):
    lines = [100, 100 + way, 100 + 2 * way, 100 + 3 * way]
    assert walk(Prefetcher(), lines) == [[], [], [100 + 3 * way], [100 + 4 * way]]


def test_a_step_back_begins_the_count_anew():
    assert walk(Prefetcher(), [100, 102, 101, 103, 104]) == [[], [], [], [], [105]]


def test_a_stream_that_has_a_direction_keeps_it():
    assert walk(Prefetcher(), [100, 101, 102, 99, 103]) == [[], [], [103], [], [104]]


def test_lines_beyond_the_window_are_another_stream():
    prefetcher = Prefetcher(window=8)
    assert walk(prefetcher, [100, 108, 116]) == [[], [], [117]]
    assert walk(prefetcher, [1000, 1009, 1018]) == [[], [], []]


def test_it_does_not_train_on_hits_but_goes_on_with_first_uses():
    prefetcher = Prefetcher()
    walk(prefetcher, [100, 101])
    assert prefetcher(102, table.HIT) == []
    assert prefetcher(102, table.FIRST_USE) == [103]


@pytest.mark.parametrize("degree", [1, 2, 4, 8])
def test_it_asks_for_as_many_as_its_degree_until_it_is_a_window_ahead(degree):
    prefetcher = Prefetcher(degree, window=8)
    walk(prefetcher, [0, 1])
    asked = []
    for line in range(2, 30):
        new = prefetcher(line)
        assert len(new) == min(degree, line + 8 - max(asked, default=line))
        asked += new
    assert asked == list(range(3, 3 + len(asked))), "each line once, in order"
    assert asked[-1] == min(29 + 8, 2 + 28 * degree)


def test_distance_is_left_out_in_front_of_the_stream():
    prefetcher = Prefetcher(degree=2, distance=5)
    assert walk(prefetcher, [10, 11, 12, 13]) == [[], [], [17, 18], [19, 20]]


def test_the_stream_that_was_not_used_for_longest_makes_room():
    prefetcher = Prefetcher()
    walk(prefetcher, [0, 1])
    walk(prefetcher, range(1000, 1000 + 100 * (unit.STREAMS - 1), 100))
    assert prefetcher(2) == [3], "there is room for all"
    walk(prefetcher, [50_000])
    assert prefetcher(3) == [4]
    walk(prefetcher, range(100_000, 100_000 + 100 * unit.STREAMS, 100))
    assert walk(prefetcher, [4, 5, 6]) == [[], [], [7]], "it begins anew"


class Twin:
    """The same with a list of streams, the newest last."""

    def __init__(self, degree, distance, window):
        self.degree, self.distance, self.window, self.streams = degree, distance, window, []

    def __call__(self, line, hit):
        if hit == table.HIT:
            return []
        around = [s for s in self.streams if abs(s["last"] - line) <= self.window]
        if not around:
            self.streams = [*self.streams, {"last": line, "run": []}][-unit.STREAMS :]
            return []
        near = min(abs(s["last"] - line) for s in around)
        (s, *_) = sorted(
            (s for s in around if abs(s["last"] - line) == near), key=lambda s: s["row"]
        )
        self.streams.remove(s)
        self.streams.append(s)
        if line == s["last"]:
            return []
        up = line > s["last"]
        if s["run"] and s["run"][-1] != up:
            if len(s["run"]) >= 2:
                return []
            s["run"] = []
        s["run"].append(up)
        s["last"] = line
        if len(s["run"]) < 2:
            return []
        sign = 1 if up else -1
        first = line + sign * self.distance
        if "next" not in s or (first - s["next"]) * sign > 0:
            s["next"] = first
        asked = []
        while len(asked) < self.degree and abs(s["next"] - first) < self.window:
            asked.append(s["next"])
            s["next"] += sign
        return asked


@pytest.mark.parametrize("seed", range(6))
def test_it_is_as_its_naive_twin(seed):
    rng = random.Random(seed)
    degree, distance = rng.choice([1, 2, 4, 8]), rng.choice([1, 1, 3])
    window = rng.choice([8, 16, 32])
    prefetcher, twin = Prefetcher(degree, distance, window), Twin(degree, distance, window)
    heads = [[rng.randrange(1 << 20), rng.choice([-1, 1])] for _ in range(rng.choice([3, 30, 50]))]
    asked = 0
    for step in range(3000):
        if rng.random() < 0.1:
            line = rng.randrange(1 << 20)
        else:
            head = rng.choice(heads)
            head[0] += head[1] * rng.choice([0, 1, 1, 2, 5]) - rng.choice([0, 0, 0, 1])
            line = head[0]
        hit = rng.choice([table.MISS, table.MISS, table.HIT, table.FIRST_USE])
        rows = {int(r.last): k for k, r in enumerate(prefetcher.state) if k and r.used}
        for s in twin.streams:
            s["row"] = rows.get(s["last"], -1)
        found = prefetcher(line, hit)
        assert found == twin(line, hit), step
        asked += len(found)
    assert asked > 100


def test_the_table_has_room_for_its_rows():
    assert unit.FIRST + unit.STREAMS <= table.ROWS
