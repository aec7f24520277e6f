"""Bulk copies: the tensor memory accelerator of an SM, between global and shared memory.

A thread starts a copy of many bytes and goes on. The unit sends one copy after the other as a train
of requests, a line each, past the L1 and into its miss queue, so many bytes a cycle; loads and
stores go on beside it.
"""

from lockstep._jit import inline, popcount
from lockstep.isa.instruction import OpClass
from lockstep.model.cache import l1, miss_queue
from lockstep.model.clock import NEVER
from lockstep.model.core import attribution, stores, tile
from lockstep.model.core.coalescer import lane_address
from lockstep.model.core.done import instruction_of, note
from lockstep.model.core.release_state import POLICIES
from lockstep.model.core.state import DONE_ACCESS, SUBCYCLES
from lockstep.model.link import KIND_READ, KIND_WRITE
from lockstep.workload.bulk_copies import TILE_WORDS

BULK_COPY = int(OpClass.BULK_COPY)
BULK_STORE = int(OpClass.BULK_STORE)
TILE_COPY = int(OpClass.TILE_COPY)
TILE_STORE = int(OpClass.TILE_STORE)


@inline
def is_bulk(op):
    """Whether an instruction starts a bulk copy."""
    return op == BULK_COPY or op == BULK_STORE or is_tile(op)


@inline
def is_tile(op):
    """Whether an instruction starts one bulk copy, of memory that a tile describes."""
    return op == TILE_COPY or op == TILE_STORE


@inline
def start(c, s, a, now):
    """Queue the copies of an access, one for each active lane, behind those that are under way."""
    sm = c.sms[s]
    access = c.accesses[s, a]
    cta = c.ctas[s, c.warps[s, access.warp].cta]
    record = c.addresses[cta.addresses + access.address]
    tiled = is_tile(instruction_of(c, s, access).op)
    for k in range(TILE_WORDS if tiled else min(access.lanes, c.spec[0].warp_size)):
        c.bulk_places[s, a, k] = lane_address(c, record, cta.pool, k)
    if tiled:
        access.lanes = 1
        if not tile.begin(c.bulk_places[s, a]):
            access.remaining = 0
            note(c, s, DONE_ACCESS, a, now)
            return
    access.lane = 0
    access.sent = 0
    access.next = -1
    if sm.bulk_first < 0:
        sm.bulk_first = a
    else:
        c.accesses[s, sm.bulk_last].next = a
    sm.bulk_last = a
    sm.bulk_ready = max(sm.bulk_ready, (now + 1) * SUBCYCLES)


@inline
def bytes_of(instruction):
    """Bytes that each lane copies; where the front end does not know, those of a register."""
    return max(instruction.immediate, instruction.width)


@inline
def current(c, s, a, access, instruction):
    """Where the bytes begin that are sent now, and how many follow each other."""
    place = c.bulk_places[s, a]
    if is_tile(instruction.op):
        return tile.address(place), place[tile.BYTES]
    return place[access.lane], bytes_of(instruction)


@inline
def advance(c, s, a, access, instruction):
    """Go to the next lane or row; false if there is none."""
    if is_tile(instruction.op):
        place = c.bulk_places[s, a]
        tile.step(place)
        return tile.seek(place)
    access.lane += 1
    return access.lane < min(access.lanes, c.spec[0].warp_size)


@inline
def can_send(c, s, access):
    """Whether the miss queue has room, and few enough lines of the access are under way.

    No more than it may have, although the first and last line of a lane may be short.
    """
    spec = c.l1.spec[0]
    lines = c.spec[0].bulk_lines - 2 * min(access.lanes, c.spec[0].warp_size) - 1
    return not miss_queue.is_full(c.l1, s) and access.remaining <= lines * spec.sectors


@inline
def touched(spec, low, high):
    """The sectors of a line that its bytes low..high-1 are in."""
    first, last = low // spec.sector_bytes, (high - 1) // spec.sector_bytes
    return ((1 << (last + 1)) - 1) & ~((1 << first) - 1)


@inline
def whole(spec, low, high):
    """The sectors before byte ``high`` of a line that lie behind ``low`` in every byte."""
    first = (low + spec.sector_bytes - 1) // spec.sector_bytes
    return ((1 << (high // spec.sector_bytes)) - 1) & ~((1 << first) - 1)


@inline
def send(c, s, a, access, instruction, line, low, high, now):
    """Request bytes low..high-1 of a line, or write them."""
    spec = c.l1.spec[0]
    counters = c.counters[s]
    sectors = touched(spec, low, high)
    n = popcount(sectors)
    if instruction.op == BULK_COPY or instruction.op == TILE_COPY:
        access.remaining += n
        miss = miss_queue.push(c.l1, s, line, sectors, KIND_READ, now)
        miss.tag, miss.policy = -1 - a, instruction.cache & POLICIES
        counters.bulk_read_sectors += n
        if c.spec[0].attributes:
            attribution.bulk(c, s, access, n, 0)
        return
    counters.bulk_write_sectors += n
    if c.spec[0].attributes:
        attribution.bulk(c, s, access, 0, n)
    miss = miss_queue.push(c.l1, s, line, sectors, KIND_WRITE, now)
    miss.tag = stores.send(c, s, access.warp)
    miss.policy = instruction.cache & POLICIES
    miss.flits = l1.data_flits(spec, sectors)
    miss.full = sectors & whole(spec, low, high)
    l1.probe(c.l1, s, counters, line, sectors)


@inline
def tick(c, s, now):
    """Send the next line of the oldest copy; after its last, the next copy follows."""
    sm = c.sms[s]
    if sm.bulk_first < 0 or sm.bulk_ready >= (now + 1) * SUBCYCLES:
        return
    a = sm.bulk_first
    access = c.accesses[s, a]
    if not can_send(c, s, access):
        return
    instruction = instruction_of(c, s, access)
    size = c.l1.spec[0].line_bytes
    low, total = current(c, s, a, access, instruction)
    low += access.sent
    line = low // size
    count = min(total - access.sent, (line + 1) * size - low)
    low -= line * size
    send(c, s, a, access, instruction, line, low, low + count, now)
    spec = c.spec[0]
    loads = instruction.op == BULK_COPY or instruction.op == TILE_COPY
    interval = spec.bulk_load_interval if loads else spec.bulk_store_interval
    sm.bulk_ready = max(sm.bulk_ready, now * SUBCYCLES) + interval
    access.sent += count
    if access.sent < total:
        return
    access.sent = 0
    if advance(c, s, a, access, instruction):
        return
    sm.bulk_first = access.next
    access.remaining -= 1
    if access.remaining == 0:
        note(c, s, DONE_ACCESS, a, max(access.latest, now))


@inline
def next_event(c, s, now):
    """Cycle after ``now`` at which a line can be sent, if neither room nor a reply is awaited."""
    sm = c.sms[s]
    if sm.bulk_first < 0 or not can_send(c, s, c.accesses[s, sm.bulk_first]):
        return NEVER
    return max(sm.bulk_ready // SUBCYCLES, now + 1)
