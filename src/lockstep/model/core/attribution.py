"""What instructions did: counters of a core by static instruction, where somebody asks for it.

Rows lie as the records of ``Sm.code`` do. Each thread of the host has rows of its own, for cores
that it runs: so nobody waits, and sums do not depend on threads. Fields are counters of the same
name in ``counters.SM_COUNTERS``, and sum to these while a kernel runs alone; only scheduler-cycles
without any warp belong to no instruction. What an L1 makes of an access is what its counters
have gained, so the L1 knows nothing of instructions.
"""

import numpy as np

from lockstep._jit import Context, Records, inline, popcount
from lockstep.isa.instruction import OpClass
from lockstep.model.counters import N_STALLS, Stall
from lockstep.model.link import KIND_READ, KIND_WRITE
from lockstep.model.records import full, records, words, zeros

NOT_SELECTED = N_STALLS  # a warp could have issued, as far as is known: another one did
N_STATES = N_STALLS + 1
_OF_L1 = (
    "l1_global_read_sectors", "l1_global_read_hits", "l1_global_read_pending",
    "l1_global_write_sectors", "l1_global_write_hits",
    "l1_local_read_sectors", "l1_local_read_hits", "l1_local_read_pending",
    "l1_local_write_sectors", "l1_local_write_hits",
    "l1_atomic_sectors",
)  # fmt: skip

ATTRIBUTED = np.dtype(
    words(
        "warp_instructions",
        "thread_instructions",
        "warp_cycles",  # from the issue before it, or the warp's start, to its own
        "requests_global", "requests_local", "transactions",
        "shared_accesses", "shared_wavefronts",
        *_OF_L1,
        "bulk_read_sectors", "bulk_write_sectors",
        "miss_latency",  # of the replies to reads and atomics, from request to reply
        "replies",  # ... how many these are
        "reply_sectors",  # ... and what they bring
        "l2_hit_sectors",  # ... of it, what the L2 had when it was asked
    )
    + [("stalls", "i8", (N_STALLS,)), ("states", "i8", (N_STATES,))]
)  # fmt: skip
"""Of a static instruction. ``stalls[Stall]``: scheduler-cycles in which nothing issued because of a
warp that waited to issue it, or that it held after its issue. ``states``: what each of these warps
did in each cycle, by the same reasons: ISSUED, NO_WARP = it had yet to start, and NOT_SELECTED."""

REASON, CONSTANT = 0, 1  # places of a sub-core in ``Attribution.waiting``
NOBODY = -1
KERNEL_PLACE = 32  # of an instruction's number: its kernel's slot above its static index
STATIC = (1 << KERNEL_PLACE) - 1
FENCE = int(OpClass.FENCE)
LOCAL_FENCE = int(OpClass.LOCAL_FENCE)
STALL_BARRIER = int(Stall.BARRIER)
STALL_FENCE = int(Stall.FENCE)
STALL_SLEEP = int(Stall.SLEEP)
ISSUED = int(Stall.ISSUED)
NO_WARP = int(Stall.NO_WARP)


class Attribution(Context):
    """Of all cores; rows are one, and never looked at, where nobody asked for them."""

    rows: Records  # ATTRIBUTED, (threads of the host + 1) x arena of code
    tables: np.ndarray  # sms: the thread whose rows count for a core; the last: it runs elsewhere
    waiting: np.ndarray  # sms x subcores x 2: whose the reason is that holds; who lacks a constant
    issued: np.ndarray  # sms x warps: static index of what a warp issued last
    since: np.ndarray  # sms x warps: cycle from which on its state is not counted yet


def build(threads: int, sms: int, subcores: int, warps: int, code: int) -> Attribution:
    """Nothing has happened.

    ``threads``: of the host, 0 = nobody asks; ``code``: records of the arena of code.
    """
    return Attribution(
        records((threads + 1, code if threads else 1), ATTRIBUTED),
        full(sms, threads),
        full((sms, subcores, 2), NOBODY),
        zeros((sms, warps)),
        zeros((sms, warps)),
    )


@inline
def row_of(c, s, slot, static):
    """The row of an instruction of the kernel in a slot, for a core."""
    a = c.attribution
    return a.rows[a.tables[s], c.kernels[slot].code + static]


@inline
def issue(c, s, w, warp, lanes, now):
    """A warp issues its next instruction."""
    row = row_of(c, s, warp.kernel, warp.static)
    row.warp_instructions += 1
    row.thread_instructions += lanes
    row.warp_cycles += now - max(warp.last_issue, c.ctas[s, warp.cta].started)
    a = c.attribution
    if a.since[s, w] <= now:  # else it has issued in this cycle
        row.states[NOT_SELECTED] += now - a.since[s, w]
        row.states[ISSUED] += 1
    a.since[s, w] = now + 1
    a.issued[s, w] = warp.static


@inline
def stall(c, s, b, why, cycles):
    """A sub-core issued nothing for some cycles, for the reason that held.

    A warp that has yet to start is none.
    """
    number = c.attribution.waiting[s, b, REASON]
    if number != NOBODY and why != NO_WARP:
        row_of(c, s, number >> KERNEL_PLACE, number & STATIC).stalls[why] += cycles


@inline
def holder(c, s, w, reason):
    """The number of the instruction that a warp waits for, or that holds it after its issue."""
    warp = c.warps[s, w]
    static = warp.static
    behind = warp.left == 0 or reason == STALL_BARRIER or reason == STALL_SLEEP
    if reason == STALL_FENCE and not behind:
        op = c.code[c.kernels[warp.kernel].code + static].op
        behind = op != FENCE and op != LOCAL_FENCE
    if behind and warp.last_issue >= 0:
        static = c.attribution.issued[s, w]
    elif warp.left == 0:
        return NOBODY
    return np.int64(warp.kernel) << KERNEL_PLACE | static


@inline
def start(c, s, w, now):
    """A warp has been given a slot."""
    c.attribution.since[s, w] = now


@inline
def held(c, s, w, reason, until):
    """A warp was held for a reason until a cycle."""
    since = c.attribution.since[s, w]
    if until > since:
        number = holder(c, s, w, reason)
        if number != NOBODY:
            row = row_of(c, s, number >> KERNEL_PLACE, number & STATIC)
            row.states[reason] += until - since
        c.attribution.since[s, w] = until


@inline
def look(c, s, w, now):
    """A warp is looked at: until it woke, it had the reason that was found before."""
    found = c.looks[s, w]
    held(c, s, w, found.reason, min(found.wake, now))


@inline
def wait_for(c, s, b, w):
    """From now on nothing issues because of a warp."""
    c.attribution.waiting[s, b, REASON] = holder(c, s, w, c.looks[s, w].reason)


@inline
def wait_for_nobody(c, s, b):
    """From now on it is no warp's fault that nothing issues."""
    c.attribution.waiting[s, b, REASON] = NOBODY


@inline
def lacks_constant(c, s, b, w):
    """A warp that was to issue lacks a constant operand."""
    c.attribution.waiting[s, b, CONSTANT] = holder(c, s, w, c.looks[s, w].reason)


@inline
def wait_for_constant(c, s, b):
    """From now on nothing issues because of the constant operand that was missed last."""
    waiting = c.attribution.waiting
    waiting[s, b, REASON] = waiting[s, b, CONSTANT]


@inline
def row_of_access(c, s, access):
    """The row of the instruction of an access in flight."""
    return row_of(c, s, c.warps[s, access.warp].kernel, access.code)


@inline
def shared(c, s, slot, static, wavefronts):
    """An instruction takes passes over the banks of shared memory."""
    row = row_of(c, s, slot, static)
    row.shared_accesses += 1
    row.shared_wavefronts += wavefronts


@inline
def request(c, s, access, transactions, local):
    """An access comes to the L1."""
    row = row_of_access(c, s, access)
    row.transactions += transactions
    row.requests_local += local
    row.requests_global += 1 - local


@inline
def transaction(c, s, access):
    """One more line of an access is asked of the L1."""
    row_of_access(c, s, access).transactions += 1


@inline
def counted(counters, kind, local):
    """What an L1 has counted of accesses of a kind: sectors, hits, pending ones."""
    none = np.int64(0)
    if kind == KIND_READ:
        if local:
            return (
                counters.l1_local_read_sectors,
                counters.l1_local_read_hits,
                counters.l1_local_read_pending,
            )
        return (
            counters.l1_global_read_sectors,
            counters.l1_global_read_hits,
            counters.l1_global_read_pending,
        )
    if kind == KIND_WRITE:
        if local:
            return counters.l1_local_write_sectors, counters.l1_local_write_hits, none
        return counters.l1_global_write_sectors, counters.l1_global_write_hits, none
    return counters.l1_atomic_sectors, none, none


@inline
def before_access(c, s, kind, local):
    """What an L1 has ``counted`` that is about to be asked; nobody may want to know."""
    if c.spec[0].attributes:
        return counted(c.counters[s], kind, local)
    return np.int64(0), np.int64(0), np.int64(0)


@inline
def looked_up(c, s, access, kind, local, before):
    """An L1 was asked for an access: what it has counted since is of the access's instruction."""
    sectors, hits, pending = counted(c.counters[s], kind, local)
    sectors, hits, pending = sectors - before[0], hits - before[1], pending - before[2]
    if sectors == 0:  # refused
        return
    row = row_of_access(c, s, access)
    if kind == KIND_READ:
        if local:
            row.l1_local_read_sectors += sectors
            row.l1_local_read_hits += hits
            row.l1_local_read_pending += pending
        else:
            row.l1_global_read_sectors += sectors
            row.l1_global_read_hits += hits
            row.l1_global_read_pending += pending
    elif kind == KIND_WRITE:
        if local:
            row.l1_local_write_sectors += sectors
            row.l1_local_write_hits += hits
        else:
            row.l1_global_write_sectors += sectors
            row.l1_global_write_hits += hits
    else:
        row.l1_atomic_sectors += sectors


@inline
def bulk(c, s, access, reads, writes):
    """A bulk copy asks the L2 for sectors, or sends some there."""
    row = row_of_access(c, s, access)
    row.bulk_read_sectors += reads
    row.bulk_write_sectors += writes


@inline
def asker(c, s, e, sectors):
    """Whose miss brings sectors of an MSHR entry: who has waited longest, the last in its list."""
    found = n = c.l1.entries[s, e].waiter
    while n >= 0:
        if c.l1.nodes[s, n].sectors & sectors:
            found = n
        n = c.l1.nodes[s, n].next
    return c.l1.nodes[s, found].waiter


@inline
def reply(c, s, a, message, now):
    """Data that an access asked the L2 for is here."""
    row = row_of_access(c, s, c.accesses[s, a])
    n = popcount(message.sectors)
    row.miss_latency += now - message.issued
    row.replies += 1
    row.reply_sectors += n
    row.l2_hit_sectors += n if message.held else 0
