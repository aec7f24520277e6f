"""What every cache must do, from a hit after a fill to what a full one refuses; a naive twin."""

import random
from pathlib import Path
from types import SimpleNamespace

import pytest

pytestmark = pytest.mark.plain
WAYS, ENTRIES, MERGES = 4, 3, 2
NAMES = (
    "L1, on fill",
    "L1, on miss",
    "L1, evicting",
    "L1, prefetching",
    "L2, prefetching",
    "L2",
    "L2, fetching",
    "L0 of instructions",
    "L1 of instructions",
    "constants",
    "operands",
)
HIT, MERGED, MISS, REFUSED = "hit", "merged", "miss", "refused"


@pytest.fixture(scope="session")
def caches(load_script):
    return load_script(Path(__file__).parent / "caches.py")


@pytest.fixture(scope="session")
def fixtures(tiny, idle_sms, rig):
    return SimpleNamespace(tiny=tiny, rig=rig, sms=lambda **changes: idle_sms(tiny(**changes)))


def maker(caches, fixtures, name):
    def build(ways=WAYS, entries=ENTRIES, merges=MERGES):
        return caches.CACHES[name](fixtures, ways, entries, merges)

    return build


@pytest.fixture(params=NAMES)
def make(request, caches, fixtures):
    """Function that makes the cache of a test."""
    return maker(caches, fixtures, request.param)


@pytest.fixture(params=[name for name in NAMES if name.startswith("L") and "instr" not in name])
def sectored(request, caches, fixtures):
    """The same, of those that hold data by sectors."""
    return maker(caches, fixtures, request.param)


@pytest.fixture
def cache(make):
    return make()


def bring(cache, *lines):
    """Have lines in a cache, the last one the newest."""
    for line in lines:
        assert cache.read(line) == MISS
        cache.arrive()


def test_the_list_of_caches_is_whole(caches):
    assert tuple(caches.CACHES) == NAMES


def test_caches_have_sectors_or_are_never_emptied(cache):
    assert (cache.sectors > 1) == cache.empties


def test_a_line_hits_when_it_has_come_and_not_before(cache):
    assert cache.read(3) == MISS
    assert cache.read(3) == MERGED
    cache.arrive()
    assert cache.read(3) == HIT


def test_a_sector_is_its_own_miss(sectored):
    cache = sectored()
    bring(cache, 3)
    assert cache.read(3, 1) == MISS
    assert cache.read(3, 0) == HIT
    cache.arrive()
    assert [cache.read(3, sector) for sector in (0, 1, 2)] == [HIT, HIT, MISS]


def test_the_least_recently_used_line_makes_room(cache):
    bring(cache, 0, 1, 2, 3)
    assert cache.read(0) == HIT
    bring(cache, 4)
    assert [cache.read(line) for line in (0, 2, 3, 4)] == [HIT] * 4
    assert cache.read(1) == MISS


def test_reads_of_one_sector_are_one_request_and_all_are_answered(make):
    cache = make(merges=5)
    outcomes = [cache.read(3) for _ in range(5)]
    assert outcomes == [MISS, *[MERGED] * 4]
    assert cache.arrive() in (5, None), "whole lines say when they come"


def test_a_full_mshr_file_refuses_a_line_and_not_what_is_on_its_way(cache):
    outcomes = [cache.read(line) for line in range(ENTRIES + 1)]
    if not cache.empties:
        assert outcomes == [MISS] * (ENTRIES + 1), "lines on their way take no entry"
        return
    assert outcomes == [MISS] * ENTRIES + [REFUSED]
    assert cache.read(0) == MERGED
    assert cache.read(0) == REFUSED, "the entry has as many reads as it takes"
    cache.arrive()
    assert cache.read(ENTRIES) == MISS


def test_an_emptied_cache_has_nothing_and_takes_what_is_on_its_way(sectored):
    """Those of whole lines are read-only, and nothing empties them."""
    cache = sectored()
    bring(cache, 0, 1)
    assert cache.read(2) == MISS
    cache.empty()
    assert cache.arrive() == 1
    assert cache.read(2) == HIT
    assert [cache.read(line) for line in (0, 1)] == [MISS, MISS]


@pytest.mark.long
@pytest.mark.parametrize("seed", range(4))
def test_it_is_as_its_naive_twin(make, caches, seed):
    rng = random.Random(seed)
    ways, entries, merges = rng.choice([2, 4, 5]), rng.choice([1, 2, 3]), rng.choice([1, 2, 4])
    entries = min(entries, ways - 1)  # an L2 slice whose set waits stalls, and refuses nothing
    cache = make(ways, entries, merges)
    twin = caches.Twin(cache, ways, entries, merges)
    seen = set()
    for step in range(120):
        what = rng.random()
        if what < 0.2:
            answered = twin.arrive()
            assert cache.arrive() in (answered, None), step
        elif what < 0.24 and cache.empties:
            cache.empty(), twin.empty()
        else:
            line, sector = rng.randrange(ways + 2), rng.randrange(min(2, cache.sectors))
            outcome = twin.read(line, sector)
            assert cache.read(line, sector) == outcome, step
            seen.add(outcome)
    assert {HIT, MISS} <= seen
