"""The prefetcher of an L1: it sees what loads meet, and its lines leave after all demand.

A line that it asks for waits in a queue of its own. In a cycle in which no request of the miss
queue can leave, the oldest one is looked up: if the line is not here, nor on its way, all of it is
asked for, by a read that nobody waits for. It takes an MSHR entry if the file has one to spare.
"""

from lockstep._jit import inline
from lockstep.model.cache import mshr_file, replacement
from lockstep.model.cache.l1 import locate, readable
from lockstep.model.cache.l1_fill import reserve_line
from lockstep.model.cache.prefetch import state
from lockstep.model.link import KIND_READ


@inline
def train(l1, s, counters, site, line, warp, met):
    """Let the policy know what a load met in a line; what it asks for is queued."""
    prefetch = l1.prefetch
    state.tell(
        prefetch,
        s,
        counters.l1_prefetches,
        counters.l1_prefetch_useful,
        counters.l1_prefetch_late,
        counters.l1_prefetch_useless,
    )
    n = l1.prefetcher(site, line, warp, met, prefetch.tables[s], prefetch.out[s])
    counters.l1_prefetch_dropped += state.push(prefetch, s, n)


@inline
def take(l1, s, counters):
    """Look up the oldest line of the queue; whether ``leaving`` is now a request for it."""
    spec = l1.spec[0]
    line = state.pop(l1.prefetch, s)
    row, way = locate(l1, s, line)
    wanted = ((1 << spec.sectors) - 1) & ~readable(l1, row, way)
    if way >= 0 and state.is_unused(l1.prefetch, row, way):
        wanted = 0
    if wanted == 0 or mshr_file.find(l1, s, line) >= 0:
        counters.l1_prefetch_redundant += 1
        return False
    no_way = spec.on_fill == 0 and not replacement.may_lock(l1.tags, s, row)
    if no_way or not mshr_file.has_room_ahead(l1, s):
        counters.l1_prefetch_dropped += 1
        return False
    if spec.on_fill == 0:
        reserve_line(l1, s, counters, row, way, line, 0)
    e = mshr_file.allocate_ahead(l1, s, line)
    l1.entries[s, e].pending = wanted
    miss = l1.leaving[s]
    miss.line, miss.sectors, miss.kind = line, wanted, KIND_READ
    miss.tag, miss.policy, miss.flits, miss.full = e, 0, 1, 0
    counters.l1_prefetches += 1
    return True


@inline
def refused(l1, s, counters, message):
    """A request came back: whether it was a prefetch that nobody waits for, which is given up."""
    e = message.tag
    if message.request != KIND_READ or not mshr_file.is_ahead(l1, e):
        return False
    entry = l1.entries[s, e]
    if entry.merges > 0:
        return False
    entry.pending &= ~message.sectors
    if entry.pending == 0:
        counters.l1_prefetch_useless += 1
        mshr_file.release(l1, s, e)
    return True
