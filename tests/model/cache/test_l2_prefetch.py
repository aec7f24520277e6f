"""Prefetches of an L2 slice: when they meet the tags, what becomes of them, who goes first."""

import random

import pytest

from lockstep.model.cache.prefetch import state, table
from lockstep.model.dram.timing import ACT
from lockstep.model.link import KIND_DATA

pytestmark = pytest.mark.plain
LINE = 128
SETS = 4


def after(distance, *at):
    """A prefetcher that asks for one line so far behind those ``at``; without any, behind all."""

    def policy(line, hit, rows, out):
        out[0].line = line + distance
        return int(not at or line in at)

    return policy


@pytest.fixture
def make(rig):
    """Function from a prefetcher and changes to a memory side."""

    def build(policy=None, **changes):
        return rig.MemorySide(policies={"l2_prefetcher": policy} if policy else {}, **changes)

    return build


def counts(side):
    names = ("es", "_useful", "_late", "_useless", "_redundant", "_dropped")
    found = {n.strip("_"): getattr(side.count, f"l2_prefetch{n}") for n in names}
    return {name: n for name, n in found.items() if n}


def read(side, line, sectors=0b1111):
    """Read a line; the cycles that it takes, when nothing else is under way any more."""
    side.read(line * LINE, sectors)
    return side.took(side.finish()[0])


def test_a_line_is_brought_that_nobody_waits_for(make, rig):
    side = make(after(1, 0))
    assert read(side, 0, 0b0001) == rig.HIT + rig.MISS
    assert side.way(LINE).valid == 0b1111
    assert [r.kind for r in side.replies] == [KIND_DATA]
    assert (side.count.dram_reads, side.count.l2_fills) == (5, 5)
    assert counts(side) == {"es": 1}


def test_its_first_read_is_a_hit_and_makes_it_useful(make, rig):
    side = make(after(1, 0))
    read(side, 0)
    assert read(side, 1) == rig.HIT + 3 and counts(side) == {"es": 1, "useful": 1}
    read(side, 1)
    assert counts(side) == {"es": 1, "useful": 1}
    assert side.count.l2_read_hits == 8


def test_a_read_of_a_line_on_its_way_is_late_and_waits_for_it(make, rig):
    side = make(after(1, 0))
    side.read(0)
    side.read(LINE, at=20)
    side.finish()
    assert counts(side) == {"es": 1, "late": 1}
    assert side.count.l2_read_pending == 4 and side.count.dram_reads == 8
    assert side.took(side.replies[-1]) < rig.HIT + rig.MISS
    read(side, 1)
    assert counts(side) == {"es": 1, "late": 1}


@pytest.mark.parametrize("how", ["evicted", "flushed"])
def test_a_line_that_leaves_unused_is_useless(make, how):
    side = make(after(1, 0))
    read(side, 0)
    if how == "evicted":
        for k in (1, 2, 3):
            side.copy((1 + SETS * k) * LINE, LINE)
    else:
        from lockstep.model import contents

        contents.flush(side.memory)
    assert side.way(LINE) is None
    assert counts(side) == {"es": 1, "useless": 1}


def test_what_is_here_on_its_way_or_unused_is_redundant(make):
    side = make(after(0))
    read(side, 0, 0b0001)
    assert counts(side) == {"redundant": 1}, "some of it was on its way"
    side = make(after(1))
    side.copy(LINE, LINE)
    read(side, 0)
    assert counts(side) == {"redundant": 1}


def test_only_what_is_missing_is_brought(make):
    side = make(after(1, 0))
    side.copy(LINE, 64)
    read(side, 0, 0b0001)
    assert side.count.dram_reads == 1 + 2 and side.way(LINE).valid == 0b1111


def test_the_tags_take_a_prefetch_when_they_take_no_request(make):
    """Requests in consecutive cycles meet the tags as without; a prefetch waits for a free tick."""
    when = {}
    for policy in (None, after(1, 0)):
        side = make(policy, sources=4, l2__bytes_per_cycle=128)
        side.copy(4 * LINE, 4 * LINE)
        side.read(0, 0b0001, source=0)
        for source in (1, 2, 3):
            side.read((3 + source) * LINE, 0b0001, source=source)
        side.finish()
        when[policy is None] = sorted((r.tag, r.arrival) for r in side.replies)
    assert when[True] == when[False]


@pytest.mark.parametrize("busy", [3, 4, 7])
def test_a_prefetch_waits_a_tick_for_each_request_in_front_of_the_tags(make, busy):
    def activated(busy):
        """Ticks from the row of a read to that of what is prefetched behind it."""
        side = make(after(5, 0), sources=8, l2__bytes_per_cycle=128, l2__sets=8, log=64)
        side.copy(8 * LINE, 8 * LINE)
        side.read(0, 0b0001, source=0)
        for source in range(1, 1 + busy):
            side.read((7 + source) * LINE, 0b0001, source=source)
        side.finish()
        log = side.memory.l2.dram.log[0]
        ticks = log["tick"][(log["command"] == ACT) & (log["tick"] > 0)]
        assert len(ticks) == 2
        return ticks[1] - ticks[0]

    assert activated(busy) == busy + 1


def test_demand_has_all_mshrs_and_prefetches_those_that_are_free(make):
    side = make(after(8, 0), sources=8, l2__mshr_entries=4, l2__sets=32, dram__timing={"nCL": 900})
    for source in range(3):
        side.read(source * LINE, 0b0001, source=source, at=30 * source)
    side.run_to(200)
    slice_ = side.memory.l2.slices[0]
    assert counts(side) == {"dropped": 1}, "three are free, and a line takes four"
    assert (slice_.mshrs, slice_.ahead) == (3, 0)
    side = make(after(8, 0), sources=8, l2__mshr_entries=5, l2__sets=32, dram__timing={"nCL": 900})
    for source in range(6):
        side.read(source * LINE, 0b0001, source=source, at=30 * source)
    side.run_to(300)
    slice_ = side.memory.l2.slices[0]
    assert counts(side) == {"es": 1}
    assert (slice_.mshrs, slice_.ahead) == (5, 4), "demand takes all five"
    side.finish()
    slice_ = side.memory.l2.slices[0]
    assert (slice_.mshrs, slice_.ahead) == (0, 0)


def test_demand_gets_the_last_way_of_a_set(make):
    side = make(after(SETS, 0), sources=4, dram__timing={"nCL": 900})
    side.read(0, 0b0001)
    side.run_to(100)
    assert counts(side) == {"dropped": 1}, "one way waits, the other one is left"
    side.read(SETS * LINE, 0b0001, source=1)
    side.run_to(200)
    assert side.count.l2_stall_line == 0 and side.memory.l2.slices[0].mshrs == 2


def test_prefetches_take_half_of_the_dram_queue_at_most(make):
    for room, taken in ((9, 0), (10, 1)):  # a sector of demand, and four
        side = make(after(1, 0), dram__read_queue=room, dram__timing={"nCL": 900})
        side.read(0, 0b0001)
        side.run_to(60)
        assert side.count.l2_prefetches == taken, room


def test_a_prefetch_whose_victim_owes_the_memory_writes_it_back(make):
    side = make(after(1, 0))
    for k in (1, 2):
        side.write((1 + SETS * k) * LINE)
        side.finish()
    read(side, 0)
    assert side.count.l2_writebacks == 4 and side.way(LINE).valid == 0b1111
    assert side.way((1 + 2 * SETS) * LINE).dirty == 0b1111


@pytest.mark.long
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("sides", [1, 2])
def test_counts_add_up_and_every_request_is_answered(make, seed, sides):
    rng = random.Random(seed)

    def policy(line, hit, rows, out):
        rows[1].mark = (rows[1].mark * 5 + line + 1) % 24
        out[0].line, out[1].line = line + 1, rows[1].mark
        return 2

    changes = {"l2__sides": 2, "l2__side_reads": "near", "l2__slices_per_channel": 2}
    side = make(policy, sources=4, **(changes if sides == 2 else {}), l2__mshr_entries=24)
    side.repeat = 3
    sent = set()
    for _ in range(300):
        source = rng.randrange(4)
        address = rng.randrange(24) * LINE
        if rng.random() < 0.2:
            sent.add(side.write(address, rng.randrange(1, 16), source=source))
        elif rng.random() < 0.1:
            sent.add(side.atomic(address, source=source))
        else:
            sent.add(side.read(address, rng.randrange(1, 16), source=source))
        if rng.random() < 0.5:
            side.window()
        if rng.random() < 0.05:
            side.finish()
    side.finish()
    assert {r.tag for r in side.replies} == sent
    n = side.count
    marks = side.memory.l2.prefetch.marks
    assert not (marks >= state.COMING).any(), "nothing is on its way"
    unused = int((marks == state.HERE).sum())
    told = n.l2_prefetch_useful + n.l2_prefetch_late + n.l2_prefetch_useless
    assert n.l2_prefetches == told + unused
    assert min(n.l2_prefetches, n.l2_prefetch_useful, n.l2_prefetch_useless) > 0


def test_the_built_in_one_follows_a_stream(make, rig):
    side = make(l2__prefetcher="stream", l2__prefetch_degree=4, l2__sets=32)
    cycles = [read(side, line) for line in range(12)]
    assert min(cycles[:3]) > rig.HIT + 3 and cycles[3:] == [rig.HIT + 3] * 9
    head = side.memory.l2.prefetch.tables[0, 0]
    assert (head.degree, head.distance, head.window) == (4, 1, 16)
    assert len(side.memory.l2.prefetch.tables[0]) == table.ROWS
