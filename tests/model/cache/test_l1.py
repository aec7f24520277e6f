"""L1 data cache: hits, merges, what it refuses, allocation on fill and on miss, writes, atomics."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lockstep.builder import KernelBuilder
from lockstep.isa.instruction import CachePolicy
from lockstep.model import free_list
from lockstep.model.cache import l1, l1_fill, mshr_file, tags
from lockstep.model.link import KIND_ATOMIC, KIND_READ, KIND_REDUCTION, KIND_WRITE

pytestmark = pytest.mark.plain
A = 0x7F0000000000


@pytest.fixture(scope="session")
def caches(load_script):
    """The script with an L1 without an SM."""
    return load_script(Path(__file__).parent / "caches.py")


@pytest.fixture(scope="session")
def cache(tiny, caches):
    """Function from changes of the specification to a cache of one set and two ways."""

    def make(**changes):
        shape = {"bytes": 256, "sets": 1, "carveouts": (), **changes}
        return caches.L1(tiny(**{f"l1.{k}": v for k, v in shape.items()}))

    return make


def test_a_miss_asks_for_its_sectors_and_completes_with_them(cache):
    x = cache()
    a = x.load(7, 0b0101, now=3)
    assert x.requests == [(7, 0b0101, KIND_READ, 0)]
    assert x.remaining[a] == 2
    assert x.reply(0, 0b0001) == []
    assert x.reply(0, 0b0100) == [a]
    assert x.counters.l1_global_read_sectors == 2
    assert x.counters.l1_global_read_hits == 0


@pytest.mark.parametrize("event", ["store", "invalidate", "past"])
@pytest.mark.parametrize("scoped", [0, 1])
def test_data_on_its_way_is_old_when_its_line_is_given_up_or_written(cache, event, scoped):
    """Under scopes it is for those who waited, and not kept; who comes later asks again."""
    x = cache()
    x.l1.spec[0].scoped = scoped
    first = x.load(7, 1)
    if event == "store":
        x.store(7, 1)
    elif event == "invalidate":
        l1_fill.invalidate(x.l1, 0, x.counters)
    else:
        x.load(7, 1, policy=CachePolicy.BYPASS_L1)
    before = len(x.requests)
    second = x.load(7, 1)
    assert len(x.requests) - before == scoped
    assert x.reply(0, 1) == ([first] if scoped else [second, first])
    x.load(7, 1)
    assert x.counters.l1_global_read_hits == (0 if scoped else 1)
    if scoped:
        assert len(x.reply(1, 1)) == 2
        x.load(7, 1)
        assert x.counters.l1_global_read_hits == 1


def test_a_hit_asks_for_nothing(cache):
    x = cache()
    x.bring(7, 0b0011)
    a = x.load(7, 0b0010, now=100)
    assert x.requests == []
    assert (x.remaining[a], x.hits[a]) == (0, 1)
    assert x.counters.l1_global_read_hits == 1


def test_only_the_sectors_that_are_missing_are_asked_for(cache):
    x = cache()
    x.bring(7, 0b0011)
    a = x.load(7, 0b0110)
    assert x.requests == [(7, 0b0100, KIND_READ, 0)]
    assert (x.remaining[a], x.hits[a]) == (1, 1)
    assert x.counters.l1_global_read_hits == 1


def test_a_load_merges_with_a_miss_in_flight(cache):
    x = cache()
    first, second = x.load(7, 0b0001), x.load(7, 0b0011, now=5)
    assert x.requests == [(7, 0b0001, KIND_READ, 0), (7, 0b0010, KIND_READ, 0)]
    assert x.counters.l1_global_read_pending == 1
    assert x.reply(0, 0b0001) == [first]
    assert x.reply(0, 0b0010) == [second]
    assert x.l1.caches[0].free_entry == 0, "the entry is free again"


def test_all_that_wait_for_a_sector_get_it_with_one_reply(cache):
    x = cache()
    waiting = [x.load(7) for _ in range(5)]
    assert len(x.requests) == 1
    assert sorted(x.reply(0, 1)) == waiting


def test_a_full_mshr_file_refuses_another_line(cache):
    x = cache(mshr_entries=2)
    assert [x.load(line) for line in (1, 2, 3)] == [0, 1, None]
    assert (x.counters.l1_fail_mshr, x.refusal) == (1, l1.FULL_FILE)
    assert x.load(2) == 2, "a line in flight needs no entry"
    x.reply(0, 1)
    assert x.load(3) == 3


def test_an_entry_takes_only_so_many_requests(cache):
    x = cache(mshr_merges=2)
    assert [x.load(1), x.load(1, 0b0010), x.load(1)] == [0, 1, None]
    assert (x.counters.l1_fail_merge, x.refusal) == (1, l1.FULL_ENTRY)
    assert x.load(2) == 2, "another line has an entry of its own"


def test_a_full_miss_queue_refuses_what_must_leave(cache):
    x = cache(miss_queue=1)
    assert x.load(1) == 0
    assert x.load(1) == 1, "a merge sends nothing"
    assert [x.load(2), x.store(2), x.load(2, policy=CachePolicy.BYPASS_L1)] == [None] * 3
    assert x.request(KIND_ATOMIC, 2, 1, 0) is None
    assert x.refusal == l1.FULL_QUEUE
    assert x.counters.l1_fail_queue == 4
    x.send()
    assert x.load(2) == 2


@pytest.mark.parametrize("full", ["mshr_entries", "mshr_merges", "miss_queue"])
def test_a_refusal_leaves_no_trace(cache, full):
    x = cache(**{full: 1})
    x.bring(5)
    x.load(1)
    arrays = (*x.l1.tags, x.l1.entries, x.l1.buckets, x.l1.nodes, x.l1.queue)
    before = [a.copy() for a in arrays]
    counters = x.counters.copy()
    line = 1 if full == "mshr_merges" else 2
    assert x.load(line, 0b0010, now=9) is None
    assert all((a == b).all() for a, b in zip(arrays, before))
    changed = [n for n in counters.dtype.names if np.any(counters[n] != x.counters[n])]
    assert len(changed) == 1 and changed[0].startswith("l1_fail")


def test_misses_in_flight_hold_no_line_when_lines_are_allocated_on_fill(cache):
    x = cache(allocate="fill")
    x.bring(1), x.bring(2)
    for line in (3, 4, 5):
        assert x.load(line) is not None
    assert x.holds(1) and x.holds(2)
    x.reply(x.requests[0][3], 1)
    assert x.holds(3) and not x.holds(1), "the least recently used line makes room"
    assert x.counters.l1_evictions == 1


def test_a_set_whose_lines_all_wait_refuses_when_lines_are_allocated_on_miss(cache):
    x = cache(allocate="miss")
    x.bring(1), x.bring(2)
    assert x.load(3) is not None
    assert not x.holds(1) and x.holds(3), "the line makes room at once"
    assert x.load(4) is not None
    assert x.load(5) is None
    assert (x.counters.l1_fail_line, x.refusal) == (1, l1.FULL_SET)
    assert x.load(3, 0b0010) is not None, "a reserved line takes more sectors"
    x.reply(0, 0b0001)
    assert x.load(5) is None, "its other sector is still coming"
    x.reply(0, 0b0010)
    assert x.load(5) is not None
    assert x.holds(4) and not x.holds(3)


def test_a_hit_makes_a_line_the_newest(cache):
    x = cache()
    x.bring(1), x.bring(2)
    x.load(1, now=5)
    x.bring(3)
    assert x.holds(1) and not x.holds(2)


def test_a_streaming_line_goes_first_and_a_kept_line_last(cache):
    x = cache(bytes=384)
    for line, policy in ((1, CachePolicy.KEEP), (2, 0), (3, CachePolicy.STREAMING)):
        x.load(line, policy=policy)
        x.reply(x.send()[3], 1, policy=policy)
    x.bring(4)
    assert not x.holds(3)
    x.bring(5)
    assert x.holds(1) and not x.holds(2)


def test_writes_go_through_and_allocate_nothing(cache):
    x = cache()
    assert x.store(9, 0b0011, full=0b0110, tag=1234567) is not None
    assert x.requests == [(9, 0b0011, KIND_WRITE, 1234567)]
    assert x.l1.queue[0, 0].full == 0b0010, "only sectors that are written"
    assert not x.holds(9)
    assert (x.counters.l1_global_write_sectors, x.counters.l1_global_write_hits) == (2, 0)


@pytest.mark.parametrize(
    "protocol, local, stays",
    [("write_through", 0, True), ("write_evict", 0, False), ("write_evict", 1, True)],
)
def test_a_write_updates_or_drops_a_line(cache, protocol, local, stays):
    x = cache(protocol=protocol)
    x.bring(9, 0b0011)
    x.store(9, 0b0110, local=local)
    assert x.holds(9) == stays
    kind = "local" if local else "global"
    assert x.counters[f"l1_{kind}_write_hits"] == 1
    assert x.counters[f"l1_{kind}_write_sectors"] == 2


def test_a_line_that_waits_for_data_is_not_dropped(cache):
    x = cache(allocate="miss", protocol="write_evict")
    a = x.load(9)
    x.store(9, 0b0010)
    x.request(KIND_ATOMIC, 9, 0b0100, 0)
    assert x.holds(9)
    assert x.reply(0, 1) == [a]


def test_atomics_execute_at_the_l2(cache):
    x = cache()
    x.bring(9)
    a = x.request(KIND_ATOMIC, 9, 0b0011, 0, full=7)
    assert x.requests == [(9, 0b0011, KIND_ATOMIC, -1 - a)]
    assert x.l1.queue[0, x.l1.caches[0].queue_head].full == 7, "lanes on one word"
    assert x.remaining[a] == 2 and not x.holds(9)
    b = x.request(KIND_REDUCTION, 9, 0b0100, 0, tag=77)
    assert x.requests[1] == (9, 0b0100, KIND_REDUCTION, 77)
    assert x.remaining[b] == 0
    assert x.counters.l1_atomic_sectors == 3


@pytest.mark.parametrize("policy", [CachePolicy.BYPASS_L1, CachePolicy.VOLATILE])
def test_reads_past_the_l1_never_merge_and_never_hit(cache, policy):
    x = cache()
    x.bring(9)
    a, b = x.load(9, policy=policy), x.load(9, policy=policy)
    assert x.requests == [(9, 1, KIND_READ, -1 - a), (9, 1, KIND_READ, -1 - b)]
    assert x.counters.l1_bypass_sectors == 2
    assert x.counters.l1_global_read_hits == 0


def test_global_loads_can_be_past_the_l1_by_default(cache):
    x = cache(cache_global=False)
    a, b = x.load(9), x.load(10, local=1)
    assert [r[3] for r in x.requests] == [-1 - a, 0]
    assert x.remaining[b] == 1 and x.counters.l1_local_read_sectors == 1


def test_a_cache_without_capacity_keeps_nothing(cache):
    x = cache()
    x.l1.tags.caches[0].ways = 0
    a = x.load(9)
    assert x.requests == [(9, 1, KIND_READ, -1 - a)]
    x.store(9)
    assert not x.holds(9)


@pytest.mark.parametrize("flit", [16, 32, 64])
def test_data_takes_flits_and_a_read_takes_one(tiny, caches, flit):
    x = caches.L1(tiny(interconnect__flit_bytes=flit))
    x.store(9, 0b0111), x.load(10, 0b0111), x.request(KIND_ATOMIC, 11, 0b0001, 0)
    each = -(-32 // flit)
    assert x.l1.queue[0, :3].flits.tolist() == [3 * each, 1, each]


lines = st.integers(0, 6)
steps = st.one_of(
    st.tuples(st.just("load"), lines, st.integers(1, 15)),
    st.tuples(st.just("store"), lines, st.integers(1, 15)),
    st.tuples(st.just("reply"), st.integers(0, 5), st.just(0)),
)


def test_reads_wait_for_an_entry_and_those_behind_them_that_hit_go_on(cache):
    x = cache(mshr_entries=1, waiting=2)
    x.bring(5)
    first, second, third = (x.load(line, 0b0011) for line in (1, 2, 3))
    assert x.counters.l1_waited == 2 and len(x.requests) == 1
    assert x.load(4) is None and x.refusal == l1.FULL_FILE, "two wait, nobody else can"
    hit = x.load(5)
    assert (x.remaining[hit], x.hits[hit]) == (0, 1)
    x.send()
    assert x.reply(0, 0b0011) == [first]
    assert x.send() == (2, 0b0011, KIND_READ, 0), "the entry is the oldest one's at once"
    assert x.reply(0, 0b0011) == [second]
    x.send()
    assert x.reply(0, 0b0011) == [third]
    assert x.counters.l1_global_read_sectors - 4 - 1 == 3 * 2, "each is looked up once"


def test_a_read_that_waited_looks_the_tags_up_again(cache):
    x = cache(mshr_entries=1, waiting=2)
    first, same = x.load(1), x.load(2)
    other = x.load(2, 0b0011)
    x.send()
    assert x.reply(0, 1) == [first]
    assert [r[:2] for r in x.requests] == [(2, 0b0001)], "the next line's: the third waits on"
    x.send()
    # With the entry the third one finds a sector of its line here, and asks for the other.
    assert x.reply(0, 1) == [same]
    assert (x.remaining[other], x.hits[other]) == (1, 1)
    assert x.send()[:2] == (2, 0b0010)
    assert x.reply(0, 0b0010) == [other]


def test_a_read_that_waited_waits_for_room_in_the_miss_queue_too(cache):
    x = cache(mshr_entries=1, waiting=1, miss_queue=1)
    x.load(1)
    x.send()
    waiting = x.load(2)
    x.store(9)
    x.reply(0, 1)
    assert [r[2] for r in x.requests] == [KIND_WRITE]
    x.send()
    assert x.resume() == [] and [r[:2] for r in x.requests] == [(2, 1)]
    x.send()
    assert x.reply(0, 1) == [waiting]


@settings(max_examples=80)
@given(
    st.lists(steps, max_size=60),
    st.sampled_from(["fill", "miss"]),
    st.integers(1, 4),
    st.sampled_from([0, 1, 5]),
)
def test_every_load_completes_once_and_everything_is_given_back(
    cache, script, allocate, entries, waits
):
    x = cache(allocate=allocate, mshr_entries=entries, mshr_merges=3, miss_queue=4, waiting=waits)
    flying, waiting, finished = [], {}, []

    def reply(k):
        _, sectors, _, entry = flying.pop(k % len(flying))
        finished.extend(x.reply(entry, sectors))

    for what, n, sectors in script:
        flying += [r for r in iter(lambda: x.requests and x.send(), []) if r[2] == KIND_READ]
        if what == "reply":
            if flying:
                reply(n)
        elif what == "store":
            x.store(n, sectors)
        elif (a := x.load(n, sectors)) is not None and x.remaining[a]:
            waiting[a] = sectors
    flying += [r for r in iter(lambda: x.requests and x.send(), []) if r[2] == KIND_READ]
    while flying or x.requests:
        if flying:
            reply(0)
        flying += [r for r in iter(lambda: x.requests and x.send(), []) if r[2] == KIND_READ]
        finished.extend(x.resume())
    assert x.l1.caches[0].waiting_count == 0
    assert sorted(finished) == sorted(waiting)
    assert not any(x.remaining.values())
    assert (x.l1.buckets == 0).all() and (x.l1.entries.pending == 0).all()
    assert len(_free(x.l1.caches[0].free_entry, x.l1.entries[0])) == entries
    assert len(_free(x.l1.caches[0].free_node, x.l1.nodes[0])) == len(x.l1.nodes[0])
    assert (x.l1.tags.keys < tags.LOCKED).all()
    found = x.l1.tags.lines[x.l1.tags.lines != 0] ^ tags.NO_LINE
    assert len(set(found.tolist())) == len(found), "no line is in two ways"


def _free(head, pool):
    found = []
    while head < len(pool):
        found.append(int(head))
        head = free_list.after(pool[head].next, head)
    assert len(set(found)) == len(found)
    return found


@given(st.lists(st.integers(0, 40), max_size=60))
def test_entries_are_found_by_their_line(cache, script):
    """A line drawn once gets an entry, drawn again it gives it back."""
    x, held = cache(mshr_entries=64), {}
    for line in (n * 16 for n in script):  # many lines in a bucket
        if line in held:
            mshr_file.release(x.l1, 0, held.pop(line))
        else:
            held[line] = mshr_file.allocate(x.l1, 0, line)
        assert {n: mshr_file.find(x.l1, 0, n) for n in held} == held
        assert mshr_file.find(x.l1, 0, line + 1) == -1


@pytest.mark.parametrize("allocate", ["fill", "miss"])
def test_an_invalidation_drops_what_is_there_and_not_what_is_coming(cache, allocate):
    x = cache(allocate=allocate)
    x.bring(3)
    x.bring(7, 0b0001)
    waiting = x.load(7, 0b0010)
    l1_fill.invalidate(x.l1, 0, x.counters)
    l1_fill.invalidate(x.l1, 0, x.counters)
    assert not x.holds(3)
    assert x.reply(0, 0b0010) == [waiting]
    assert x.counters.l1_evictions == 0
    x.load(7, 0b0011)
    assert x.counters.l1_global_read_hits == 1, "of the sector that came later"
    x.reply(0, 0b0001)
    l1_fill.invalidate(x.l1, 0, x.counters)
    assert not x.holds(7)


def test_a_dependent_load_sees_the_latency_of_a_hit(watch, tiny):
    gpu = tiny()
    k = KernelBuilder("hit", grid=1, block=32)
    for _ in range(2):
        k("LDG.E R1, [R2]", address=k.coalesced(A))
        k("MOV R2, R1")
    at = watch(k.workload(), gpu).of(0)
    assert at[3] - at[2] == gpu.l1.latency
