"""Routers through time: the phase of the modules.

Each takes what SMs and partitions of its module send to other modules, and what comes over links.
It hands on at once what has come to its module; the rest waits, first come first served, for the
link that leads on. A link carries so many bytes a cycle: sectors and a header for each message.
"""

from lockstep._jit import Context, inline, jit, popcount
from lockstep.gpus.modules import MOST_LINKS
from lockstep.model import entries as lists
from lockstep.model import link
from lockstep.model.clock import NEVER
from lockstep.model.link import KIND_ATOMIC, KIND_DATA, KIND_REDUCTION, KIND_WRITE
from lockstep.model.modules.state import ModuleLinks, Routers


class LinkedRouters(Context):
    """The routers on their links."""

    routers: Routers
    links: ModuleLinks


@inline
def size_of(spec, message):
    """Bytes of a message on a link: a header, and the sectors that it carries."""
    kind = message.kind
    carries = kind == KIND_DATA or kind == KIND_WRITE
    if carries or kind == KIND_ATOMIC or kind == KIND_REDUCTION:
        return spec.header + popcount(message.sectors) * spec.sector
    return spec.header


@inline
def _is_reply(message):
    return message.kind >= KIND_DATA


@inline
def _target_of(spec, message):
    """The module that a message is for."""
    if _is_reply(message):
        return message.source // spec.sms
    return message.slice // spec.slices // spec.partitions


@inline
def _hand_on(out, m, spec, message, now):
    """Send what has come to its module to its shard, as from the one that sent it."""
    partition = message.slice // spec.slices
    if _is_reply(message):
        sent = link.put(out.to_sms, m, message.source, now)
        _copy(sent, message)
        sent.source = partition
    else:
        sent = link.put(out.to_partitions, m, partition, now)
        _copy(sent, message)
        sent.source = message.source


@inline
def _copy(sent, message):
    """All of a message but where it is, which the link has said."""
    sent.address = message.address
    sent.tag = message.tag
    sent.issued = message.issued
    sent.slice = message.slice
    sent.flits = message.flits
    sent.held = message.held
    sent.policy = message.policy
    sent.full = message.full
    sent.sectors = message.sectors
    sent.kind = message.kind
    sent.request = message.request
    sent.refusals = message.refusals


@inline
def _enter(c, out, m, inbox, now):
    """Take what has arrived in an inbox of a router; returns how many messages."""
    spec, router = c.spec[0], c.routers[m]
    taken = 0
    while link.waiting(inbox, m, now):
        message = link.first(inbox, m)
        target = _target_of(spec, message)
        if target == m:
            _hand_on(out, m, spec, message, now)
        else:
            entry = lists.take(router, c.entries)
            c.entries[entry].since = now
            c.waiting[entry] = message
            lists.append(c.entries, router, c.links[m, target], entry)
        link.drop(inbox, m)
        taken += 1
    return taken


@inline
def _leave(c, out, m, k, now):
    """Let messages go on a link, as many as it begins in this cycle."""
    spec, router, counters = c.spec[0], c.routers[m], c.counters[m]
    while router.count[k] > 0 and router.link_free[k] < (now + 1) * spec.parts:
        if not link.has_room(out.hops, m):
            router.stuck = 1
            return
        entry = router.head[k]
        message = c.waiting[entry]
        sent = link.put(out.hops, m, c.neighbours[m, k], now)
        _copy(sent, message)
        sent.source = message.source
        size = size_of(spec, message)
        router.link_free[k] = max(router.link_free[k], now * spec.parts) + size * spec.byte_time
        counters.bytes[k] += size
        counters.messages[k] += 1
        counters.waited[k] += now - c.entries[entry].since
        lists.release(c.entries, router, lists.pop(c.entries, router, k))


@inline
def _next_in(inbox, m):
    return link.first(inbox, m).arrival if inbox.ports[m].count > 0 else NEVER


@inline
def _next_event(c, out, m, now, end):
    """The next cycle after ``now`` at which a router has something to do, or NEVER.

    Without room for what links carry it waits for the window's end.
    """
    router = c.routers[m]
    if router.stuck:
        return max(end, now + 1)
    at = min(_next_in(out.hops, m), _next_in(out.requests, m), _next_in(out.replies, m))
    for k in range(MOST_LINKS):
        if router.count[k] > 0:
            at = min(at, router.link_free[k] // c.spec[0].parts)
    return max(at, now + 1)


@inline
def _step(c, out, m, now):
    _enter(c, out, m, out.hops, now)
    c.counters[m].requests += _enter(c, out, m, out.requests, now)
    c.counters[m].replies += _enter(c, out, m, out.replies, now)
    for k in range(MOST_LINKS):
        _leave(c, out, m, k, now)


@jit
def run_linked(state, first, last, step, start, end):
    """Take every ``step``-th of routers first..last-1 through cycles ``start <= t < end``.

    Returns the earliest cycle from ``end`` on at which one of them has something to do, or NEVER.
    """
    c, out = state.routers, state.links
    event = NEVER
    for m in range(first, last, step):
        link.begin(out.hops, m)
        link.begin(out.to_partitions, m)
        link.begin(out.to_sms, m)
        link.open_inbox(out.hops, m)
        link.open_inbox(out.requests, m)
        link.open_inbox(out.replies, m)
        c.routers[m].stuck = 0
        now = _next_event(c, out, m, start - 1, end)
        while now < end:
            _step(c, out, m, now)
            now = _next_event(c, out, m, now, end)
        event = min(event, max(now, end) if now < NEVER else NEVER)
    return event
