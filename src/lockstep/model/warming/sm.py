"""An access of a warp changes the caches of its SM as it would, and what it misses the L2."""

from lockstep._jit import inline
from lockstep.isa.instruction import CachePolicy, OpClass, Space
from lockstep.model.cache import l1, l1_fill, miss_queue, mshr_file
from lockstep.model.link import KIND_READ, KIND_WRITE
from lockstep.model.sm import bulk, constant, tile
from lockstep.model.sm.coalescer import SHARED, coalesce, lane_address, resolve
from lockstep.model.sm.memory_pipeline import request_of
from lockstep.model.warming import l2
from lockstep.workload import TILE_WORDS

CACHE_CONTROL = int(OpClass.CACHE_CONTROL)
INVALIDATE = int(CachePolicy.INVALIDATE)
CONSTANT = int(Space.CONSTANT)


@inline
def perform(c, memory, s, w, instruction, now):
    """What an instruction with active lanes does to caches; whether it went through the L1."""
    warp = c.warps[s, w]
    if instruction.op == CACHE_CONTROL and instruction.cache & INVALIDATE:
        l1_fill.invalidate(c.l1, s)
    if instruction.width <= 0:
        return False
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
        return False
    c.sms[s].arbiter = w % c.spec[0].subcores + 1  # it goes on behind whom it took last
    access.space = resolve(instruction.space, first, c.kernels[warp.kernel])
    if access.space == SHARED:
        return False
    if bulk.is_bulk(instruction.op):
        copy(c, memory, s, a, access, instruction)
    else:
        through_l1(c, memory, s, a, access, instruction, now)
    return True


@inline
def through_l1(c, memory, s, a, access, instruction, now):
    """An access to global or local memory, line by line."""
    warp = c.warps[s, access.warp]
    cta, kernel = c.ctas[s, warp.cta], c.kernels[warp.kernel]
    count = coalesce(c, s, access, kernel, cta, warp, instruction)
    request = request_of(c, s, a, access, instruction)
    for k in range(count):
        l1.access(c.l1, s, c.counters[s], request, c.transactions[s, k], now)
        send_on(c, memory, s)


@inline
def send_on(c, memory, s):
    """What has left the L1 reaches the L2, and what comes back is here."""
    state = c.l1.caches[s]
    while state.queue_count > 0:
        miss = c.l1.queue[s, state.queue_head]
        l2.access(memory, s, miss, miss.line * c.l1.spec[0].line_bytes)
        if miss.kind == KIND_READ and miss.tag >= 0:
            l1_fill.fill(c.l1, s, c.counters[s], miss.tag, miss.sectors, miss.policy)
            mshr_file.serve(c.l1, s, miss.tag, -1, c.l1.entries[s, miss.tag].waiter, miss.sectors)
            mshr_file.release(c.l1, s, miss.tag)
        miss_queue.drop(c.l1, s, False)


@inline
def copy(c, memory, s, a, access, instruction):
    """A bulk copy of each lane, or of the rows of a tile."""
    place = c.bulk_places[s, a]
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
    while there:
        low, size = bulk.current(c, s, a, access, instruction)
        copy_row(c, memory, s, instruction, low, low + size)
        there = bulk.advance(c, s, a, access, instruction)


@inline
def copy_row(c, memory, s, instruction, low, high):
    """Bytes low..high-1 of a bulk copy, line by line, past the L1."""
    spec = c.l1.spec[0]
    reads = instruction.op == bulk.BULK_COPY or instruction.op == bulk.TILE_COPY
    while low < high:
        line = low // spec.line_bytes
        start = line * spec.line_bytes
        end = min(high, start + spec.line_bytes)
        sectors = bulk.touched(spec, low - start, end - start)
        miss = miss_queue.push(c.l1, s, line, sectors, KIND_READ if reads else KIND_WRITE, 0)
        miss.tag, miss.policy = -1, instruction.cache
        if not reads:
            miss.full = sectors & bulk.whole(spec, low - start, end - start)
            l1.probe(c.l1, s, line, sectors)
        send_on(c, memory, s)
        low = end
