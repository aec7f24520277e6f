"""Memory partitions through time: the phase of the memory side.

``run`` takes a block of partitions through a window of core cycles. Each jumps from event to
event: a request becomes visible or reaches the tags, a DRAM command can be given, data comes
back, a reply can leave. Within a cycle a partition works from the DRAM upwards, so that a freed
place is used in the same cycle by who waits for it.
"""

from lockstep._jit import Context, inline, jit
from lockstep.gpus.spec import GPU
from lockstep.model import clock as clocks
from lockstep.model import entries as lists
from lockstep.model import link, reply_port
from lockstep.model import memory as state
from lockstep.model.cache import data_port, l2, l2_fill, l2_prefetch, l2_sides, neighbours
from lockstep.model.cache.l2_lines import locate
from lockstep.model.cache.l2_stalls import (
    RUNNING,
    STALL_LINE,
    STALL_MSHR,
    STALL_READ_QUEUE,
    STALL_REPLY,
    STALL_WRITE_QUEUE,
)
from lockstep.model.clock import NEVER
from lockstep.model.dram import controller
from lockstep.model.dram.state import READ, WRITE
from lockstep.model.link import KIND_ATOMIC, KIND_READ, KIND_WRITE, Link
from lockstep.model.memory import QUEUE, UNKNOWN, Memory, MemoryPolicies, compile_policies
from lockstep.model.modules import gate as gates
from lockstep.model.modules.state import Gate

MOST_REFUSALS = 64  # of a request; then it holds its slice up until an entry is free

__all__ = [
    "NEVER",
    "LinkedPartitions",
    "Memory",
    "MemoryPolicies",
    "build",
    "compile_policies",
    "drained",
    "run",
    "run_linked",
    "settle",
]


def build(
    gpu: GPU,
    requests: Link,
    hit_cycles: int,
    miss_cycles: int,
    policies: MemoryPolicies | None = None,
    log: int = 0,
    gate: Gate | None = None,
) -> Memory:
    """The initial state: see :func:`lockstep.model.memory.build`."""
    return state.build(gpu, requests, hit_cycles, miss_cycles, policies, log, gate)


class LinkedPartitions(Context):
    """All partitions, with the links on which they get requests and send replies."""

    memory: Memory
    requests: Link
    replies: Link


@jit
def run_linked(state, first, last, step, start, end):
    """As :func:`run`, of every ``step``-th partition, on their links."""
    event = NEVER
    for p in range(first, last, step):
        event = min(event, run(state.memory, state.requests, state.replies, p, p + 1, start, end))
    return event


@jit
def run(memory, requests, replies, first, last, start, end):
    """Take partitions ``first`` to ``last - 1`` through core cycles ``start <= t < end``.

    Their reply outboxes are emptied first. Returns the earliest core cycle from ``end`` on at
    which one of them has something to do by itself, ``NEVER`` if all are idle.
    """
    event = NEVER
    for p in range(first, last):
        link.begin(replies, p)
        link.open_inbox(requests, p)
        gates.begin(memory.l2.gate, p)
        now = max(start, min(memory.next[p], _next_arrival(memory, requests, p)))
        while now < end:
            now = _step(memory, requests, replies, p, now, end)
        count_clocks(memory.l2.dram, p, end)
        memory.next[p] = now
        event = min(event, now)
    return event


@inline
def _next_arrival(memory, requests, p):
    """The core cycle at which the next request can move from the inbox to its slice."""
    arrival = NEVER
    if requests.ports[p].count > 0 and _takes(memory, link.first(requests, p)):
        arrival = link.first(requests, p).arrival
    gate = memory.l2.gate
    if gates.next_arrival(gate, p) < arrival and _takes(memory, link.first(gate.into, p)):
        arrival = link.first(gate.into, p).arrival
    return arrival


@inline
def _takes(memory, message):
    """Whether the slice that serves a request has room for it."""
    return memory.l2.slices[_served_by(memory, message)].count[QUEUE] < memory.l2.spec[0].queue


@inline
def count_clocks(dram, p, end):
    channel = dram.channels[p]
    tick = clocks.ticks(dram.spec[0].clock, end)
    dram.counters[p].dram_clocks += tick - channel.clock
    channel.clock = tick


@inline
def _step(memory, requests, replies, p, now, end):
    """One core cycle of a partition, and the DRAM commands before its next event.

    Returns the next core cycle at which it has something to do.
    """
    dram = memory.l2.dram
    pick = memory.l2.policies.pick
    channel = dram.channels[p]
    while channel.next <= clocks.ticks(dram.spec[0].clock, now):
        controller.step(dram, pick, p, channel.next)
    if requests.ports[p].count > 0 or gates.next_arrival(memory.l2.gate, p) <= now:
        _receive(memory, requests, p, now)
    soonest = _step_slices(memory, replies, p, now, end)
    soonest = max(now + 1, min(soonest, _next_arrival(memory, requests, p)))
    channel.freed[0] = 0
    channel.freed[1] = 0
    return min(soonest, controller.run(dram, pick, p, min(soonest, end)))


@inline
def _step_slices(memory, replies, p, now, end):
    """One core cycle of the slices of a partition; returns the next with something to do."""
    c = memory.l2
    soonest = NEVER
    count = c.spec[0].slices
    slice_ = p * count + now % count
    for _ in range(count):
        # slices take turns at being first to use what is free in the channel
        slice_ = slice_ + 1 if slice_ + 1 < (p + 1) * count else p * count
        cache = c.slices[slice_]
        if queue_freed(c.dram, p, cache):
            cache.retry = 1
            cache.next = now
        if min(cache.next, l2_fill.next_fill(c, slice_)) <= now:
            cache.next = _step_slice(c, replies, slice_, now, end)
            if c.prefetch.spec[0].on:
                cache.next = min(cache.next, l2_prefetch.step(memory, slice_, now))
        soonest = min(soonest, cache.next, l2_fill.next_fill(c, slice_))
    if c.spec[0].near_reads:  # a slice may have sent data to one that had its turn before
        for slice_ in range(p * count, (p + 1) * count):
            soonest = min(soonest, l2_fill.next_fill(c, slice_))
    return soonest


@inline
def queue_freed(dram, p, cache):
    """Whether a DRAM queue has room again that a slice waits for."""
    channel = dram.channels[p]
    if cache.stalled == STALL_READ_QUEUE:
        return channel.freed[0] != 0 and controller.has_room(dram, p, READ)
    if cache.stalled == STALL_WRITE_QUEUE:
        return channel.freed[1] != 0 and controller.has_room(dram, p, WRITE)
    return False


@inline
def _served_by(memory, message):
    """The slice that serves a request: the line's home, or the one on the reader's side."""
    spec = memory.l2.spec[0]
    if not spec.near_reads or message.kind != KIND_READ:
        return message.slice
    side = l2_sides.side_of(spec, message.source, memory.l2.slices[message.slice].side)
    return l2_sides.mirror(spec, message.slice, side)


@inline
def _receive(memory, requests, p, now):
    """Move messages from the inboxes to the slices' queues while there is room.

    Those of an inbox in order. Of two that are first the older one is, but does not hold up the
    other if it has to wait.
    """
    gate = memory.l2.gate
    stuck = 0
    while stuck <= gate.spec[0].on:
        crossed = gates.is_first(gate, requests, p) != (stuck > 0)
        inbox = gate.into if crossed else requests
        if not _accept(memory, inbox, p, now):
            stuck += 1
            continue
        stuck = 0
        if crossed:
            gates.take(gate, requests, p)
        else:
            link.take(requests, p)


@inline
def _accept(memory, inbox, p, now):
    """Let the oldest message of an inbox, if one has arrived, wait at its slice or join another.

    Whether that was done.
    """
    if not link.waiting(inbox, p, now):
        return False
    spec = memory.l2.spec[0]
    entries = memory.l2.entries
    tick = clocks.ticks(spec.l2, now)
    message = link.first(inbox, p)
    slice_ = _served_by(memory, message)
    cache = memory.l2.slices[slice_]
    if neighbours.join(memory.l2, slice_, message, now):
        return True
    if cache.count[QUEUE] == spec.queue:
        return False
    index = lists.take(state=cache, entries=entries)
    request = entries[index]
    cache.port_free = max(cache.port_free, tick) + message.flits
    _copy(memory, request, message, slice_)
    request.ready = cache.port_free - 1
    if message.kind != KIND_READ:
        request.ready += l2_sides.passed(memory.l2, slice_, request, request.ready)
    neighbours.lead(memory.l2, slice_, request, now)
    lists.append(entries, cache, QUEUE, index)
    if cache.count[QUEUE] == 1:
        cache.next = min(cache.next, max(clocks.cycle_of(spec.l2, request.ready), now))
    return True


@inline
def _copy(memory, request, message, slice_):
    """Fill in an entry with a request and the places of its line."""
    request.kind = message.kind
    request.source = message.source
    request.home = message.slice
    locate(memory, request, slice_, message.address)
    request.way = UNKNOWN
    request.sectors = message.sectors
    request.left = message.sectors
    request.full = message.full
    request.tag = message.tag
    request.policy = message.policy
    request.refusals = message.refusals
    request.issued = message.issued


@jit
def _step_slice(c, replies, slice_, now, end):
    """One core cycle of a slice; returns the next cycle at which it has something to do."""
    cache = c.slices[slice_]
    filled = 0
    while (cache.filling or l2_fill.next_fill(c, slice_) <= now) and l2_fill.fill(c, slice_, now):
        filled = 1
    if filled and cache.stalled != STALL_REPLY:
        cache.retry = 1
    at = NEVER
    if cache.count[QUEUE] > 0 and (cache.stalled == RUNNING or cache.retry):
        at = _look_up(c, slice_, now)
    sent, reply_at = reply_port.send(c, replies, slice_, now, end)
    if sent and (cache.filling or cache.stalled == STALL_REPLY):
        cache.retry = 1
        return now + 1
    return min(at, reply_at)


@inline
def _look_up(c, slice_, now):
    """Serve requests from the head of the queue while the tags have ticks in this core cycle.

    Returns the next cycle at which there is something to look up.
    """
    spec = c.spec[0]
    cache = c.slices[slice_]
    last = clocks.ticks(spec.l2, now)
    first = clocks.ticks(spec.l2, now - 1) + 1
    while cache.count[QUEUE] > 0:
        index = cache.head[QUEUE]
        tick = max(c.entries[index].ready, cache.tags_free, first)
        tick = max(tick, cache.data_free // data_port.PARTS - spec.backlog)
        if tick > last:
            return clocks.cycle_of(spec.l2, tick)
        if not _serve(c, slice_, index, tick, now):
            break
        cache.tags_free = tick + 1
    return NEVER


@inline
def _serve(c, slice_, index, tick, now):
    """Try the oldest request of a slice; whether it is done with."""
    cache = c.slices[slice_]
    kind = c.entries[index].kind
    counters = c.dram.counters[cache.channel]
    if c.spec[0].scoped and l2.overtakes(c, slice_, c.entries[index]):
        reason = STALL_LINE
    elif kind == KIND_WRITE:
        reason = l2.write(c, slice_, index, tick, now)
    else:
        reason = l2.read(c, slice_, index, tick, now)
    counters.l2_requests += reason == RUNNING
    if reason == STALL_MSHR and c.spec[0].refuse:
        refusable = kind == KIND_READ or kind == KIND_ATOMIC
        refusable = refusable and c.entries[index].refusals < MOST_REFUSALS
        if refusable and l2.refuse(c, slice_, index, tick):
            reason = RUNNING
    if cache.stalled != RUNNING:
        count_stall(counters, cache.stalled, now - cache.stalled_since)
    cache.retry = 0
    cache.stalled = reason
    cache.stalled_since = now
    if reason == RUNNING:
        lists.release(c.entries, cache, lists.pop(c.entries, cache, QUEUE))
    return reason == RUNNING


@inline
def count_stall(counters, reason, cycles):
    """Count the cycles since the last attempt to the reason found then."""
    counters.l2_stalls += cycles
    if reason == STALL_MSHR:
        counters.l2_stall_mshr += cycles
    elif reason == STALL_LINE:
        counters.l2_stall_line += cycles
    elif reason == STALL_REPLY:
        counters.l2_stall_reply += cycles
    else:
        counters.l2_stall_dram_queue += cycles


@jit
def settle(memory, now):
    """Bring the lazily kept counters of all partitions up to cycle ``now``."""
    for p in range(memory.next.shape[0]):
        count_clocks(memory.l2.dram, p, now)


def drained(memory: Memory) -> bool:
    """Whether no request, reply or DRAM access is under way in any partition."""
    slices, channels = memory.l2.slices, memory.l2.dram.channels
    flying = slices["mshrs"].any() or slices["ahead"].any()
    return not (slices["count"].any() or flying or channels["waiting"].any())
