"""The SM phase: every SM of a range runs through a window of cycles by itself."""

from lockstep._jit import Context, inline, jit, prefetch
from lockstep.model import link
from lockstep.model.clock import NEVER
from lockstep.model.core import memory_pipeline, memory_queue, paging, port
from lockstep.model.core.accounting import account_left_out, account_no_credit, refusals
from lockstep.model.core.state import Sm
from lockstep.model.link import KIND_DATA
from lockstep.model.modules import gate
from lockstep.model.sm import launch, scheduler
from lockstep.model.sm.completion import settle_done

MOST_PREFETCHED = 64  # replies of a window


class LinkedSms(Context):
    """The SMs, with the links on which they send requests and get replies."""

    sms: Sm
    requests: link.Link
    replies: link.Link


@inline
def memory_cycle(c, requests, replies, s, now, end):
    """Ports, L1 and arbiter of one SM; notes when they move next."""
    port.tick(c, requests, replies, s, now)
    memory_pipeline.tick(c, s, now)
    settle_done(c, s, now)
    memory_queue.wake_waiting_for_room(c, s, now)  # what ended has made room too
    sm = c.sms[s]
    sm.memory_next = min(
        memory_pipeline.next_event(c, s, now), port.next_event(c, replies, s, now, end)
    )


@inline
def next_event(c, s):
    """The earliest cycle at which a sub-core or the memory pipeline may move."""
    following = c.sms[s].memory_next
    for b in range(c.spec[0].subcores):
        following = min(following, c.subcores[s, b].next)
    return following


@inline
def run_sm(c, requests, replies, s, start, end):
    """Run one SM through start <= cycle < end; returns its next event from ``end`` on."""
    sm = c.sms[s]
    spec = c.spec[0]
    link.begin(requests, s)
    link.open_inbox(replies, s)
    gate.begin(c.gate, s)
    come = replies.ports[s].count > 0 or gate.next_arrival(c.gate, s) < NEVER
    if come or sm.no_credit >= 0:
        sm.memory_next = min(sm.memory_next, start)
        account_no_credit(c, s, start)
        sm.no_credit = -1
    left_out = paging.windows_left_out(c, s, start)
    before = refusals(c, s) if left_out > 0 else (0, 0, 0, 0)
    now = start
    while now < end:
        if sm.memory_next <= now:
            memory_cycle(c, requests, replies, s, now, end)
        for b in range(spec.subcores):
            if c.subcores[s, b].next <= now:
                scheduler.cycle(c, s, b, now)
        now = max(now + 1, next_event(c, s))
    if left_out > 0:  # this one is like them: nothing moves but what tries again
        account_left_out(c, s, before, left_out)
    return max(next_event(c, s), end)


@inline
def prefetch_for(c, replies, s):
    """Bring what an SM will look at in its window into the host's caches, while another one runs.

    Its entries for the replies that have come, and the records of its sub-cores.
    """
    prefetch(c.sms[s])
    for b in range(c.spec[0].subcores):
        prefetch(c.subcores[s, b])
    place = replies.ports[s].head
    for _ in range(min(replies.ports[s].count, MOST_PREFETCHED)):
        tag = replies.inbox[s, place].tag
        if tag >= 0 and replies.inbox[s, place].kind == KIND_DATA:
            prefetch(c.l1.entries[s, tag])
        place = place + 1 if place + 1 < replies.spec[0].in_capacity else 0


@jit
def run(c, requests, replies, first, last, step, start, end):
    """Run every ``step``-th of SMs first..last-1 through start <= cycle < end.

    Replies were delivered. Returns the earliest cycle from ``end`` on at which one of these SMs
    has something to do by itself, or NEVER.
    """
    following = NEVER
    for s in range(first, last, step):
        launch.begin_window(c, s)
        if s + step < last:
            prefetch_for(c, replies, s + step)
        following = min(following, run_sm(c, requests, replies, s, start, end))
    return following


@jit
def run_linked(state, first, last, step, start, end):
    """As :func:`run`, of SMs on their links; what has come to them counts as something to do."""
    event = run(state.sms, state.requests, state.replies, first, last, step, start, end)
    if state.sms.gate.spec[0].on:
        event = min(event, link.next_arrival(state.sms.gate.into, first, last, step))
    return min(event, link.next_arrival(state.replies, first, last, step))
