"""DRAM behind caches, beside a twin that looks at each core cycle; and what an L2 lets by."""

import numpy as np
import pytest

from caches.streams import stream
from caches.test_dram_map import find
from lockstep._jit import Context, as_records, jit
from lockstep.caches import CachePoint, DramPoint, Exploration, Sweep
from lockstep.caches.accesses import ATOMIC, READ, WRITE
from lockstep.caches.dram import BATCH, DramBatch, DramChannels
from lockstep.caches.dram_map import places
from lockstep.caches.geometry import Sets
from lockstep.caches.lookups import Level
from lockstep.caches.order import ENTRY
from lockstep.caches.tagged import Tagged
from lockstep.errors import SpecError, WorkloadError
from lockstep.model.counters import PARTITION_COUNTERS
from lockstep.model.dram import build, controller, scheduler
from lockstep.model.dram.state import NONE, Channels
from lockstep.model.memory import SLICE
from small_gpu import small

__all__ = ["small"]


class Stepped(Context):
    """Channels, and whom they ask."""

    dram: Channels
    pick: object


@jit
def step(c, channel, tick):
    controller.step(c.dram, c.pick, channel, tick)


@jit
def release(c, channel, index):
    controller.queue.release(c.dram.slots, c.dram.channels[channel], index)


class EachCycle:
    """All channels, a core cycle at a time; everything else in plain Python."""

    def __init__(self, gpu, point: DramPoint):
        self.point, self.gpu = point, point.put_in(gpu)
        self.burst = build.burst_sectors(self.gpu)
        self.slices = as_records(np.zeros(point.channels, SLICE))
        self.slices["return_head"] = self.slices["return_tail"] = NONE
        self.counters = as_records(np.zeros(point.channels, PARTITION_COUNTERS))
        self.dram = build.build(self.gpu, self.slices, self.counters, 0, False, 0)
        self.stepped = Stepped(self.dram, scheduler.compile_scheduler(scheduler.pick_none))
        self.asked, self.latency, self.reads, self.writes = {}, 0, 0, 0
        self.under_way = [0] * self.gpu.sm.count
        self.now = 0

    def requests(self, entries):
        finder = places(self.gpu, self.point.order, self.burst)
        for entry in entries:
            for sector in range(0, 4, self.burst):
                if int(entry["sectors"]) >> sector & (1 << self.burst) - 1:
                    channel, place = np.zeros(1, np.int64), np.zeros(1, np.int64)
                    find(finder, int(entry["line"]), 1, sector, channel, place)
                    write = int(entry["kind"] == WRITE)
                    yield int(channel[0]), int(place[0]), write, int(entry["sm"])

    def step(self):
        """The commands and the data of this core cycle."""
        clock = self.dram.spec[0].clock
        last = self.now * int(clock.ticks) // int(clock.cycles)
        for channel, state in enumerate(self.dram.channels):
            while state.next <= last:
                step(self.stepped, channel, int(state.next))
            here = self.slices[channel]
            while here.return_head != NONE and self.dram.slots[here.return_head].ready <= self.now:
                index = int(here.return_head)
                slot = self.dram.slots[index]
                here.return_head = slot.next
                asked, sm = self.asked.pop(index)
                self.latency += int(slot.ready) - asked
                self.under_way[sm] -= 1
                release(self.stepped, channel, index)

    def send(self, request):
        channel, place, write, sm = request
        state = self.dram.channels[channel]
        if state.waiting[write] >= self.dram.spec[0].capacity[write]:
            return False
        index = int(controller.enqueue(self.dram, channel, write, place, self.now))
        self.dram.slots[index].slice, self.dram.slots[index].far = channel, 0
        self.writes += write
        if not write:
            self.asked[index] = self.now, sm
            self.reads, self.under_way[sm] = self.reads + 1, self.under_way[sm] + 1
        return True

    def closed(self, entries):
        waiting = [[] for _ in self.under_way]
        for request in self.requests(entries):
            waiting[request[3]].append(request)
        while any(waiting):
            self.step()
            for sm, mine in enumerate(waiting):
                free = mine and (mine[0][2] or self.under_way[sm] < self.point.outstanding)
                if free and self.send(mine[0]):
                    mine.pop(0)
            self.now += 1

    def open(self, entries):
        for request in self.requests(entries):
            for _ in range(int(self.point.gap)):
                self.now += 1
                self.step()
            while not self.send(request):
                self.now += 1
                self.step()

    def drain(self):
        while self.asked or self.dram.channels["waiting"].any():
            self.step()
            self.now += 1


def requests(seed: int, count: int = 700) -> np.ndarray:
    entries = stream(seed, count, sms=4, lines=5000).view(np.ndarray)
    return entries[(entries["kind"] == READ) | (entries["kind"] == WRITE)]


POINTS = (
    DramPoint(2, 16, "gpu", 3),
    DramPoint(3, 4, "RoBaRaCoCh", 8),
    DramPoint(4, 8, "ChRaBaRoCo", 64),
    DramPoint(2, 16, "RoBaRaCoCh", 0, 3.0),
    DramPoint(1, 32, "gpu", 0, 0.0),
)


@pytest.mark.long
@pytest.mark.parametrize("point", POINTS, ids=str)
def test_time_jumps_over_cycles_in_which_nothing_happens(small, point):
    gpu = small(dram__read_queue=8, dram__write_queue=6)
    entries, twin = requests(point.channels), EachCycle(gpu, point)
    (twin.closed if point.outstanding else twin.open)(entries)
    twin.drain()
    made = DramChannels(gpu, point)
    made.serve(as_records(entries), len(entries))
    made.drain()
    columns = made.columns()
    assert (columns["dram_reads"], columns["dram_writes"]) == (twin.reads, twin.writes)
    assert columns["dram_latency"] == twin.latency / twin.reads
    assert made._counters.tolist() == twin.counters.tolist()


def test_rates_are_of_requests_and_of_time(small):
    gpu, point = small(dram__refresh=False), DramPoint(1, 4, "RoBaRaCoCh", 0, 1000.0)
    entries = np.zeros(4, ENTRY)
    entries["line"], entries["sectors"] = 0, [1, 2, 4, 8]
    made = DramChannels(gpu, point)
    made.serve(as_records(entries), 4)
    made.drain()
    columns = made.columns()
    assert columns["dram_row_hit_rate"] == 0.75, "the first one opens the row"
    assert columns["dram_reads"] == 4
    assert 4000 < columns["dram_cycles"] < 4200
    assert columns["dram_read_queue"] < 0.1
    seconds = columns["dram_cycles"] / gpu.clock_mhz / 1e6
    assert columns["dram_bandwidth"] == pytest.approx(4 * 32 / seconds / 1e9)


def test_batches_are_as_one_stream(small):
    point, gpu = DramPoint(2, 16, "gpu", 0, 2.0), small()
    entries = as_records(np.tile(requests(1, 4000), 1 + BATCH // 2000))
    assert len(entries) > BATCH
    batch = DramBatch(gpu, (point,))
    for first in range(0, len(entries), 7001):
        batch.take(entries[first : first + 7001], len(entries[first : first + 7001]))
    batch.end()
    made = DramChannels(gpu, point)
    for first in range(0, len(entries), BATCH):
        made.serve(entries[first : first + BATCH], len(entries[first : first + BATCH]))
    made.drain()
    assert next(batch.rows()) == ((made.point,), made.columns())


def lets_by(entries, ways: int, sets: Sets, sectored: bool, fetches: bool) -> list:
    """What an L2 lets by, by lists and sets of Python."""
    parts = 128 // sets.line_bytes
    sectors, held, out = 4 // parts, {}, []
    whole = (1 << sectors) - 1
    for entry in entries:
        for part in range(parts):
            touched = int(entry["sectors"]) >> part * sectors & whole
            line = int(entry["line"]) * parts + part
            if not touched:
                continue
            lines = held.setdefault(line % sets.count, [])
            mine = next((each for each in lines if each[0] == line), None)
            if mine is None:
                if len(lines) == ways:
                    gone, _, dirty = lines.pop(0)
                    if dirty:
                        out.append((gone // parts, dirty << gone % parts * sectors, WRITE))
                mine = [line, 0, 0]
            else:
                lines.remove(mine)
            lines.append(mine)
            missing = touched & ~mine[1]
            wrote = entry["kind"] != READ
            if missing and not sectored:
                missing = whole
            if entry["kind"] == WRITE and not fetches and (sectored or touched == whole):
                missing = 0
            mine[1] |= touched if sectored else whole
            mine[2] |= (touched if sectored else whole) * wrote
            if missing:
                out.append((line // parts, missing << part * sectors, READ))
    return out


@pytest.mark.parametrize("sectored", [False, True])
@pytest.mark.parametrize("fetches", [False, True])
def test_an_l2_reads_what_it_has_not_and_writes_what_makes_room(sectored, fetches):
    for sets, ways in ((Sets(8, 128), 4), (Sets(16, 64), 2), (Sets(64, 32), 3)):
        entries = stream(ways, sms=4).view(np.ndarray)
        entries = entries[entries["kind"] <= ATOMIC]
        level = Level(sets, ways, l2=True, sectored=sectored, keeps=ways)
        out = Tagged(level, fetches=fetches).look_up(as_records(entries), len(entries))
        mine = [(int(e.line), int(e.sectors), int(e.kind)) for e in out]
        assert mine == lets_by(entries, ways, sets, sectored, fetches)
        assert {kind for _, _, kind in mine} == {READ, WRITE}


def test_a_sweep_has_each_memory_behind_each_l2(small):
    from caches.test_passes import GATHER
    from lockstep import api

    memories = (DramPoint(2, 16), DramPoint(4, 8, "RoBaRaCoCh"))
    l2 = (CachePoint(65536, 8), CachePoint(1 << 20, 8))
    made = Exploration(small(), Sweep((CachePoint(16384, 4),), l2, memories))
    made.explore(api.load(GATHER))
    table = made.table()
    assert table.l2_bytes.tolist() == [65536, 65536, 1 << 20, 1 << 20]
    assert table.dram_channels.tolist() == [2, 4, 2, 4]
    assert table.dram_reads.iloc[0] > table.dram_reads.iloc[2], "a larger L2 misses less"
    assert (table.dram_cycles > 0).all()


def test_what_is_no_memory_is_refused(small):
    caches = (CachePoint(16384, 4),)
    with pytest.raises(WorkloadError, match="no order of addresses"):
        Exploration(small(), Sweep(caches, caches, (DramPoint(2, 16, "RoCo"),)))
    with pytest.raises(WorkloadError, match="behind an L2: none"):
        Exploration(small(), Sweep(caches, (), (DramPoint(2, 16),)))
    with pytest.raises(WorkloadError, match="negative"):
        Exploration(small(), Sweep(caches, caches, (DramPoint(2, 16, outstanding=-1),)))
    with pytest.raises(SpecError, match=r"dram\.channels"):
        Exploration(small(), Sweep(caches, caches, (DramPoint(0, 16),)))
