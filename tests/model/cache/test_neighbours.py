"""Reads of neighbouring SMs join: one request for the L2, and data for each of them."""

import numpy as np
import pytest

from lockstep.model import memory
from lockstep.model.link import KIND_DATA

pytestmark = pytest.mark.plain

LINE = 128
FIRST, NEIGHBOUR, STRANGER = 0, 1, 2  # SMs; the first two are a TPC


@pytest.fixture
def make(rig):
    def build(**changes):
        return rig.MemorySide(
            **{"sources": 4, "l2__neighbours": 2, "l2__mshr_merges": 64} | changes
        )

    return build


def warm(side, sectors=0b1111):
    """A line is in the L2, and no read of it is remembered."""
    side.read(0, sectors, source=STRANGER)
    side.finish()
    side.run_to(side.now + 200)
    side.replies = []


def sectors_of(replies):
    """Sectors that came, by tag."""
    found = {}
    for r in replies:
        assert r.kind == KIND_DATA
        assert not found.get(r.tag, 0) & r.sectors, "a sector comes once"
        found[r.tag] = found.get(r.tag, 0) | r.sectors
    return found


def test_a_neighbour_has_its_data_when_the_first_has(rig, make):
    side = make()
    warm(side)
    before = side.count.l2_read_sectors
    tags = [side.read(0, source=s, at=side.now + 5 * k) for k, s in enumerate((FIRST, NEIGHBOUR))]
    first, second = side.finish()
    assert [first.tag, second.tag] == tags
    assert side.took(first) == rig.HIT + 3, "four sectors through a port of one a cycle"
    assert second.arrival == first.arrival
    assert second.sectors == first.sectors == 0b1111
    assert side.count.l2_read_sectors == before + 4
    assert side.count.l2_joined == 1


def test_a_stranger_asks_for_itself(make):
    side = make()
    warm(side)
    before = side.count.l2_read_sectors
    for source in (FIRST, STRANGER):
        side.read(0, source=source)
    side.finish()
    assert side.count.l2_read_sectors == before + 8
    assert side.count.l2_joined == 0


def test_without_neighbours_each_asks_for_itself(make):
    side = make(l2__neighbours=1)
    for source in (FIRST, NEIGHBOUR):
        side.read(0, source=source)
    side.finish()
    assert side.count.l2_read_sectors == 8
    assert side.count.l2_joined == 0


@pytest.mark.parametrize("late", [False, True])
def test_a_read_joins_until_the_answer_would_be_back(rig, make, late):
    """The first one's data leaves after HIT, and is back two link latencies later."""
    side = make()
    warm(side)
    start = side.now
    side.read(0, 0b0001, source=FIRST, at=start)
    back = rig.HIT + 2 * side.gpu.interconnect.latency
    side.read(0, 0b0001, source=NEIGHBOUR, at=start + back + (0 if late else -1))
    first, second = side.finish()
    assert side.took(first) == rig.HIT
    assert side.took(second) == (rig.HIT if late else 0)
    assert side.count.l2_joined == (0 if late else 1)


def test_other_sectors_go_their_own_way(make):
    side = make()
    side.read(0, 0b0011, source=FIRST)
    wide = side.read(0, 0b0110, source=NEIGHBOUR, at=1)
    assert sectors_of(side.finish())[wide] == 0b0110
    assert side.count.l2_joined == 0


def test_fewer_sectors_join(make):
    side = make()
    side.read(0, 0b1111, source=FIRST)
    narrow = side.read(0, 0b0100, source=NEIGHBOUR, at=1)
    assert sectors_of(side.finish())[narrow] == 0b0100
    assert side.count.l2_joined == 1 == side.count.dram_reads // 4


def test_parts_come_as_they_come_for_the_first(make):
    """Half of the line is there, half comes from the DRAM."""
    side = make()
    warm(side, 0b0011)
    tags = [side.read(0, source=s, at=side.now + s) for s in (FIRST, NEIGHBOUR)]
    replies = side.finish()
    assert sectors_of(replies) == dict.fromkeys(tags, 0b1111)
    arrivals = [sorted(r.arrival for r in replies if r.tag == tag) for tag in tags]
    assert arrivals[0] == arrivals[1]
    assert len(set(arrivals[0])) > 1


def test_one_that_comes_between_the_parts_has_those_that_left_at_once(make):
    side = make()
    warm(side, 0b0001)
    side.read(0, 0b0011, source=FIRST)
    side.run_to(side.now + 60)
    late = side.read(0, 0b0011, source=NEIGHBOUR)
    replies = [r for r in side.finish() if r.tag == late]
    assert sectors_of(replies) == {late: 0b0011}
    assert len(replies) == 2
    assert side.took(replies[0]) <= 1 < side.took(replies[1])
    assert side.count.l2_joined == 1


def test_entries_for_those_who_join_run_out_and_come_back(make):
    """Whoever finds none goes its own way."""
    side = make(buffer=4096, reply_buffer=4096, l2__queue=4096)
    reads = memory.JOINED + 50
    for k in range(reads):
        side.read(0, 0b0001, source=k % 2)
    replies = side.finish()
    assert len(sectors_of(replies)) == reads
    assert memory.JOINED - 4 <= side.count.l2_joined < reads - 1
    assert not side.memory.l2.slices["joined"].any()


@pytest.mark.long
def test_everybody_gets_what_it_asked_for(make):
    """Random reads, writes and atomics of few lines by four SMs, two sides."""
    random = np.random.default_rng(5)
    side = make(
        l2__slices_per_channel=2, l2__sides=2, l2__side_reads="near", l2__far_latency=30,
        dram__channels=2, l2__slice_hash="linear",
    )  # fmt: skip
    asked = {}
    for _ in range(3000):
        address, source = int(random.integers(0, 12)) * LINE, int(random.integers(0, 4))
        sectors = int(random.integers(1, 16))
        if random.random() < 0.8:
            asked[side.read(address, sectors, source=source)] = sectors
        else:
            side.write(address, sectors, source=source)
    replies = side.finish()
    assert sectors_of([r for r in replies if r.kind == KIND_DATA]) == asked
    assert side.count.l2_joined > 100
    assert not side.memory.l2.slices["joined"].any()
    assert not side.memory.l2.slices["mshrs"].any()
