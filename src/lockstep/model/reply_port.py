"""A slice's way out: replies wait in pipes until they are ready, then for the port and a credit.

All replies of a pipe take equally long, so each pipe is a ring in order of readiness: hits and
fills, each for near SMs and for those beyond the hop between the chip's sides. The port sends the
reply that was ready first, one flit a crossbar cycle. A reply without a credit holds up its slice
and nothing else; credits come back between windows.
"""

from lockstep._jit import inline
from lockstep.model import clock as clocks
from lockstep.model import link
from lockstep.model.clock import NEVER
from lockstep.model.link import KIND_DATA
from lockstep.model.memory import CROSSBAR_CLOCK, PIPES
from lockstep.model.sectors import count

HIT = 0  # what a pipe carries
FILL = 2


@inline
def pipe_for(memory, slice_, source, way):
    """The pipe for replies to an SM; ``way`` is HIT or FILL."""
    spec = memory.spec[0]
    far = 0
    if spec.sides > 1:
        here = slice_ // spec.slices * spec.sides // spec.partitions
        far = 1 if source * spec.sides // spec.sources != here else 0
    return slice_ * PIPES + way + far


@inline
def has_room(memory, pipe):
    """Whether a pipe takes another reply."""
    return memory.pipes[pipe].count < memory.spec[0].replies


@inline
def push(memory, pipe, ready, kind, sectors, origin):
    """Put a reply to ``origin``, a request or a waiter, into a pipe that has room."""
    spec = memory.spec[0]
    ring = memory.pipes[pipe]
    place = ring.head + ring.count
    if place >= spec.replies:
        place -= spec.replies
    ring.count += 1
    reply = memory.replies[pipe, place]
    reply.ready = ready + (pipe & 1) * spec.far_cycles
    reply.kind = kind
    reply.request = origin.kind
    reply.source = origin.source
    reply.address = origin.address
    reply.sectors = sectors
    reply.full = origin.full
    reply.tag = origin.tag
    reply.policy = origin.policy
    reply.issued = origin.issued
    reply.flits = 1
    if kind == KIND_DATA:
        reply.flits = (count(sectors) * spec.sector_bytes + spec.flit_bytes - 1) // spec.flit_bytes


@inline
def _first_ready(memory, slice_):
    """The pipe whose oldest reply is ready first, and when; NEVER if all are empty."""
    best = -1
    ready = NEVER
    for pipe in range(slice_ * PIPES, (slice_ + 1) * PIPES):
        ring = memory.pipes[pipe]
        if ring.count > 0 and memory.replies[pipe, ring.head].ready < ready:
            best, ready = pipe, memory.replies[pipe, ring.head].ready
    return best, ready


@inline
def _copy(message, reply, slice_):
    """Fill in the message that carries a reply."""
    message.kind = reply.kind
    message.request = reply.request
    message.address = reply.address
    message.sectors = reply.sectors
    message.full = reply.full
    message.flits = reply.flits
    message.slice = slice_
    message.tag = reply.tag
    message.policy = reply.policy
    message.issued = reply.issued


@inline
def _pop(memory, pipe):
    ring = memory.pipes[pipe]
    ring.count -= 1
    ring.head = ring.head + 1 if ring.head + 1 < memory.spec[0].replies else 0


@inline
def send(memory, replies, slice_, now, end):
    """Send what is ready and fits into this core cycle of the window that ends at ``end``.

    Returns ``(how many were sent, next core cycle at which the port may send)``.
    """
    state = memory.l2[slice_]
    partition = slice_ // memory.spec[0].slices
    clock = memory.clocks[CROSSBAR_CLOCK]
    last = clocks.ticks(clock, now)
    first = clocks.ticks(clock, now - 1) + 1
    sent = 0
    pipe, ready = _first_ready(memory, slice_)
    while ready <= now and max(state.reply_free, first) <= last and state.reply_blocked <= now:
        reply = memory.replies[pipe, memory.pipes[pipe].head]
        if link.can_send(replies, partition, reply.source):
            state.reply_free = max(state.reply_free, first) + reply.flits
            _copy(link.send(replies, partition, reply.source, now), reply, slice_)
            _pop(memory, pipe)
            sent += 1
            pipe, ready = _first_ready(memory, slice_)
        else:
            state.reply_blocked = end
            memory.counters[partition].l2_stalls += end - now
            memory.counters[partition].l2_stall_reply += end - now
    if ready >= NEVER:
        return sent, NEVER
    free = clocks.cycle_of(clock, max(state.reply_free, last + 1))
    return sent, max(ready, state.reply_blocked, free)
