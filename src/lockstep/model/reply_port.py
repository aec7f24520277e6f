"""A slice's way out, to the crossbar: the port, and a credit for each SM.

The port sends the reply that was ready first, one flit a crossbar cycle, data with a header. Those
who joined the read that it answers get theirs in the same flits. A reply without a credit holds up
its slice and nothing else; credits come back between windows.
"""

from lockstep._jit import force_inline
from lockstep.model import clock as clocks
from lockstep.model import entries as lists
from lockstep.model.cache import neighbours
from lockstep.model.clock import NEVER
from lockstep.model.link import KIND_DATA, KIND_READ
from lockstep.model.memory import PIPES, SUBTICKS, TOGETHER
from lockstep.model.modules import gate
from lockstep.model.reply_pipes import FILL


@force_inline
def _first_ready(entries, state):
    """The pipe whose oldest reply is ready first, and when; NEVER if all are empty.

    Those that need no time of the port do not wait for others.
    """
    if state.count[TOGETHER] > 0:
        return int(TOGETHER), entries[state.head[TOGETHER]].ready
    best = -1
    ready = NEVER
    for pipe in range(PIPES):
        if state.count[pipe] > 0 and entries[state.head[pipe]].ready < ready:
            best, ready = pipe, entries[state.head[pipe]].ready
    return best, ready


@force_inline
def _copy(spec, message, reply, held):
    """Fill in the message that carries a reply; ``held``: of data that was here."""
    message.kind = reply.answer
    message.request = reply.kind
    message.address = reply.line * spec.line_bytes.value
    message.sectors = reply.sectors
    message.full = reply.full
    message.flits = reply.flits
    message.slice = reply.home
    message.tag = reply.tag
    message.policy = reply.policy
    message.refusals = reply.refusals
    message.issued = reply.issued
    message.held = held


@force_inline
def send(l2, replies, slice_, now, end):
    """Send what is ready and fits into this core cycle of the window that ends at ``end``.

    Returns ``(how many were sent, next core cycle at which the port may send)``.
    """
    spec, entries = l2.spec[0], l2.entries
    state = l2.slices[slice_]
    clock = spec.crossbar
    partition = state.channel
    sent = 0
    pipe, ready = _first_ready(entries, state)
    if ready > now:
        return sent, ready
    last = clocks.ticks(clock, now)
    first = (clocks.ticks(clock, now - 1) + 1) * SUBTICKS
    over = (last + 1) * SUBTICKS
    while ready <= now and state.reply_blocked <= now:
        if pipe != TOGETHER and max(state.reply_free, first) >= over:
            break
        reply = entries[state.head[pipe]]
        if gate.can_send(l2.gate, replies, partition, reply.source):
            message = gate.send(l2.gate, replies, partition, reply.source, now)
            _copy(spec, message, reply, pipe < FILL)
            if pipe == TOGETHER:
                state.joined -= 1
            else:
                state.reply_free = max(state.reply_free, first) + reply.flits * SUBTICKS
                if reply.answer == KIND_DATA:
                    state.reply_free += spec.reply_header
                if spec.neighbours > 1 and reply.kind == KIND_READ and reply.answer == KIND_DATA:
                    neighbours.answered(l2, slice_, reply.source, reply.line, reply.sectors, now)
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
