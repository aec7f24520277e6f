"""The phase of compute units: those that share caches run through a window of cycles together."""

from lockstep._jit import Context, inline, jit
from lockstep.model import link
from lockstep.model.clock import NEVER
from lockstep.model.core import memory_pipeline, memory_queue
from lockstep.model.core.accounting import account_no_credit
from lockstep.model.core.state import Sm
from lockstep.model.cu import access_queue, coherent_l1, coherent_port, launch, port, scheduler
from lockstep.model.cu.completion import settle_done


class LinkedCus(Context):
    """The compute units, with the links on which they send requests and get replies."""

    sms: Sm
    requests: link.Link
    replies: link.Link
    forwards: link.Link  # with a coherence protocol, as those behind it
    answers: link.Link


@inline
def memory_cycle(state, s, now, end):
    """Ports, L1 and arbiter of one CU; notes when they move next."""
    c, replies = state.sms, state.replies
    if c.coherent.spec[0].on:
        coherent_port.tick(c, state.requests, replies, state.forwards, state.answers, s, now)
    else:
        port.tick(c, state.requests, replies, s, now)
    queued = c.vmu.spec[0].ports > 0
    if queued:
        access_queue.tick(c, s, now)
    elif c.coherent.spec[0].on:
        coherent_l1.tick(c, s, now)
    else:
        memory_pipeline.tick(c, s, now)
    settle_done(c, s, now)
    memory_queue.wake_waiting_for_room(c, s, now)
    if queued:
        following = access_queue.next_event(c, s, now)
    else:
        following = memory_pipeline.next_event(c, s, now)
    if c.coherent.spec[0].on:
        at_ports = coherent_port.next_event(c, replies, state.forwards, s, now, end)
    else:
        at_ports = port.next_event(c, replies, s, now, end)
    c.sms[s].memory_next = min(following, at_ports)


@inline
def next_event(c, s, now):
    """The earliest cycle from ``now`` on at which a SIMD in its turn or the memory may move."""
    following = c.sms[s].memory_next
    simds = c.spec[0].subcores
    for b in range(simds):
        at = c.subcores[s, b].next
        if at < NEVER:
            following = min(following, scheduler.turn_from(simds, b, max(at, now)))
    return following


@inline
def cycle(state, s, now, end):
    """One cycle of a CU."""
    c = state.sms
    if c.sms[s].memory_next <= now:
        memory_cycle(state, s, now, end)
    b = now % c.spec[0].subcores
    if c.subcores[s, b].next <= now:
        scheduler.cycle(c, s, b, now)


@inline
def begin_window(state, s, start):
    """What a CU was told, and what has come to it."""
    c = state.sms
    launch.begin_window(c, s)
    link.begin(state.requests, s)
    link.open_inbox(state.replies, s)
    come = state.replies.ports[s].count > 0
    if c.coherent.spec[0].on:
        link.begin(state.answers, s)
        link.open_inbox(state.forwards, s)
        come = come or state.forwards.ports[s].count > 0
        come = come or c.coherent.caches[s].answer_count > 0
    sm = c.sms[s]
    if port.begin_window(c, s) or come or sm.no_credit >= 0:
        sm.memory_next = min(sm.memory_next, start)
        account_no_credit(c, s, start)
        sm.no_credit = -1


@inline
def run_neighbours(state, first, last, start, end):
    """Run CUs first..last-1, which share caches, cycle by cycle; returns their next event."""
    c = state.sms
    for s in range(first, last):
        begin_window(state, s, start)
    now = start
    following = NEVER
    while now < end:
        for s in range(first, last):
            if next_event(c, s, now) <= now:
                cycle(state, s, now, end)
        following = NEVER
        for s in range(first, last):  # a line that has come to one may let others go on
            following = min(following, next_event(c, s, now + 1))
        now = max(now + 1, following)
    return max(following, end)


@jit
def run_linked(state, first, last, step, start, end):
    """Run CUs first..last-1 through start <= cycle < end, as ``model.sm.sm.run`` does SMs.

    Those that share caches are among them all or not at all, so ``step`` is 1. What has come to
    them over links counts as something to do.
    """
    following = NEVER
    s = first
    while s < last:
        behind = s + 1
        while behind < last and state.sms.cus[behind].leader == s:
            behind += 1
        following = min(following, run_neighbours(state, s, behind, start, end))
        s = behind
    if state.sms.coherent.spec[0].on:
        following = min(following, link.next_arrival(state.forwards, first, last, step))
    return min(following, link.next_arrival(state.replies, first, last, step))
