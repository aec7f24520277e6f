"""L1 data cache: hits, merges, what it refuses, allocation on fill and on miss, writes, atomics."""

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lockstep.builder import KernelBuilder
from lockstep.isa.instruction import CachePolicy, OpClass, Space
from lockstep.model import free_list
from lockstep.model.cache import l1, l1_fill, l1_mshr, tags
from lockstep.model.link import KIND_ATOMIC, KIND_READ, KIND_REDUCTION, KIND_WRITE
from lockstep.model.sm import between, port
from lockstep.model.sm.state import DONE_ACCESS

pytestmark = pytest.mark.plain
A = 0x7F0000000000


class Cache:
    """The L1 of one SM, driven access by access."""

    def __init__(self, c, gpu):
        self.c, self.gpu, self.counters = c, gpu, c.counters[0]
        self.accesses = 0

    def request(self, op, line, sectors, now, policy=0, space=Space.GLOBAL, full=0):
        """One transaction of a new access; its number, or None if the L1 refuses."""
        a = self.accesses
        access = self.c.accesses[0, a]
        access.warp, access.space, access.remaining, access.latest = 0, space, 0, 0
        transaction = SimpleNamespace(line=line, sectors=sectors, full=full)
        instruction = SimpleNamespace(op=op, cache=policy)
        if not l1.access(self.c, 0, a, access, transaction, instruction, now):
            return None
        self.accesses += 1
        return a

    def load(self, line, sectors=0b0001, now=0, **how):
        return self.request(OpClass.LOAD, line, sectors, now, **how)

    def store(self, line, sectors=0b0001, now=0, **how):
        return self.request(OpClass.STORE, line, sectors, now, **how)

    @property
    def requests(self):
        """What waits to leave: (line, sectors, kind, tag)."""
        cache, queue = self.c.l1.caches[0], self.c.l1.queue[0]
        places = (np.arange(cache.queue_count) + cache.queue_head) % len(queue)
        return [(m.line, m.sectors, m.kind, m.tag) for m in queue[places]]

    def send(self):
        """The oldest request leaves for the L2."""
        request = self.requests[0]
        port.remove_request(self.c, 0, False)
        return request

    def reply(self, entry, sectors, now=0, policy=0):
        """Sectors of an MSHR entry arrive; the accesses that are complete now, with the cycle."""
        self.c.n_done[0] = 0
        l1_fill.fill(self.c, 0, entry, sectors, policy)
        port.serve_waiters(self.c, 0, entry, sectors, now)
        done = self.c.done[0, : self.c.n_done[0]]
        assert (done.kind == DONE_ACCESS).all()
        return [(d.index, d.cycle) for d in done]

    def bring(self, line, sectors=0b1111, now=0):
        """Have sectors of a line in the cache."""
        self.load(line, sectors, now)
        _, asked, _, entry = self.send()
        self.reply(entry, asked, now)

    def remaining(self, a):
        return int(self.c.accesses[0, a].remaining)

    def holds(self, line):
        return bool((self.c.l1.tags.lines == line).any())


@pytest.fixture(scope="session")
def cache(tiny, idle_sms):
    """Function from changes of the specification to a cache of one set and two ways."""

    def make(**changes):
        shape = {"bytes": 256, "sets": 1, "carveouts": (), **changes}
        gpu = tiny(**{f"l1.{k}": v for k, v in shape.items()})
        return Cache(idle_sms(gpu), gpu)

    return make


def test_a_miss_asks_for_its_sectors_and_completes_with_them(cache):
    x = cache()
    a = x.load(7, 0b0101, now=3)
    assert x.requests == [(7, 0b0101, KIND_READ, 0)]
    assert x.remaining(a) == 2
    assert x.reply(0, 0b0001, now=50) == []
    fill = x.c.spec[0].fill_cycles
    assert x.reply(0, 0b0100, now=60) == [(a, 60 + fill)]
    assert x.counters.l1_global_read_sectors == 2
    assert x.counters.l1_global_read_hits == 0


def test_a_hit_is_there_after_the_hit_latency(cache):
    x = cache()
    x.bring(7, 0b0011)
    a = x.load(7, 0b0010, now=100)
    assert x.requests == []
    assert (x.remaining(a), x.c.accesses[0, a].latest) == (0, 100 + x.c.l1.spec[0].hit_cycles)
    assert x.counters.l1_global_read_hits == 1


def test_only_the_sectors_that_are_missing_are_asked_for(cache):
    x = cache()
    x.bring(7, 0b0011)
    a = x.load(7, 0b0110)
    assert x.requests == [(7, 0b0100, KIND_READ, 0)]
    assert x.remaining(a) == 1
    assert x.counters.l1_global_read_hits == 1


def test_a_load_merges_with_a_miss_in_flight(cache):
    x = cache()
    first, second = x.load(7, 0b0001), x.load(7, 0b0011, now=5)
    assert x.requests == [(7, 0b0001, KIND_READ, 0), (7, 0b0010, KIND_READ, 0)]
    assert x.counters.l1_global_read_pending == 1
    assert x.reply(0, 0b0001, now=50)[0][0] == first
    assert x.reply(0, 0b0010, now=70) == [(second, 70 + x.c.spec[0].fill_cycles)]
    assert x.c.l1.caches[0].free_entry == 0, "the entry is free again"


def test_all_that_wait_for_a_sector_get_it_with_one_reply(cache):
    x = cache()
    waiting = [x.load(7) for _ in range(5)]
    assert len(x.requests) == 1
    assert sorted(a for a, _ in x.reply(0, 1, now=9)) == waiting


def test_a_full_mshr_file_refuses_another_line(cache):
    x = cache(mshr_entries=2)
    assert [x.load(line) for line in (1, 2, 3)] == [0, 1, None]
    assert x.counters.l1_fail_mshr == 1
    assert x.load(2) == 2, "a line in flight needs no entry"
    x.reply(0, 1)
    assert x.load(3) == 3


def test_an_entry_takes_only_so_many_requests(cache):
    x = cache(mshr_merges=2)
    assert [x.load(1), x.load(1, 0b0010), x.load(1)] == [0, 1, None]
    assert x.counters.l1_fail_merge == 1
    assert x.load(2) == 2, "another line has an entry of its own"


def test_a_full_miss_queue_refuses_what_must_leave(cache):
    x = cache(miss_queue=1)
    assert x.load(1) == 0
    assert x.load(1) == 1, "a merge sends nothing"
    assert [x.load(2), x.store(2), x.load(2, policy=CachePolicy.BYPASS_L1)] == [None] * 3
    assert x.request(OpClass.ATOMIC, 2, 1, 0) is None
    assert x.counters.l1_fail_queue == 4
    x.send()
    assert x.load(2) == 2


@pytest.mark.parametrize("full", ["mshr_entries", "mshr_merges", "miss_queue"])
def test_a_refusal_leaves_no_trace(cache, full):
    x = cache(**{full: 1})
    x.bring(5)
    x.load(1)
    arrays = (*x.c.l1.tags, x.c.l1.entries, x.c.l1.buckets, x.c.l1.nodes, x.c.l1.queue)
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
    assert x.counters.l1_fail_line == 1
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
    x.c.warps[0, 0].outstanding = 0
    assert x.store(9, 0b0011, full=0b0110) is not None
    assert x.requests == [(9, 0b0011, KIND_WRITE, 0)]
    assert x.c.l1.queue[0, 0].full == 0b0010, "only sectors that are written"
    assert not x.holds(9)
    assert x.c.warps[0, 0].outstanding == x.c.ctas[0, 0].outstanding == 1
    assert (x.counters.l1_global_write_sectors, x.counters.l1_global_write_hits) == (2, 0)


@pytest.mark.parametrize("write, space, stays", [
    ("through", Space.GLOBAL, True), ("evict", Space.GLOBAL, False), ("evict", Space.LOCAL, True),
])  # fmt: skip
def test_a_write_updates_or_drops_a_line(cache, write, space, stays):
    x = cache(write=write)
    x.bring(9, 0b0011)
    x.store(9, 0b0110, space=space)
    assert x.holds(9) == stays
    kind = "local" if space == Space.LOCAL else "global"
    assert x.counters[f"l1_{kind}_write_hits"] == 1
    assert x.counters[f"l1_{kind}_write_sectors"] == 2


def test_a_line_that_waits_for_data_is_not_dropped(cache):
    x = cache(allocate="miss", write="evict")
    a = x.load(9)
    x.store(9, 0b0010)
    x.request(OpClass.ATOMIC, 9, 0b0100, 0)
    assert x.holds(9)
    assert x.reply(0, 1)[0][0] == a


def test_atomics_execute_at_the_l2(cache):
    x = cache()
    x.bring(9)
    a = x.request(OpClass.ATOMIC, 9, 0b0011, 0, full=7)
    assert x.requests == [(9, 0b0011, KIND_ATOMIC, -1 - a)]
    assert x.c.l1.queue[0, x.c.l1.caches[0].queue_head].full == 7, "lanes on one word"
    assert x.remaining(a) == 2 and not x.holds(9)
    b = x.request(OpClass.REDUCTION, 9, 0b0100, 0)
    assert x.requests[1] == (9, 0b0100, KIND_REDUCTION, 0)
    assert x.remaining(b) == 0 and x.c.warps[0, 0].outstanding == 1
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
    a, b = x.load(9), x.load(10, space=Space.LOCAL)
    assert [r[3] for r in x.requests] == [-1 - a, 0]
    assert x.remaining(b) == 1 and x.counters.l1_local_read_sectors == 1


def test_a_cache_without_capacity_keeps_nothing(cache):
    x = cache()
    between.prepare_l1(x.c, 0, False)
    a = x.load(9)
    assert x.requests == [(9, 1, KIND_READ, -1 - a)]
    x.store(9)
    assert not x.holds(9)


@pytest.mark.parametrize("flit", [16, 32, 64])
def test_data_takes_flits_and_a_read_takes_one(cache, tiny, idle_sms, flit):
    x = Cache(idle_sms(tiny(interconnect__flit_bytes=flit)), None)
    x.store(9, 0b0111), x.load(10, 0b0111), x.request(OpClass.ATOMIC, 11, 0b0001, 0)
    each = -(-32 // flit)
    assert x.c.l1.queue[0, :3].flits.tolist() == [3 * each, 1, each]


lines = st.integers(0, 6)
steps = st.one_of(
    st.tuples(st.just("load"), lines, st.integers(1, 15)),
    st.tuples(st.just("store"), lines, st.integers(1, 15)),
    st.tuples(st.just("reply"), st.integers(0, 5), st.just(0)),
)


@settings(max_examples=80)
@given(st.lists(steps, max_size=60), st.sampled_from(["fill", "miss"]), st.integers(1, 4))
def test_every_load_completes_once_and_everything_is_given_back(cache, script, allocate, entries):
    x = cache(allocate=allocate, mshr_entries=entries, mshr_merges=3, miss_queue=4)
    flying, waiting, finished = [], {}, []

    def reply(k):
        _, sectors, _, entry = flying.pop(k % len(flying))
        finished.extend(a for a, _ in x.reply(entry, sectors))

    for what, n, sectors in script:
        flying += [r for r in iter(lambda: x.requests and x.send(), []) if r[2] == KIND_READ]
        if what == "reply":
            if flying:
                reply(n)
        elif what == "store":
            x.store(n, sectors)
        elif (a := x.load(n, sectors)) is not None and x.remaining(a):
            waiting[a] = sectors
    flying += [r for r in iter(lambda: x.requests and x.send(), []) if r[2] == KIND_READ]
    while flying:
        reply(0)
    assert sorted(finished) == sorted(waiting)
    assert (x.c.accesses.remaining == 0).all()
    assert (x.c.l1.buckets == -1).all() and (x.c.l1.entries.pending == 0).all()
    assert len(_free(x.c.l1.caches[0].free_entry, x.c.l1.entries[0])) == entries
    assert len(_free(x.c.l1.caches[0].free_node, x.c.l1.nodes[0])) == len(x.c.l1.nodes[0])
    assert (x.c.l1.tags.keys < tags.LOCKED).all()
    found = x.c.l1.tags.lines[x.c.l1.tags.lines != tags.NO_LINE]
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
            l1_mshr.free_entry(x.c.l1, 0, held.pop(line))
        else:
            held[line] = l1_mshr.new_entry(x.c.l1, 0, line)
        assert {n: l1_mshr.find_entry(x.c.l1, 0, n) for n in held} == held
        assert l1_mshr.find_entry(x.c.l1, 0, line + 1) == -1


@pytest.mark.parametrize("allocate", ["fill", "miss"])
def test_an_invalidation_drops_what_is_there_and_not_what_is_coming(cache, allocate):
    x = cache(allocate=allocate)
    x.bring(3)
    x.bring(7, 0b0001)
    waiting = x.load(7, 0b0010)
    l1_fill.invalidate(x.c.l1, 0)
    l1_fill.invalidate(x.c.l1, 0)
    assert not x.holds(3)
    assert x.reply(0, 0b0010, now=50)[0][0] == waiting
    assert x.counters.l1_evictions == 0
    x.load(7, 0b0011)
    assert x.counters.l1_global_read_hits == 1, "of the sector that came later"
    x.reply(0, 0b0001, now=60)
    l1_fill.invalidate(x.c.l1, 0)
    assert not x.holds(7)


def test_a_dependent_load_sees_the_latency_of_a_hit(watch, tiny):
    gpu = tiny()
    k = KernelBuilder("hit", grid=1, block=32)
    for _ in range(2):
        k("LDG.E R1, [R2]", address=k.coalesced(A))
        k("MOV R2, R1")
    at = watch(k.workload(), gpu).of(0)
    assert at[3] - at[2] == gpu.l1.latency
