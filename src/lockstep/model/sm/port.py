"""The SM's two ports at the crossbar: requests out, one flit a crossbar cycle, and replies in."""

from lockstep._jit import inline, popcount
from lockstep.model import free_list
from lockstep.model import link as links
from lockstep.model.cache.l1_fill import fill
from lockstep.model.cache.l1_mshr import free_entry
from lockstep.model.cache.slice_hash import slice_of
from lockstep.model.clock import NEVER
from lockstep.model.link import KIND_ACK, KIND_ATOMIC, KIND_DATA, KIND_NACK, KIND_REDUCTION
from lockstep.model.sm.accounting import account_no_credit
from lockstep.model.sm.done import note
from lockstep.model.sm.state import DONE_ACCESS, DONE_ACKNOWLEDGED, SUBCYCLES


@inline
def retries_first(c, s, now):
    """Whether a refused request is due; it goes before the miss queue."""
    cache = c.l1.caches[s]
    return cache.retry_count > 0 and c.l1.retries[s, cache.retry_head].ready_at <= now


@inline
def next_request(c, s):
    """Cycle at which the oldest request is ready to leave, or NEVER."""
    cache = c.l1.caches[s]
    at = NEVER
    if cache.retry_count > 0:
        at = c.l1.retries[s, cache.retry_head].ready_at
    if cache.queue_count > 0:
        at = min(at, c.l1.queue[s, cache.queue_head].ready_at)
    return at


@inline
def remove_request(c, s, retry):
    """Drop the request that was sent."""
    cache = c.l1.caches[s]
    if retry:
        cache.retry_head = (cache.retry_head + 1) % c.l1.retries.shape[1]
        cache.retry_count -= 1
    else:
        cache.queue_head = (cache.queue_head + 1) % c.l1.spec[0].queue
        cache.queue_count -= 1


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
    spec = c.spec[0]
    sm = c.sms[s]
    retry = retries_first(c, s, now)
    request = c.l1.queue[s, c.l1.caches[s].queue_head]
    if retry:
        request = c.l1.retries[s, c.l1.caches[s].retry_head]
    address = request.line * c.l1.spec[0].line_bytes
    owner = slice_of(c.slices, address, c.policies.slice_hash)
    partition = owner // spec.slices_per_channel
    counters = c.counters[s]
    if not links.can_send(requests, s, partition):
        return False
    message = links.send(requests, s, partition, now)
    message.kind = request.kind
    message.address = address
    message.sectors = request.sectors
    message.full = request.full
    message.flits = request.flits
    message.slice = owner
    message.tag = request.tag
    message.policy = request.policy
    message.issued = now
    counters.noc_requests += 1
    counters.noc_request_flits += request.flits
    sm.inject_free = max(sm.inject_free, now * SUBCYCLES) + time_out(spec, request)
    remove_request(c, s, retry)
    return True


@inline
def repeat(c, s, message, now):
    """A refused request goes out again later."""
    cache = c.l1.caches[s]
    room = c.l1.retries.shape[1]
    again = c.l1.retries[s, (cache.retry_head + cache.retry_count) % room]
    cache.retry_count += 1
    again.line = message.address // c.l1.spec[0].line_bytes
    again.sectors = message.sectors
    again.full = message.full
    again.kind = message.request
    again.tag = message.tag
    again.policy = message.policy
    again.flits = message.flits
    again.ready_at = now + c.spec[0].nack_retry


@inline
def arrived(c, s, a, sectors, now):
    """Some sectors of an access are here."""
    access = c.accesses[s, a]
    cycle = now + c.spec[0].fill_cycles
    access.latest = max(access.latest, cycle)
    access.remaining -= popcount(sectors)
    if access.remaining == 0:
        note(c, s, DONE_ACCESS, a, access.latest)


@inline
def serve_waiters(c, s, e, sectors, now):
    """Give arrived sectors to the accesses that wait for them; free the entry after the last."""
    entry = c.l1.entries[s, e]
    before = -1
    n = entry.waiter
    while n >= 0:
        node = c.l1.nodes[s, n]
        after = node.next
        here = node.sectors & sectors
        node.sectors &= ~sectors
        if node.sectors == 0:
            if before < 0:
                entry.waiter = after
            else:
                c.l1.nodes[s, before].next = after
            node.next = free_list.link_to(c.l1.caches[s].free_node)
            c.l1.caches[s].free_node = n
        else:
            before = n
        if here != 0:
            arrived(c, s, node.access, here, now)
        n = after
    if entry.pending == 0:
        free_entry(c.l1, s, e)


@inline
def receive(c, replies, s, now):
    """Take one reply from the crossbar."""
    message = links.first(replies, s)
    sm = c.sms[s]
    counters = c.counters[s]
    counters.noc_replies += 1
    counters.noc_reply_flits += message.flits
    sm.fill_free = max(sm.fill_free, now * SUBCYCLES) + time_in(c.spec[0], message)
    if message.kind == KIND_NACK:
        counters.nacks += 1
        repeat(c, s, message, now)
    elif message.kind == KIND_ACK:
        note(c, s, DONE_ACKNOWLEDGED, message.tag, now)
    elif message.tag >= 0:
        counters.miss_latency += now - message.issued
        fill(c, s, message.tag, message.sectors, message.policy)
        serve_waiters(c, s, message.tag, message.sectors, now)
    else:
        counters.miss_latency += now - message.issued
        last = 0  # of the results of lanes on one word
        if message.request == KIND_ATOMIC:
            last = (message.full - 1) * c.spec[0].atomic_result // SUBCYCLES
        arrived(c, s, -1 - message.tag, message.sectors, now + last)
    links.take(replies, s)


@inline
def next_event(c, replies, s, now, end):
    """Cycle after ``now`` at which a port can move; a lack of credits ends with the window."""
    sm = c.sms[s]
    at = next_request(c, s)
    if at < NEVER:
        at = max(at, sm.inject_free // SUBCYCLES, now + 1)
        if sm.no_credit == now:
            at = end
    if replies.ports[s].count > 0:
        arrival = links.first(replies, s).arrival
        at = min(at, max(arrival, sm.fill_free // SUBCYCLES, now + 1))
    return at


@inline
def tick(c, requests, replies, s, now):
    """One cycle of both ports. Freed room or new data may let the L1 stage go on."""
    sm = c.sms[s]
    if sm.fill_free < (now + 1) * SUBCYCLES and links.waiting(replies, s, now):
        receive(c, replies, s, now)
    if sm.inject_free < (now + 1) * SUBCYCLES and next_request(c, s) <= now:
        sent = inject(c, requests, s, now)
        account_no_credit(c, s, now)
        sm.no_credit = -1 if sent else now
