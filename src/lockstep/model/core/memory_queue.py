"""The queues of sub-cores for memory instructions, where the memory pipeline of an SM begins."""

from lockstep._jit import inline
from lockstep.model import free_list
from lockstep.model.core.coalescer import GENERIC, GLOBAL
from lockstep.model.core.done import joins_group
from lockstep.model.core.stream import next_address
from lockstep.model.core.warp import access_begins, join_group
from lockstep.model.counters import Stall

STALL_QUEUE = int(Stall.MEMORY_QUEUE)


@inline
def has_room(c, s, b):
    """Whether sub-core ``b`` can take another memory instruction."""
    spec = c.spec[0]
    return c.subcores[s, b].queue_count < spec.queue and c.sms[s].free_access < spec.accesses


@inline
def enqueue(c, s, b, w, instruction, now):
    """Put a memory instruction into its sub-core's queue, and return its access; there is room."""
    spec = c.spec[0]
    sm = c.sms[s]
    sub = c.subcores[s, b]
    warp = c.warps[s, w]
    a = sm.free_access
    access = c.accesses[s, a]
    sm.free_access = free_list.after(access.next, a)
    access.warp = w
    access.code = warp.static
    access.mask = warp.mask
    access.lanes = warp.lanes
    access.address = warp.address
    access.space = instruction.space
    access.remaining = 1
    access.latest = access.passes = 0
    next_address(warp)
    start = max(sub.address_free, now)
    wide = instruction.space == GLOBAL or instruction.space == GENERIC
    sub.address_free = start + (spec.wide_address_interval if wide else spec.address_interval)
    access.ready_at = start + spec.address_interval
    c.queues[s, b, (sub.queue_head + sub.queue_count) % spec.queue] = a
    sub.queue_count += 1
    access_begins(c.ctas[s, warp.cta], warp)
    if joins_group(c, instruction.op):
        access.group = join_group(warp)
    c.counters[s].memory_instructions += 1
    sm.memory_next = min(sm.memory_next, access.ready_at)
    return access


@inline
def pop_queue(c, s, b):
    """Take the oldest memory instruction of a sub-core; warps that waited for room look again."""
    spec = c.spec[0]
    sub = c.subcores[s, b]
    a = c.queues[s, b, sub.queue_head]
    sub.queue_head = (sub.queue_head + 1) % spec.queue
    sub.queue_count -= 1
    return a


@inline
def wake_waiting_for_room(c, s, now):
    """Warps that wait for the memory pipeline look again; the pipeline has just moved."""
    for b in range(c.spec[0].subcores):
        sub = c.subcores[s, b]
        if sub.room_wanted and has_room(c, s, b):
            sub.room_wanted = 0
            for k in range(sub.count):
                look = c.looks[s, c.order[s, b, k]]
                if look.wake > now and look.reason == STALL_QUEUE:
                    look.wake = now
            sub.next = min(sub.next, now)
