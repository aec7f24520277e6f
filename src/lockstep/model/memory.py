"""State of the memory side: all memory partitions, from request inbox to reply outbox.

A partition is one DRAM channel with its L2 slices. ``build`` makes the initial state from a GPU's
specification; ``partition.py`` runs it.
"""

import functools

import numpy as np

from lockstep._jit import Context
from lockstep.errors import SpecError
from lockstep.gpus.spec import GPU
from lockstep.model import clock as clocks
from lockstep.model.cache import replacement, slice_hash, tags
from lockstep.model.clock import NEVER
from lockstep.model.counters import PARTITION_COUNTERS
from lockstep.model.dram import controller
from lockstep.model.dram import scheduler as dram_scheduler
from lockstep.model.dram.state import Channels
from lockstep.model.link import Link

SPEC = np.dtype(
    [
        ("partitions", "i8"),
        ("slices", "i8"),  # a partition
        ("line_bytes", "i8"),
        ("line_sectors", "i8"),
        ("unit_bytes", "i8"),  # consecutive bytes of one slice
        ("unit_lines", "i8"),
        ("burst_sectors", "i8"),  # sectors one DRAM request brings
        ("queue", "i8"),  # requests in front of a slice
        ("sector_bytes", "i8"),
        ("bytes_per_tick", "i8"),  # of a slice's data port
        ("backlog", "i8"),  # ticks the data port may be behind the tags
        ("hit_cycles", "i8"),
        ("mshrs", "i8"),
        ("merges", "i8"),
        ("refuse", "i8"),  # 1: a full MSHR file refuses reads and atomics
        ("fetch_writes", "i8"),  # 1: a write miss reads the sector
        ("replies", "i8"),  # places of a reply pipe
        ("flit_bytes", "i8"),
        ("sides", "i8"),
        ("sources", "i8"),
        ("far_cycles", "i8"),
    ]
)

PARTITION = np.dtype([("next", "i8")])  # core cycle of the next thing to do, inbox aside

SLICE = np.dtype(
    [
        ("next", "i8"),  # core cycle of the next thing to do
        ("queue_head", "i8"),
        ("queue_count", "i8"),
        ("port_free", "i8"),  # L2 ticks at which the ports are free again
        ("tags_free", "i8"),
        ("data_free", "i8"),
        ("reply_free", "i8"),  # crossbar tick
        ("reply_blocked", "i8"),  # no credit until this core cycle
        ("stalled", "i8"),  # why the oldest request cannot go on, or RUNNING
        ("stalled_since", "i8"),
        ("retry", "i8"),  # 1: what it waits for may have come
        ("mshrs", "i8"),  # in use
        ("free_waiter", "i8"),
        ("filling", "i8"),  # 1: the oldest return is in the tags, its waiters are being served
    ]
)

REQUEST = np.dtype(
    [
        ("ready", "i8"),  # L2 tick at which its last flit is in
        ("kind", "i8"),
        ("source", "i8"),
        ("address", "i8"),
        ("line", "i8"),  # line number, the tag
        ("row", "i8"),  # of the tags
        ("channel_line", "i8"),  # line number within the DRAM channel
        ("sectors", "i8"),  # asked for
        ("left", "i8"),  # not yet served
        ("full", "i8"),
        ("tag", "i8"),
        ("policy", "i8"),
        ("issued", "i8"),
    ]
)
"""A request in the queue of a slice."""

WAITER = np.dtype(
    [
        ("next", "i8"),
        ("sectors", "i8"),  # that it still waits for
        ("kind", "i8"),
        ("source", "i8"),
        ("address", "i8"),
        ("tag", "i8"),
        ("policy", "i8"),
        ("issued", "i8"),
        ("full", "i8"),
    ]
)
"""A request that waits for data from below."""

PIPE = np.dtype([("head", "i8"), ("count", "i8")])
PIPES = 4  # of a slice: hits and fills, to near and to far SMs

REPLY = np.dtype(
    [
        ("ready", "i8"),  # core cycle
        ("kind", "i8"),
        ("request", "i8"),
        ("source", "i8"),  # who asked, and gets it
        ("address", "i8"),
        ("sectors", "i8"),
        ("full", "i8"),
        ("flits", "i8"),
        ("tag", "i8"),
        ("policy", "i8"),
        ("issued", "i8"),
    ]
)

L2_CLOCK = 0
CROSSBAR_CLOCK = 1
DRAM_CLOCK = 2

_MOST_WAITERS = 16384  # requests that can wait at one slice, however large the MSHR file


class Policies(Context):
    """A user's functions, or their stand-ins, as machine code."""

    victim: object  # L2 replacement
    slice_hash: object
    pick: object  # DRAM scheduler


class Memory(Context):
    """State of all memory partitions."""

    spec: np.recarray  # SPEC, one
    clocks: np.recarray  # CLOCK: L2, crossbar, DRAM
    slices: slice_hash.Hash  # which slice owns an address
    sets: slice_hash.Hash  # which set of a slice a line belongs to
    tags: tags.Tags  # one cache a slice
    partitions: np.recarray  # PARTITION
    l2: np.recarray  # SLICE, by global slice number
    queue: np.recarray  # REQUEST, slices x queue, rings
    waiters: np.recarray  # WAITER, a block a slice
    pipes: np.recarray  # PIPE, slices x 4
    replies: np.recarray  # REPLY, (slices x 4) x places, rings
    dram: Channels
    counters: np.recarray  # PARTITION_COUNTERS
    policies: Policies


@functools.cache
def _stand_ins() -> Policies:
    return Policies(
        replacement.compile_victim(replacement.first_way),
        slice_hash.compile_hash(slice_hash.first_slice),
        dram_scheduler.compile_scheduler(dram_scheduler.pick_none),
    )


def compile_policies(user: dict | None = None) -> Policies:
    """Machine code of a user's ``l2_replacement``, ``slice_hash`` and ``dram_scheduler``.

    Those that are not given get stand-ins, so that the model need not be compiled again.
    """
    user = user or {}
    policies = _stand_ins()
    if "l2_replacement" in user:
        policies = policies._replace(victim=replacement.compile_victim(user["l2_replacement"]))
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
    policies: Policies | None = None,
    log: int = 0,
) -> Memory:
    """Memory partitions with empty caches and closed rows.

    ``hit_cycles``: arrival of a request to the sending of its reply, for an L2 hit without
    contention; ``miss_cycles``: what a miss to an idle, closed bank adds (never less than the
    DRAM itself takes). ``log``: DRAM commands of each channel to keep, for tests.
    """
    _check(gpu)
    policies = policies or _stand_ins()
    user = [given is not stand for given, stand in zip(policies, _stand_ins())]
    l2, partitions = gpu.l2, gpu.dram.channels
    slices = partitions * l2.slices_per_channel
    spec = _spec(gpu, requests, hit_cycles)
    waiters = min(l2.mshr_entries * l2.mshr_merges, _MOST_WAITERS)
    counters = _records(partitions, PARTITION_COUNTERS)
    idle = _records(partitions, PARTITION)
    idle["next"] = NEVER
    below = max(0, miss_cycles - controller.idle_latency(gpu))
    return Memory(
        spec,
        _clocks(gpu),
        slice_hash.build("user" if user[1] else l2.slice_hash, slices, spec[0].unit_bytes),
        slice_hash.build(l2.set_hash, l2.sets),
        tags.build(slices, l2.sets, l2.ways, "user" if user[0] else l2.replacement),
        idle,
        _slices(slices, waiters),
        _records((slices, l2.queue), REQUEST),
        _waiters(slices, waiters),
        _records(slices * PIPES, PIPE),
        _records((slices * PIPES, spec[0].replies), REPLY),
        controller.build(gpu, below, counters, user[2], log),
        counters,
        policies,
    )


def _check(gpu: GPU) -> None:
    l2 = gpu.l2
    if l2.line_bytes % l2.sector_bytes:
        raise SpecError(
            f"l2.line_bytes is {l2.line_bytes}; expected a multiple of "
            f"l2.sector_bytes, {l2.sector_bytes}"
        )


def _records(shape, dtype) -> np.recarray:
    return np.zeros(shape, dtype).view(np.recarray)


def _spec(gpu: GPU, requests: Link, hit_cycles: int) -> np.recarray:
    spec = _records(1, SPEC)
    s, l2 = spec[0], gpu.l2
    s.partitions, s.slices = gpu.dram.channels, l2.slices_per_channel
    s.line_bytes, s.sector_bytes = l2.line_bytes, l2.sector_bytes
    s.line_sectors = l2.line_bytes // l2.sector_bytes
    s.unit_lines = -(-l2.interleave_bytes // l2.line_bytes)
    s.unit_bytes = s.unit_lines * l2.line_bytes
    s.burst_sectors = controller.burst_sectors(gpu)
    s.queue, s.bytes_per_tick = l2.queue, l2.bytes_per_cycle
    s.backlog = -(-l2.line_bytes // l2.bytes_per_cycle)
    s.hit_cycles = max(1, hit_cycles)
    s.mshrs, s.merges, s.refuse = l2.mshr_entries, l2.mshr_merges, l2.mshr_full == "nack"
    s.fetch_writes = l2.write_allocate == "fetch"
    ticks = -(-l2.clock_mhz // gpu.clock_mhz)  # a core cycle: at most one reply a tick
    s.replies = int(ticks) * (s.hit_cycles + l2.far_latency) + l2.queue
    s.flit_bytes = gpu.interconnect.flit_bytes
    s.sides, s.far_cycles = l2.sides, l2.far_latency
    s.sources = requests.spec[0].sources
    return spec


def _clocks(gpu: GPU) -> np.recarray:
    records = _records(3, clocks.CLOCK)
    domains = (gpu.l2.clock_mhz, gpu.interconnect.clock_mhz, gpu.dram.clock_mhz)
    for i, clock_mhz in enumerate(domains):
        records[i] = clocks.ratio(clock_mhz, gpu.clock_mhz)
    return records


def _slices(count: int, waiters: int) -> np.recarray:
    slices = _records(count, SLICE)
    slices["next"] = NEVER
    slices["free_waiter"] = np.arange(count) * waiters
    return slices


def _waiters(slices: int, count: int) -> np.recarray:
    waiters = np.zeros((slices, count), WAITER)
    waiters["next"] = np.arange(1, slices * count + 1).reshape(slices, count)
    waiters["next"][:, -1] = -1
    return waiters.reshape(-1).view(np.recarray)
