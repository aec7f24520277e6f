"""The prefetcher of an L2 slice: its lines meet the tags when no request does.

A line that it asks for waits in a queue of its own. If the tags have a tick left in a core cycle,
the oldest one is looked up, and what the line lacks is fetched: while it takes no MSHR that is not
free, no more than half of a DRAM queue, and not the last way of its set. Nobody waits for it.
"""

import numpy as np

from lockstep._jit import inline, jit
from lockstep.model import clock as clocks
from lockstep.model import entries as lists
from lockstep.model.cache import l2_lines, l2_sides, replacement, tags
from lockstep.model.cache.l2 import fetch
from lockstep.model.cache.l2_room import replace
from lockstep.model.cache.prefetch import state as prefetching
from lockstep.model.clock import NEVER
from lockstep.model.dram.state import READ, WRITE
from lockstep.model.link import KIND_READ
from lockstep.model.memory import QUEUE, UNKNOWN

ONE = np.int64(1)  # a NumPy integer: see dram/state.py


@inline
def step(memory, slice_, now):
    """Look up a line if there is a tick for it; the next core cycle with something to do."""
    l2 = memory.l2
    if l2.prefetch.queues[slice_].count == 0:
        return NEVER
    clock, cache = l2.spec[0].l2, l2.slices[slice_]
    tick = max(cache.tags_free, clocks.ticks(clock, now - 1) + 1)
    if tick > clocks.ticks(clock, now):
        return clocks.cycle_of(clock, tick)
    cache.tags_free = tick + 1
    take(memory, slice_, now)
    return now + 1 if l2.prefetch.queues[slice_].count > 0 else NEVER


@jit
def take(memory, slice_, now):
    """Look up the oldest line of a slice's queue, and fetch it if it is missing."""
    l2 = memory.l2
    cache = l2.slices[slice_]
    counters = memory.counters[cache.channel]
    number = prefetching.pop(l2.prefetch, slice_)
    line, home = l2_lines.line_of(memory, slice_, number)
    if line < 0:
        counters.l2_prefetch_dropped += 1
        return
    index = lists.take(cache, l2.entries)
    request = l2.entries[index]
    l2_lines.locate(memory, request, slice_, line * l2.spec[0].line_bytes.value)
    request.home, request.policy, request.kind = home, 0, KIND_READ
    missing = wanted(l2, slice_, request)
    if missing == 0:
        counters.l2_prefetch_redundant += 1
    elif not has_room(l2, slice_, request, missing) or not bring(l2, slice_, request, missing, now):
        counters.l2_prefetch_dropped += 1
    else:
        counters.l2_prefetches += 1
    lists.release(l2.entries, cache, index)


@inline
def wanted(l2, slice_, request):
    """The sectors of a line that are nowhere.

    None if some are on their way, on another side, or were prefetched and nobody has used them.
    """
    spec = l2.spec[0]
    request.way = tags.find(l2.tags, slice_, request.row, request.line)
    missing = (1 << spec.line_sectors) - 1
    if request.way >= 0:
        record = tags.way_of(l2.tags, request.row, request.way)
        known = record.pending or prefetching.is_unused(l2.prefetch, request.row, request.way)
        missing = 0 if known else missing & ~record.valid
    if missing and spec.near_reads:
        other = l2_sides.holder(l2, slice_, request.home, request.row, request.line)
        there = request.row + (other - slice_) * l2.tags.shape[0].sets
        if other != slice_ and tags.find(l2.tags, other, there, request.line) >= 0:
            missing = 0
    return missing


@inline
def has_room(l2, slice_, request, missing):
    """Whether a prefetch of some sectors takes nothing that demand may want at once."""
    spec, cache = l2.spec[0], l2.slices[slice_]
    bursts = 0
    for sector in range(0, spec.line_sectors, spec.burst_sectors):
        bursts += 1 if missing >> sector & ((1 << spec.burst_sectors) - 1) else 0
    waiting, capacity = l2.dram.channels[cache.channel].waiting, l2.dram.spec[0].capacity
    return (
        cache.mshrs + cache.ahead + bursts <= spec.mshrs
        and 2 * (waiting[READ] + bursts) <= capacity[READ]
        and 2 * waiting[WRITE] <= capacity[WRITE]
        and replacement.may_lock(l2.tags, slice_, request.row)
    )


@inline
def bring(l2, slice_, request, missing, now):
    """Fetch sectors of a line for nobody; False if what its victim owes finds no room."""
    cache = l2.slices[slice_]
    if request.way < 0:
        request.way, _ = replace(l2, slice_, request.row, request, now)
        if cache.count[QUEUE] > 0:  # what the oldest request found may be gone
            l2.entries[cache.head[QUEUE]].way = UNKNOWN
        if request.way < 0:
            return False
    fetch(l2, slice_, request, request.way, missing, ONE, now)
    l2.prefetch.marks[request.row, request.way] = prefetching.COMING
    return True
