"""Lines of an L1 come and go: data arrives, a line makes room, everything is forgotten."""

from lockstep._jit import inline
from lockstep.model.cache import replacement, slice_hash
from lockstep.model.cache import tags as cache_tags


@inline
def put(c, s, row, way, line, policy):
    """Put a line, still without data, into the way that replacement chose."""
    if cache_tags.line_of(c.l1.tags, row, way) != cache_tags.NO_LINE:
        c.counters[s].l1_evictions += 1
    replacement.insert(c.l1.tags, s, row, way, line, policy)
    c.l1.caches[s].filled = 1


@inline
def reserve_line(c, s, row, way, line, policy):
    """Allocate on miss: make sure that a locked way holds the line; -1 if all ways wait."""
    tags = c.l1.tags
    if way < 0:
        way = replacement.victim(tags, s, row, c.policies.l1_victim)
        if way < 0:
            c.counters[s].l1_fail_line += 1
            return -1
        put(c, s, row, way, line, policy)
    replacement.lock(tags, row, way)
    return way


@inline
def fill(c, s, e, sectors, policy):
    """Sectors of an MSHR entry arrive: they become valid. The entry's waiters are the caller's."""
    l1 = c.l1
    entry = l1.entries[s, e]
    entry.pending &= ~sectors
    line = entry.line
    row = cache_tags.row_of(l1.tags, s, slice_hash.index_of(l1.hash, line))
    way = cache_tags.find(l1.tags, s, row, line)
    if way < 0:
        way = replacement.victim(l1.tags, s, row, c.policies.l1_victim)
        if way < 0:  # no way at all: a cache without capacity keeps nothing
            return
        put(c, s, row, way, line, policy)
    cache_tags.way_of(l1.tags, row, way).valid |= sectors
    if l1.spec[0].on_fill == 0 and entry.pending == 0:
        replacement.unlock(l1.tags, s, row, way, policy)


@inline
def invalidate(l1, s):
    """Drop all lines of an L1; those that wait for data lose the sectors that they have."""
    if l1.caches[s].filled == 0:  # warps of a CTA do this one after the other
        return
    l1.caches[s].filled = 0
    tags = l1.tags
    first = cache_tags.row_of(tags, s, 0)
    for row in range(first, first + tags.shape[0].sets):
        for way in range(tags.caches[s].ways):
            if tags.keys[row, way] < cache_tags.LOCKED:
                cache_tags.forget(tags, row, way)
            else:
                cache_tags.way_of(tags, row, way).valid = 0
                l1.caches[s].filled = 1
