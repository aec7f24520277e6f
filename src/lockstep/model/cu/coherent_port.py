"""A compute unit's ports at the crossbar under a coherence protocol: forwards and answers besides.

What the L1 notes as ended is told to the memory pipeline here.
"""

from lockstep._jit import inline
from lockstep.model import link
from lockstep.model.cache import miss_queue
from lockstep.model.clock import NEVER
from lockstep.model.coherence import l1, l1_invalidation, lines, outgoing
from lockstep.model.coherence.rules import COHERENT
from lockstep.model.core import attribution, port
from lockstep.model.core.done import note
from lockstep.model.core.state import DONE_ACKNOWLEDGED, SUBCYCLES
from lockstep.model.cu import port as line_port


@inline
def tell_ended(c, s, now):
    """Operations that have ended are told to those who wait: accesses, or writers of stores."""
    cache = c.coherent.caches[s]
    for k in range(cache.ended):
        ended = c.coherent.ended[s, k]
        if ended.tag < 0:
            note(c, s, DONE_ACKNOWLEDGED, -1 - ended.tag, now)
        else:
            port.arrived(c, s, ended.tag, 1, now)
    cache.ended = 0


@inline
def fill_in(c, message, out, owner):
    """A message on its way to the home of its line."""
    message.kind = COHERENT + out.number
    message.address = out.line * c.l1.spec[0].line_bytes
    message.slice, message.flits = owner, out.flits
    message.mask, message.tag, message.full = out.mask, out.tag, out.lanes
    message.sectors = 1
    message.policy = message.request = 0
    message.refusals = out.refusals


@inline
def send(c, requests, s, now):
    """Let the request leave that is due; whether its home has a credit for this CU."""
    refused = outgoing.refused_first(c, s, now)
    out = c.coherent.queue[s, c.coherent.caches[s].out_head]
    if refused:
        out = c.coherent.retries[s, c.coherent.caches[s].retry_head]
    owner = port.owner_of(c, out.line)
    partition = owner // c.spec[0].slices_per_channel
    if not link.can_send(requests, s, partition):
        return False
    message = link.send(requests, s, partition, now)
    fill_in(c, message, out, owner)
    message.issued = now
    port.pass_out(c, s, message, now)
    outgoing.drop(c, s, refused)
    return True


@inline
def send_answer(c, answers, s, now):
    """Let the oldest answer leave, if its home has a credit."""
    out = c.coherent.answers[s, c.coherent.caches[s].answer_head]
    owner = port.owner_of(c, out.line)
    partition = owner // c.spec[0].slices_per_channel
    if link.can_send(answers, s, partition):
        message = link.send(answers, s, partition, now)
        fill_in(c, message, out, owner)
        message.issued = now
        c.cus[s].answer_free = now + out.flits
        outgoing.drop_answer(c, s)


@inline
def attribute(c, s, message, now):
    """Data is of the access that asked for it, if that was a load or an atomic operation."""
    e = lines.find(c, s, message.address // c.l1.spec[0].line_bytes)
    tag = c.coherent.operations[s, c.coherent.lines[s, e].first].tag
    if tag >= 0:
        attribution.reply(c, s, tag, message, now)


@inline
def receive(c, replies, s, now):
    """Take one reply from the crossbar."""
    message = link.first(replies, s)
    if message.kind < COHERENT:
        line_port.receive(c, replies, s, now)
        return
    counters = c.counters[s]
    port.pass_in(c, s, message, now)
    number = message.kind - COHERENT
    at = now
    if number == c.coherent.rules.known[0].refusal:
        counters.nacks += 1
        at = now + port.pause(c.spec[0], s, counters.nacks)
    elif c.coherent.rules.forms[number].carries:
        counters.miss_latency += now - message.issued
        if c.spec[0].attributes:
            attribute(c, s, message, now)
    l1.receive(c, s, counters, message, at, now)
    tell_ended(c, s, now)
    link.take(replies, s)


@inline
def receive_forward(c, forwards, s, now):
    """Take one forward, unless it must wait for what the line is in transition to."""
    if l1.receive(c, s, c.counters[s], link.first(forwards, s), now, now):
        tell_ended(c, s, now)
        link.take(forwards, s)


@inline
def next_event(c, replies, forwards, s, now, end):
    """Cycle after ``now`` at which a port can move; a lack of credits ends with the window."""
    sm = c.sms[s]
    at = NEVER
    lines = miss_queue.next_ready(c.lines, s)
    if lines < NEVER:
        at = end if c.cus[s].no_credit == now else max(lines, sm.inject_free // SUBCYCLES, now + 1)
    request = outgoing.next_request(c, s)
    if request < NEVER:
        blocked = sm.no_credit == now
        at = min(at, end if blocked else max(request, sm.inject_free // SUBCYCLES, now + 1))
    answer = outgoing.next_answer(c, s)
    if answer < NEVER:
        at = min(at, max(answer, c.cus[s].answer_free, now + 1))
    if replies.ports[s].count > 0:
        arrival = link.first(replies, s).arrival
        at = min(at, max(arrival, sm.fill_free // SUBCYCLES, now + 1))
    if forwards.ports[s].count > 0:
        at = min(at, max(link.first(forwards, s).arrival, now + 1))
    cache = c.coherent.caches[s]
    if cache.parked_first >= 0 or cache.sweeping > 0:
        at = min(at, now + 1)
    return at


@inline
def tick(c, requests, replies, forwards, answers, s, now):
    """One cycle of all ports. Freed room or new data may let operations and the L1 stage go on."""
    if port.may_receive(c, replies, s, now):
        receive(c, replies, s, now)
    if link.waiting(forwards, s, now):
        receive_forward(c, forwards, s, now)
    cache = c.coherent.caches[s]
    if cache.parked_first >= 0:
        l1.go_on(c, s, c.counters[s], now)
        tell_ended(c, s, now)
    if cache.sweeping > 0:
        l1_invalidation.sweep(c, s, c.counters[s], now)
    if outgoing.next_answer(c, s) <= now and c.cus[s].answer_free <= now:
        send_answer(c, answers, s, now)
    if port.may_send(c, s, now):
        due = miss_queue.next_ready(c.lines, s) <= now
        if not (due and line_port.send_line(c, requests, s, now)):
            if outgoing.next_request(c, s) <= now:
                port.note_credit(c, s, send(c, requests, s, now), now)
