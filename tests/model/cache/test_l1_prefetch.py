"""Prefetches of an L1: what is asked for, what becomes of it, and that demand never waits."""

from pathlib import Path

import numpy as np
import pytest

from lockstep.model.cache import l1_fill, l1_prefetch
from lockstep.model.cache.prefetch import state, table
from lockstep.model.link import KIND_ATOMIC, KIND_READ

pytestmark = pytest.mark.plain
COUNTS = ("prefetches", "useful", "late", "useless", "redundant", "dropped")


@pytest.fixture(scope="session")
def cache(tiny, load_script):
    """Function from changes of the specification to a cache of one set and two ways."""
    caches = load_script(Path(__file__).parent / "caches.py")

    def make(policy=lambda site, line, warp, hit, state, out: 0, **changes):
        shape = {"bytes": 256, "sets": 1, "carveouts": (), **changes}
        return caches.L1(tiny(**{f"l1.{k}": v for k, v in shape.items()}), policy)

    return make


def ask(x, *lines):
    """Have lines in the queue of the prefetcher."""
    for k, line in enumerate(lines):
        x.l1.prefetch.out[0, k].line = line
    x.counters.l1_prefetch_dropped += state.push(x.l1.prefetch, 0, len(lines))


def take(x):
    """The oldest line leaves the queue: what it asks for, (line, sectors, MSHR entry), or None."""
    if not l1_prefetch.take(x.l1, 0, x.counters):
        return None
    miss = x.l1.leaving[0]
    assert (miss.kind, miss.flits) == (KIND_READ, 1)
    return int(miss.line), int(miss.sectors), int(miss.tag)


def prefetch(x, line):
    """A line is prefetched, and is here."""
    ask(x, line)
    _, sectors, entry = take(x)
    assert x.reply(entry, sectors) == [], "it is answered to nobody"


def counts(x):
    names = [f"l1_prefetch_{name}" for name in COUNTS]
    names[0] = "l1_prefetches"
    return dict(zip(COUNTS, (int(x.counters[n]) for n in names)))


def nonzero(x):
    return {name: n for name, n in counts(x).items() if n}


def test_all_of_a_line_is_asked_for_with_an_entry_behind_those_of_demand(cache):
    x = cache(mshr_entries=4)
    ask(x, 9)
    assert take(x) == (9, 0b1111, 4)
    assert x.requests == [], "the miss queue is demand's"
    assert nonzero(x) == {"prefetches": 1}


def test_only_what_is_missing_is_asked_for(cache):
    x = cache()
    x.bring(9, 0b0101)
    ask(x, 9)
    assert take(x)[:2] == (9, 0b1010)


def test_a_line_that_is_here_or_on_its_way_is_redundant(cache):
    x = cache()
    x.bring(1)
    x.load(2)
    ask(x, 1, 2, 3, 3)
    assert [take(x) and take(x)] == [None] and x.l1.prefetch.queues[0].count == 3
    assert take(x) is None and take(x)[0] == 3 and take(x) is None
    assert nonzero(x) == {"prefetches": 1, "redundant": 3}


def test_the_first_load_of_a_line_that_is_here_makes_it_useful_the_second_does_not(cache):
    x = cache()
    prefetch(x, 9)
    met = []
    for _ in range(2):
        a = x.load(9)
        assert x.hits[a] == 1
        met.append(int(x.l1.requests[0].met))
    assert met == [table.FIRST_USE, table.HIT]
    assert nonzero(x) == {"prefetches": 1, "useful": 1}


def test_a_load_of_a_line_on_its_way_waits_for_it_and_makes_it_late(cache):
    x = cache()
    ask(x, 9)
    _, sectors, entry = take(x)
    waiting = [x.load(9, 0b0001), x.load(9, 0b1000)]
    assert x.requests == [] and int(x.l1.requests[0].met) == table.HIT
    assert sorted(x.reply(entry, sectors)) == waiting
    assert x.load(9) is not None and int(x.l1.requests[0].met) == table.HIT
    assert nonzero(x) == {"prefetches": 1, "late": 1}


def test_the_first_load_of_a_late_line_is_a_first_use(cache):
    x = cache()
    ask(x, 9)
    take(x)
    x.load(9)
    assert int(x.l1.requests[0].met) == table.FIRST_USE
    x.load(10)
    assert int(x.l1.requests[0].met) == table.MISS


def test_sectors_that_come_one_by_one_are_one_use(cache):
    x = cache()
    ask(x, 9)
    entry = take(x)[2]
    x.reply(entry, 0b0001)
    x.load(9, 0b0001)
    x.reply(entry, 0b1110)
    assert nonzero(x) == {"prefetches": 1}, "the use came before the line was whole"
    x.load(9, 0b0010)
    x.load(9, 0b0001)
    assert nonzero(x) == {"prefetches": 1, "useful": 1}


@pytest.mark.parametrize("end", ["evicted", "invalidated", "atomic", "probe", "write"])
def test_a_line_that_leaves_unused_is_useless(cache, end):
    x = cache(protocol="write_evict")
    prefetch(x, 9)
    if end == "evicted":
        x.bring(1), x.bring(2)
    elif end == "invalidated":
        l1_fill.invalidate(x.l1, 0, x.counters)
    elif end == "atomic":
        x.request(KIND_ATOMIC, 9, 1, 0)
    elif end == "write":
        x.store(9)
    else:
        from lockstep.model.cache import l1

        l1.probe(x.l1, 0, x.counters, 9, 1)
    assert not x.holds(9)
    assert nonzero(x) == {"prefetches": 1, "useless": 1}


def test_demand_finds_every_entry_whatever_is_prefetched(cache):
    x = cache(mshr_entries=4)
    ask(x, 100, 101, 102)
    assert all(take(x) for _ in range(3))
    assert x.load(1) is not None
    ask(x, 103)
    assert take(x) is None, "all four are taken: a prefetch takes none"
    assert nonzero(x) == {"prefetches": 3, "dropped": 1}
    assert [x.load(line) for line in (2, 3, 4)] == [1, 2, 3], "demand has its four"
    assert x.load(5) is None and x.counters.l1_fail_mshr == 1


def test_a_prefetch_takes_the_last_entry_while_nobody_else_does(cache):
    x = cache(mshr_entries=2)
    assert x.load(1) is not None
    ask(x, 100, 101)
    assert take(x) is not None and take(x) is None
    entry = int(x.l1.leaving[0].tag)
    x.reply(entry, 0b1111)
    ask(x, 101)
    assert take(x)[2] == entry, "its entry is free again"


def test_demand_gets_the_last_way_of_a_set_that_reserves_lines(cache):
    x = cache(allocate="miss")
    ask(x, 100, 101)
    assert take(x) is not None
    assert take(x) is None, "one way is left, and stays"
    assert nonzero(x) == {"prefetches": 1, "dropped": 1}
    assert x.load(1) is not None
    assert x.load(2) is None and x.counters.l1_fail_line == 1


def test_a_reserved_line_is_marked_when_it_has_come(cache):
    x = cache(allocate="miss")
    prefetch(x, 9)
    assert x.holds(9) and x.hits[x.load(9, 0b1111)] == 4
    assert nonzero(x) == {"prefetches": 1, "useful": 1}


class Message:
    def __init__(self, tag, sectors, request=KIND_READ):
        self.tag, self.sectors, self.request = tag, sectors, request


def test_a_prefetch_that_the_l2_refuses_is_given_up_unless_somebody_waits(cache):
    x = cache(mshr_entries=4)
    ask(x, 9, 10)
    unused, awaited = take(x)[2], take(x)[2]
    x.load(10)
    assert l1_prefetch.refused(x.l1, 0, x.counters, Message(unused, 0b1111))
    assert not l1_prefetch.refused(x.l1, 0, x.counters, Message(awaited, 0b1111))
    assert not l1_prefetch.refused(x.l1, 0, x.counters, Message(0, 0b1111)), "of demand"
    assert not l1_prefetch.refused(x.l1, 0, x.counters, Message(4, 1, KIND_ATOMIC))
    assert nonzero(x) == {"prefetches": 2, "late": 1, "useless": 1}
    assert x.l1.caches[0].busy == 1


def test_the_policy_is_told_what_was_met_and_what_became_of_its_prefetches(cache):
    seen = []

    def policy(site, line, warp, hit, rows, out):
        head = rows[0]
        fate = tuple(int(n) for n in (head.issued, head.useful, head.late, head.useless))
        seen.append((site, line, warp, hit, fate, int(head.degree), int(head.distance)))
        out[0].line = line + 1
        return 1

    x = cache(policy, prefetch_degree=4, prefetch_distance=2)
    l1_prefetch.train(x.l1, 0, x.counters, 5, 9, 77, table.MISS)
    line, sectors, entry = take(x)
    x.reply(entry, sectors)
    x.load(line)
    l1_prefetch.train(x.l1, 0, x.counters, 5, line, 77, int(x.l1.requests[0].met))
    assert seen[0] == (5, 9, 77, table.MISS, (0, 0, 0, 0), 4, 2)
    assert seen[1] == (5, 10, 77, table.FIRST_USE, (1, 1, 0, 0), 4, 2)
    assert state.first(x.l1.prefetch, 0) == 11


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("allocate", ["fill", "miss"])
def test_counts_add_up(cache, seed, allocate):
    rng = np.random.default_rng(seed)
    x = cache(bytes=4 * 128, mshr_entries=4, allocate=allocate)
    flying = []
    for _ in range(1500):
        what, line = rng.integers(5), int(rng.integers(12))
        if what == 0:
            ask(x, line)
            if found := take(x):
                flying.append(found[1:][::-1])
        elif what == 1:
            x.load(line, 1 << int(rng.integers(4)))
        elif what == 2 and x.requests:
            _, sectors, _, entry = x.send()
            flying.append((entry, sectors))
        elif what == 3 and flying:
            x.reply(*flying.pop(rng.integers(len(flying))))
        elif rng.random() < 0.05:
            l1_fill.invalidate(x.l1, 0, x.counters)
        n = counts(x)
        entries = x.l1.entries[0, 4:]
        coming = int(((entries["pending"] != 0) & (entries["merges"] == 0)).sum())
        unused = int((x.l1.prefetch.marks == state.HERE).sum())
        assert n["prefetches"] == n["useful"] + n["late"] + n["useless"] + coming + unused
    assert min(counts(x).values()) > 0
