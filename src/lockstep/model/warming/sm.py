"""An access of a warp changes the caches of its SM as it would, and what it misses the L2."""

from lockstep._jit import inline, popcount
from lockstep.isa.instruction import CachePolicy, OpClass, Space
from lockstep.model.cache import l1, l1_fill, miss_queue, mshr_file
from lockstep.model.core import bulk, constant, tile
from lockstep.model.core.coalescer import SHARED, coalesce, lane_address, resolve
from lockstep.model.core.memory_pipeline import request_of
from lockstep.model.core.release_state import FORGETS, POLICIES
from lockstep.model.core.releases import orders
from lockstep.model.core.state import SUBCYCLES
from lockstep.model.link import KIND_ATOMIC, KIND_READ, KIND_WRITE
from lockstep.model.warming import l2
from lockstep.workload.bulk_copies import TILE_WORDS

CACHE_CONTROL = int(OpClass.CACHE_CONTROL)
INVALIDATE = int(CachePolicy.INVALIDATE)
CONSTANT = int(Space.CONSTANT)


@inline
def perform(c, memory, walk, s, w, instruction, now):
    """What an instruction with active lanes does to caches at cycle ``now``.

    Returns when what it reads is there, or 0 if it has no data from memory.
    """
    warp = c.warps[s, w]
    control = instruction.op == CACHE_CONTROL and instruction.cache & INVALIDATE
    if control or orders(instruction) & FORGETS:
        l1_fill.invalidate(c.l1, s, c.counters[s])
    if instruction.width <= 0:
        return 0
    cta = c.ctas[s, warp.cta]
    a = c.sms[s].free_access
    access = c.accesses[s, a]  # nothing is in flight
    access.warp, access.mask, access.lanes = w, warp.mask, warp.lanes
    access.address = warp.address
    first = c.addresses[cta.addresses + warp.address].first
    warp.address += 1
    if instruction.memory == 0:
        if instruction.space == CONSTANT:
            constant.load(c, s, first, now)
        return 0
    c.sms[s].arbiter = w % c.spec[0].subcores + 1  # it goes on behind whom it took last
    access.space = resolve(instruction.space, first, c.kernels[warp.kernel])
    if access.space == SHARED:
        return now + walk.state[0].shared_cycles
    if bulk.is_bulk(instruction.op):
        return copy(c, memory, walk, s, a, instruction, now)
    return through_l1(c, memory, walk, s, a, instruction, now)


@inline
def through_l1(c, memory, walk, s, a, instruction, now):
    """An access to global or local memory, line by line; when what it reads is there."""
    access = c.accesses[s, a]
    warp = c.warps[s, access.warp]
    cta, kernel = c.ctas[s, warp.cta], c.kernels[warp.kernel]
    count = coalesce(c, s, access, kernel, cta, warp, instruction)
    request = request_of(c, s, a, access, instruction)
    arrives = now + walk.state[0].l1_cycles
    for k in range(count):
        transaction = c.transactions[s, k]
        if mshr_file.find(c.l1, s, transaction.line) >= 0:
            continue  # a prefetch of an earlier kernel: it comes by itself
        l1.access(c.l1, s, c.counters[s], request, transaction, now)
        arrives = max(arrives, send_on(c, memory, walk, s, now))
    return arrives


@inline
def send_on(c, memory, walk, s, now):
    """What has left the L1 reaches the L2, and what comes back is here; when that would be."""
    state = c.l1.caches[s]
    arrives = now
    while state.queue_count > 0:
        miss = c.l1.queue[s, state.queue_head]
        address = miss.line * c.l1.spec[0].line_bytes
        reads, writes = l2.access(memory, s, miss, address)
        back = arrival(walk, s, reads, writes, popcount(miss.sectors), now)
        if miss.kind == KIND_READ or miss.kind == KIND_ATOMIC:
            arrives = max(arrives, back)
        if miss.kind == KIND_READ and miss.tag >= 0:
            l1_fill.fill(c.l1, s, c.counters[s], miss.tag, miss.sectors, miss.policy)
            mshr_file.serve(c.l1, s, miss.tag, -1, c.l1.entries[s, miss.tag].waiter, miss.sectors)
            mshr_file.release(c.l1, s, miss.tag)
        miss_queue.drop(c.l1, s, False)
    return arrives


@inline
def arrival(walk, s, reads, writes, sectors, now):
    """When a request of some sectors, that leaves an SM ``now``, would be answered.

    ``reads`` and ``writes``: bursts that the DRAM moves for it.
    """
    state = walk.state[0]
    begin = max(now * SUBCYCLES, walk.ports[s])
    walk.ports[s] = begin + sectors * state.port_step
    if reads + writes == 0:
        return begin // SUBCYCLES + state.l2_cycles
    free = max(begin * state.channels, state.dram)
    state.dram = free + (reads + writes) * state.burst_step
    done = state.dram // (SUBCYCLES * state.channels)
    return done + (state.dram_cycles if reads > 0 else state.l2_cycles)


@inline
def copy(c, memory, walk, s, a, instruction, now):
    """A bulk copy of each lane, or of the rows of a tile; nobody waits for it here."""
    place, access = c.bulk_places[s, a], c.accesses[s, a]
    cta = c.ctas[s, c.warps[s, access.warp].cta]
    record = c.addresses[cta.addresses + access.address]
    tiled = bulk.is_tile(instruction.op)
    for k in range(TILE_WORDS if tiled else min(access.lanes, c.spec[0].warp_size)):
        place[k] = lane_address(c, record, cta.pool, k)
    access.lane = 0
    there = True
    if tiled:
        access.lanes = 1
        there = tile.begin(place)
    arrives = now
    while there:
        low, size = bulk.current(c, s, a, access, instruction)
        arrives = max(arrives, copy_row(c, memory, walk, s, instruction, low, low + size, now))
        there = bulk.advance(c, s, a, access, instruction)
    return arrives


@inline
def copy_row(c, memory, walk, s, instruction, low, high, now):
    """Bytes low..high-1 of a bulk copy, line by line, past the L1; when they are there."""
    spec = c.l1.spec[0]
    reads = instruction.op == bulk.BULK_COPY or instruction.op == bulk.TILE_COPY
    arrives = now
    while low < high:
        line = low // spec.line_bytes
        start = line * spec.line_bytes
        end = min(high, start + spec.line_bytes)
        sectors = bulk.touched(spec, low - start, end - start)
        miss = miss_queue.push(c.l1, s, line, sectors, KIND_READ if reads else KIND_WRITE, 0)
        miss.tag, miss.policy = -1, instruction.cache & POLICIES
        if not reads:
            miss.full = sectors & bulk.whole(spec, low - start, end - start)
            l1.probe(c.l1, s, c.counters[s], line, sectors)
        arrives = max(arrives, send_on(c, memory, walk, s, now))
        low = end
    return arrives
