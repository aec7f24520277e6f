"""Lines of an L1 come and go: data arrives, a line makes room, everything is forgotten."""

from lockstep._jit import inline
from lockstep.model.cache import mshr_file, replacement, slice_hash
from lockstep.model.cache import tags as cache_tags
from lockstep.model.cache.prefetch import state as prefetching
from lockstep.model.cache.protocols import at_l1


@inline
def put(l1, s, counters, row, line, policy):
    """Put a line without data into the way that replacement chooses; -1 if all are locked."""
    way = replacement.victim(l1.tags, s, row, l1.victim)
    if way >= 0:
        if cache_tags.line_of(l1.tags, row, way) != cache_tags.NO_LINE:
            counters.l1_evictions += 1
            counters.l1_prefetch_useless += prefetching.leave(l1.prefetch, row, way)
        replacement.insert(l1.tags, s, row, way, line, policy)
        l1.caches[s].filled = 1
    return way


@inline
def reserve_line(l1, s, counters, row, way, line, policy):
    """Allocate on miss: make sure that a locked way holds the line; -1 if all ways wait."""
    if way < 0:
        way = put(l1, s, counters, row, line, policy)
        if way < 0:
            counters.l1_fail_line += 1
            return -1
    replacement.lock(l1.tags, row, way)
    return way


@inline
def fill(l1, s, counters, e, sectors, policy):
    """Sectors of an MSHR entry arrive: they become valid. The entry's waiters are the caller's."""
    entry = l1.entries[s, e]
    entry.pending &= ~sectors
    unused = mshr_file.is_ahead(l1, e) and entry.merges == 0 and entry.pending == 0
    if mshr_file.is_detached(l1, s, e):
        counters.l1_prefetch_useless += unused
        return
    line = entry.line
    row = cache_tags.row_of(l1.tags, s, slice_hash.index_of(l1.hash, line))
    way = cache_tags.find(l1.tags, s, row, line)
    if way < 0:
        way = put(l1, s, counters, row, line, policy)
        if way < 0:  # no way at all: a cache without capacity keeps nothing
            counters.l1_prefetch_useless += unused
            return
    at_l1.fill(l1.spec[0].protocol, cache_tags.way_of(l1.tags, row, way), sectors)
    if unused:
        l1.prefetch.marks[row, way] = prefetching.HERE
    if l1.spec[0].on_fill == 0 and entry.pending == 0:
        replacement.unlock(l1.tags, s, row, way, policy)


@inline
def invalidate(l1, s, counters):
    """Drop all lines of an L1; those that wait for data lose the sectors that they have.

    Under scopes no data that is on its way is kept.
    """
    if l1.spec[0].scoped:
        mshr_file.detach_all(l1, s)
    if l1.caches[s].filled == 0:  # warps of a CTA do this one after the other
        return
    l1.caches[s].filled = 0
    tags = l1.tags
    first = cache_tags.row_of(tags, s, 0)
    for row in range(first, first + tags.shape[0].sets):
        for way in range(tags.caches[s].ways):
            if tags.keys[row, way] < cache_tags.LOCKED:
                counters.l1_prefetch_useless += prefetching.leave(l1.prefetch, row, way)
                cache_tags.forget(tags, row, way)
            else:
                cache_tags.way_of(tags, row, way).valid = 0
                l1.caches[s].filled = 1
