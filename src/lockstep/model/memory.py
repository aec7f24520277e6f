"""State of the memory side: all memory partitions, from request inbox to reply outbox.

A partition is one DRAM channel with its L2 slices. ``build`` makes the initial state from a GPU's
specification; ``partition.py`` runs it.
"""

import functools

import numpy as np

from lockstep._jit import Context, Records
from lockstep.gpus.spec import GPU
from lockstep.model import clock as clocks
from lockstep.model import witness
from lockstep.model.cache import data_port, replacement, slice_hash, tags
from lockstep.model.cache.prefetch import state as prefetching
from lockstep.model.cache.prefetch import table
from lockstep.model.cache.protocols import registry
from lockstep.model.coherence import home_state
from lockstep.model.coherence.home_state import Homes
from lockstep.model.counters import PARTITION_COUNTERS
from lockstep.model.divisor import DIVISOR, divisor
from lockstep.model.dram import build as dram_build
from lockstep.model.dram import scheduler as dram_scheduler
from lockstep.model.dram.state import Channels
from lockstep.model.link import Link
from lockstep.model.modules import pages
from lockstep.model.modules import state as modules
from lockstep.model.modules.state import Gate
from lockstep.model.records import copy_fields, full, records
from lockstep.model.witness import Witness

SPEC = np.dtype(
    [
        ("l2", clocks.CLOCK),
        ("crossbar", clocks.CLOCK),
        ("partitions", "i8"),
        ("slices", "i8"),  # a partition
        ("line_bytes", DIVISOR),
        ("line_sectors", "i8"),
        ("unit_lines", DIVISOR),  # consecutive lines of one slice
        ("all_slices", DIVISOR),  # over which the lines of a page go
        ("burst_sectors", "i8"),  # sectors one DRAM request brings
        ("sector_bytes", "i8"),
        ("bytes_per_tick", DIVISOR),  # of a slice's data port
        ("backlog", "i8"),  # ticks the data port may be behind the tags
        ("hit_cycles", "i8"),
        ("queue", "i8"),  # requests in front of a slice
        ("mshrs", "i8"),
        ("merges", "i8"),
        ("waiters", "i8"),  # requests that may wait for data at a slice
        ("replies", "i8"),  # in a reply pipe
        ("refuse", "i8"),  # 1: a full MSHR file refuses reads and atomics
        ("protocol", "i8"),  # of ``protocols.registry.L2``
        ("flit_bytes", DIVISOR),
        ("reply_header", "i8"),  # port time of a header, in SUBTICKS
        ("sides", "i8"),
        ("sources", "i8"),
        ("far_cycles", "i8"),
        ("near_reads", "i8"),  # 1: reads go to the reader's side
        ("wide_writes", "i8"),  # 1: a written line takes room on every side
        ("chunk_lines", DIVISOR),
        ("sector_step", "i8"),  # of the data port, in its PARTS: a sector; 0 = as bytes_per_tick
        ("atomic_cycles", "i8"),  # core cycles by which a result is later than data that is read
        ("merge_step", "i8"),  # ... more, a sector that is written in part
        ("request_step", "i8"),  # ... a request, at least
        ("pass_step", "i8"),  # a sector that is written on another side, on its way there
        ("atomic_pass_step", "i8"),  # ... that is updated there, or a lane on one word
        ("result_step", "i8"),  # ... and its result, on its way back
        ("update_step", "i8"),  # an atomic operation: for a sector
        ("word_step", "i8"),  # ... for a lane on a word that others update, too
        ("shares", "i8"),  # slices here that one of the hardware is
        ("streams", "i8"),  # 1: results of lanes on one word go one by one
        ("neighbours", "i8"),  # SMs whose reads of a line are one request
        ("round_trip", "i8"),  # cycles from a slice to an SM and back
        ("scoped", "i8"),  # 1: requests of an SM for a sector are carried out in their order
    ]
)

SUBTICKS = 16  # reply ports keep time in sixteenths of a crossbar tick
PIPES = 4  # lists of replies of a slice: hits and fills, to near and to far SMs
TOGETHER = np.int64(4)  # ... and those that leave with the reply to a neighbour
QUEUE = np.int64(5)  # list of requests in front of the tags
LISTS = 6
FIRSTS = 512  # reads that a slice remembers for neighbours to join; a power of two
JOINED = 256  # entries of a slice for those that have joined

SLICE = np.dtype(
    [
        ("channel", "i8"),  # its partition
        ("number", "i8"),  # in the partition
        ("side", "i8"),
        ("next", "i8"),  # core cycle of the next thing to do, returns from below aside
        ("port_free", "i8"),  # L2 ticks at which input and tags are free again
        ("tags_free", "i8"),
        ("data_free", "i8"),  # the same of the data port, in its PARTS
        ("data_chunk", "i8"),  # chunk that it serves most
        ("data_run", "i8"),  # ... by how many accesses more than others
        ("home_line", "i8"),  # the same of lines that are updated, or pass
        ("home_run", "i8"),
        ("reply_free", "i8"),  # crossbar tick, in SUBTICKS
        ("reply_blocked", "i8"),  # no credit until this core cycle
        ("stalled", "i8"),  # why the oldest request cannot go on, or RUNNING
        ("stalled_since", "i8"),
        ("retry", "i8"),  # 1: what it waits for may have come
        ("mshrs", "i8"),  # in use, by prefetches aside
        ("ahead", "i8"),  # ... by prefetches
        ("waiting", "i8"),  # requests that wait for data
        ("joined", "i8"),  # entries of reads that have joined others
        ("filling", "i8"),  # 1: the oldest return is in the tags, its waiters are being served
        ("return_head", "i8"),  # DRAM slots with data on its way here
        ("return_tail", "i8"),
        ("free", "i8"),  # first free entry
        ("head", "i8", (LISTS,)),
        ("tail", "i8", (LISTS,)),
        ("count", "i8", (LISTS,)),
    ]
)

ENTRY = np.dtype(
    [
        ("ready", "i8"),  # queue: L2 tick at which its last flit is in; replies: core cycle
        ("tag", "i8"),
        ("issued", "i8"),
        ("line", "i8"),  # line number, the tag
        ("next", "i4"),
        ("source", "i4"),  # who asked
        ("home", "i4"),  # the slice that the line belongs to
        ("row", "i4"),  # of the tags, in front of them
        ("way", "i4"),  # where the tags have the line, -1 = nowhere, UNKNOWN = not looked up yet
        ("flits", "i4"),
        ("policy", "u1"),
        ("refusals", "u1"),  # how often it was refused before
        ("kind", "u1"),  # of the request
        ("answer", "u1"),  # replies: what they are
        ("sectors", "u1"),  # queue: asked for; waiters: to come; replies: here
        ("left", "u1"),  # in front of the tags: sectors not yet served
        ("full", "i2"),
    ]
)
"""A request in front of the tags, one that waits for data, or a reply."""

FIRST = np.dtype(
    [
        ("line", "i8"),
        ("until", "i8"),  # core cycle; a read that comes before joins
        ("group", "i4"),  # of SMs
        ("head", "i4"),  # entries that have joined and wait
        ("tail", "i4"),
        ("sectors", "i2"),  # asked for
        ("left", "i2"),  # ... and not on their way back
    ]
)
"""The first read of a line by one of a group of neighbouring SMs."""

UNKNOWN = -2  # way of a request that was not looked up yet
_MOST_WAITERS = 2048  # requests that can wait at one slice, however large the MSHR file


class MemoryPolicies(Context):
    """A user's functions, or their stand-ins, as machine code."""

    victim: object  # L2 replacement
    prefetcher: object  # of the L2
    slice_hash: object
    pick: object  # DRAM scheduler


class L2State(Context):
    """State of the L2 slices, and of the DRAM channels below."""

    spec: Records  # SPEC, one
    tags: tags.Tags  # one cache a slice
    slices: Records  # SLICE, by global slice number
    entries: Records  # ENTRY, a block a slice
    firsts: Records  # FIRST, a block a slice
    prefetch: prefetching.Prefetcher
    dram: Channels
    gate: Gate
    policies: MemoryPolicies
    witness: Witness  # of partitions


class Memory(Context):
    """State of all memory partitions."""

    slices: pages.Owners  # which slice owns an address
    sets: slice_hash.Hash  # which set of a slice a line belongs to
    next: np.ndarray  # int64, by partition: core cycle of the next thing to do, inbox aside
    l2: L2State
    homes: Homes
    counters: Records  # PARTITION_COUNTERS


@functools.cache
def _stand_ins() -> MemoryPolicies:
    return MemoryPolicies(
        replacement.compile_victim(replacement.first_way),
        table.compile_l2(table.nothing_of_l2),
        slice_hash.compile_hash(slice_hash.first_slice),
        dram_scheduler.compile_scheduler(dram_scheduler.pick_none),
    )


def compile_policies(user: dict | None = None) -> MemoryPolicies:
    """Machine code of a user's policies of the memory side.

    Those that are not given get stand-ins, so that the model need not be compiled again.
    """
    user = user or {}
    policies = _stand_ins()
    if "l2_replacement" in user:
        policies = policies._replace(victim=replacement.compile_victim(user["l2_replacement"]))
    if "l2_prefetcher" in user:
        policies = policies._replace(prefetcher=table.compile_l2(user["l2_prefetcher"]))
    if "slice_hash" in user:
        policies = policies._replace(slice_hash=slice_hash.compile_hash(user["slice_hash"]))
    if "dram_scheduler" in user:
        pick = dram_scheduler.compile_scheduler(user["dram_scheduler"])
        policies = policies._replace(pick=pick)
    return policies


def build(
    gpu: GPU,
    requests: Link,
    hit_cycles: int,
    miss_cycles: int,
    policies: MemoryPolicies | None = None,
    log: int = 0,
    gate: Gate | None = None,
) -> Memory:
    """Memory partitions with empty caches and closed rows.

    ``hit_cycles``: arrival of a request to the sending of its reply, for an L2 hit without
    contention; ``miss_cycles``: what a miss to an idle, closed bank adds (never less than the
    DRAM itself takes). ``log``: DRAM commands of each channel to keep, for tests. ``gate``: to
    other modules, of a GPU with more than one.
    """
    policies = policies or _stand_ins()
    stand_ins = _stand_ins()
    user = {f: getattr(policies, f) is not getattr(stand_ins, f) for f in policies._fields}
    ahead = user["prefetcher"]
    l2, partitions = gpu.l2, gpu.dram.channels
    count = partitions * l2.slices_per_channel
    spec = _spec(gpu, requests, hit_cycles)
    slices, entries = _slices(count, spec[0], ahead, l2.side_reads == "near")
    replacing = "user" if user["victim"] else l2.replacement
    lines = tags.build(count, l2.sets, l2.ways, replacing)
    prefetch = prefetching.absent()
    if ahead:
        window = l2.prefetch_window
        tables = table.build(count, l2.prefetch_degree, l2.prefetch_distance, window)
        last_line = prefetching.MOST_ADDRESS // (l2.line_bytes * count)
        prefetch = prefetching.build(lines, last_line, tables)
    unit_bytes = int(spec[0].unit_lines.value) * l2.line_bytes
    counters = records(partitions, PARTITION_COUNTERS)
    below = max(0, hit_cycles + miss_cycles - dram_build.idle_latency(gpu))
    return Memory(
        pages.build(gpu, "user" if user["slice_hash"] else l2.slice_hash, unit_bytes),
        slice_hash.build(l2.set_hash, l2.sets),
        full(partitions, clocks.NEVER),
        L2State(
            spec,
            lines,
            slices,
            entries,
            records(count * FIRSTS if spec[0].neighbours > 1 else 1, FIRST),
            prefetch,
            dram_build.build(gpu, slices, counters, below, user["pick"], log, ahead),
            gate or modules.build_gates(gpu, modules.build_links(gpu))[1],
            policies,
            witness.build(partitions),
        ),
        home_state.build(gpu, len(entries)),
        counters,
    )


def _spec(gpu: GPU, requests: Link, hit_cycles: int) -> Records:
    spec = records(1, SPEC)
    s, l2 = spec[0], gpu.l2
    copy_fields(s, l2)
    spec["l2"] = clocks.ratio(l2.clock_mhz, gpu.clock_mhz)
    spec["crossbar"] = clocks.ratio(gpu.interconnect.clock_mhz, gpu.clock_mhz)
    s.partitions, s.slices = gpu.dram.channels, l2.slices_per_channel
    spec["line_bytes"] = divisor(l2.line_bytes)
    spec["unit_lines"] = divisor(-(-l2.interleave_bytes // l2.line_bytes))
    sharing = gpu.modules.count if pages.has_homes(gpu) else 1
    spec["all_slices"] = divisor(gpu.dram.channels * l2.slices_per_channel // sharing)
    spec["bytes_per_tick"] = divisor(l2.bytes_per_cycle)
    spec["flit_bytes"] = divisor(gpu.interconnect.flit_bytes)
    s.line_sectors = l2.line_bytes // l2.sector_bytes
    s.burst_sectors = dram_build.burst_sectors(gpu)
    s.backlog = -(-l2.line_bytes // l2.bytes_per_cycle)
    s.hit_cycles = max(1, hit_cycles)
    s.mshrs, s.merges = l2.mshr_entries, l2.mshr_merges
    s.waiters = min(l2.mshr_entries * l2.mshr_merges, _MOST_WAITERS)
    ticks = -(-l2.clock_mhz // gpu.clock_mhz)  # a core cycle: at most one reply a tick
    far = l2.far_latency if l2.sides > 1 else 0
    s.replies = int(ticks) * (s.hit_cycles + far) + l2.queue
    s.refuse, s.protocol = l2.mshr_full == "nack", registry.L2[l2.protocol]
    s.reply_header = header_time(gpu, SUBTICKS)
    s.far_cycles = l2.far_latency
    s.atomic_cycles = l2.atomic_latency
    data_port.fill_in(spec, gpu)
    # Under scopes the home orders all requests for a line: there are no copies, and no read joins
    # one that was carried out before an older request of its own SM, or another SM's write.
    s.near_reads = l2.side_reads == "near" and not gpu.coherence.scoped
    s.wide_writes = s.near_reads and l2.side_writes == "both"
    s.neighbours = 1 if gpu.coherence.scoped else l2.neighbours
    s.sources = requests.spec[0].sources
    s.round_trip = 2 * gpu.interconnect.latency
    s.scoped = gpu.coherence.scoped
    return spec


def header_time(gpu: GPU, tick: int) -> int:
    """How long the header of a reply with data occupies a port, if a flit takes ``tick``."""
    port = gpu.interconnect
    return round(tick * port.reply_header_bytes / port.flit_bytes)


def _slices(count: int, spec, ahead: bool, halves: bool) -> tuple[Records, Records]:
    """Idle slices and their entries: enough for every list to be full, and for a prefetch."""
    room = int(spec.queue + spec.waiters + PIPES * spec.replies) + ahead
    if spec.neighbours > 1:
        room += JOINED
    if spec.near_reads:
        room += int(spec.sides * spec.mshrs)  # those of other sides that wait
    slices = records(count, SLICE)
    slices["channel"], slices["number"] = np.divmod(np.arange(count), spec.slices)
    slices["side"] = slices["channel"] * spec.sides // spec.partitions
    if halves:
        slices["side"] = slices["number"] // (spec.slices // spec.sides)
    slices["next"] = clocks.NEVER
    slices["data_chunk"] = slices["home_line"] = -1
    slices["return_head"] = slices["return_tail"] = -1
    slices["head"] = slices["tail"] = -1
    slices["free"] = np.arange(count) * room
    return slices, records(count * room, ENTRY)
