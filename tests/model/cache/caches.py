"""All caches behind one interface, for tests that each of them must pass, and a naive twin.

``read`` of one sector says what came of it: HIT, MERGED with a read on its way, MISS or REFUSED.
``arrive`` lets all come that is on its way, and says how many reads it answers. All that is read
here lies in one set.
"""

from types import SimpleNamespace

import numpy as np

from lockstep.model import contents
from lockstep.model.cache import l1, l1_fill, l1_prefetch, l1_state, miss_queue, mshr_file, tags
from lockstep.model.core import constant, fetch
from lockstep.model.counters import L1_COUNTERS
from lockstep.model.link import KIND_DATA, KIND_READ, KIND_WRITE
from lockstep.model.records import records

HIT, MERGED, MISS, REFUSED = "hit", "merged", "miss", "refused"
WAITERS = 1000


class L1:
    """An L1 without an SM, driven request by request."""

    def __init__(self, gpu, prefetcher=None):
        owner = l1_state.Owner(20, gpu.interconnect.flit_bytes, WAITERS, -1)
        policies = l1_state.Choices(None, prefetcher, prefetches=prefetcher is not None)
        self.l1 = l1_state.build(gpu.l1, 1, owner, policies)
        self.counters = records(1, L1_COUNTERS)[0]
        self.made, self.remaining, self.hits = 0, {}, {}

    def request(self, kind, line, sectors, now, policy=0, local=0, full=0, tag=None):
        """One transaction of a new request; its number, or None if the L1 refuses.

        ``remaining`` and ``hits``: sectors that will come, and that are here.
        """
        a = self.made
        request = self.l1.requests[0]
        request.kind, request.policy, request.local = kind, policy, local
        request.tag = a if tag is None else tag
        transaction = SimpleNamespace(line=line, sectors=sectors, full=full)
        coming, hits = l1.access(self.l1, 0, self.counters, request, transaction, now)
        self.refusal = coming
        if coming < 0:
            assert hits == 0
            return None
        self.remaining[a], self.hits[a] = int(coming), int(hits)
        self.made += 1
        return a

    def load(self, line, sectors=0b0001, now=0, **how):
        return self.request(KIND_READ, line, sectors, now, **how)

    def store(self, line, sectors=0b0001, now=0, **how):
        return self.request(KIND_WRITE, line, sectors, now, **how)

    @property
    def requests(self):
        """What waits to leave: (line, sectors, kind, tag)."""
        cache, queue = self.l1.caches[0], self.l1.queue[0]
        places = (np.arange(cache.queue_count) + cache.queue_head) % len(queue)
        return [(m.line, m.sectors, m.kind, m.tag) for m in queue[places]]

    def send(self):
        """The oldest request leaves for the L2."""
        request = self.requests[0]
        miss_queue.drop(self.l1, 0, False)
        return request

    def reply(self, entry, sectors, policy=0):
        """Sectors of an MSHR entry arrive; the requests that are complete now."""
        l1_fill.fill(self.l1, 0, self.counters, entry, sectors, policy)
        done, before, n = [], -1, int(self.l1.entries[0, entry].waiter)
        while n >= 0:
            a, after = int(self.l1.nodes[0, n].waiter), int(self.l1.nodes[0, n].next)
            here, before = mshr_file.serve(self.l1, 0, entry, before, n, sectors)
            self.remaining[a] -= int(here).bit_count()
            if here and self.remaining[a] == 0:
                done.append(a)
            n = after
        if self.l1.entries[0, entry].pending == 0:
            mshr_file.release(self.l1, 0, entry)
        return done + self.resume()

    def resume(self, now=0):
        """Reads that waited for an MSHR entry go on, as far as they can; those complete now."""
        done = []
        while l1.may_resume(self.l1, 0):
            a, hits = l1.resume(self.l1, 0, self.counters, now)
            if a < 0:
                break
            self.remaining[a] -= int(hits)
            self.hits[a] += int(hits)
            if self.remaining[a] == 0:
                done.append(int(a))
        return done

    def bring(self, line, sectors=0b1111, now=0):
        """Have sectors of a line in the cache."""
        self.load(line, sectors, now)
        _, asked, _, entry = self.send()
        self.reply(entry, asked)

    def holds(self, line):
        return bool((self.l1.tags.lines == line ^ tags.NO_LINE).any())


class OfL1(L1):
    """An L1, ``on_fill`` or reserving lines, under any protocol."""

    sectors, touches, empties, by_line = 4, "hits", True, True

    def __init__(self, fixtures, ways, entries, merges, allocate, protocol, prefetcher=None):
        shape = {"bytes": ways * 128, "sets": 1, "carveouts": (), "miss_queue": 256}
        shape |= {"mshr_entries": entries, "mshr_merges": merges}
        shape |= {"allocate": allocate, "protocol": protocol}
        super().__init__(fixtures.tiny(**{f"l1.{k}": v for k, v in shape.items()}), prefetcher)
        self.reserves = self.locks = allocate == "miss"

    def read(self, line, sector=0):
        before = len(self.requests)
        a = self.load(line, 1 << sector)
        if a is None:
            return REFUSED
        if self.l1.prefetch.spec[0].on:
            met = int(self.l1.requests[0].met)
            l1_prefetch.train(self.l1, 0, self.counters, 0, line, 0, met)
            while self.l1.prefetch.queues[0].count:
                l1_prefetch.take(self.l1, 0, self.counters)
        if self.hits[a]:
            return HIT
        return MISS if len(self.requests) > before else MERGED

    def arrive(self):
        answered = 0
        while self.requests:
            _, sectors, _, entry = self.send()
            answered += len(self.reply(entry, sectors))
        return answered

    def empty(self):
        l1_fill.invalidate(self.l1, 0, self.counters)


class OfL2:
    """A slice of the L2 behind its links; its MSHRs are counted by sector."""

    sectors, touches, empties, by_line = 4, "finds", True, False
    reserves = locks = True
    PATIENCE = 45  # cycles in which a read has met the tags, and a hit is answered
    DRAM = 5000  # clocks that its data takes, at least

    def __init__(self, fixtures, ways, entries, merges, protocol, prefetcher=None):
        self.sets = 2 if prefetcher else 1
        self.side = fixtures.rig.MemorySide(
            policies={"l2_prefetcher": prefetcher} if prefetcher else None,
            sources=8,
            buffer=64,
            reply_buffer=64,
            l2__sets=self.sets,
            l2__ways=ways,
            l2__mshr_entries=entries,
            l2__mshr_merges=merges,
            l2__mshr_full="nack",
            l2__protocol=protocol,
            dram__timing={"nCL": self.DRAM},
        )

    def read(self, line, sector=0):
        side, before = self.side, self.side.count
        side.read(line * self.sets * 128, 1 << sector)
        side.run_to(side.now + self.PATIENCE)
        now = side.count
        outcomes = {
            HIT: now.l2_read_hits - before.l2_read_hits,
            MERGED: now.l2_read_pending - before.l2_read_pending,
            REFUSED: now.l2_nacks - before.l2_nacks,
        }
        outcomes[MISS] = 1 - sum(outcomes.values())
        (outcome,) = (name for name, n in outcomes.items() if n)
        assert outcome != MISS or now.l2_read_sectors == before.l2_read_sectors + 1
        return outcome

    def arrive(self):
        before = self._data()
        self.side.finish()
        return self._data() - before

    def _data(self):
        return sum(reply.kind == KIND_DATA for reply in self.side.replies)

    def empty(self):
        contents.flush(self.side.memory)


class ReadOnly:
    """A cache of whole lines, whose misses are answered with the cycle at which the line comes."""

    sectors, touches, empties, by_line = 1, "finds", False, True
    reserves, locks = True, False
    AWAY = 4000  # cycles until a line is there

    def __init__(self, sms, misses, get, hit):
        self.c, self.misses, self.get, self.hit, self.now = sms, misses, get, hit, 0

    def read(self, line, sector=0):
        self.now += 1
        before = int(self.c.counters[0][self.misses])
        there = self.get(line, self.now)
        if self.c.counters[0][self.misses] > before:
            return MISS
        return HIT if there <= self.now + self.hit else MERGED

    def arrive(self):
        self.now += 2 * self.AWAY


def of_l0i(fixtures, ways):
    """The instruction cache of a sub-core."""
    front_end = {"l0_bytes": ways * 128, "l0_ways": ways, "l1_bytes": 0, "stream_buffer": 0}
    front_end |= {"l1_latency": ReadOnly.AWAY, "line_bytes": 128}
    c = fixtures.sms(**{f"sm__front_end__{k}": v for k, v in front_end.items()})
    return ReadOnly(c, "l0i_misses", lambda line, now: fetch.fetch(c, 0, 0, line, now), 0)


def of_l1i(fixtures, ways):
    """The cache of an SM for instructions and constants."""
    front_end = {"l1_bytes": ways * 128, "l1_ways": ways, "l1_latency": 20, "line_bytes": 128}
    front_end |= {"l2_latency": ReadOnly.AWAY}
    c = fixtures.sms(**{f"sm__front_end__{k}": v for k, v in front_end.items()})
    return ReadOnly(c, "l1i_misses", lambda line, now: fetch.from_l1(c, 0, line, now), 20)


def of_constants(fixtures, ways):
    """The constant cache of an SM."""
    changes = {"bytes": ways * 64, "ways": ways, "line_bytes": 64, "latency": 26}
    changes |= {"miss_latency": ReadOnly.AWAY}
    c = fixtures.sms(sm__front_end__l1_bytes=0, **{f"constant__{k}": v for k, v in changes.items()})
    return ReadOnly(c, "constant_misses", lambda line, now: constant.load(c, 0, 64 * line, now), 26)


def of_operands(fixtures, ways):
    """The cache of a sub-core for constant operands."""
    changes = {"operand_bytes": ways * 64, "operand_ways": ways, "line_bytes": 64}
    changes |= {"operand_miss_latency": ReadOnly.AWAY}
    c = fixtures.sms(sm__front_end__l1_bytes=0, **{f"constant__{k}": v for k, v in changes.items()})

    def get(line, now):
        return constant.operand(c, 0, 1, c.kernels[0], 64 * line, now)

    return ReadOnly(c, "operand_constant_misses", get, 0)


def unused(site, line, warp, hit, state, out):
    """An L1's prefetcher that asks for what nobody reads; here it never comes."""
    out[0].line = 10_000 + line
    return 1


def of_the_other_set(line, hit, state, out):
    """The same of an L2: a line of the other set."""
    out[0].line = line ^ 1
    return 1


CACHES = {
    "L1, on fill": lambda f, w, e, m: OfL1(f, w, e, m, "fill", "write_through"),
    "L1, on miss": lambda f, w, e, m: OfL1(f, w, e, m, "miss", "write_through"),
    "L1, evicting": lambda f, w, e, m: OfL1(f, w, e, m, "fill", "write_evict"),
    "L1, prefetching": lambda f, w, e, m: OfL1(f, w, e, m, "fill", "write_through", unused),
    "L2, prefetching": lambda f, w, e, m: OfL2(f, w, e, m, "write_validate", of_the_other_set),
    "L2": lambda f, w, e, m: OfL2(f, w, e, m, "write_validate"),
    "L2, fetching": lambda f, w, e, m: OfL2(f, w, e, m, "write_fetch"),
    "L0 of instructions": lambda f, w, e, m: of_l0i(f, w),
    "L1 of instructions": lambda f, w, e, m: of_l1i(f, w),
    "constants": lambda f, w, e, m: of_constants(f, w),
    "operands": lambda f, w, e, m: of_operands(f, w),
}
"""Cache -> how to make one of so many ways, MSHR entries and reads that an entry takes."""


class Twin:
    """What all of them do, one dictionary at a time."""

    def __init__(self, of, ways, entries, merges):
        self.of, self.clock = of, 0
        unlimited = not hasattr(of, "empty")
        self.entries, self.merges = (1 << 30, 1 << 30) if unlimited else (entries, merges)
        self.ways = [
            SimpleNamespace(line=None, here=set(), age=(-1, way), locked=False)
            for way in range(ways)
        ]
        self.flying = {}  # entry -> its sectors and how many reads wait

    def find(self, line):
        return next((way for way in self.ways if way.line == line), None)

    def touch(self, way):
        self.clock += 1
        if not way.locked:
            way.age = (self.clock, way.age[1])

    def put(self, line):
        """A way for a line, or None if all are locked."""
        free = [way for way in self.ways if not way.locked]
        if not free:
            return None
        way = min(free, key=lambda way: way.age)
        if self.of.reserves and not self.of.locks:  # a line that goes on its way comes in vain
            self.flying.pop(way.line, None)
        self.clock += 1
        way.line, way.here, way.age = line, set(), (self.clock, way.age[1])
        return way

    def read(self, line, sector=0):
        way = self.find(line)
        if way and self.of.touches == "finds":
            self.touch(way)
        if way and sector in way.here:
            if self.of.touches == "hits":
                self.touch(way)
            return HIT
        name = line if self.of.by_line else (line, sector)
        entry = self.flying.get(name)
        if entry is None and len(self.flying) >= self.entries:
            return REFUSED
        if entry is not None and entry.reads >= self.merges:
            return REFUSED
        pending = entry is not None and sector in entry.sectors
        if not pending and self.of.reserves:
            way = way or self.put(line)
            if way is None:
                return REFUSED
            way.locked = self.of.locks
        entry = self.flying.setdefault(name, SimpleNamespace(line=line, sectors=[], reads=0))
        entry.reads += 1
        if pending:
            return MERGED
        entry.sectors.append(sector)
        return MISS

    def arrive(self):
        reads = sum(entry.reads for entry in self.flying.values())
        for entry in self.flying.values():
            way = self.find(entry.line) or self.put(entry.line)
            way.here |= set(entry.sectors)
        for way in self.ways:
            if way.locked:
                way.locked, way.age = False, (self.clock, way.age[1])
        self.flying.clear()
        return reads

    def empty(self):
        """Lines on their way stay, without the sectors that they have."""
        for way in self.ways:
            way.here = set()
            if not way.locked:
                way.line, way.age = None, (-1, way.age[1])
