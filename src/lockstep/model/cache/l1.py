"""L1 data cache of an SM: sectored, banked, write-through, with MSHRs that merge.

Streaming (``allocate = fill``): a miss holds an MSHR entry and no line; the line is chosen when
data arrives. ``allocate = miss`` reserves the line at once, as GPGPU-Sim 3 did, so that a set
whose lines all wait for data cannot take another miss.

An MSHR entry stands for a line and has a list of waiters, one an access; entries are found by a
chained hash. What leaves for the L2 goes through the miss queue in order.
"""

import numpy as np

from lockstep._jit import Context, Records, inline, popcount
from lockstep.isa.instruction import CachePolicy, OpClass, Space
from lockstep.model.cache import replacement, slice_hash
from lockstep.model.cache import tags as cache_tags
from lockstep.model.cache.l1_fill import reserve_line
from lockstep.model.cache.l1_mshr import add_waiter, find_entry, new_entry
from lockstep.model.cache.slice_hash import Hash
from lockstep.model.cache.tags import Tags
from lockstep.model.link import KIND_ATOMIC, KIND_READ, KIND_REDUCTION, KIND_WRITE
from lockstep.model.records import words
from lockstep.model.sm import stores

STORE = int(OpClass.STORE)
ATOMIC = int(OpClass.ATOMIC)
REDUCTION = int(OpClass.REDUCTION)
LOCAL = int(Space.LOCAL)
FOLDED_BITS = 16  # of a line's number: 8 MB
BYPASS = int(CachePolicy.BYPASS_L1 | CachePolicy.VOLATILE)

SPEC = np.dtype(
    words(
        "line_bytes", "sector_bytes", "sectors", "banks", "on_fill", "hit_cycles", "sets",
        "entries", "merges", "queue", "cache_global", "evict_on_write", "buckets", "flit_bytes",
        "cycle_sectors",  # that the data array reads out in a cycle
        "tag_bits",  # log2 of the tag banks; 0: banks of sectors alone
    )
)  # fmt: skip
CACHE = np.dtype(
    words(
        "free_entry", "free_node", "queue_head", "queue_count", "retry_head", "retry_count",
        "filled",  # 1: a line was put in since all were dropped
    )
)  # fmt: skip
ENTRY = np.dtype(
    [("line", "i8"), ("next", "i4"), ("waiter", "i4"), ("merges", "i4"), ("pending", "i4")]
)
"""MSHR entry: next entry of its bucket, first waiter, sectors on their way."""
NODE = np.dtype([("next", "i4"), ("access", "i2"), ("sectors", "i2")])
"""A waiter. ``next`` of a free one is its successor plus one; 0, as before its first use, means the
node behind it, so that no memory is touched before it is needed."""
MISS = np.dtype(
    [
        ("line", "i8"),
        ("tag", "i8"),
        ("ready_at", "i8"),
        ("flits", "i4"),
        ("full", "u1"),
        ("sectors", "u1"),
        ("kind", "u1"),
        ("policy", "u1"),
    ]
)
"""A request on its way out. ``tag``: MSHR entry; -1 - access for reads past the L1 and atomics;
of writes and reductions, whose they are (``stores.send``)."""


class L1State(Context):
    """The L1s of all SMs; first index: the SM."""

    spec: Records  # SPEC, one
    caches: Records  # CACHE
    tags: Tags
    hash: Hash
    entries: Records  # ENTRY, sms x entries
    buckets: np.ndarray  # sms x buckets: first entry, or -1
    nodes: Records  # NODE, sms x nodes
    queue: Records  # MISS, sms x queue
    retries: Records  # MISS, sms x room for all requests that can be refused


@inline
def tag_bank(line, bits):
    """The tag bank of a line: its low bits, folded, so that strides of 2^n spread, too."""
    bank = 0
    line &= (1 << FOLDED_BITS) - 1
    for shift in range(0, FOLDED_BITS, bits):
        bank ^= line >> shift
    return bank & ((1 << bits) - 1)


@inline
def banks_of(spec, transaction):
    """Bit mask of the banks that a transaction's sectors lie in, or of its tag bank."""
    if spec.tag_bits > 0:
        return 1 << tag_bank(transaction.line, spec.tag_bits)
    mask = 0
    for sector in range(spec.sectors):
        if (transaction.sectors >> sector) & 1:
            mask |= 1 << ((transaction.line * spec.sectors + sector) % spec.banks)
    return mask


@inline
def push(l1, s, line, sectors, kind, tag, policy, flits, now):
    """Append a request to the miss queue, which has room; returns its record."""
    cache = l1.caches[s]
    miss = l1.queue[s, (cache.queue_head + cache.queue_count) % l1.spec[0].queue]
    cache.queue_count += 1
    miss.line = line
    miss.sectors = sectors
    miss.full = 0
    miss.kind = kind
    miss.tag = tag
    miss.policy = policy
    miss.flits = flits
    miss.ready_at = now + 1
    return miss


@inline
def queue_full(l1, s, counters):
    """Whether the miss queue is full; counts the failure."""
    if l1.caches[s].queue_count < l1.spec[0].queue:
        return False
    counters.l1_fail_queue += 1
    return True


@inline
def count_read(counters, local, n, hits, merged):
    """Count the sectors of a read that the L1 looked up."""
    if local:
        counters.l1_local_read_sectors += n
        counters.l1_local_read_hits += hits
        counters.l1_local_read_pending += merged
    else:
        counters.l1_global_read_sectors += n
        counters.l1_global_read_hits += hits
        counters.l1_global_read_pending += merged


@inline
def data_flits(spec, sectors):
    """Port cycles that the data of some sectors takes."""
    return popcount(sectors) * ((spec.sector_bytes + spec.flit_bytes - 1) // spec.flit_bytes)


@inline
def no_mshr(l1, s, e, missing, counters):
    """Whether the MSHR file cannot take the transaction; counts the failure."""
    if e >= 0 and l1.entries[s, e].merges >= l1.spec[0].merges:
        counters.l1_fail_merge += 1
        return True
    cache = l1.caches[s]
    new_entry_fails = e < 0 and cache.free_entry >= l1.entries.shape[1]
    if cache.free_node >= l1.nodes.shape[1] or new_entry_fails:
        counters.l1_fail_mshr += 1
        return True
    return missing != 0 and queue_full(l1, s, counters)


@inline
def load(c, s, a, access, transaction, policy, now):
    """A cached read; false if the cache cannot take it now."""
    l1 = c.l1
    counters = c.counters[s]
    line = transaction.line
    row = cache_tags.row_of(l1.tags, s, slice_hash.index_of(l1.hash, line))
    way = cache_tags.find(l1.tags, s, row, line)
    valid = cache_tags.way_of(l1.tags, row, way).valid if way >= 0 else 0
    hit = transaction.sectors & valid
    other = transaction.sectors & ~valid
    if other != 0:
        e = find_entry(l1, s, line)
        pending = l1.entries[s, e].pending if e >= 0 else 0
        missing = other & ~pending
        if no_mshr(l1, s, e, missing, counters):
            return False
        if missing != 0 and l1.spec[0].on_fill == 0:
            way = reserve_line(c, s, row, way, line, policy)
            if way < 0:
                return False
        if e < 0:
            e = new_entry(l1, s, line)
        add_waiter(l1, s, e, a, other)
        access.remaining += popcount(other)
        if missing != 0:
            l1.entries[s, e].pending |= missing
            push(l1, s, line, missing, KIND_READ, e, policy, 1, now)
    if hit != 0:
        access.latest = max(access.latest, now + l1.spec[0].hit_cycles)
        replacement.touch(l1.tags, s, row, way, policy)
    merged = popcount(other & pending) if other != 0 else 0
    count_read(
        counters, access.space == LOCAL, popcount(transaction.sectors), popcount(hit), merged
    )
    return True


@inline
def read_past(c, s, a, access, transaction, policy, now):
    """A read that the L1 must not serve; false if the miss queue is full."""
    counters = c.counters[s]
    if queue_full(c.l1, s, counters):
        return False
    n = popcount(transaction.sectors)
    access.remaining += n
    push(c.l1, s, transaction.line, transaction.sectors, KIND_READ, -1 - a, policy, 1, now)
    count_read(counters, access.space == LOCAL, n, 0, 0)
    counters.l1_bypass_sectors += n
    return True


@inline
def update_line(c, s, transaction, evict, counters, local):
    """A write or atomic meets the line in the L1: it is updated, or dropped."""
    tags = c.l1.tags
    line = transaction.line
    row = cache_tags.row_of(tags, s, slice_hash.index_of(c.l1.hash, line))
    way = cache_tags.find(tags, s, row, line)
    if way < 0:
        return
    hits = popcount(transaction.sectors & cache_tags.way_of(tags, row, way).valid)
    if local:
        counters.l1_local_write_hits += hits
    else:
        counters.l1_global_write_hits += hits
    if evict and tags.keys[row, way] < cache_tags.LOCKED:
        cache_tags.invalidate(tags, row, way)


@inline
def store(c, s, access, transaction, policy, now):
    """A write goes through to the L2; false if the miss queue is full."""
    l1 = c.l1
    counters = c.counters[s]
    if queue_full(l1, s, counters):
        return False
    local = access.space == LOCAL
    n = popcount(transaction.sectors)
    if local:
        counters.l1_local_write_sectors += n
    else:
        counters.l1_global_write_sectors += n
    update_line(c, s, transaction, l1.spec[0].evict_on_write and not local, counters, local)
    flits = data_flits(l1.spec[0], transaction.sectors)
    tag = stores.send(c, s, access.warp)
    miss = push(l1, s, transaction.line, transaction.sectors, KIND_WRITE, tag, policy, flits, now)
    miss.full = transaction.full & transaction.sectors
    return True


@inline
def atomic(c, s, a, access, transaction, instruction, now):
    """An atomic executes at the L2; the L1 drops the line. False if the miss queue is full."""
    l1 = c.l1
    counters = c.counters[s]
    if queue_full(l1, s, counters):
        return False
    n = popcount(transaction.sectors)
    counters.l1_atomic_sectors += n
    returns = instruction.op == ATOMIC
    kind = KIND_ATOMIC if returns else KIND_REDUCTION
    tag = -1 - a if returns else stores.send(c, s, access.warp)
    flits = data_flits(l1.spec[0], transaction.sectors)
    miss = push(
        l1, s, transaction.line, transaction.sectors, kind, tag, instruction.cache, flits, now
    )
    miss.full = transaction.full
    drop_line(c, s, transaction.line)
    if returns:
        access.remaining += n
    return True


@inline
def drop_line(c, s, line):
    """Forget a line whose memory is changed behind the L1's back."""
    tags = c.l1.tags
    row = cache_tags.row_of(tags, s, slice_hash.index_of(c.l1.hash, line))
    way = cache_tags.find(tags, s, row, line)
    if way >= 0 and tags.keys[row, way] < cache_tags.LOCKED:
        cache_tags.invalidate(tags, row, way)


@inline
def access(c, s, a, access, transaction, instruction, now):
    """Bring one transaction of access ``a`` to the L1; false if it must come again."""
    op = instruction.op
    policy = instruction.cache
    if op == STORE:
        done = store(c, s, access, transaction, policy, now)
    elif op == ATOMIC or op == REDUCTION:
        done = atomic(c, s, a, access, transaction, instruction, now)
    elif (
        policy & BYPASS
        or (access.space != LOCAL and c.l1.spec[0].cache_global == 0)
        or c.l1.tags.caches[s].ways == 0
    ):
        done = read_past(c, s, a, access, transaction, policy, now)
    else:
        done = load(c, s, a, access, transaction, policy, now)
    return done
