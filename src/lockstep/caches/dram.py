"""DRAM behind caches: the model's channels, fed by what an L2 lets by.

Requests arrive in the order of the stream. In an *open loop* each comes a given gap after the one
before it, or as soon as its channel has room. In a *closed loop* an SM has so many reads under way
at most; SMs take turns, a request a core cycle each. Writes are those of lines that make room; they
wait for room in the write queue alone.
"""

from collections.abc import Iterator

import msgspec
import numpy as np

from lockstep._jit import Context, Records, as_records, force_inline, inline, jit
from lockstep.caches import dram_map
from lockstep.caches.accesses import LINE_SECTORS, WRITE
from lockstep.caches.dram_map import PlaceFinder, place_of
from lockstep.caches.order import ENTRY
from lockstep.errors import WorkloadError
from lockstep.gpus import library
from lockstep.gpus.spec import GPU
from lockstep.model import clock as clocks
from lockstep.model.clock import NEVER
from lockstep.model.counters import PARTITION_COUNTERS
from lockstep.model.dram import build, controller, queue, scheduler
from lockstep.model.dram.state import NONE, Channels
from lockstep.model.memory import SLICE
from lockstep.model.records import full
from lockstep.plain_bytes import plain

_SLOTS = 256  # of a slice: for data on its way
BATCH = 1 << 15  # entries that are served at a time
_GAP_SHIFT = 8  # gaps are kept in parts of a core cycle

_SPEC = np.dtype(
    [
        (name, "i8")
        for name in (
            "burst_sectors", "sms", "outstanding", "gap", "now", "parts", "left", "reads",
            "latency", "writes",
        )
    ]
)  # fmt: skip
_REQUEST = np.dtype(
    [("place", "i8"), ("channel", "i4"), ("sm", "i4"), ("write", "i4"), ("next", "i4")]
)
_SM = np.dtype([("head", "i8"), ("tail", "i8"), ("under_way", "i8")])


class DramPoint(msgspec.Struct, frozen=True):
    """A memory: ``channels``, each of ``bus_bytes``, and the ``order`` of addresses in it.

    Requests come in a closed loop of ``outstanding`` reads an SM, or with 0 in an open loop with
    ``gap`` core cycles between any two.
    """

    channels: int
    bus_bytes: int
    order: str = dram_map.OWN
    outstanding: int = 32
    gap: float = 0.0

    @property
    def problem(self) -> str:
        """Why there is no such memory, or nothing."""
        if self.outstanding < 0 or self.gap < 0:
            return "a negative number of reads under way, or of cycles between requests"
        return dram_map.problem(self.order)

    def put_in(self, gpu: GPU) -> GPU:
        """A GPU with this memory; raises :class:`SpecError` if it can have none such."""
        return library.replace(
            gpu, **{"dram.channels": self.channels, "dram.bus_bytes": self.bus_bytes}
        )


class _Dram(Context):
    """What the compiled side reads and writes."""

    spec: Records  # _SPEC, one
    dram: Channels
    finder: PlaceFinder
    asked: np.ndarray  # int64: core cycle at which a slot's request came
    sms: Records  # _SM
    requests: Records  # _REQUEST
    pick: object


class DramChannels:
    """The channels of one point through time, from the first request on."""

    def __init__(self, gpu: GPU, point: DramPoint):
        if problem := point.problem:
            raise WorkloadError(f"a memory of {point.channels} channels: {problem}")
        self.point, self._gpu = point, point.put_in(gpu)
        gpu = library.replace(self._gpu, **{"l2.mshr_entries": max(_SLOTS, gpu.l2.mshr_entries)})
        spec = as_records(np.zeros(1, _SPEC))
        self._spec = s = spec[0]
        s.burst_sectors, s.sms = build.burst_sectors(gpu), gpu.sm.count
        s.outstanding, s.gap = point.outstanding, round(point.gap * (1 << _GAP_SHIFT))
        slices = as_records(np.zeros(point.channels, SLICE))
        slices["return_head"] = slices["return_tail"] = NONE
        counters = as_records(np.zeros(point.channels, PARTITION_COUNTERS))
        dram = build.build(gpu, slices, counters, 0, False, 0)
        self._counters = counters
        sms = as_records(np.zeros(gpu.sm.count, _SM))
        sms["head"] = NONE
        self._context = _Dram(
            spec,
            dram,
            dram_map.places(gpu, point.order, int(s.burst_sectors)),
            full(len(dram.slots), 0),
            sms,
            as_records(np.zeros(BATCH * LINE_SECTORS, _REQUEST)),
            scheduler.compile_scheduler(scheduler.pick_none),
        )

    def serve(self, entries: Records, count: int) -> None:
        """Take requests, ``BATCH`` entries at most."""
        serve(self._context, entries, count)

    def drain(self) -> None:
        """Serve all that waits."""
        drain(self._context)

    def columns(self) -> dict:
        """What the memory is, and what became of its requests so far.

        Row hits are of requests, of which one may take several bursts; queue lengths are means over
        time of a channel; latency, in core cycles, is from a read's entry into its queue to the
        last of its data.
        """
        point, s, gpu = self.point, self._spec, self._gpu
        counters = {n: int(self._counters[n].sum()) for n in _COUNTED}
        requests = int(s.reads + s.writes)
        late = counters["dram_row_misses"] + counters["dram_row_conflicts"]
        ticks = int(s.now) * gpu.dram.clock_mhz / gpu.clock_mhz * point.channels
        moved = counters["dram_read_bytes"] + counters["dram_write_bytes"]
        seconds = int(s.now) / (gpu.clock_mhz * 1e6)
        return {
            "dram_channels": point.channels,
            "dram_bus": point.bus_bytes,
            "dram_order": point.order,
            "dram_outstanding": point.outstanding,
            "dram_gap": point.gap,
            "dram_reads": int(s.reads),
            "dram_writes": int(s.writes),
            "dram_row_hit_rate": _share(requests - late, requests),
            "dram_read_queue": _share(counters["dram_read_queue"], ticks),
            "dram_write_queue": _share(counters["dram_write_queue"], ticks),
            "dram_latency": _share(int(s.latency), int(s.reads)),
            "dram_cycles": int(s.now),
            "dram_bandwidth": _share(moved / 1e9, seconds),
        }


_COUNTED = (
    "dram_row_misses", "dram_row_conflicts", "dram_read_queue", "dram_write_queue",
    "dram_read_bytes", "dram_write_bytes",
)  # fmt: skip


class DramBatch:
    """Several memories that get the same requests, in batches."""

    def __init__(self, gpu: GPU, points: tuple[DramPoint, ...]):
        self._memories = [DramChannels(gpu, point) for point in points]
        self._entries, self._count = as_records(np.zeros(BATCH, ENTRY)), 0

    def take(self, entries: Records, count: int) -> None:
        """More requests."""
        first = 0
        while first < count:
            some = min(count - first, BATCH - self._count)
            kept, given = plain(self._entries), plain(entries)
            kept[self._count : self._count + some] = given[first : first + some]
            first, self._count = first + some, self._count + some
            if self._count == BATCH:
                self._serve()

    def end(self) -> None:
        """A launch has ended: all are served."""
        self._serve()
        for each in self._memories:
            each.drain()

    def rows(self) -> Iterator[tuple[tuple[DramPoint], dict]]:
        """Each memory with its columns."""
        for each in self._memories:
            yield (each.point,), each.columns()

    def _serve(self) -> None:
        for each in self._memories:
            each.serve(self._entries, self._count)
        self._count = 0


def _share(part: float, whole: float) -> float:
    return part / whole if whole else float("nan")


@jit
def serve(c, entries, count):
    """Take requests in order, each when it may come."""
    spec = c.spec[0]
    _expand(c, spec, entries, count)
    if spec.outstanding == 0:
        for k in range(spec.left):
            _send_in_turn(c, spec, c.requests[k])
        return
    while spec.left > 0:
        if _send_each(c, spec):
            spec.now += 1
            _advance(c, spec)
        else:
            _wait(c, spec)


@inline
def _expand(c, spec, entries, count):
    """The requests of some entries, each in the list of its SM."""
    n = 0
    for k in range(count):
        entry = entries[k]
        for sector in range(0, LINE_SECTORS, spec.burst_sectors):
            if (entry.sectors >> sector) & ((1 << spec.burst_sectors) - 1) == 0:
                continue
            request = c.requests[n]
            channel, place = place_of(c.finder, entry.line, sector)
            request.channel, request.place, request.sm = channel, place, entry.sm
            request.write, request.next = entry.kind == WRITE, NONE
            sm = c.sms[entry.sm]
            if sm.head == NONE:
                sm.head = n
            else:
                c.requests[sm.tail].next = n
            sm.tail = n
            n += 1
    spec.left = n


@force_inline
def _enqueue(c, spec, request):
    """A request enters its queue, which has room."""
    index = controller.enqueue(c.dram, request.channel, request.write, request.place, spec.now)
    slot = c.dram.slots[index]
    slot.slice, slot.tag_row, slot.far = request.channel, request.sm, 0
    c.asked[index] = spec.now
    spec.writes += request.write
    spec.reads += 1 - request.write
    c.sms[request.sm].under_way += 1 - request.write


@inline
def _send_in_turn(c, spec, request):
    """Open loop: the next request, a gap after the one before it."""
    spec.parts += spec.gap
    spec.now += spec.parts >> _GAP_SHIFT
    spec.parts &= (1 << _GAP_SHIFT) - 1
    c.sms[request.sm].head = NONE
    channel = request.channel
    _run(c, spec, channel, spec.now)
    while not controller.has_room(c.dram, channel, request.write):
        spec.now = clocks.cycle_of(c.dram.spec[0].clock, c.dram.channels[channel].next)
        _run(c, spec, channel, spec.now)
    _enqueue(c, spec, request)


@inline
def _send_each(c, spec):
    """Closed loop: one request of each SM that may send; whether any was sent."""
    sent = False
    for s in range(spec.sms):
        sm = c.sms[s]
        if sm.head == NONE:
            continue
        request = c.requests[sm.head]
        if request.write == 0 and sm.under_way >= spec.outstanding:
            continue
        if controller.has_room(c.dram, request.channel, request.write):
            _enqueue(c, spec, request)
            sm.head = request.next
            spec.left -= 1
            sent = True
    return sent


@inline
def _wait(c, spec):
    """Time passes until data comes or a queue has room again."""
    moved = False
    while not moved:
        soonest = NEVER
        for channel in range(c.dram.channels.shape[0]):
            soonest = min(soonest, _next(c, channel))
        spec.now = max(spec.now, soonest)
        moved = _advance(c, spec)


@inline
def _advance(c, spec):
    """All channels come up to now; whether data came or a queue has room."""
    moved = False
    for channel in range(c.dram.channels.shape[0]):
        if _next(c, channel) <= spec.now and _run(c, spec, channel, spec.now):
            moved = True
    return moved


@force_inline
def _next(c, channel):
    """The core cycle of the next command of a channel, or of its next data."""
    at = clocks.cycle_of(c.dram.spec[0].clock, c.dram.channels[channel].next)
    first = c.dram.slices[channel].return_head
    return min(at, c.dram.slots[first].ready) if first != NONE else at


@inline
def _run(c, spec, channel, now):
    """A channel comes up to a core cycle; whether data came or a queue has room."""
    state, to = c.dram.channels[channel], c.dram.slices[channel]
    last = clocks.ticks(c.dram.spec[0].clock, now)
    state.freed[0] = state.freed[1] = 0
    while state.next <= last:
        controller.step(c.dram, c.pick, channel, state.next)
    moved = state.freed[0] != 0 or state.freed[1] != 0
    while to.return_head != NONE and c.dram.slots[to.return_head].ready <= now:
        index = to.return_head
        slot = c.dram.slots[index]
        to.return_head = slot.next
        spec.latency += slot.ready - c.asked[index]
        c.sms[slot.tag_row].under_way -= 1
        queue.release(c.dram.slots, state, index)
        moved = True
    return moved


@jit
def drain(c):
    """Serve all that waits; now is when the last data is there."""
    spec = c.spec[0]
    for channel in range(c.dram.channels.shape[0]):
        state, to = c.dram.channels[channel], c.dram.slices[channel]
        while state.waiting[0] + state.waiting[1] > 0 or to.return_head != NONE:
            at = _next(c, channel)
            spec.now = max(spec.now, at)
            _run(c, spec, channel, at)
