"""L1 data cache: sectored, banked, with MSHRs that merge, under a protocol of ``protocols``.

Streaming (``allocate = fill``): a miss holds an MSHR entry and no line; the line is chosen when
data arrives. ``allocate = miss`` reserves the line at once, as GPGPU-Sim 3 did, so that a set
whose lines all wait for data cannot take another miss.

Whoever owns the caches says in a REQUEST what it wants of a line, and is told what comes of it:
sectors on their way, sectors that hit, or why it has to come again. What leaves for the level below
goes through the miss queue in order. Events are counted in a record of the owner's that has the
fields of ``counters.L1_COUNTERS``.
"""

from lockstep._jit import force_inline, inline, popcount
from lockstep.isa.instruction import CachePolicy
from lockstep.model.cache import l1_waiting, miss_queue, mshr_file, replacement, slice_hash
from lockstep.model.cache import tags as cache_tags
from lockstep.model.cache.l1_fill import reserve_line
from lockstep.model.cache.prefetch import state as prefetching
from lockstep.model.cache.prefetch import table
from lockstep.model.cache.protocols import at_l1
from lockstep.model.link import KIND_ATOMIC, KIND_READ, KIND_REDUCTION, KIND_WRITE

BYPASS = int(CachePolicy.BYPASS_L1 | CachePolicy.VOLATILE)

FULL_QUEUE, FULL_SET, FULL_FILE, FULL_ENTRY = -1, -2, -3, -4
"""Why a request must come again: the miss queue is full, every way of the set waits for data, no
MSHR entry is free, or the line's entry takes no more requests."""


@inline
def data_flits(spec, sectors):
    """Port cycles that the data of some sectors takes."""
    return popcount(sectors) * ((spec.sector_bytes + spec.flit_bytes - 1) // spec.flit_bytes)


@force_inline
def access(l1, s, counters, request, transaction, now):
    """Look up one line of a request: ``(sectors that will come, sectors that are here)``.

    What is here can be used ``hit_cycles`` later. The first number is negative if the request must
    come again: FULL_QUEUE and the others say why. A ``transaction`` has a ``line``, ``sectors`` of
    it, and ``full``: those that are written in every byte, or lanes on one word of an atomic.
    """
    if request.kind == KIND_READ:
        if (
            request.policy & BYPASS
            or (request.local == 0 and l1.spec[0].cache_global == 0)
            or l1.tags.caches[s].ways == 0
        ):
            return read_past(l1, s, counters, request, transaction, now)
        return load(l1, s, counters, request, transaction, now)
    if miss_queue.is_full(l1, s):
        counters.l1_fail_queue += 1
        return FULL_QUEUE, 0
    if request.kind == KIND_WRITE:
        store(l1, s, counters, request, transaction, now)
        return 0, 0
    return atomic(l1, s, counters, request, transaction, now), 0


@inline
def count_read(counters, local, n, hits, merged):
    """Count the sectors of a read that the L1 looked up."""
    if local:
        counters.l1_local_read_sectors += n
        counters.l1_local_read_hits += hits
        counters.l1_local_read_pending += merged
    else:
        counters.l1_global_read_sectors += n
        counters.l1_global_read_hits += hits
        counters.l1_global_read_pending += merged


@inline
def why_not(l1, s, counters, e, missing):
    """Why the MSHR file cannot take some sectors of entry ``e``, which is counted; 0 if it can."""
    if e >= 0 and l1.entries[s, e].merges >= l1.spec[0].merges:
        counters.l1_fail_merge += 1
        return FULL_ENTRY
    if mshr_file.is_full(l1, s, e):
        counters.l1_fail_mshr += 1
        return FULL_FILE
    if missing != 0 and miss_queue.is_full(l1, s):
        counters.l1_fail_queue += 1
        return FULL_QUEUE
    return 0


@force_inline
def locate(l1, s, line):
    """Row and way of a line; way -1 = it is not here."""
    row = cache_tags.row_of(l1.tags, s, slice_hash.index_of(l1.hash, line))
    return row, cache_tags.find(l1.tags, s, row, line)


@force_inline
def readable(l1, row, way):
    """The sectors of a way that a read may use; none of way -1."""
    if way < 0:
        return 0
    return at_l1.readable(l1.spec[0].protocol, cache_tags.way_of(l1.tags, row, way))


@force_inline
def load(l1, s, counters, request, transaction, now):
    """A cached read, see ``access``."""
    line, policy = transaction.line, request.policy
    row, way = locate(l1, s, line)
    here = readable(l1, row, way)
    hit = transaction.sectors & here
    other = transaction.sectors & ~here
    merged = 0
    missing = 0
    first_use = 0
    if other != 0:
        e = mshr_file.find(l1, s, line)
        pending = l1.entries[s, e].pending if e >= 0 else 0
        missing = other & ~pending
        reason = why_not(l1, s, counters, e, missing)
        if reason == FULL_FILE and l1_waiting.has_room(l1, s):
            return wait_for_entry(l1, s, counters, request, transaction), 0
        if reason != 0:
            return reason, 0
        if missing != 0 and l1.spec[0].on_fill == 0:
            way = reserve_line(l1, s, counters, row, way, line, policy)
            if way < 0:
                return FULL_SET, 0
        if e < 0:
            e = mshr_file.allocate(l1, s, line)
        elif mshr_file.is_ahead(l1, e) and l1.entries[s, e].merges == 0:
            counters.l1_prefetch_late += 1
            first_use = 1
        mshr_file.wait(l1, s, e, request.tag, other)
        if missing != 0:
            l1.entries[s, e].pending |= missing
            miss = miss_queue.push(l1, s, line, missing, KIND_READ, now)
            miss.tag, miss.policy = e, policy
        merged = popcount(other & pending)
    if hit != 0:
        replacement.touch(l1.tags, s, row, way, policy)
        if prefetching.leave(l1.prefetch, row, way):
            counters.l1_prefetch_useful += 1
            first_use = 1
    if l1.prefetch.spec[0].on:
        request.met = table.FIRST_USE if first_use else table.MISS if missing else table.HIT
    hits = popcount(hit)
    count_read(counters, request.local, popcount(transaction.sectors), hits, merged)
    return popcount(other), hits


@inline
def wait_for_entry(l1, s, counters, request, transaction):
    """Let a read wait for an MSHR entry; returns its sectors, which come later."""
    l1_waiting.put(l1, s, request, transaction)
    counters.l1_waited += 1
    request.met = table.MISS
    return popcount(transaction.sectors)


@inline
def resume(l1, s, counters, now):
    """The read that has waited longest looks the tags up again; one waits, and an entry is free.

    Returns ``(its waiter, sectors that are here)``; the waiter is -1 if it must go on waiting.
    """
    oldest = l1_waiting.oldest(l1, s)
    request = l1.requests[s]
    request.kind = KIND_READ
    request.policy, request.local, request.tag = oldest.policy, oldest.local, oldest.tag
    coming, hits = load(l1, s, counters, request, oldest, now)
    if coming < 0:
        return -1, 0
    l1_waiting.drop(l1, s)
    return request.tag, hits


@inline
def may_resume(l1, s):
    """Whether a read waits for an MSHR entry, and one is free."""
    return l1.caches[s].waiting_count > 0 and not mshr_file.is_full(l1, s, -1)


@inline
def read_past(l1, s, counters, request, transaction, now):
    """A read that the cache must not serve, see ``access``."""
    if miss_queue.is_full(l1, s):
        counters.l1_fail_queue += 1
        return FULL_QUEUE, 0
    if l1.spec[0].scoped:
        pass_by(l1, s, counters, transaction.line)
    n = popcount(transaction.sectors)
    miss = miss_queue.push(l1, s, transaction.line, transaction.sectors, KIND_READ, now)
    miss.tag, miss.policy = -1 - request.tag, request.policy
    count_read(counters, request.local, n, 0, 0)
    counters.l1_bypass_sectors += n
    return n, 0


@inline
def give_up(l1, counters, row, way):
    """Drop a line, unless it waits for data."""
    if l1.tags.keys[row, way] < cache_tags.LOCKED:
        counters.l1_prefetch_useless += prefetching.leave(l1.prefetch, row, way)
        cache_tags.invalidate(l1.tags, row, way)


@inline
def pass_by(l1, s, counters, line):
    """A read goes past the cache: what others find there later must not be older."""
    mshr_file.detach(l1, s, line)
    row, way = locate(l1, s, line)
    if way >= 0:
        give_up(l1, counters, row, way)


@inline
def write_line(l1, s, counters, request, transaction):
    """A write meets the line, if it is here."""
    protocol, sectors = l1.spec[0].protocol, transaction.sectors
    if l1.spec[0].scoped:
        mshr_file.detach(l1, s, transaction.line)
    row, way = locate(l1, s, transaction.line)
    if way < 0:
        return
    record = cache_tags.way_of(l1.tags, row, way)
    hits = popcount(sectors & at_l1.readable(protocol, record))
    if request.local:
        counters.l1_local_write_hits += hits
    else:
        counters.l1_global_write_hits += hits
    if not at_l1.write(protocol, record, sectors, transaction.full, request.local):
        give_up(l1, counters, row, way)


@inline
def store(l1, s, counters, request, transaction, now):
    """A write goes through to the level below; the miss queue has room."""
    n = popcount(transaction.sectors)
    if request.local:
        counters.l1_local_write_sectors += n
    else:
        counters.l1_global_write_sectors += n
    write_line(l1, s, counters, request, transaction)
    miss = miss_queue.push(l1, s, transaction.line, transaction.sectors, KIND_WRITE, now)
    miss.tag, miss.policy = request.tag, request.policy
    miss.flits = data_flits(l1.spec[0], transaction.sectors)
    miss.full = transaction.full & transaction.sectors


@inline
def atomic(l1, s, counters, request, transaction, now):
    """An atomic executes below; the miss queue has room.

    Returns the sectors that will come: none of a reduction.
    """
    n = popcount(transaction.sectors)
    counters.l1_atomic_sectors += n
    returns = request.kind == KIND_ATOMIC
    kind = KIND_ATOMIC if returns else KIND_REDUCTION
    miss = miss_queue.push(l1, s, transaction.line, transaction.sectors, kind, now)
    miss.tag = -1 - request.tag if returns else request.tag
    miss.policy = request.policy
    miss.flits = data_flits(l1.spec[0], transaction.sectors)
    miss.full = transaction.full
    if l1.spec[0].scoped:
        mshr_file.detach(l1, s, transaction.line)
    row, way = locate(l1, s, transaction.line)
    if way >= 0:
        record = cache_tags.way_of(l1.tags, row, way)
        if not at_l1.atomic(l1.spec[0].protocol, record, transaction.sectors):
            give_up(l1, counters, row, way)
    return n if returns else 0


@inline
def probe(l1, s, counters, line, sectors):
    """Sectors of a line are written behind the cache's back."""
    if l1.spec[0].scoped:
        mshr_file.detach(l1, s, line)
    row, way = locate(l1, s, line)
    if way >= 0:
        record = cache_tags.way_of(l1.tags, row, way)
        if not at_l1.probe(l1.spec[0].protocol, record, sectors):
            give_up(l1, counters, row, way)
