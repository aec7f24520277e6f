"""Memory partitions through time: the phase of the memory side.

``run`` takes a block of partitions through a window of core cycles. Each jumps from event to
event: a request becomes visible or reaches the tags, a DRAM command can be given, data comes
back, a reply can leave. Within a cycle a partition works from the DRAM upwards, so that a freed
place is used in the same cycle by who waits for it.
"""

from lockstep._jit import inline, jit
from lockstep.gpus.spec import GPU
from lockstep.model import clock as clocks
from lockstep.model import link, reply_port
from lockstep.model import memory as state
from lockstep.model.cache import l2, replacement, slice_hash, tags
from lockstep.model.clock import NEVER
from lockstep.model.dram import controller
from lockstep.model.link import KIND_ATOMIC, KIND_READ, KIND_WRITE, Link
from lockstep.model.memory import DRAM_CLOCK, L2_CLOCK, Memory, Policies, compile_policies

__all__ = [
    "NEVER",
    "Memory",
    "Policies",
    "build",
    "compile_policies",
    "copy_to_device",
    "drained",
    "run",
]


def build(
    gpu: GPU,
    requests: Link,
    replies: Link,
    hit_cycles: int,
    miss_cycles: int,
    policies: Policies | None = None,
    log: int = 0,
) -> Memory:
    """The initial state: see :func:`lockstep.model.memory.build`."""
    return state.build(gpu, requests, hit_cycles, miss_cycles, policies, log)


@jit
def run(memory, requests, replies, first, last, start, end):
    """Take partitions ``first`` to ``last - 1`` through core cycles ``start <= t < end``.

    Their reply outboxes are emptied first. Returns the earliest core cycle from ``end`` on at
    which one of them has something to do by itself, ``NEVER`` if all are idle.
    """
    event = NEVER
    for p in range(first, last):
        replies.sent[p] = 0
        now = max(start, _next_event(memory, requests, p))
        while now < end:
            _step(memory, requests, replies, p, now, end)
            now = max(now + 1, _next_event(memory, requests, p))
        _count_clocks(memory, p, end)
        event = min(event, now)
    return event


@inline
def _next_event(memory, requests, p):
    """The next core cycle at which a partition has something to do."""
    at = memory.partitions[p].next
    if requests.ports[p].count > 0:
        message = link.first(requests, p)
        if memory.l2[message.slice].queue_count < memory.spec[0].queue:
            at = min(at, message.arrival)
    return at


@inline
def _count_clocks(memory, p, end):
    channel = memory.dram.channels[p]
    tick = clocks.ticks(memory.clocks[DRAM_CLOCK], end)
    memory.counters[p].dram_clocks += tick - channel.clock
    channel.clock = tick


@inline
def _step(memory, requests, replies, p, now, end):
    """One core cycle of a partition."""
    spec = memory.spec[0]
    channel = memory.dram.channels[p]
    controller.run(memory.dram, memory.policies.pick, p, now)
    freed = channel.freed
    channel.freed = 0
    _receive(memory, requests, p, now)
    soonest = NEVER
    for i in range(spec.slices):
        # slices take turns at being first to use what is free in the channel
        slice_ = p * spec.slices + (now + i) % spec.slices
        cache = memory.l2[slice_]
        if freed and cache.stalled == l2.STALL_DRAM:
            cache.retry = 1
            cache.next = now
        if min(cache.next, l2.next_fill(memory, slice_)) <= now:
            cache.next = _step_slice(memory, replies, slice_, now, end)
        soonest = min(soonest, cache.next, l2.next_fill(memory, slice_))
    at = clocks.cycle_of(memory.clocks[DRAM_CLOCK], channel.next)
    memory.partitions[p].next = min(soonest, at)


@inline
def _receive(memory, requests, p, now):
    """Move messages from the inbox to the slices' queues, in order, while there is room."""
    spec = memory.spec[0]
    tick = clocks.ticks(memory.clocks[L2_CLOCK], now)
    while link.waiting(requests, p, now):
        message = link.first(requests, p)
        cache = memory.l2[message.slice]
        if cache.queue_count == spec.queue:
            break
        place = cache.queue_head + cache.queue_count
        if place >= spec.queue:
            place -= spec.queue
        request = memory.queue[message.slice, place]
        cache.queue_count += 1
        cache.port_free = max(cache.port_free, tick) + message.flits
        request.ready = cache.port_free - 1
        _copy(memory, request, message)
        if cache.queue_count == 1:
            at = clocks.cycle_of(memory.clocks[L2_CLOCK], request.ready)
            cache.next = min(cache.next, max(at, now))
        link.take(requests, p)


@inline
def _copy(memory, request, message):
    """Fill in a queue entry, with the places of its line."""
    request.kind = message.kind
    request.source = message.source
    request.address = message.address
    request.line = message.address // memory.spec[0].line_bytes
    request.row = l2.row_of(memory, message.slice, message.address)
    request.channel_line = l2.channel_line(memory, message.slice, message.address)
    request.sectors = message.sectors
    request.left = message.sectors
    request.full = message.full
    request.tag = message.tag
    request.policy = message.policy
    request.issued = message.issued


@inline
def _step_slice(memory, replies, slice_, now, end):
    """One core cycle of a slice; returns the next cycle at which it has something to do."""
    cache = memory.l2[slice_]
    filled = 0
    while (cache.filling or l2.next_fill(memory, slice_) <= now) and l2.fill(memory, slice_, now):
        filled = 1
    if filled and cache.stalled != l2.STALL_REPLY:
        cache.retry = 1
    at = _look_up(memory, slice_, now)
    sent, reply_at = reply_port.send(memory, replies, slice_, now, end)
    if sent and (cache.filling or cache.stalled == l2.STALL_REPLY):
        cache.retry = 1
        return now + 1
    return min(at, reply_at)


@inline
def _look_up(memory, slice_, now):
    """Serve requests from the head of the queue while the tags have ticks in this core cycle.

    Returns the next cycle at which there is something to look up.
    """
    cache = memory.l2[slice_]
    clock = memory.clocks[L2_CLOCK]
    last = clocks.ticks(clock, now)
    first = clocks.ticks(clock, now - 1) + 1
    while cache.queue_count > 0:
        request = memory.queue[slice_, cache.queue_head]
        if cache.stalled and not cache.retry:
            return NEVER
        tick = max(request.ready, cache.tags_free, first)
        tick = max(tick, cache.data_free - memory.spec[0].backlog)
        if tick > last:
            return clocks.cycle_of(clock, tick)
        if not _serve(memory, slice_, request, tick, now):
            return NEVER
        cache.tags_free = tick + 1
    return NEVER


@inline
def _serve(memory, slice_, request, tick, now):
    """Try the oldest request of a slice; whether it is done with."""
    cache = memory.l2[slice_]
    if request.kind == KIND_WRITE:
        reason = l2.write(memory, slice_, request, tick, now)
    else:
        reason = l2.read(memory, slice_, request, tick, now)
    if reason == l2.STALL_MSHR and memory.spec[0].refuse:
        refusable = request.kind == KIND_READ or request.kind == KIND_ATOMIC
        if refusable and l2.refuse(memory, slice_, request, tick):
            reason = l2.RUNNING
    _count_stall(memory, slice_, reason, now)
    if reason != l2.RUNNING:
        return False
    cache.queue_count -= 1
    cache.queue_head = cache.queue_head + 1 if cache.queue_head + 1 < memory.spec[0].queue else 0
    return True


@inline
def _count_stall(memory, slice_, reason, now):
    """Count the cycles since the last attempt to the reason found then."""
    cache = memory.l2[slice_]
    counters = memory.counters[slice_ // memory.spec[0].slices]
    cycles = now - cache.stalled_since
    cache.retry = 0
    if cache.stalled == l2.STALL_MSHR:
        counters.l2_stall_mshr += cycles
    elif cache.stalled == l2.STALL_LINE:
        counters.l2_stall_line += cycles
    elif cache.stalled == l2.STALL_DRAM:
        counters.l2_stall_dram_queue += cycles
    elif cache.stalled == l2.STALL_REPLY:
        counters.l2_stall_reply += cycles
    if cache.stalled != l2.RUNNING:
        counters.l2_stalls += cycles
    cache.stalled = reason
    cache.stalled_since = now


@jit
def copy_to_device(memory, address, size):
    """A host copy of some bytes passes through the L2, in no time.

    Its sectors stay, dirty: the copy engine writes into the write-back L2 as an SM does. What it
    displaces is gone to memory uncounted.
    """
    if size <= 0:
        return
    spec = memory.spec[0]
    first = address // spec.line_bytes * spec.line_bytes
    for line_address in range(first, address + size, spec.line_bytes):
        low = max(0, address - line_address) // spec.sector_bytes
        high = min(spec.line_bytes, address + size - line_address) - 1
        mask = (2 << high // spec.sector_bytes) - (1 << low)
        slice_ = slice_hash.slice_of(memory.slices, line_address, memory.policies.slice_hash)
        _place(memory, slice_, line_address, mask)


@inline
def _place(memory, slice_, address, mask):
    """Leave sectors of a line in the L2."""
    row = l2.row_of(memory, slice_, address)
    line = address // memory.spec[0].line_bytes
    way = tags.find(memory.tags, slice_, row, line)
    if way < 0:
        way = replacement.victim(memory.tags, slice_, row, memory.policies.victim)
        if way < 0:
            return
        replacement.insert(memory.tags, slice_, row, way, line, 0)
    else:
        replacement.touch(memory.tags, slice_, row, way, 0)
    record = tags.way_of(memory.tags, row, way)
    record.valid |= mask
    record.dirty |= mask
    record.partial &= ~mask
    memory.counters[slice_ // memory.spec[0].slices].copy_sectors += l2.sectors.count(mask)


def drained(memory: Memory) -> bool:
    """Whether no request, reply or DRAM access is under way in any partition."""
    return bool(
        (memory.l2["queue_count"] == 0).all()
        and (memory.pipes["count"] == 0).all()
        and (memory.l2["mshrs"] == 0).all()
        and (memory.dram.channels["waiting"] == 0).all()
    )
