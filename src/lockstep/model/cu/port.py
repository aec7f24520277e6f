"""A compute unit's two ports at the crossbar: its L1 shares them with two other caches.

What the scalar data cache and the instruction cache lack is asked for by the CU that met it,
before requests of its L1: a wavefront stands still for each, and they are few.
"""

from lockstep._jit import inline
from lockstep.model import link
from lockstep.model.cache import line_misses, miss_queue
from lockstep.model.clock import NEVER
from lockstep.model.core import port
from lockstep.model.core.state import SUBCYCLES
from lockstep.model.cu import line_fill
from lockstep.model.link import KIND_NACK


@inline
def receive(c, replies, s, now):
    """Take one reply from the crossbar."""
    message = link.first(replies, s)
    if not line_misses.is_answer(message):
        port.receive(c, replies, s, now)
        return
    port.pass_in(c, s, message, now)
    if message.kind == KIND_NACK:
        c.counters[s].nacks += 1
        at = now + port.pause(c.spec[0], s, c.counters[s].nacks)
        miss_queue.repeat(c.lines, s, message, at)
    else:
        line_fill.fill(c, s, message, now)
    link.take(replies, s)


@inline
def send_line(c, requests, s, now):
    """Ask for a line if its slice has a credit for this CU; whether that was done."""
    refused = miss_queue.refused_first(c.lines, s, now)
    request = c.lines.queue[s, c.lines.caches[s].queue_head]
    if refused:
        request = c.lines.retries[s, c.lines.caches[s].retry_head]
    owner = port.owner_of(c, request.line)
    if not link.can_send(requests, s, owner // c.spec[0].slices_per_channel):
        c.cus[s].no_credit = now
        return False
    port.post(c, requests, s, request, owner, now)
    miss_queue.drop(c.lines, s, refused)
    return True


@inline
def begin_window(c, s):
    """Credits have come; whether a request for a line waits for one."""
    waited = c.cus[s].no_credit >= 0
    c.cus[s].no_credit = -1
    return waited


@inline
def next_event(c, replies, s, now, end):
    """Cycle after ``now`` at which a port can move; a lack of credits ends with the window."""
    at = miss_queue.next_ready(c.lines, s)
    if at < NEVER:
        at = max(at, c.sms[s].inject_free // SUBCYCLES, now + 1)
        if c.cus[s].no_credit == now:
            at = end
    return min(at, port.next_event(c, replies, s, now, end))


@inline
def tick(c, requests, replies, s, now):
    """One cycle of both ports."""
    if port.may_receive(c, replies, s, now):
        receive(c, replies, s, now)
    port.resume(c, s, now)
    if port.may_send(c, s, now):
        due = miss_queue.next_ready(c.lines, s) <= now
        if not (due and send_line(c, requests, s, now)):
            port.send(c, requests, s, now)
