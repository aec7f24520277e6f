"""An L2 slice: sectored, write-back, allocating on a miss.

A request is served sector by sector: what is here is answered, what is on its way is waited for,
what is missing is fetched, as far as there are resources; the rest stays at the head of the queue
(or is refused, if the slice does that when its MSHR file is full).

Writes need no data from below (write-validate): a sector whose every byte was written is valid; of
any other sector the written bytes are kept and a *partial* mark set. A read of a partial sector
fetches it and merges. A partial sector that is evicted is written with a byte mask: one DRAM
write, no read. With ``write_allocate = "fetch"`` every write miss reads the sector first.

Atomics and reductions need the sector, execute here one sector a tick and leave it dirty.
Reductions and writes are acknowledged once, when all their sectors are accepted.
"""

from lockstep._jit import inline, jit
from lockstep.model import clock as clocks
from lockstep.model import reply_port, sectors
from lockstep.model.cache import mshr, replacement, slice_hash, tags
from lockstep.model.clock import NEVER
from lockstep.model.dram import controller
from lockstep.model.link import (
    KIND_ACK,
    KIND_ATOMIC,
    KIND_DATA,
    KIND_NACK,
    KIND_READ,
    KIND_REDUCTION,
    KIND_WRITE,
)
from lockstep.model.memory import L2_CLOCK

RUNNING = 0  # why a slice is stalled
STALL_MSHR = 1
STALL_LINE = 2
STALL_DRAM = 3
STALL_REPLY = 4


@inline
def channel_line(memory, slice_, address):
    """The number of a line among the lines of its DRAM channel."""
    spec = memory.spec[0]
    block = slice_hash.local_block(memory.slices, address)
    line = address % spec.unit_bytes // spec.line_bytes
    return (block * spec.slices + slice_ % spec.slices) * spec.unit_lines + line


@inline
def row_of(memory, slice_, address):
    """The row of the tags that a line belongs to."""
    spec = memory.spec[0]
    block = slice_hash.local_block(memory.slices, address)
    line = block * spec.unit_lines + address % spec.unit_bytes // spec.line_bytes
    return tags.row_of(memory.tags, slice_, slice_hash.index_of(memory.sets, line))


@inline
def _burst_mask(memory, sector):
    """The sectors of the burst that a sector belongs to."""
    spec = memory.spec[0]
    first = sector // spec.burst_sectors * spec.burst_sectors
    count = min(spec.burst_sectors, spec.line_sectors - first)
    return ((1 << count) - 1) << first


@inline
def _occupy(memory, slice_, moved, minimum, tick):
    """Use the data port for some sectors; returns the core cycle of the last of them."""
    spec = memory.spec[0]
    state = memory.l2[slice_]
    length = (moved * spec.sector_bytes + spec.bytes_per_tick - 1) // spec.bytes_per_tick
    length = max(length, minimum)
    memory.counters[slice_ // spec.slices].l2_busy += length
    state.data_free = max(state.data_free, tick) + length
    return clocks.cycle_of(memory.clocks[L2_CLOCK], state.data_free - 1)


@inline
def _make_room(memory, slice_, row, now):
    """``(way, RUNNING)`` of an empty or clean way of a row, or ``(-1, why there is none)``.

    A dirty victim is written back as far as the write queue has room.
    """
    way = replacement.victim(memory.tags, slice_, row, memory.policies.victim)
    if way < 0:
        return way, STALL_LINE
    record = tags.way_of(memory.tags, row, way)
    counters = memory.counters[slice_ // memory.spec[0].slices]
    if record.dirty and not _write_back(memory, slice_, row, way, now):
        return -1, STALL_DRAM
    if tags.line_of(memory.tags, row, way) != tags.NO_LINE:
        counters.l2_evictions += 1
    return way, RUNNING


@jit
def _write_back(memory, slice_, row, way, now):
    """Queue DRAM writes for the dirty sectors of a way; whether all found room."""
    spec = memory.spec[0]
    channel = slice_ // spec.slices
    record = tags.way_of(memory.tags, row, way)
    line = channel_line(memory, slice_, tags.line_of(memory.tags, row, way) * spec.line_bytes)
    for sector in range(0, spec.line_sectors, spec.burst_sectors):
        dirty = record.dirty & _burst_mask(memory, sector)
        if dirty == 0:
            continue
        if not controller.has_room(memory.dram, channel, 1):
            return False
        controller.enqueue(memory.dram, channel, 1, line, now)
        record.dirty &= ~dirty
        memory.counters[channel].l2_writebacks += sectors.count(dirty)
    return True


@jit
def _fetch(memory, slice_, request, way, missing, now):
    """Ask the DRAM for sectors of a way; returns ``(those on their way now, why not all)``."""
    spec = memory.spec[0]
    channel = slice_ // spec.slices
    record = tags.way_of(memory.tags, request.row, way)
    coming = 0
    reason = RUNNING
    for sector in range(0, spec.line_sectors, spec.burst_sectors):
        burst = _burst_mask(memory, sector)
        if missing & burst == 0:
            continue
        if not mshr.has_entry(memory, slice_):
            reason = STALL_MSHR
            break
        if not controller.has_room(memory.dram, channel, 0):
            reason = STALL_DRAM
            break
        index = controller.enqueue(memory.dram, channel, 0, request.channel_line, now)
        slot = memory.dram.slots[index]
        slot.slice = slice_
        slot.tag_row = request.row
        slot.way = way
        slot.sectors = burst & ~record.valid
        memory.l2[slice_].mshrs += 1
        record.pending |= slot.sectors
        coming |= missing & burst
    if coming:
        replacement.lock(memory.tags, request.row, way)
    return coming, reason


@inline
def _allocate(memory, slice_, request, now):
    """A way for the line of a request that misses: ``(way, reason)``."""
    way, reason = _make_room(memory, slice_, request.row, now)
    if way >= 0:
        replacement.insert(memory.tags, slice_, request.row, way, request.line, request.policy)
    return way, reason


@inline
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
def read(memory, slice_, request, tick, now):
    """Serve a read, an atomic or a reduction as far as possible; returns why it cannot go on."""
    spec = memory.spec[0]
    pipe = reply_port.pipe_for(memory, slice_, request.source, reply_port.HIT)
    if not reply_port.has_room(memory, pipe):
        return STALL_REPLY
    counters = memory.counters[slice_ // spec.slices]
    way = tags.find(memory.tags, slice_, request.row, request.line)
    missing = request.left
    reason = RUNNING
    if way >= 0:
        replacement.touch(memory.tags, slice_, request.row, way, request.policy)
        _read_hits(memory, slice_, request, way, pipe, tick)
        record = tags.way_of(memory.tags, request.row, way)
        pending = request.left & record.pending
        missing = request.left & ~record.pending
        if pending:
            reason = _join(memory, slice_, request, way, pending)
    if missing and reason == RUNNING:
        if not mshr.has_entry(memory, slice_) or not mshr.has_waiter(memory, slice_):
            reason = STALL_MSHR
        elif not controller.has_room(memory.dram, slice_ // spec.slices, 0):
            reason = STALL_DRAM
        else:
            reason = _read_missing(memory, slice_, request, way, missing, now)
    if request.left == 0 and request.kind == KIND_REDUCTION:
        done = clocks.cycle_of(memory.clocks[L2_CLOCK], tick)
        reply_port.push(memory, pipe, done + spec.hit_cycles, KIND_ACK, request.sectors, request)
    counters.l2_requests += request.left == 0
    return reason


@inline
def _read_hits(memory, slice_, request, way, pipe, tick):
    """Answer the sectors that are here."""
    spec = memory.spec[0]
    record = tags.way_of(memory.tags, request.row, way)
    here = request.left & record.valid
    if here == 0:
        return
    n = sectors.count(here)
    request.left &= ~here
    _count_accesses(memory.counters[slice_ // spec.slices], request.kind, n, n, 0)
    if request.kind == KIND_READ:
        done = _occupy(memory, slice_, n, 0, tick)
    else:
        record.dirty |= here
        done = _occupy(memory, slice_, n, n, tick)
    if request.kind != KIND_REDUCTION:
        reply_port.push(memory, pipe, done + spec.hit_cycles, KIND_DATA, here, request)


@inline
def _join(memory, slice_, request, way, pending):
    """Wait for sectors that are on their way."""
    record = tags.way_of(memory.tags, request.row, way)
    if request.kind == KIND_REDUCTION:
        record.dirty |= pending
        joined = pending
    elif mshr.has_waiter(memory, slice_):
        joined = mshr.mergeable(memory, record, pending)
        if joined:
            mshr.add(memory, slice_, record, request, joined)
    else:
        joined = 0
    n = sectors.count(joined)
    counters = memory.counters[slice_ // memory.spec[0].slices]
    _count_accesses(counters, request.kind, n, 0, n)
    request.left &= ~joined
    return RUNNING if joined == pending else STALL_MSHR


@inline
def _read_missing(memory, slice_, request, way, missing, now):
    """Fetch missing sectors and wait for them."""
    reason = RUNNING
    if way < 0:
        way, reason = _allocate(memory, slice_, request, now)
    if way < 0:
        return reason
    coming, reason = _fetch(memory, slice_, request, way, missing, now)
    if coming:
        record = tags.way_of(memory.tags, request.row, way)
        if request.kind == KIND_REDUCTION:
            record.dirty |= coming
        else:
            mshr.add(memory, slice_, record, request, coming)
        request.left &= ~coming
        counters = memory.counters[slice_ // memory.spec[0].slices]
        _count_accesses(counters, request.kind, sectors.count(coming), 0, 0)
    return reason


@jit
def write(memory, slice_, request, tick, now):
    """Accept a write as far as possible; returns why it cannot go on."""
    spec = memory.spec[0]
    pipe = reply_port.pipe_for(memory, slice_, request.source, reply_port.HIT)
    if not reply_port.has_room(memory, pipe):
        return STALL_REPLY
    reason = RUNNING
    way = tags.find(memory.tags, slice_, request.row, request.line)
    if way >= 0:
        replacement.touch(memory.tags, slice_, request.row, way, request.policy)
    else:
        way, reason = _allocate(memory, slice_, request, now)
        if way < 0:
            return reason
    record = tags.way_of(memory.tags, request.row, way)
    known = record.valid | record.partial
    accepted = request.left
    if spec.fetch_writes:
        absent = request.left & ~record.valid & ~record.pending
        coming, reason = _fetch(memory, slice_, request, way, absent, now)
        accepted &= ~absent | coming
        known &= ~absent
    _store(memory, slice_, request, record, accepted, known, tick)
    if request.left == 0:
        done = clocks.cycle_of(memory.clocks[L2_CLOCK], memory.l2[slice_].data_free - 1)
        reply_port.push(memory, pipe, done + spec.hit_cycles, KIND_ACK, request.sectors, request)
        memory.counters[slice_ // spec.slices].l2_requests += 1
    return reason


@inline
def _store(memory, slice_, request, record, accepted, known, tick):
    """Write sectors of a way and count them; ``known`` were there in whole or in part."""
    spec = memory.spec[0]
    hits = sectors.count(accepted & known)
    pending = sectors.count(accepted & ~known & record.pending)
    n = sectors.count(accepted)
    if spec.fetch_writes:
        pending = 0
        record.partial |= accepted & ~record.valid
    else:
        record.valid |= accepted & request.full
        record.partial |= accepted
        record.partial &= ~record.valid
    record.dirty |= accepted
    request.left &= ~accepted
    if n:
        _occupy(memory, slice_, n, 0, tick)
    _count_accesses(memory.counters[slice_ // spec.slices], KIND_WRITE, n, hits, pending)


@inline
def refuse(memory, slice_, request, tick):
    """Send the sectors of a request that are left back to the SM; whether there was room."""
    pipe = reply_port.pipe_for(memory, slice_, request.source, reply_port.HIT)
    if not reply_port.has_room(memory, pipe):
        return False
    done = clocks.cycle_of(memory.clocks[L2_CLOCK], tick) + memory.spec[0].hit_cycles
    reply_port.push(memory, pipe, done, KIND_NACK, request.left, request)
    memory.counters[slice_ // memory.spec[0].slices].l2_nacks += 1
    return True


@inline
def fill(memory, slice_, now):
    """Take the oldest data that came from the DRAM; False if a reply pipe is full.

    Called again for the same data until all that wait for it are answered.
    """
    spec = memory.spec[0]
    state = memory.l2[slice_]
    port = memory.dram.ports[slice_]
    data = memory.dram.returns[slice_, port.head]
    record = tags.way_of(memory.tags, data.tag_row, data.way)
    if not state.filling:
        _fill_sectors(memory, slice_, data, record, now)
        state.filling = 1
    if not _answer(memory, slice_, record, data.sectors, now):
        return False
    if record.pending == 0:
        replacement.unlock(memory.tags, slice_, data.tag_row, data.way, 0)
    state.filling = 0
    state.mshrs -= 1
    port.count -= 1
    port.head = port.head + 1 if port.head + 1 < spec.mshrs else 0
    return True


@inline
def _fill_sectors(memory, slice_, data, record, now):
    """Merge data from below with what was written meanwhile."""
    counters = memory.counters[slice_ // memory.spec[0].slices]
    counters.l2_fills += sectors.count(data.sectors)
    counters.l2_partial_fills += sectors.count(data.sectors & record.partial)
    record.valid |= data.sectors
    record.partial &= ~data.sectors
    record.pending &= ~data.sectors
    tick = clocks.ticks(memory.clocks[L2_CLOCK], now)
    _occupy(memory, slice_, sectors.count(data.sectors), 0, tick)


@inline
def _answer(memory, slice_, record, arrived, now):
    """Answer the requests that wait for sectors that arrived; False if a reply pipe is full."""
    previous = mshr.NONE
    index = record.waiters
    while index != mshr.NONE:
        waiter = memory.waiters[index]
        here = waiter.sectors & arrived
        after = waiter.next
        if here:
            pipe = reply_port.pipe_for(memory, slice_, waiter.source, reply_port.FILL)
            if not reply_port.has_room(memory, pipe):
                return False
            reply_port.push(memory, pipe, now, KIND_DATA, here, waiter)
            if waiter.kind == KIND_ATOMIC:
                record.dirty |= here
            waiter.sectors &= ~here
        if waiter.sectors == 0:
            after = mshr.drop_served(memory, slice_, record, previous, index)
        else:
            previous = index
        index = after
    return True


@inline
def next_fill(memory, slice_):
    """Core cycle at which the next data from the DRAM is here; never if none is on its way.

    Data that waits for room in a reply pipe is not next: a reply that leaves starts it again.
    """
    port = memory.dram.ports[slice_]
    if port.count == 0 or memory.l2[slice_].filling:
        return NEVER
    return memory.dram.returns[slice_, port.head].ready
