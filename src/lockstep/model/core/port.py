"""The SM's two ports at the crossbar: requests out, one flit a crossbar cycle, and replies in."""

from lockstep._jit import inline, jit, popcount
from lockstep.model import link as links
from lockstep.model import witness
from lockstep.model.cache import l1, l1_prefetch, l1_waiting, miss_queue, mshr_file
from lockstep.model.cache.l1_fill import fill
from lockstep.model.cache.prefetch import state as prefetching
from lockstep.model.clock import NEVER
from lockstep.model.core import attribution, l1_words, paging
from lockstep.model.core.accounting import account_no_credit
from lockstep.model.core.done import note
from lockstep.model.core.state import DONE_ACCESS, DONE_ACKNOWLEDGED, SUBCYCLES
from lockstep.model.link import (
    KIND_ACK,
    KIND_ATOMIC,
    KIND_DATA,
    KIND_NACK,
    KIND_READ,
    KIND_REDUCTION,
    KIND_WRITE,
)
from lockstep.model.modules import gate, pages

LOT = (1 << 31) - 1  # bits of a lot


@inline
def time_out(spec, request):
    """How long a request takes the SM's port, in SUBCYCLES."""
    time = request.flits * spec.port_step
    if request.kind == KIND_ATOMIC or request.kind == KIND_REDUCTION:
        further = popcount(request.sectors) - 1
        time = max(time, further * spec.atomic_sector + spec.atomic_word)
        time = max(time, request.full * spec.atomic_word)
    return time


@inline
def time_in(spec, message):
    """How long a reply takes the SM's port, in SUBCYCLES."""
    time = message.flits * spec.port_step
    if message.kind == KIND_DATA:
        time += spec.reply_header
        if message.request == KIND_ATOMIC:
            time = max(time, message.full * spec.atomic_result)
    return time


@inline
def inject(c, requests, s, now):
    """Send the oldest request if the port is free and its partition has a credit for us."""
    refused = miss_queue.refused_first(c.l1, s, now)
    request = c.l1.queue[s, c.l1.caches[s].queue_head]
    if refused:
        request = c.l1.retries[s, c.l1.caches[s].retry_head]
    owner = owner_of(c, request.line)
    if not paging.may_go(c, s, request.line, now):
        return False
    if not pages.may_go(c.slices, c.control.asks[s], address_of(c, request.line), now):
        return False
    if not gate.can_send(c.gate, requests, s, owner // c.spec[0].slices_per_channel):
        return c.spec[0].overtakes != 0 and not refused and overtake(c, requests, s, now)
    post(c, requests, s, request, owner, now)
    miss_queue.drop(c.l1, s, refused)
    return True


@jit
def overtake(c, requests, s, now):
    """Send the oldest request whose partition has a credit, before older ones to others.

    The first such request is the oldest to its partition, so that lines keep their order.
    """
    for k in range(1, c.l1.caches[s].queue_count):
        request = miss_queue.at(c.l1, s, k)
        if request.ready_at > now or not paging.is_here(c, request.line):
            return False
        owner = owner_of(c, request.line)
        if gate.can_send(c.gate, requests, s, owner // c.spec[0].slices_per_channel):
            post(c, requests, s, request, owner, now)
            miss_queue.take_out(c.l1, s, k)
            return True
    return False


@inline
def address_of(c, line):
    """The address of a line."""
    return line * c.l1.spec[0].line_bytes


@inline
def owner_of(c, line):
    """The L2 slice that owns a line; of a line of another GPU, the number behind the last one."""
    if gate.is_peers(c.gate, address_of(c, line)):
        return c.gate.spec[0].others * c.spec[0].slices_per_channel
    return pages.slice_of(c.slices, address_of(c, line), c.policies.slice_hash)


@inline
def pass_out(c, s, message, now):
    """A request takes its time of the port."""
    sm, counters = c.sms[s], c.counters[s]
    counters.noc_requests += 1
    counters.noc_request_flits += message.flits
    sm.inject_free = max(sm.inject_free, now * SUBCYCLES) + time_out(c.spec[0], message)


@inline
def note_credit(c, s, sent, now):
    """The port has tried to send a request; without a credit it waits for the window's end."""
    account_no_credit(c, s, now)
    c.sms[s].no_credit = -1 if sent else now


@inline
def count_peer(counters, request):
    """A request leaves for another GPU."""
    sectors = popcount(request.sectors)
    counters.peer_requests += 1
    if request.kind == KIND_READ:
        counters.peer_read_sectors += sectors
    elif request.kind == KIND_WRITE:
        counters.peer_write_sectors += sectors
    else:
        counters.peer_atomic_sectors += sectors


@inline
def post(c, requests, s, request, owner, now):
    """Put a request on its way to the slice that owns its line; there is a credit."""
    partition = owner // c.spec[0].slices_per_channel
    if c.gate.spec[0].fabric and gate.is_far(c.gate, s, partition):
        count_peer(c.counters[s], request)
    message = gate.send(c.gate, requests, s, partition, now)
    message.kind = request.kind
    message.address = address_of(c, request.line)
    message.sectors = request.sectors
    message.full = request.full
    message.flits = request.flits
    message.slice = owner
    message.tag = request.tag
    message.policy = request.policy
    message.refusals = request.refusals
    message.issued = now
    pass_out(c, s, message, now)


@inline
def inject_prefetch(c, requests, s, now):
    """Send the oldest prefetch, if it asks for anything; half of the credits are left to demand."""
    owner = owner_of(c, prefetching.first(c.l1.prefetch, s))
    partition = owner // c.spec[0].slices_per_channel
    spare = gate.has_spare(c.gate, requests, s, partition)
    line = prefetching.first(c.l1.prefetch, s)
    here = paging.is_here(c, line)
    here = here and pages.may_go(c.slices, c.control.asks[s], address_of(c, line), now)
    if not here or not spare or not gate.can_send(c.gate, requests, s, partition):
        c.l1.prefetch.queues[s].blocked = now
    elif l1_prefetch.take(c.l1, s, c.counters[s]):
        post(c, requests, s, c.l1.leaving[s], owner, now)


@inline
def arrived(c, s, a, sectors, now):
    """Some sectors of an access are here."""
    if witness.listens(c.witness):
        witness.note(c.witness, s, witness.ARRIVED, 0, sectors, a, 0, 0, 0)
    access = c.accesses[s, a]
    cycle = now + c.spec[0].fill_cycles
    access.latest = max(access.latest, cycle)
    access.remaining -= popcount(sectors)
    if access.remaining == 0:
        ends(c, s, a, access, now)


@inline
def ends(c, s, a, access, now):
    """The last sectors of an access are here: it ends when its words are read."""
    words = l1_words.read(c, s, access, now) - now - 1 if access.passes > 0 else 0
    note(c, s, DONE_ACCESS, a, access.latest + words)


@inline
def serve_waiters(c, s, e, sectors, now):
    """Give arrived sectors to the accesses that wait for them; free the entry after the last."""
    before = -1
    n = c.l1.entries[s, e].waiter
    while n >= 0:
        a, after = c.l1.nodes[s, n].waiter, c.l1.nodes[s, n].next
        here, before = mshr_file.serve(c.l1, s, e, before, n, sectors)
        if here != 0:
            arrived(c, s, a, here, now)
        n = after
    if c.l1.entries[s, e].pending == 0:
        mshr_file.release(c.l1, s, e)


@inline
def pause(spec, s, nacks):
    """How long the request that was the ``nacks``-th to be refused waits, in core cycles.

    The lot depends on the SM and the number alone, so that it falls the same on any threads.
    """
    if spec.nack_spread == 0:
        return spec.nack_retry
    # 48271 and 16807 multiply in Park and Miller's generators, 40503 is Knuth's for 16 bits.
    lot = (s * 40503 + nacks * 48271 + 12345) & LOT
    lot = ((lot ^ (lot >> 15)) * 16807) & LOT
    return spec.nack_retry + (lot ^ (lot >> 13)) % (spec.nack_spread + 1)


@inline
def resume(c, s, now):
    """Give free MSHR entries to the reads that wait for them, the oldest first."""
    while l1.may_resume(c.l1, s):
        local = l1_waiting.oldest(c.l1, s).local
        before = attribution.before_access(c, s, KIND_READ, local)
        a, hits = l1.resume(c.l1, s, c.counters[s], now)
        if a < 0:
            return
        if c.spec[0].attributes:
            attribution.looked_up(c, s, c.accesses[s, a], KIND_READ, local, before)
        if hits != 0:
            access = c.accesses[s, a]
            access.latest = max(access.latest, now + c.l1.spec[0].hit_cycles)
            access.remaining -= hits
            if access.remaining == 0:
                ends(c, s, a, access, now)


@inline
def pass_in(c, s, message, now):
    """A reply takes its time of the port."""
    sm = c.sms[s]
    counters = c.counters[s]
    counters.noc_replies += 1
    counters.noc_reply_flits += message.flits
    sm.fill_free = max(sm.fill_free, now * SUBCYCLES) + time_in(c.spec[0], message)


@inline
def heard(c, s, message, kept):
    """Note data that has come."""
    if witness.listens(c.witness):
        line = message.address // c.l1.spec[0].line_bytes
        witness.note(
            c.witness, s, witness.ANSWERED, line, message.sectors, message.tag, 0, message.issued,
            kept,
        )  # fmt: skip


@inline
def receive(c, replies, s, now):
    """Take one reply from the crossbar."""
    crossed = gate.is_first(c.gate, replies, s)
    message = links.first(c.gate.into if crossed else replies, s)
    counters = c.counters[s]
    pass_in(c, s, message, now)
    if message.kind == KIND_NACK:
        counters.nacks += 1
        if not l1_prefetch.refused(c.l1, s, counters, message):
            miss_queue.repeat(c.l1, s, message, now + pause(c.spec[0], s, counters.nacks))
    elif message.kind == KIND_ACK:
        note(c, s, DONE_ACKNOWLEDGED, message.tag, now)
    elif message.tag >= 0:
        heard(c, s, message, not mshr_file.is_detached(c.l1, s, message.tag))
        if not mshr_file.is_ahead(c.l1, message.tag):
            counters.miss_latency += now - message.issued
            if c.spec[0].attributes:
                a = attribution.asker(c, s, message.tag, message.sectors)
                attribution.reply(c, s, a, message, now)
        fill(c.l1, s, counters, message.tag, message.sectors, message.policy)
        serve_waiters(c, s, message.tag, message.sectors, now)
    else:
        heard(c, s, message, False)
        counters.miss_latency += now - message.issued
        if c.spec[0].attributes:
            attribution.reply(c, s, -1 - message.tag, message, now)
        last = 0  # of the results of lanes on one word
        if message.request == KIND_ATOMIC:
            last = (message.full - 1) * c.spec[0].atomic_result // SUBCYCLES
        arrived(c, s, -1 - message.tag, message.sectors, now + last)
    if crossed:
        gate.take(c.gate, replies, s)
    else:
        links.take(replies, s)


@inline
def tries_again(c, s, now, end):
    """From when on the oldest request may leave, which could not at ``now``.

    A lack of credits ends with the window, that of a page when the engine says so; a request that
    was refused goes before when it is due.
    """
    cache = c.l1.caches[s]
    refused = miss_queue.refused_first(c.l1, s, now)
    request = c.l1.retries[s, cache.retry_head] if refused else c.l1.queue[s, cache.queue_head]
    at = paging.resumes(c, s, request.line)
    if not refused and cache.retry_count > 0:
        at = min(at, c.l1.retries[s, cache.retry_head].ready_at)
    return max(at, end)


@inline
def next_event(c, replies, s, now, end):
    """Cycle after ``now`` at which a port can move."""
    sm = c.sms[s]
    at = miss_queue.next_ready(c.l1, s)
    if at < NEVER:
        at = max(at, sm.inject_free // SUBCYCLES, now + 1)
        if sm.no_credit == now:
            at = tries_again(c, s, now, end)
            if c.spec[0].overtakes and c.l1.caches[s].queue_count > 0:
                last = miss_queue.at(c.l1, s, c.l1.caches[s].queue_count - 1)
                at = min(at, last.ready_at) if last.ready_at > now else at
    if c.l1.prefetch.spec[0].on and c.l1.prefetch.queues[s].count > 0:
        blocked = c.l1.prefetch.queues[s].blocked == now
        at = min(at, end if blocked else max(sm.inject_free // SUBCYCLES, now + 1))
    arrival = gate.next_arrival(c.gate, s)
    if replies.ports[s].count > 0:
        arrival = min(arrival, links.first(replies, s).arrival)
    if arrival < NEVER:
        at = min(at, max(arrival, sm.fill_free // SUBCYCLES, now + 1))
    return at


@inline
def may_receive(c, replies, s, now):
    """Whether the port takes a reply in this cycle."""
    port_free = c.sms[s].fill_free < (now + 1) * SUBCYCLES
    return port_free and gate.waiting(c.gate, replies, s, now)


@inline
def may_send(c, s, now):
    """Whether the port takes a request in this cycle."""
    return c.sms[s].inject_free < (now + 1) * SUBCYCLES


@inline
def send(c, requests, s, now):
    """Let the oldest request of the L1 leave, or a prefetch if there is none."""
    if miss_queue.next_ready(c.l1, s) <= now:
        note_credit(c, s, inject(c, requests, s, now), now)
    elif c.l1.prefetch.spec[0].on and c.l1.prefetch.queues[s].count > 0:
        inject_prefetch(c, requests, s, now)


@inline
def tick(c, requests, replies, s, now):
    """One cycle of both ports. Freed room or new data may let the L1 stage go on."""
    if may_receive(c, replies, s, now):
        receive(c, replies, s, now)
    resume(c, s, now)
    if may_send(c, s, now):
        send(c, requests, s, now)
