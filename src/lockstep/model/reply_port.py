"""A slice's way out: replies wait in pipes until they are ready, then for the port and a credit.

All replies of a pipe take equally long, so each pipe is in order of readiness: hits and fills,
each for near SMs and for those beyond the hop between the chip's sides. The port sends the reply
that was ready first, one flit a crossbar cycle, data with a header. A reply without a credit holds
up its slice and nothing else; credits come back between windows.
"""

from lockstep._jit import force_inline, popcount
from lockstep.model import clock as clocks
from lockstep.model import entries as lists
from lockstep.model import link
from lockstep.model.clock import NEVER
from lockstep.model.divisor import quotient
from lockstep.model.link import KIND_DATA
from lockstep.model.memory import PIPES, SUBTICKS

HIT = 0  # what a pipe carries
FILL = 2


@force_inline
def pipe_for(spec, state, source, carries):
    """The pipe of a slice for replies to an SM; ``carries`` is HIT or FILL."""
    if spec.sides > 1:
        if source * spec.sides // spec.sources != state.side:
            return carries + 1
    return carries


@force_inline
def put(spec, entries, state, pipe, index, ready, answer, mask):
    """Make an entry a reply, and put it into a pipe that has room."""
    reply = entries[index]
    reply.ready = ready + (pipe & 1) * spec.far_cycles
    reply.answer = answer
    reply.sectors = mask
    reply.flits = 1
    if answer == KIND_DATA:
        last_byte = popcount(mask) * spec.sector_bytes + spec.flit_bytes.value - 1
        reply.flits = quotient(spec.flit_bytes, last_byte)
    lists.append(entries, state, pipe, index)


@force_inline
def _first_ready(entries, state):
    """The pipe whose oldest reply is ready first, and when; NEVER if all are empty."""
    best = -1
    ready = NEVER
    for pipe in range(PIPES):
        if state.count[pipe] > 0 and entries[state.head[pipe]].ready < ready:
            best, ready = pipe, entries[state.head[pipe]].ready
    return best, ready


@force_inline
def _copy(spec, message, reply):
    """Fill in the message that carries a reply."""
    message.kind = reply.answer
    message.request = reply.kind
    message.address = reply.line * spec.line_bytes.value
    message.sectors = reply.sectors
    message.full = reply.full
    message.flits = reply.flits
    message.slice = reply.home
    message.tag = reply.tag
    message.policy = reply.policy
    message.issued = reply.issued


@force_inline
def send(l2, replies, slice_, now, end):
    """Send what is ready and fits into this core cycle of the window that ends at ``end``.

    Returns ``(how many were sent, next core cycle at which the port may send)``.
    """
    entries = l2.entries
    state = l2.slices[slice_]
    clock = l2.spec[0].crossbar
    partition = state.channel
    sent = 0
    pipe, ready = _first_ready(entries, state)
    if ready > now:
        return sent, ready
    last = clocks.ticks(clock, now)
    first = (clocks.ticks(clock, now - 1) + 1) * SUBTICKS
    over = (last + 1) * SUBTICKS
    while ready <= now and max(state.reply_free, first) < over and state.reply_blocked <= now:
        reply = entries[state.head[pipe]]
        if link.can_send(replies, partition, reply.source):
            state.reply_free = max(state.reply_free, first) + reply.flits * SUBTICKS
            if reply.answer == KIND_DATA:
                state.reply_free += l2.spec[0].reply_header
            _copy(l2.spec[0], link.send(replies, partition, reply.source, now), reply)
            lists.release(entries, state, lists.pop(entries, state, pipe))
            sent += 1
            pipe, ready = _first_ready(entries, state)
        else:
            state.reply_blocked = end
            l2.dram.counters[partition].l2_stalls += end - now
            l2.dram.counters[partition].l2_stall_reply += end - now
    if ready >= NEVER:
        return sent, NEVER
    free = clocks.cycle_of(clock, max(state.reply_free // SUBTICKS, last + 1))
    return sent, max(ready, state.reply_blocked, free)
