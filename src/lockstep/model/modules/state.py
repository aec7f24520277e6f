"""State of the modules' routers, and of the gates through which shards reach them.

A router has a queue for each of its links. A message in it has a place at its destination, for
which its sender holds a credit of the crossbar: so queues need no credits of their own, and no way
over several links can lock up. They have room for all that can be under way.
"""

from typing import NamedTuple

import numpy as np

from lockstep._jit import Context, Records
from lockstep.gpus.modules import MOST_LINKS
from lockstep.gpus.spec import GPU
from lockstep.model import link
from lockstep.model.clock import ratio
from lockstep.model.counters import MODULE_COUNTERS
from lockstep.model.link import MESSAGE, Link
from lockstep.model.modules.legs import legs
from lockstep.model.modules.routes import routes
from lockstep.model.records import records, words, zeros

ROUTER_SPEC = np.dtype(
    words("modules", "sms", "partitions", "slices", "header", "sector", "parts", "byte_time")
)
"""``sms``, ``partitions``: of a module; ``slices``: of a partition. Links keep time in ``parts`` of
a cycle, so that a byte takes a whole number of them, ``byte_time``."""

ROUTER = np.dtype(
    [
        ("free", "i8"),
        ("head", "i8", (MOST_LINKS,)),
        ("tail", "i8", (MOST_LINKS,)),
        ("count", "i8", (MOST_LINKS,)),
        ("link_free", "i8", (MOST_LINKS,)),  # in parts of a cycle: when the link is free again
        ("stuck", "i8"),  # 1: links had no room for what they carry in this window
    ]
)
"""Queues of a module's links, lists of entries."""

QUEUED = np.dtype(words("next", "since"))
"""A message in a queue: where the next one is, and the cycle at which it came."""


class Routers(Context):
    """State of all routers."""

    spec: Records  # ROUTER_SPEC, one
    routers: Records  # ROUTER, by module
    links: np.ndarray  # int64, modules x modules: the link that leads from one to another, -1 here
    neighbours: np.ndarray  # int64, modules x MOST_LINKS: where a link leads
    entries: Records  # QUEUED, a block a module
    waiting: Records  # MESSAGE, the same places
    counters: Records  # MODULE_COUNTERS, by module


class ModuleLinks(Context):
    """Links to, from and between routers. On them a message's ``source`` is the SM's number."""

    requests: Link  # SMs to routers
    replies: Link  # partitions to routers
    hops: Link  # routers to routers
    to_partitions: Link
    to_sms: Link


GATE = np.dtype(
    words("on", "of_partitions", "own", "others", "fabric", "low", "high", "first", "end")
)
"""``own``, ``others``: shards of a module, of the kind that has the gate and of the other one.
``fabric``: 1 = what is elsewhere is other GPUs, with the addresses from ``low`` to ``high`` - 1 but
``first`` to ``end`` - 1, which are of its own memory."""


class MemoryPlace(NamedTuple):
    """Where a GPU's memory lies among those of all GPUs of a system, in bytes."""

    low: int  # of all
    high: int
    first: int  # its own
    end: int


class Gate(Context):
    """What shards of one kind need to reach, and be reached by, those of other modules."""

    spec: Records  # GATE, one
    out: Link
    into: Link


def build_links(gpu: GPU) -> ModuleLinks:
    """Links with nothing under way; one module has none."""
    k, way = gpu.modules.count, legs(gpu)
    if k == 1:
        return ModuleLinks(*[link.absent()] * len(ModuleLinks._fields))
    sms, channels, slices = gpu.sm.count, gpu.dram.channels, gpu.l2.slices_per_channel
    up, down = gpu.interconnect.buffer, gpu.interconnect.reply_buffer

    def free(sources: int, destinations: int, latency: int, sends: int) -> Link:
        """One whose destinations take what has arrived: room for the windows on the way."""
        buffer = sends * latency * (2 + -(-latency // way.window))
        return link.build(sources, destinations, latency, buffer, sends)

    crossing = sms + channels * slices  # messages a cycle that may begin to cross, at most
    # What a window brings to a router was sent in two windows at most, and goes on at once.
    coming = -(-2 * MOST_LINKS * way.link * crossing // way.down)
    return ModuleLinks(
        free(sms, k, way.up, 1),
        free(channels, k, way.up, slices),
        free(k, k, way.link, crossing),
        link.build(k, channels, way.down, -(-sms * up // k), coming),
        link.build(k, sms, way.down, -(-channels * down // k), coming),
    )


def build_ports(gpu: GPU) -> ModuleLinks:
    """The same of one module that is joined with other GPUs: there is one router, their fabric.

    An SM has places there for what it sends in two windows, until that is on a link.
    """
    sms, channels, slices = gpu.sm.count, gpu.dram.channels, gpu.l2.slices_per_channel
    latency = legs(gpu).window
    return ModuleLinks(
        link.build(sms, 1, latency, 2 * latency, 1),
        link.build(channels, 1, latency, slices * latency, slices),
        link.build(1, 1, latency, 0, 1),
        link.build(1, channels, latency, 2 * latency, 1),
        link.build(1, sms, latency, 2 * latency, 1),
    )


def build_gates(
    gpu: GPU, links: ModuleLinks, place: MemoryPlace | None = None
) -> tuple[Gate, Gate]:
    """The gates of SMs and of partitions; ``place``: of a GPU that is joined with others."""
    k = gpu.modules.count
    shares = gpu.sm.count // k, gpu.dram.channels // k
    far = (place is not None, *(place or (0, 0, 0, 0)))
    on = k > 1 or place is not None
    of_sms, of_partitions = records(1, GATE), records(1, GATE)
    of_sms[0] = on, 0, *shares, *far
    of_partitions[0] = on, 1, *reversed(shares), *far
    return (
        Gate(of_sms, links.requests, links.to_sms),
        Gate(of_partitions, links.replies, links.to_partitions),
    )


def build(gpu: GPU) -> Routers:
    """Routers with empty queues."""
    modules, k = gpu.modules, gpu.modules.count
    spec = records(1, ROUTER_SPEC)
    s = spec[0]
    s.modules, s.sms, s.partitions = k, gpu.sm.count // k, gpu.dram.channels // k
    s.slices, s.header, s.sector = (
        gpu.l2.slices_per_channel,
        modules.header_bytes,
        gpu.l2.sector_bytes,
    )
    s.parts = 1
    if modules.bandwidth:
        s.parts, s.byte_time = ratio(1000 * modules.bandwidth, gpu.clock_mhz)
    ways = routes(modules)
    neighbours = zeros((k, MOST_LINKS))
    for m, row in enumerate(ways.neighbours):
        neighbours[m, : len(row)] = row
    under_way = gpu.interconnect.buffer + gpu.interconnect.reply_buffer
    room = gpu.sm.count * gpu.dram.channels * under_way if k > 1 else 0
    built = Routers(
        spec,
        records(k, ROUTER),
        np.array(ways.links, np.int64),
        neighbours,
        records(k * room, QUEUED),
        records(k * room, MESSAGE),
        records(k, MODULE_COUNTERS),
    )
    built.routers["free"] = np.arange(k) * room
    return built
