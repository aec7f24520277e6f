"""Memory pipeline of an SM: sub-core queues, arbiter, shared memory, and the way into the L1.

Back to front, an instruction is issued into its sub-core's queue, generates its addresses, is
accepted by the arbiter, and then either takes passes over the shared-memory banks or sends its
transactions through the L1, line by line.
"""

from lockstep._jit import force_inline, inline, popcount
from lockstep.isa.instruction import OpClass
from lockstep.model import witness
from lockstep.model.cache import l1, l1_banks, l1_prefetch
from lockstep.model.clock import NEVER
from lockstep.model.core import attribution, bulk, l1_words, stores
from lockstep.model.core.accounting import account_blocked
from lockstep.model.core.cluster import PACKETS_A_PASS, packets_to_others, sending
from lockstep.model.core.coalescer import (
    LOCAL,
    SHARED,
    coalesce,
    resolve,
    take_turns,
)
from lockstep.model.core.done import instruction_of, note, writes_only
from lockstep.model.core.memory_queue import pop_queue
from lockstep.model.core.release_state import POLICIES
from lockstep.model.core.shared_memory import passes
from lockstep.model.core.state import DONE_ACCESS
from lockstep.model.link import KIND_ATOMIC, KIND_READ, KIND_REDUCTION, KIND_WRITE

LOAD = int(OpClass.LOAD)
STORE = int(OpClass.STORE)
ATOMIC = int(OpClass.ATOMIC)
REDUCTION = int(OpClass.REDUCTION)
TEXTURE = int(OpClass.TEXTURE)
KERNEL_PLACE = 32  # of a load's number, for prefetchers: its kernel's slot above its instruction


@inline
def access_shared(c, s, a, now):
    """Serve an instruction from shared memory; its passes keep the pipeline busy."""
    access = c.accesses[s, a]
    cta = c.ctas[s, c.warps[s, access.warp].cta]
    instruction = instruction_of(c, s, access)
    record = c.addresses[cta.addresses + access.address]
    n = passes(c, s, record, cta.pool, access, instruction, c.spec[0].ideal_banks)
    counters = c.counters[s]
    counters.shared_accesses += 1
    counters.shared_wavefronts += n
    if c.spec[0].attributes:
        attribution.shared(c, s, cta.kernel, access.code, n)
    sm = c.sms[s]
    packets = packets_to_others(c, s, access, instruction, cta, c.kernels[cta.kernel])
    sent, first = sending(c, packets), sending(c, min(packets, PACKETS_A_PASS))
    sm.accept_free = max(sm.accept_free, now + max(n, sent))
    cycles = c.spec[0].remote_cycles if packets > 0 else c.spec[0].shared_cycles
    cycles += instruction.latency - 1  # as an access of its class takes one
    each = c.spec[0].shared_pass
    c.subcores[s, access.warp % c.spec[0].subcores].pass_free = now + n * each
    note(c, s, DONE_ACCESS, a, now + 1 + max((n - 1) * each, sent - first) + cycles)


@inline
def enter_stage(c, s, a):
    """An access is the one in the L1 stage."""
    sm = c.sms[s]
    sm.current = a
    sm.position = 0


@inline
def has_nothing(access, now):
    """An access asks the L1 for nothing, and is done in the next cycle."""
    access.latest = now + 1


@inline
def begin_transactions(c, s, a, now):
    """Coalesce an access to global or local memory and bring it to the L1."""
    sm = c.sms[s]
    access = c.accesses[s, a]
    warp = c.warps[s, access.warp]
    cta = c.ctas[s, warp.cta]
    kernel = c.kernels[warp.kernel]
    instruction = instruction_of(c, s, access)
    enter_stage(c, s, a)
    sm.transactions = coalesce(c, s, access, kernel, cta, warp, instruction)
    sm.began = now
    if sm.transactions == 0:  # a copy of no bytes
        has_nothing(access, now)
    if c.l1.spec[0].tag_bits > 0:
        take_turns(c, s, sm.transactions)
        if instruction.op == LOAD and access.space != LOCAL:
            record = c.addresses[cta.addresses + access.address]
            n = passes(c, s, record, cta.pool, access, instruction, False)  # of the L1
            access.passes = min(n, sm.transactions) if c.spec[0].ideal_coalescing else n
    c.counters[s].transactions += sm.transactions
    count_request(c, s, access, sm.transactions)


@inline
def count_request(c, s, access, transactions):
    """Count an instruction that reaches the L1 with so many transactions."""
    counters = c.counters[s]
    if access.space == LOCAL:
        counters.requests_local += 1
    else:
        counters.requests_global += 1
    if c.spec[0].attributes:
        attribution.request(c, s, access, transactions, access.space == LOCAL)
    if instruction_of(c, s, access).op == TEXTURE:
        counters.texture_requests += 1


@inline
def starts_at(access, sub):
    """Cycle from which the arbiter may take the oldest access of a sub-core."""
    if access.space == SHARED:
        return max(access.ready_at, sub.pass_free)
    return access.ready_at


@inline
def take(c, s, now):
    """Arbiter: take one instruction that has its addresses, round robin over the sub-cores.

    Returns its access if that is to go through the L1, else -1.
    """
    spec = c.spec[0]
    sm = c.sms[s]
    for turn in range(spec.subcores):
        b = (sm.arbiter + turn) % spec.subcores
        sub = c.subcores[s, b]
        if sub.queue_count == 0:
            continue
        access = c.accesses[s, c.queues[s, b, sub.queue_head]]
        if starts_at(access, sub) > now:
            continue
        a = pop_queue(c, s, b)
        sm.arbiter = b + 1
        sm.accept_free = now + spec.accept_interval
        warp = c.warps[s, access.warp]
        cta = c.ctas[s, warp.cta]
        first = c.addresses[cta.addresses + access.address].first
        access.space = resolve(access.space, first, c.kernels[warp.kernel])
        if access.space == SHARED:
            access_shared(c, s, a, now)
        elif bulk.is_bulk(instruction_of(c, s, access).op):
            bulk.start(c, s, a, now)
        else:
            return a
        return -1
    return -1


@inline
def accept(c, s, now):
    """Take an instruction, and coalesce it if it is to go through the L1."""
    a = take(c, s, now)
    if a >= 0:
        begin_transactions(c, s, a, now)


@force_inline
def kind_of(op):
    """What an operation asks the L1 for."""
    if op == STORE:
        return KIND_WRITE
    if op == ATOMIC:
        return KIND_ATOMIC
    return KIND_REDUCTION if op == REDUCTION else KIND_READ


@force_inline
def request_of(c, s, a, access, instruction):
    """The request to the L1 that an access makes for each of its transactions."""
    request = c.l1.requests[s]
    request.kind = kind_of(instruction.op)
    request.policy = instruction.cache & POLICIES
    request.local = access.space == LOCAL
    request.tag = a
    request.met = -1
    if writes_only(instruction.op):
        request.tag = stores.tag_of(c, s, access.warp)
    return request


@force_inline
def present(c, s, access, request, transaction, now):
    """Bring one transaction of an access to the L1; negative if it must come again, see there."""
    before = attribution.before_access(c, s, request.kind, request.local)
    coming, hits = l1.access(c.l1, s, c.counters[s], request, transaction, now)
    if c.spec[0].attributes:
        attribution.looked_up(c, s, access, request.kind, request.local, before)
    if coming < 0:
        return coming
    if witness.listens(c.witness):
        looked(c, s, access, request, transaction, hits)
    comes(c, s, access, coming, hits, now)
    if request.kind == KIND_WRITE or request.kind == KIND_REDUCTION:
        stores.send(c, s, access.warp)
    if c.l1.prefetch.spec[0].on and request.met >= 0:
        train(c, s, access, request, transaction)
    return coming


@inline
def looked(c, s, access, request, transaction, hits):
    """Note what a transaction has met."""
    warp = c.warps[s, access.warp]
    who = c.ctas[s, warp.cta].cta << witness.WARP_BITS | warp.index
    who = who << witness.CODE_BITS | access.code
    witness.note(
        c.witness, s, request.kind, transaction.line, transaction.sectors, request.tag, who, 0,
        hits > 0,
    )  # fmt: skip


@inline
def train(c, s, access, request, transaction):
    """Tell the L1's prefetcher of a load that the L1 looked up."""
    warp = c.warps[s, access.warp]
    number = c.ctas[s, warp.cta].cta * c.kernels[warp.kernel].warps + warp.index
    site = (warp.kernel << KERNEL_PLACE) | access.code
    l1_prefetch.train(c.l1, s, c.counters[s], site, transaction.line, number, request.met)


@force_inline
def blocked(c, s, why, now):
    """The L1 lacks what a transaction needs, ``why`` as it says; the transaction comes again."""
    account_blocked(c, s, now)
    sm = c.sms[s]
    sm.blocked = now
    sm.queue_blocked = why == l1.FULL_QUEUE
    sm.line_blocked = why == l1.FULL_SET


@force_inline
def unblocked(c, s, now):
    """A transaction is through the L1."""
    account_blocked(c, s, now)
    c.sms[s].blocked = -1


@inline
def through_l1(c, s, now):
    """Send transactions of the current access through the L1 while banks are free."""
    sm = c.sms[s]
    access = c.accesses[s, sm.current]
    instruction = instruction_of(c, s, access)
    request = request_of(c, s, sm.current, access, instruction)
    used = 0
    sectors = 0
    while sm.position < sm.transactions:
        nth = sm.position
        if c.l1.spec[0].tag_bits > 0:
            nth = c.transactions[s, nth].nth
        transaction = c.transactions[s, nth]
        banks = l1_banks.banks_of(c.l1.spec[0], transaction)
        if used & banks or sectors >= c.l1.spec[0].cycle_sectors:
            return
        came = present(c, s, access, request, transaction, now)
        if came < 0:
            blocked(c, s, came, now)
            return
        used |= banks
        if access.passes == 0:
            sectors += popcount(transaction.sectors)
        passed(c, s, max(1, -(-sectors // c.l1.spec[0].cycle_sectors)), now)
    extra = c.spec[0].texture_cycles if instruction.op == TEXTURE else 0
    words = 0
    if access.passes > 0 and access.remaining == 1:  # all of them are here
        words = l1_words.read(c, s, access, sm.began) + c.l1.spec[0].hit_cycles
        sm.accept_free = max(sm.accept_free, sm.words_free)
    leave(c, s, words, extra)


@force_inline
def advance(c, s):
    """The next part of the current access is the one to go."""
    c.sms[s].position += 1


@force_inline
def passed(c, s, cycles, now):
    """A transaction is through the L1 stage, which takes so many cycles."""
    unblocked(c, s, now)
    c.sms[s].l1_ready = now + cycles
    advance(c, s)


@force_inline
def leave(c, s, least, extra):
    """All transactions of the current access are through the L1 stage.

    If nothing of it is to come, it ends ``extra`` cycles after its last data, but for ``least``.
    """
    part_ends(c, s, leave_stage(c, s), least, extra)


@force_inline
def leave_stage(c, s):
    """The access in the L1 stage has asked for everything; which one it was."""
    sm = c.sms[s]
    a = sm.current
    sm.current = -1
    return a


@force_inline
def part_ends(c, s, a, least, extra):
    """One thing fewer is to come of an access; with the last one it ends, see ``leave``."""
    access = c.accesses[s, a]
    access.remaining -= 1
    if access.remaining == 0:
        note(c, s, DONE_ACCESS, a, max(access.latest, least) + extra)


@force_inline
def comes(c, s, access, sectors, hits, now):
    """Of an access so many sectors will come, and so many are here."""
    access.remaining += sectors
    if hits != 0:
        access.latest = max(access.latest, now + c.l1.spec[0].hit_cycles)


@inline
def next_accept(c, s, now):
    """Cycle after ``now`` at which the arbiter can take an instruction, or NEVER."""
    queued = NEVER
    for b in range(c.spec[0].subcores):
        sub = c.subcores[s, b]
        if sub.queue_count > 0:
            queued = min(queued, starts_at(c.accesses[s, c.queues[s, b, sub.queue_head]], sub))
    return max(queued, c.sms[s].accept_free, now + 1)


@inline
def next_event(c, s, now):
    """Cycle after ``now`` at which queues, arbiter, L1 stage or a bulk copy can move by itself."""
    sm = c.sms[s]
    at = bulk.next_event(c, s, now)
    if sm.current >= 0:
        return at if sm.blocked >= 0 else min(at, max(now + 1, sm.l1_ready))
    return min(at, next_accept(c, s, now))


@inline
def tick(c, s, now):
    """One cycle of the arbiter and the L1 stage, back to front."""
    sm = c.sms[s]
    if sm.current >= 0 and sm.l1_ready <= now:
        through_l1(c, s, now)
    if sm.current < 0 and sm.accept_free <= now:
        accept(c, s, now)
    bulk.tick(c, s, now)
