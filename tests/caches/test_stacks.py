"""One pass for all associativities: against a cache for each number of ways, as plain lists."""

import functools

import numpy as np
import pytest

from lockstep.caches import uses
from lockstep.caches.accesses import ATOMIC, INVALIDATE, PAST_L1, PRIVATE, READ, WRITE
from lockstep.caches.geometry import Sets, row_of
from lockstep.caches.lookups import MOST_EPOCHS, Level, StackShape
from lockstep.caches.order import ENTRY
from lockstep.caches.recency import BLOCK_ENTRIES
from lockstep.caches.stacks import MOST_WAYS, Stacks

FULL = 15


class Cache:
    """LRU caches alike, with so many ways: lines as lists of sectors, the oldest in front."""

    def __init__(self, level, ways):
        self.level, self.ways = level, ways
        self.parts = 128 // level.sets.line_bytes
        self.sectors = 4 // self.parts
        self.row_of = functools.cache(functools.partial(row_of, level.sets.rows()))
        self.counts = np.zeros((3, 2), np.int64)  # of each kind accesses, misses
        self.forget()

    def forget(self):
        self.held = [{} for _ in range(self.level.caches)]

    def look_up(self, entries):
        """What goes on to the level below: line, sectors, kind."""
        out = []
        for line, kind, sm, flags, sectors in entries:
            if kind == INVALIDATE:
                if not self.level.l2:
                    self.held[sm] = {}
                continue
            past = flags & PAST_L1 and not self.level.l2
            if past:
                out.append((line, sectors, kind))
            for part in range(self.parts):
                here = [s for s in range(self.sectors) if sectors >> part * self.sectors + s & 1]
                if here:
                    number = line * self.parts + part
                    cache = self.held[0 if self.level.l2 else sm]
                    tags = cache.setdefault(self.row_of(number), {})
                    if past:
                        if kind != READ:
                            tags.pop(number, None)
                        continue
                    on = self._access(tags, number, kind, flags, here)
                    if on:
                        mask = sum(1 << part * self.sectors + s for s in on)
                        out.append((line, mask, kind))
        return out

    def _access(self, tags, number, kind, flags, here):
        """Sectors that go on."""
        held = tags.get(number)
        missing = [s for s in here if held is None or s not in held]
        if self.level.sectored:
            self.counts[kind] += len(here), len(missing)
        else:
            self.counts[kind] += 1, bool(missing)
        if kind != READ and not self.level.l2:
            if kind == ATOMIC or (self.level.evict and not flags & PRIVATE):
                tags.pop(number, None)
            return here
        if held is None:
            if len(tags) == self.ways:
                tags.pop(next(iter(tags)))
            held = set()
        else:
            tags.pop(number)
        tags[number] = held | set(here if self.level.sectored else range(self.sectors))
        if not self.level.sectored and missing:
            return list(range(self.sectors))
        return missing


def entries_of(rng, n, lines, sms, kinds=(READ, READ, READ, WRITE, ATOMIC), emptied=0.004):
    """Random accesses, near each other now and then, and rare INVALIDATEs."""
    kind = rng.choice(kinds, n)
    kind[rng.random(n) < emptied] = INVALIDATE
    near = np.repeat(rng.integers(lines, size=n // 8 + 1), 8)[:n] + rng.integers(-3, 4, n)
    line = np.where(rng.random(n) < 0.5, near, rng.integers(lines, size=n))
    flags = rng.choice([0, 0, 0, 0, PAST_L1, PRIVATE], n)
    return list(
        zip(
            np.abs(line).tolist(),
            kind.tolist(),
            rng.integers(sms, size=n).tolist(),
            flags.tolist(),
            rng.integers(1, 16, n).tolist(),
        )
    )


def records(entries):
    made = np.zeros(len(entries), ENTRY)
    for name, column in zip(("line", "kind", "sm", "flags", "sectors"), zip(*entries)):
        made[name] = column
    return made


def passed(out):
    return [(int(e["line"]), int(e["sectors"]), int(e["kind"])) for e in out.view(np.ndarray)]


LEVELS = {
    "l1": {},
    "evict": {"evict": True},
    "sectored": {"sectored": True},
    "sectored_evict": {"sectored": True, "evict": True},
    "l2": {"l2": True},
    "sectored_l2": {"l2": True, "sectored": True},
}


@pytest.mark.long
@pytest.mark.parametrize(
    ("count", "line_bytes"), [(1, 32), (1, 128), (3, 64), (8, 32), (8, 128), (64, 64)]
)
@pytest.mark.parametrize("name", LEVELS)
def test_every_number_of_ways_at_once(name, count, line_bytes):
    rng = np.random.default_rng(count * 1000 + line_bytes)
    caches = 1 if "l2" in name else 3
    sets = Sets(count, line_bytes, "xor" if count == 8 else "linear")
    level = Level(sets, 16, caches, **LEVELS[name])
    stacks = Stacks(level)
    twins = {ways: Cache(level, ways) for ways in range(1, 17)}
    for _ in range(3):
        lines = 12 * caches * count * line_bytes // 128 + 8
        entries = entries_of(rng, 500, lines, caches)
        stacks.look_up(records(entries), len(entries))
        for twin in twins.values():
            twin.look_up(entries)
        if rng.random() < 0.5:
            stacks.forget()
            for twin in twins.values():
                twin.forget()
    for ways, twin in twins.items():
        np.testing.assert_array_equal(stacks.accesses, twin.counts[:, 0])
        np.testing.assert_array_equal(stacks.misses(count, ways), twin.counts[:, 1], f"{ways} ways")


@pytest.mark.long
@pytest.mark.parametrize("line_bytes", [32, 64, 128])
@pytest.mark.parametrize("name", LEVELS)
def test_every_number_of_sets_at_once(name, line_bytes):
    rng = np.random.default_rng(line_bytes)
    caches = 1 if "l2" in name else 3
    shapes = [
        StackShape(64, 1),
        StackShape(32, 4),
        StackShape(16, 16),
        StackShape(4, 3),
        StackShape(2, 16),
        StackShape(1, 5),
    ]
    levels = {s: Level(Sets(s.sets, line_bytes), s.ways, caches, **LEVELS[name]) for s in shapes}
    stacks = Stacks(levels[shapes[0]], shapes[1:])
    twins = {
        (s.sets, ways): Cache(level._replace(ways=ways), ways)
        for s, level in levels.items()
        for ways in range(1, s.ways + 1)
    }
    for lines in (16, 200, 1000):
        entries = entries_of(rng, 700, lines, caches)
        stacks.look_up(records(entries), len(entries))
        for twin in twins.values():
            twin.look_up(entries)
        if lines == 200:
            stacks.forget()
            for twin in twins.values():
                twin.forget()
    for (sets, ways), twin in twins.items():
        np.testing.assert_array_equal(stacks.accesses, twin.counts[:, 0])
        found = stacks.misses(sets, ways)
        np.testing.assert_array_equal(found, twin.counts[:, 1], f"{sets} sets, {ways} ways")


def without_flags(entries, flagged=False):
    return [
        (line, kind, sm, flags * flagged, sectors) for line, kind, sm, flags, sectors in entries
    ]


@pytest.mark.long
@pytest.mark.parametrize("line_bytes", [32, 128])
@pytest.mark.parametrize("ways", [1, 3, 4, 7, 16, 17, 40])
def test_lines_are_met_the_same_before_while_and_after_others_are_given_up(ways, line_bytes):
    """Lines know when they were used until a cache gives one up; then they lie in stacks, until it
    is emptied."""
    rng = np.random.default_rng(ways + line_bytes)
    plain = (READ, READ, READ, WRITE)
    levels = {s: Level(Sets(s, line_bytes), ways, 3) for s in (16, 8, 2, 1)}
    stacks = Stacks(levels[16], [StackShape(s, ways) for s in (8, 2, 1)])
    twins = {s: Cache(level, ways) for s, level in levels.items()}
    settled = []
    for kinds, lines in [(plain, 40), (plain, 400), ((*plain, ATOMIC), 60), (plain, 60)] * 2:
        entries = without_flags(entries_of(rng, 900, lines, 3, kinds), ATOMIC in kinds)
        if len(settled) == 4:
            stacks.forget()
            for twin in twins.values():
                twin.forget()
        stacks.look_up(records(entries), len(entries))
        settled.append(bool(stacks._uses._settled.any()))
        for twin in twins.values():
            twin.look_up(entries)
        for sets, twin in twins.items():
            np.testing.assert_array_equal(stacks.accesses, twin.counts[:, 0])
            np.testing.assert_array_equal(stacks.misses(sets, ways), twin.counts[:, 1])
    assert settled == [False, False, True, True] * 2


def test_a_cache_that_gives_up_nothing_stays_as_it_is_beside_one_that_does():
    levels = {s: Level(Sets(s, 64), 4, 2) for s in (4, 2)}
    stacks, twins = Stacks(levels[4], [StackShape(2, 4)]), {s: Cache(levels[s], 4) for s in levels}
    for entries in (
        [read(k % 7) for k in range(20)] + [(k % 9, READ, 1, 0, FULL) for k in range(20)],
        [(3, ATOMIC, 1, 0, 1), (50, ATOMIC, 0, 0, 3), (8, ATOMIC, 1, 0, FULL), read(6)],
        [(k % 9, READ, k & 1, 0, FULL) for k in range(40)],
    ):
        stacks.look_up(records(entries), len(entries))
        for sets, twin in twins.items():
            twin.look_up(entries)
            np.testing.assert_array_equal(stacks.misses(sets, 4), twin.counts[:, 1])
    assert stacks._uses._settled.tolist() == [False, True], "line 50 was not there"


@pytest.mark.parametrize("ways", [4, 16])
def test_times_are_renumbered_before_there_are_no_more(ways, monkeypatch):
    monkeypatch.setattr(uses, "MOST_TIME", 4 * 300 + 500)
    rng = np.random.default_rng(ways)
    levels = {s: Level(Sets(s, 32), ways, 2) for s in (8, 2)}
    stacks = Stacks(levels[8], [StackShape(2, ways)])
    twins = {s: Cache(level, ways) for s, level in levels.items()}
    most = 0
    for n in range(12):
        entries = without_flags(entries_of(rng, 300, 30, 2, (READ, WRITE)))
        stacks.look_up(records(entries), len(entries))
        most = max(most, stacks._uses._now.max())
        for sets, twin in twins.items():
            twin.look_up(entries)
            np.testing.assert_array_equal(stacks.misses(sets, ways), twin.counts[:, 1])
        if n == 7:
            stacks.forget()
            for twin in twins.values():
                twin.forget()
    assert 500 < most < 4 * 300 + 500


def test_passes_of_all_sizes_of_lines_share_when_these_were_used():
    """More lines than there is room for at first: room grows, and what no set has is forgotten."""
    rng = np.random.default_rng(3)
    levels = [Level(Sets(64, 128), 16), Level(Sets(16, 64), 4), Level(Sets(256, 32), 2)]
    shared = uses.UseTimes(shared=True)
    stacks = [Stacks(level, uses=shared) for level in levels]
    twins = [Cache(level, level.ways) for level in levels]
    slots = []
    for begin in (0, 3000, 6000):
        lines = np.where(rng.random(3000) < 0.7, np.arange(3000), rng.integers(-900, 2000, 3000))
        kinds, sectors = rng.choice([READ, READ, WRITE], 3000), rng.integers(1, 16, 3000)
        entries = [
            (int(line) + begin, int(kind), 0, 0, int(mask))
            for line, kind, mask in zip(lines, kinds, sectors)
        ]
        shared.follow()
        for one, twin in zip(stacks, twins):
            one.look_up(records(entries), len(entries))
            twin.look_up(entries)
            misses = one.misses(twin.level.sets.count, twin.ways)
            np.testing.assert_array_equal(one.accesses, twin.counts[:, 0])
            np.testing.assert_array_equal(misses, twin.counts[:, 1])
        slots.append(int(shared._context.spec[0].slots))
    assert slots[0] > 4 * BLOCK_ENTRIES, "it grew"
    assert slots[-1] == slots[0] and shared._context.held[0] < slots[0] // 2, "it forgot"


@pytest.mark.parametrize("name", [name for name in LEVELS if "l2" not in name])
def test_caches_are_emptied_more_often_than_words_tell_apart(name):
    rng = np.random.default_rng(7)
    shapes = [StackShape(8, 4), StackShape(2, 9)]
    levels = {s: Level(Sets(s.sets, 64), s.ways, 2, **LEVELS[name]) for s in shapes}
    stacks = Stacks(levels[shapes[0]], shapes[1:])
    twins = {s: Cache(level, s.ways) for s, level in levels.items()}
    for n in range(2 * MOST_EPOCHS):
        entries = entries_of(rng, 12 if n else 900, 16, 2, emptied=0.2 if n else 0.1)
        stacks.look_up(records(entries), len(entries))
        stacks.forget()
        for twin in twins.values():
            twin.look_up(entries)
            twin.forget()
    for (sets, ways), twin in twins.items():
        np.testing.assert_array_equal(stacks.misses(sets, ways), twin.counts[:, 1])


def test_sets_that_do_not_nest_take_passes_of_their_own():
    for sets in (Sets(8, 128, "xor"), Sets(12, 128), Sets(8, 128, slices=2)):
        with pytest.raises(ValueError, match="sets in one pass"):
            Stacks(Level(sets, 2), [StackShape(4, 2)])
    for shapes in ([StackShape(16, 1)], [StackShape(4, 1), StackShape(8, 1)]):
        with pytest.raises(ValueError, match="sets in one pass"):
            Stacks(Level(Sets(8, 128), 2), shapes)
    with pytest.raises(ValueError, match="sets in one pass"):
        Stacks(Level(Sets(8, 128), 2, keeps=2), [StackShape(4, 2)])


@pytest.mark.parametrize("line_bytes", [32, 64, 128])
@pytest.mark.parametrize("keeps", [1, 3, 4])
@pytest.mark.parametrize("name", [name for name in LEVELS if "l2" not in name])
def test_what_misses_goes_on(name, keeps, line_bytes):
    rng = np.random.default_rng(keeps * 1000 + line_bytes)
    level = Level(Sets(4, line_bytes), 4, 2, keeps=keeps, **LEVELS[name])
    stacks, twin = Stacks(level), Cache(level, keeps)
    for n in (1, 10, 900, 300):
        entries = entries_of(rng, n, 40, 2)
        out = stacks.look_up(records(entries), n)
        assert passed(out) == twin.look_up(entries)


def test_what_goes_on_is_still_of_its_warp():
    stacks = Stacks(Level(Sets(1, 64), 1, keeps=1))
    entry = records([(9, READ, 0, 0, FULL)])
    entry["site"], entry["warp"] = 3, 77
    out = stacks.look_up(entry, 1)
    assert out[["line", "site", "warp", "sm"]].tolist() == [(9, 3, 77, 0)] * 2
    assert out["sectors"].tolist() == [0b0011, 0b1100]


def depths(entries, **level):
    stacks = Stacks(Level(Sets(1, 128), 4, **level))
    stacks.look_up(records(entries), len(entries))
    return stacks.depths(1).tolist()


def read(line, sectors=1):
    return (line, READ, 0, 0, sectors)


def test_depth_is_how_many_other_lines_came_since():
    assert depths([read(1), read(2), read(1), read(1), read(2)])[READ] == [1, 2, 0, 0, 2]


def test_a_sector_is_there_only_where_its_line_stayed():
    """Sector 0 came with line 1, which then sank to depth 2 and came back by sector 1."""
    entries = [read(1, 1), read(2), read(3), read(1, 2), read(1, 1)]
    assert depths(entries, sectored=True)[READ] == [0, 0, 1, 0, 4]
    assert depths(entries)[READ] == [1, 0, 1, 0, 3]


def test_a_line_that_goes_leaves_room():
    """In a cache of two ways line 1 stays: the atomic took line 2 along, and line 3 has its way."""
    atomic = (2, ATOMIC, 0, 0, 1)
    assert depths([read(1), read(2), atomic, read(3), read(1)])[READ] == [0, 1, 0, 0, 3]
    assert depths([read(1), read(2), read(3), read(1)])[READ] == [0, 0, 1, 0, 3]


def test_writes_take_no_room_and_do_not_make_a_line_younger():
    write = (1, WRITE, 0, 0, 1)
    found = depths([read(1), read(2), write, read(3), read(1)])
    assert found[WRITE] == [0, 1, 0, 0, 0] and found[READ] == [0, 0, 1, 0, 3]


def test_writes_of_local_memory_stay_where_others_evict():
    entries = [read(1), (1, WRITE, 0, PRIVATE, 1), read(1), (1, WRITE, 0, 0, 1), read(1)]
    assert depths(entries, evict=True)[READ] == [1, 0, 0, 0, 2]


def test_writes_past_the_l1_take_its_line_along():
    entries = [read(1), (1, READ, 0, PAST_L1, 1), read(1), (1, WRITE, 0, PAST_L1, 1), read(1)]
    found = depths(entries)
    assert found[READ] == [1, 0, 0, 0, 2] and sum(found[WRITE]) == 0


def test_negative_lines_are_lines():
    entries = [read(-1), read(-2), read(-1)]
    assert depths(entries)[READ] == [0, 1, 0, 0, 2]


def test_as_many_ways_as_one_asks_for():
    for ways in (0, MOST_WAYS + 1):
        with pytest.raises(ValueError, match=f"{ways} ways"):
            Stacks(Level(Sets(1, 128), ways))
    stacks = Stacks(Level(Sets(1, 128), MOST_WAYS, sectored=True))
    entries = records([read(k) for k in range(MOST_WAYS)] + [read(0)])
    stacks.look_up(entries, len(entries))
    assert stacks.misses(1, MOST_WAYS).tolist() == [MOST_WAYS, 0, 0]
    assert stacks.misses(1, MOST_WAYS - 1).tolist() == [MOST_WAYS + 1, 0, 0]
