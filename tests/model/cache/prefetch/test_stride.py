"""The stride prefetcher of an L1: what it learns, who knows it then, when it is quiet; a twin."""

import random
from collections import OrderedDict

import pytest

from lockstep._jit import as_records
from lockstep.model.cache.prefetch import stride as unit
from lockstep.model.cache.prefetch import table
from lockstep.model.records import records

pytestmark = pytest.mark.plain
SITE = 7


class Prefetcher:
    """The policy with a table of its own."""

    def __init__(self, degree=1, distance=1):
        self.state = table.build(1, degree, distance)[0]
        self.out = records(table.MOST, table.OUT)

    @property
    def head(self):
        return self.state[0]

    def __call__(self, site, line, warp, hit=table.MISS):
        n = unit.stride(site, line, warp, hit, self.state, self.out)
        return self.out.line[:n].tolist()


def walk(prefetcher, warp, lines, site=SITE):
    """What is asked for after each of some lines."""
    return [prefetcher(site, line, warp) for line in lines]


def test_a_warp_asks_after_the_second_equal_stride_and_not_before():
    assert walk(Prefetcher(), 0, [100, 110, 120, 130]) == [[], [], [130], [140]]


def test_another_stride_begins_anew():
    assert walk(Prefetcher(), 0, [0, 10, 20, 25, 35, 45]) == [[], [], [30], [], [], [55]]


def test_a_line_again_teaches_nothing_and_asks_for_nothing():
    assert walk(Prefetcher(), 0, [0, 10, 10, 20, 20, 30]) == [[], [], [], [30], [], [40]]


@pytest.mark.parametrize("degree", [1, 2, 4, 8])
def test_degree_and_distance_say_how_many_and_how_far(degree):
    prefetcher = Prefetcher(degree, distance=3)
    asked = walk(prefetcher, 0, [100, 98, 96])[-1]
    assert asked == [96 - 2 * (3 + k) for k in range(degree)]


def test_three_warps_that_agree_speak_for_all():
    prefetcher = Prefetcher()
    for warp, base in enumerate((0, 1000, 5000)):
        assert prefetcher(SITE, base + 77, 90 + warp) != [base + 81], "not yet"
        walk(prefetcher, warp, [base, base + 4, base + 8])
    assert prefetcher(SITE, 9000, 50) == [9004]
    assert prefetcher(SITE + 1, 9000, 50) == []


def test_two_warps_that_agree_do_not():
    prefetcher = Prefetcher()
    for warp, base in enumerate((0, 1007)):
        walk(prefetcher, warp, [base, base + 4, base + 8])
    assert prefetcher(SITE, 9000, 50) == []


def test_first_accesses_of_warps_have_a_stride():
    prefetcher = Prefetcher(degree=2)
    first = [prefetcher(SITE, 1000 + 5 * warp, warp) for warp in (0, 1, 3, 2)]
    assert first == [[], [], [1020, 1025], [1015, 1020]]


def test_a_stride_between_warps_that_is_no_whole_number_begins_anew():
    prefetcher = Prefetcher()
    first = [prefetcher(SITE, line, warp) for warp, line in ((0, 0), (2, 7), (3, 10), (4, 13))]
    assert first == [[], [], [], [16]]


def test_warps_that_read_the_same_line_ask_for_nothing():
    prefetcher = Prefetcher()
    assert [prefetcher(SITE, 40, warp) for warp in range(6)] == [[]] * 6


def test_useless_prefetches_halve_the_degree_and_useful_ones_double_it():
    prefetcher = Prefetcher(degree=4)
    walk(prefetcher, 0, range(0, 30, 10))
    line = 30

    def count_after(useful, useless):
        nonlocal line
        prefetcher.head.useful += useful
        prefetcher.head.useless += useless
        line += 10
        return len(prefetcher(SITE, line, 0))

    assert count_after(0, unit.PERIOD - 1) == 0, "30 was left out: a stride of its own"
    assert [count_after(0, 0) for _ in range(2)] == [0, 4]
    assert count_after(0, 1) == 2
    assert count_after(unit.PERIOD // 2, unit.PERIOD // 2 + 1) == 1
    assert count_after(unit.PERIOD // 2, unit.PERIOD // 2) == 1, "half of them is not too much"
    assert count_after(unit.PERIOD, 0) == 2
    assert count_after(unit.PERIOD, 0) == 4
    assert count_after(unit.PERIOD, 0) == 4


def test_after_a_silence_it_is_tried_again():
    prefetcher = Prefetcher(degree=1)
    walk(prefetcher, 0, range(0, 30, 10))
    prefetcher.head.useless = unit.PERIOD
    assert prefetcher(SITE, 30, 0) == []
    quiet = [prefetcher(SITE, 30, 0) for _ in range(unit.SILENCE - 1)]
    assert quiet == [[]] * len(quiet)
    assert prefetcher(SITE, 40, 0) == [50]


def test_what_holds_for_all_warps_is_forgotten_with_a_lower_degree():
    prefetcher = Prefetcher(degree=2)
    for warp, base in enumerate((0, 1007, 5003)):
        walk(prefetcher, warp, [base, base + 4, base + 8])
    assert prefetcher(SITE, 9000, 50) == [9004, 9008]
    prefetcher.head.useless = unit.PERIOD
    prefetcher(SITE, 9100, 51)
    assert prefetcher(SITE, 9200, 52) == []


class Twin:
    """The same in dictionaries, the newest entry last."""

    def __init__(self, degree, distance):
        self.degree, self.distance = degree, distance
        self.warps, self.loads, self.between = OrderedDict(), OrderedDict(), OrderedDict()
        self.level = self.seen = self.last_ended = self.last_useless = self.last_period = 0

    @staticmethod
    def put(table, rows, key, value):
        if len(table) == rows:
            table.popitem(last=False)
        table[key] = value

    @staticmethod
    def seen_again(entry, place, stride):
        """Entries: [place, stride, accesses that have it]."""
        entry[1:] = [stride, entry[2] + 1 if stride == entry[1] else 2]
        entry[0] = place
        return entry[1] if entry[2] >= unit.AGREE else 0

    def of_next_warp(self, site, line, warp):
        if site not in self.between:
            self.put(self.between, unit.BETWEEN_ROWS, site, [(warp, line), 0, 1])
            return 0
        self.between.move_to_end(site)
        entry = self.between[site]
        (before, at), _, _ = entry
        if warp == before:
            return 0
        if (line - at) % (warp - before):
            entry[:] = [(warp, line), 0, 1]
            return 0
        return self.seen_again(entry, (warp, line), (line - at) // (warp - before))

    def learn(self, site, line, warp):
        if site in self.loads:
            self.loads.move_to_end(site)
            return self.loads[site]
        if (site, warp) not in self.warps:
            self.put(self.warps, unit.WARP_ROWS, (site, warp), [line, 0, 1])
            return self.of_next_warp(site, line, warp)
        self.warps.move_to_end((site, warp))
        entry = self.warps[site, warp]
        if line == entry[0]:
            return 0
        stride = self.seen_again(entry, line, line - entry[0])
        agree = [
            key
            for key, (_, same, times) in self.warps.items()
            if key[0] == site and same == stride and times >= unit.AGREE
        ]
        if stride and len(agree) >= unit.AGREE:
            self.put(self.loads, unit.LOAD_ROWS, site, stride)
        return stride

    def __call__(self, site, line, warp, fate):
        self.seen += 1
        stride = self.learn(site, line, warp)
        useful, late, useless = fate
        ended = useful + late + useless
        if ended - self.last_ended >= unit.PERIOD:
            share = (useless - self.last_useless) / (ended - self.last_ended)
            if share > 1 / 2:
                self.level = min(4, self.level + 1)
                self.loads.clear(), self.between.clear()
            elif share < 1 / 8:
                self.level = max(0, self.level - 1)
            self.last_ended, self.last_useless, self.last_period = ended, useless, self.seen
        elif self.seen - self.last_period >= unit.SILENCE:
            self.level, self.last_period = max(0, self.level - 1), self.seen
        degree = int(self.degree / 2**self.level)
        return [line + stride * (self.distance + k) for k in range(degree)] if stride else []


@pytest.mark.parametrize("seed", range(6))
def test_it_is_as_its_naive_twin(seed, monkeypatch):
    monkeypatch.setattr(unit, "SILENCE", 300)
    rng = random.Random(seed)
    degree, distance = rng.choice([1, 2, 4, 8]), rng.choice([1, 1, 3])
    prefetcher, twin = Prefetcher(degree, distance), Twin(degree, distance)
    places, fate, asked = {}, [0, 0, 0], 0
    sites = {site: rng.choice([0, 1, 3, -2]) for site in range(rng.choice([2, 5, 14]))}
    for step in range(4000):
        site, warp = rng.choice(list(sites)), rng.randrange(rng.choice([4, 12]))
        known = places.get((site, warp), 50_000 + rng.choice([0, 10]) * warp)
        line = known + sites[site] if rng.random() < 0.95 else rng.randrange(90_000)
        places[site, warp] = line
        if rng.random() < 0.3:
            fate[rng.choice([0, 1, 2, 2] if step % 1500 < 700 else [0, 0, 1, 1])] += 1
        head = prefetcher.head
        head.useful, head.late, head.useless = fate
        found = prefetcher(site, line, warp)
        assert found == twin(site, line, warp, fate), step
        asked += len(found)
    assert asked > 100


def test_the_table_has_room_for_its_rows():
    assert unit.BETWEEN + unit.BETWEEN_ROWS <= table.ROWS
    assert as_records(table.build(1, 1, 1)).shape == (1, table.ROWS)
