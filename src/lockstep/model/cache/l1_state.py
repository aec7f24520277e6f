"""What L1 data caches are made of: their parameters, their records, and how their owner asks."""

from typing import NamedTuple

import numpy as np

from lockstep._jit import Context, Records
from lockstep.gpus import spec as gpu_spec
from lockstep.model.cache import l1_waiting, miss_queue, mshr_file, slice_hash
from lockstep.model.cache import tags as cache_tags
from lockstep.model.cache.prefetch import state as prefetching
from lockstep.model.cache.prefetch import table
from lockstep.model.cache.protocols import registry
from lockstep.model.cache.slice_hash import Hash
from lockstep.model.cache.tags import Tags
from lockstep.model.records import copy_fields, records, words, zeros

COVER_BITS = 32  # of a sector, but where single bytes are asked for

SPEC = np.dtype(
    words(
        "line_bytes", "sector_bytes", "sectors", "banks", "on_fill", "hit_cycles", "sets",
        "entries", "merges", "queue", "cache_global", "protocol", "buckets", "flit_bytes",
        "cycle_sectors",  # that the data array reads out in a cycle
        "waiting",  # reads that wait for an MSHR entry, at most
        "granule",  # bytes that a bit of a transaction's cover stands for
        "covered",  # the cover of a whole sector
        "scoped",  # 1: scopes are kept: data on its way is old when a line is written or given up
        "tag_bits",  # log2 of the tag banks; 0: banks of sectors alone
    )
)  # fmt: skip
CACHE = np.dtype(
    words(
        "free_entry", "free_node", "queue_head", "queue_count", "retry_head", "retry_count",
        "waiting_head", "waiting_count",
        "free_ahead",  # first free MSHR entry of those for prefetches
        "busy",  # MSHR entries taken, of either kind
        "filled",  # 1: a line was put in since all were dropped
    )
)  # fmt: skip
REQUEST = np.dtype(
    words(
        "kind",  # KIND_READ, KIND_WRITE, KIND_ATOMIC or KIND_REDUCTION
        "policy",  # CachePolicy bits
        "local",  # 1: of memory that no other thread sees
        "tag",  # who waits for data, from 0 on; of writes and reductions, for their answer
        "met",  # what a read met, as in ``prefetch.table``: set by caches with a prefetcher
    )
)
"""What the owner of a cache asks for; the line and its sectors come beside it."""


class L1State(Context):
    """L1s of one kind, those of all SMs for instance; first index: the cache."""

    spec: Records  # SPEC, one
    caches: Records  # CACHE
    requests: Records  # REQUEST
    tags: Tags
    hash: Hash
    entries: Records  # mshr_file.ENTRY, caches x entries
    buckets: np.ndarray  # caches x buckets: first entry plus one, or 0
    nodes: Records  # mshr_file.NODE, caches x nodes
    queue: Records  # miss_queue.MISS, caches x queue
    retries: Records  # miss_queue.MISS, caches x room for all requests that can be refused
    waiting: Records  # l1_waiting.WAIT, caches x reads that can wait
    prefetch: prefetching.Prefetcher
    leaving: Records  # miss_queue.MISS, caches: the prefetch that goes out now
    victim: object  # the user's policy of replacement, or its stand-in
    prefetcher: object  # the user's, a built-in one, or a stand-in


class Owner(NamedTuple):
    """What a cache must know of the unit that it belongs to."""

    hit_cycles: int  # from the look-up of a request to its data
    flit_bytes: int  # of the network to the level below
    waiters: int  # requests at most that wait for data at a time
    refusable: int  # ... that bypass the MSHR file and may be refused; -1 = nothing ever is
    scoped: bool = False  # the cache keeps the scopes of PTX


class Choices(NamedTuple):
    """The policies of a cache, or their stand-ins, and which of both they are."""

    victim: object
    prefetcher: object
    replaces: bool = False
    prefetches: bool = False


def build(
    spec: gpu_spec.L1, caches: int, owner: Owner, policies: Choices, exact: bool = False
) -> L1State:
    """Empty caches; ``exact``: a transaction covers bytes, also of sectors of 64 bytes."""
    parameters = records(1, SPEC)
    s = parameters[0]
    copy_fields(s, spec)
    s.sectors = spec.line_bytes // spec.sector_bytes
    s.on_fill, s.hit_cycles = spec.allocate == "fill", owner.hit_cycles
    s.entries, s.merges, s.queue = spec.mshr_entries, spec.mshr_merges, spec.miss_queue
    s.protocol, s.scoped = registry.L1[spec.protocol], owner.scoped
    s.cycle_sectors = spec.cycle_sectors
    s.granule = 1 if exact else max(1, spec.sector_bytes // COVER_BITS)
    bits = spec.sector_bytes // s.granule
    s.covered = -1 if bits == 64 else (1 << int(bits)) - 1
    s.tag_bits = max(0, spec.tag_banks.bit_length() - 1)
    s.buckets, s.flit_bytes = mshr_file.buckets_for(spec.mshr_entries), owner.flit_bytes
    # All that the level below may refuse at a time: reads of MSHR entries, and what bypasses them.
    ahead = policies.prefetches
    entries = spec.mshr_entries * (2 if ahead else 1)
    retries = entries * s.sectors + owner.refusable if owner.refusable >= 0 else 1
    ways = max(1, spec.bytes // (spec.sets * spec.line_bytes))
    policy = "user" if policies.replaces else spec.replacement
    tags = cache_tags.build(caches, spec.sets, ways, policy)
    prefetch = prefetching.absent()
    if ahead:
        tables = table.build(caches, spec.prefetch_degree, spec.prefetch_distance)
        prefetch = prefetching.build(tags, prefetching.MOST_ADDRESS // spec.line_bytes, tables)
    state = records(caches, CACHE)
    state["free_ahead"] = spec.mshr_entries
    nodes = min(spec.mshr_entries * spec.mshr_merges, owner.waiters)
    return L1State(
        parameters,
        state,
        records(caches, REQUEST),
        tags,
        slice_hash.build(spec.hash, spec.sets),
        records((caches, entries), mshr_file.ENTRY),
        zeros((caches, int(s.buckets))),
        records((caches, nodes), mshr_file.NODE),
        records((caches, spec.miss_queue), miss_queue.MISS),
        records((caches, int(retries)), miss_queue.MISS),
        records((caches, max(1, spec.waiting)), l1_waiting.WAIT),
        prefetch,
        records(caches, miss_queue.MISS),
        policies.victim,
        policies.prefetcher,
    )
