"""An L2 slice: sectored, allocating on a miss, under a protocol of ``protocols``.

A request is served sector by sector: what is here is answered, what is on its way is waited for,
what is missing is fetched, as far as there are resources; the rest stays at the head of the queue
(or is refused, if the slice does that when its MSHR file is full).

Atomics and reductions need the sector and execute here: one sector a tick, and the lanes of a warp
that meet on one word (``full``) one after the other.
Reductions and writes are acknowledged once, when all their sectors are accepted.
"""

import numpy as np

from lockstep._jit import force_inline, jit, popcount
from lockstep.model import clock as clocks
from lockstep.model import entries as lists
from lockstep.model import reply_pipes
from lockstep.model.cache import (
    data_port,
    l2_lines,
    l2_room,
    l2_sides,
    mshr_ways,
    replacement,
    tags,
)
from lockstep.model.cache.l2_stalls import RUNNING, STALL_MSHR, STALL_READ_QUEUE, STALL_REPLY
from lockstep.model.cache.prefetch import state as prefetching
from lockstep.model.cache.prefetch import table
from lockstep.model.cache.protocols import at_l2
from lockstep.model.dram import controller
from lockstep.model.dram.state import READ
from lockstep.model.link import (
    KIND_ACK,
    KIND_ATOMIC,
    KIND_DATA,
    KIND_NACK,
    KIND_READ,
    KIND_REDUCTION,
    KIND_WRITE,
)
from lockstep.model.memory import UNKNOWN

# NumPy integers: see dram/state.py
_ACK = np.int64(KIND_ACK)
DATA = np.int64(KIND_DATA)
_NACK = np.int64(KIND_NACK)
NOTHING = np.int64(0)


@force_inline
def _count_accesses(counters, kind, accesses, hits, pending):
    """Count sectors by what they met."""
    if kind == KIND_READ:
        counters.l2_read_sectors += accesses
        counters.l2_read_hits += hits
        counters.l2_read_pending += pending
    elif kind == KIND_WRITE:
        counters.l2_write_sectors += accesses
        counters.l2_write_hits += hits
        counters.l2_write_pending += pending
    else:
        counters.l2_atomic_sectors += accesses
        counters.l2_atomic_hits += hits
        counters.l2_atomic_pending += pending


@jit
def overtakes(l2, slice_, request):
    """Whether a request would be carried out before an older one of its SM that waits for data.

    A read takes what its sector has when the data comes, so that a write behind it must not be
    there before. Reads and atomics that find the sector on its way wait in their order.
    """
    way = _look_up(l2, slice_, request)
    if way < 0:
        return False
    record = tags.way_of(l2.tags, request.row, way)
    if record.waiters < 0:
        return False
    waits = request.kind == KIND_READ or request.kind == KIND_ATOMIC
    at_once = request.left & ~record.pending if waits else request.left
    return mshr_ways.has_waiter_of(l2.entries, record, request.source, at_once)


@force_inline
def _look_up(l2, slice_, request):
    """The way of a request's line, or -1. Nothing but the request itself can change it."""
    if request.way == UNKNOWN:
        request.way = tags.find(l2.tags, slice_, request.row, request.line)
        if request.way >= 0:
            replacement.touch(l2.tags, slice_, request.row, request.way, request.policy)
    return request.way


@jit
def fetch(l2, slice_, request, way, missing, ahead, now):
    """Ask the DRAM for sectors of a way; returns ``(those on their way now, why not all)``.

    ``ahead``: 1 for a prefetch, whose MSHRs are counted apart.
    """
    spec = l2.spec[0]
    state = l2.slices[slice_]
    channel = l2.slices[slice_].channel
    record = tags.way_of(l2.tags, request.row, way)
    place = l2_room.place_of(l2, l2.slices[request.home], request.line)
    coming = 0
    reason = RUNNING
    for sector in range(0, spec.line_sectors, spec.burst_sectors):
        burst = l2_room.burst_mask(spec, sector)
        if missing & burst == 0:
            continue
        if state.mshrs >= spec.mshrs:
            reason = STALL_MSHR
            break
        if not controller.has_room(l2.dram, channel, READ):
            reason = STALL_READ_QUEUE
            break
        slot = l2.dram.slots[controller.enqueue(l2.dram, channel, READ, place, now)]
        slot.slice = slice_
        slot.tag_row = request.row
        slot.way = way
        slot.sectors = burst & ~record.valid & ~record.pending  # another side may bring some
        slot.far = request.home != slice_
        l2.dram.counters[channel].l2_crossings += slot.far * popcount(slot.sectors)
        slot.ahead = ahead
        state.ahead += ahead
        state.mshrs += 1 - ahead
        record.pending |= slot.sectors
        coming |= missing & burst
    if coming:
        replacement.lock(l2.tags, request.row, way)
    return coming, reason


@force_inline
def read(l2, slice_, index, tick, now):
    """Serve a read, an atomic or a reduction as far as possible; returns why it cannot go on."""
    spec = l2.spec[0]
    state = l2.slices[slice_]
    request = l2.entries[index]
    counters = l2.dram.counters[l2.slices[slice_].channel]
    pipe = reply_pipes.pipe_of_read(spec, state, slice_, request)
    if state.count[pipe] >= spec.replies:
        return STALL_REPLY
    known = request.way != UNKNOWN
    way = _look_up(l2, slice_, request)
    if l2.prefetch.spec[0].on and not known:
        _train(l2, slice_, request, way)
    if request.kind != KIND_READ:
        l2_sides.drop_copies(l2, slice_, request.row, request.line, request.left)
    reason = RUNNING
    if way >= 0:
        record = tags.way_of(l2.tags, request.row, way)
        _read_hits(l2, slice_, counters, record, index, pipe, tick)
        if request.left & record.pending:
            reason = _join(spec, l2.entries, state, counters, record, index, tick)
    if request.left and reason == RUNNING:
        reason = _read_missing(l2, slice_, index, way, tick, now)
    if request.left == 0 and request.kind == KIND_REDUCTION:
        ready = clocks.cycle_of(spec.l2, tick) + spec.hit_cycles
        new = lists.copy(l2.entries, state, index)
        reply_pipes.put(l2, slice_, pipe, new, ready, _ACK, request.sectors)
    return reason


@jit
def _train(l2, slice_, request, way):
    """Let the prefetcher know what a read meets; atomics use lines, but it does not see them."""
    prefetch, counters = l2.prefetch, l2.dram.counters[l2.slices[slice_].channel]
    met = table.MISS
    if way >= 0:
        record = tags.way_of(l2.tags, request.row, way)
        here = at_l2.readable(l2.spec[0].protocol, record)
        if request.left & ~(here | record.pending) == 0:
            met = table.HIT
        if request.left & here and prefetching.leave(prefetch, request.row, way):
            counters.l2_prefetch_useful += 1
            met = table.FIRST_USE
        elif request.left & ~here and prefetch.marks[request.row, way] == prefetching.COMING:
            prefetch.marks[request.row, way] = prefetching.AWAITED
            counters.l2_prefetch_late += 1
            met = table.FIRST_USE
    if request.kind != KIND_READ:
        return
    prefetching.tell(
        prefetch,
        slice_,
        counters.l2_prefetches,
        counters.l2_prefetch_useful,
        counters.l2_prefetch_late,
        counters.l2_prefetch_useless,
    )
    line = l2_lines.number_of(l2.spec[0], request.home, request.line)
    n = l2.policies.prefetcher(line, met, prefetch.tables[slice_], prefetch.out[slice_])
    counters.l2_prefetch_dropped += prefetching.push(prefetch, slice_, n)


@force_inline
def _read_hits(l2, slice_, counters, record, index, pipe, tick):
    """Answer the sectors that are here."""
    spec, entries, state = l2.spec[0], l2.entries, l2.slices[slice_]
    request = entries[index]
    here = request.left & at_l2.readable(spec.protocol, record)
    if here == 0:
        return
    n = popcount(here)
    request.left &= ~here
    _count_accesses(counters, request.kind, n, n, NOTHING)
    if request.kind == KIND_READ:
        done = data_port.move(spec, state, counters, request.line, n, tick)
    else:
        at_l2.atomic(spec.protocol, record, here)
        done = data_port.update(spec, state, counters, request.line, n, request.full, tick)
    if request.kind != KIND_REDUCTION:
        new = lists.copy(entries, state, index)
        ready = done + spec.hit_cycles
        if request.kind != KIND_READ:
            ready += spec.atomic_cycles + l2_sides.answered(l2, slice_, request, n, tick)
        reply_pipes.put(l2, slice_, pipe, new, ready, DATA, here)


@force_inline
def _join(spec, entries, state, counters, record, index, tick):
    """Wait for sectors that are on their way; who wants no result only occupies what operates."""
    request = entries[index]
    pending = request.left & record.pending
    joined = pending
    if request.kind == KIND_REDUCTION:
        at_l2.atomic(spec.protocol, record, pending)
        n = popcount(pending)
        data_port.update(spec, state, counters, request.line, n, request.full, tick)
    else:
        joined = mshr_ways.mergeable(spec, entries, state, record, pending)
        if joined:
            mshr_ways.wait(entries, state, record, index, joined)
    n = popcount(joined)
    _count_accesses(counters, request.kind, n, NOTHING, n)
    request.left &= ~joined
    return RUNNING if joined == pending else STALL_MSHR


@force_inline
def _read_missing(l2, slice_, index, way, tick, now):
    """Fetch the sectors that are left and wait for them."""
    spec = l2.spec[0]
    state = l2.slices[slice_]
    request = l2.entries[index]
    if mshr_ways.is_full(spec, state):
        return STALL_MSHR
    far = request.home != slice_
    if not far and not controller.has_room(l2.dram, l2.slices[slice_].channel, READ):
        return STALL_READ_QUEUE
    reason = RUNNING
    if way < 0:
        way, reason = l2_room.allocate(l2, slice_, request, now)
    if way < 0:
        return reason
    coming = NOTHING
    if spec.near_reads and request.kind == KIND_READ:
        coming = l2_sides.from_another(l2, slice_, request, way, now)
    if request.left & ~coming:
        fetched, reason = fetch(l2, slice_, request, way, request.left & ~coming, NOTHING, now)
        coming |= fetched
    record = tags.way_of(l2.tags, request.row, way)
    counters = l2.dram.counters[l2.slices[slice_].channel]
    n = popcount(coming)
    if request.kind == KIND_REDUCTION:
        at_l2.atomic(spec.protocol, record, coming)
        if coming:
            data_port.update(spec, state, counters, request.line, n, request.full, tick)
    elif coming:
        mshr_ways.wait(l2.entries, state, record, index, coming)
    request.left &= ~coming
    _count_accesses(counters, request.kind, n, NOTHING, NOTHING)
    return reason


@force_inline
def write(l2, slice_, index, tick, now):
    """Accept a write as far as possible; returns why it cannot go on."""
    spec = l2.spec[0]
    state = l2.slices[slice_]
    request = l2.entries[index]
    pipe = reply_pipes.pipe_for(spec, state, request.source, reply_pipes.HIT)
    if state.count[pipe] >= spec.replies:
        return STALL_REPLY
    reason = RUNNING
    way = _look_up(l2, slice_, request)
    if way < 0:
        way, reason = l2_room.allocate(l2, slice_, request, now)
        if way < 0:
            return reason
    if spec.wide_writes:
        l2_room.take_places(l2, slice_, request, now)
    record = tags.way_of(l2.tags, request.row, way)
    accepted = request.left
    wanted = at_l2.wanted(spec.protocol, record, request.left)
    if wanted != 0:
        coming, reason = fetch(l2, slice_, request, way, wanted, NOTHING, now)
        accepted &= ~wanted | coming
    l2_sides.drop_copies(l2, slice_, request.row, request.line, accepted)
    done = _store(l2, slice_, request, record, accepted, tick)
    if request.left == 0:
        new = lists.copy(l2.entries, state, index)
        ready = done + spec.hit_cycles
        reply_pipes.put(l2, slice_, pipe, new, ready, _ACK, request.sectors)
    return reason


@force_inline
def _store(l2, slice_, request, record, accepted, tick):
    """Write sectors of a way and count them."""
    spec = l2.spec[0]
    counters = l2.dram.counters[l2.slices[slice_].channel]
    known = at_l2.written(spec.protocol, record)
    hits = popcount(accepted & known)
    pending = popcount(accepted & ~known & record.pending)
    at_l2.write(spec.protocol, record, accepted, request.full)
    request.left &= ~accepted
    n = popcount(accepted)
    _count_accesses(counters, request.kind, n, hits, pending)
    parts = popcount(accepted & ~request.full)
    return data_port.write(spec, l2.slices[slice_], counters, request.line, n, parts, tick)


@force_inline
def refuse(l2, slice_, index, tick):
    """Send the sectors of a request that are left back to the SM; False if there is no room."""
    spec = l2.spec[0]
    state = l2.slices[slice_]
    request = l2.entries[index]
    pipe = reply_pipes.pipe_for(spec, state, request.source, reply_pipes.HIT)
    if state.count[pipe] >= spec.replies:
        return False
    ready = clocks.cycle_of(spec.l2, tick) + spec.hit_cycles
    new = lists.copy(l2.entries, state, index)
    reply_pipes.put(l2, slice_, pipe, new, ready, _NACK, request.left)
    l2.dram.counters[l2.slices[slice_].channel].l2_nacks += 1
    return True
