"""An L2 of two sides that keep what they read: where data comes from, and what copies cost."""

import pytest

from lockstep.model.cache import l2_sides
from lockstep.model.link import KIND_ACK, KIND_DATA, KIND_READ

pytestmark = pytest.mark.plain

LINE = 128
HOP = 30
NEAR, FAR = 0, 1  # SMs; the first slice of a channel is on the side of the first


@pytest.fixture
def make(rig):
    def build(**changes):
        sides = {
            "l2__slices_per_channel": 2,
            "l2__slice_hash": "linear",
            "l2__sides": 2,
            "l2__side_reads": "near",
            "l2__far_latency": HOP,
            "l2__mshr_merges": 64,
        }
        return rig.MemorySide(sources=2, **sides | changes)

    return build


def took(side):
    """Cycles of the one request that was sent; its reply is forgotten."""
    (reply,) = side.finish()
    side.replies = []
    return side.took(reply)


def warm(side):
    """What was sent is over, and forgotten."""
    side.finish()
    side.replies = []


def test_a_miss_comes_from_the_dram_to_the_readers_side_alone(rig, make):
    side = make()
    side.read(0, 0b0001, source=FAR)
    assert took(side) == rig.HIT + rig.MISS + HOP
    side.read(0, 0b0001, source=FAR)
    assert took(side) == rig.HIT + HOP, "kept on its own side, but as late as from the other"
    assert side.count.l2_fills == 1
    assert side.count.l2_crossings == 1


def test_the_home_takes_what_another_side_has(rig, make):
    side = make()
    side.read(0, 0b0001, source=FAR)
    warm(side)
    side.read(0, 0b0011, source=NEAR)
    first, second = sorted(side.took(reply) for reply in side.finish())
    assert first == rig.HIT + HOP
    assert second > first, "the other sector comes from the DRAM"
    side.replies = []
    side.read(0, 0b0001, source=NEAR)
    assert took(side) == rig.HIT
    assert side.count.l2_fills == 2 == side.count.dram_reads
    assert side.count.l2_crossings == 2


def test_the_home_waits_for_what_is_on_its_way_to_another_side(rig, make):
    side = make()
    side.read(0, 0b0001, source=FAR, at=0)
    side.read(0, 0b0001, source=NEAR, at=1)
    replies = side.finish()
    hops = sorted(side.took(r) - rig.HIT - rig.MISS for r in replies)
    assert hops == [HOP, 2 * HOP - 1]
    assert side.count.dram_reads == 1


def test_what_the_home_has_crosses_once(rig, make):
    side = make()
    side.read(0, 0b0001, source=NEAR)
    warm(side)
    side.read(0, 0b0001, source=FAR)
    for _ in range(2):
        assert took(side) == rig.HIT + HOP
        side.read(0, 0b0001, source=FAR)
    assert took(side) == rig.HIT + HOP
    assert side.count.l2_fills == 1 == side.count.dram_reads
    assert side.count.l2_crossings == 1


def test_data_on_its_way_to_the_home_is_asked_for_once(rig, make):
    side = make()
    side.read(0, 0b0001, source=NEAR, at=0)
    side.read(0, 0b0001, source=FAR, at=0)
    replies = side.finish()
    assert sorted(side.took(r) for r in replies) == [rig.HIT + rig.MISS, rig.HIT + rig.MISS + HOP]
    assert side.count.dram_reads == 1


def test_a_write_goes_home_and_drops_the_copies(rig, make):
    side = make()
    side.read(0, 0b0011, source=FAR)
    warm(side)
    side.write(0, 0b0001, source=FAR)
    assert took(side) == rig.HIT + HOP
    before = side.count.l2_crossings
    side.read(0, 0b0010, source=FAR)
    warm(side)
    assert side.count.l2_crossings == before, "the other sector is still here"
    side.read(0, 0b0001, source=FAR)
    assert took(side) == rig.HIT + HOP
    assert side.count.l2_crossings == before + 1, "what was written comes from the home"


def test_a_burst_brings_no_sector_that_crosses_already(make):
    """Half of a burst was written at its home, the other half comes from the DRAM, each once."""
    side = make(dram__burst_length=4)
    side.write(0, 0b0001, source=NEAR)
    warm(side)
    side.read(0, 0b0011, source=FAR)
    side.finish()
    assert side.count.l2_crossings == 2
    assert side.count.l2_fills == 1
    assert not side.memory.l2.slices["mshrs"].any()


def test_an_atomic_drops_the_copies(rig, make):
    side = make()
    side.read(0, 0b0001, source=FAR)
    warm(side)
    side.atomic(0, source=NEAR)
    warm(side)
    side.read(0, 0b0001, source=FAR)
    assert took(side) == rig.HIT + HOP


def test_host_copies_are_on_each_side(rig, make):
    side = make()
    side.copy(0, LINE)
    for source, hop in ((NEAR, 0), (FAR, HOP)):
        side.read(0, source=source)
        assert took(side) == rig.HIT + 3 + hop, "four sectors through a port of one a cycle"
    assert side.count.copy_sectors == 4
    assert side.count.l2_crossings == 0


@pytest.mark.parametrize(("places", "written_back"), [("home", 0), ("both", 4)])
@pytest.mark.parametrize("read_before", [False, True])
def test_a_written_line_may_take_a_place_on_each_side(make, places, written_back, read_before):
    """Two sets of two ways, one a side: two lines fit there that belong to the other side."""
    side = make(l2__sets=1, l2__ways=2, l2__side_writes=places)
    other = [1, 3]  # lines whose home is on the far side
    for n in other:
        side.write(n * LINE, source=FAR)
        warm(side)
    if read_before:
        side.read(0, source=NEAR)
        warm(side)
    side.write(0, source=NEAR)
    warm(side)
    assert side.count.l2_writebacks == written_back, "of line 1, for whose place line 0 asks"
    side.read(0, 0b0001, source=NEAR)
    assert side.finish() and side.count.l2_read_hits == 1


def test_a_place_on_the_other_side_is_not_waited_for(make):
    """Its only way waits for data."""
    side = make(l2__sets=1, l2__ways=1, l2__side_writes="both")
    side.read(LINE, source=FAR)  # at home on the far side
    side.write(0, source=NEAR)
    kinds = [reply.kind for reply in side.finish()]
    assert (kinds.count(KIND_DATA), kinds.count(KIND_ACK)) == (4, 1)
    assert side.count.l2_writebacks == 0


@pytest.mark.parametrize(
    ("come", "line", "reader", "crossings"),
    [("copy", 0, FAR, 0), ("pass_through", 0, FAR, 1), ("pass_through", 1, NEAR, 0)],
)
def test_a_host_copy_is_on_both_sides_and_of_what_a_profiler_read_every_second_line(
    rig, make, come, line, reader, crossings
):
    side = make()
    getattr(side, come)(line * LINE, LINE)
    side.read(line * LINE, 0b0001, source=reader)
    assert took(side) == rig.HIT + HOP
    assert side.count.l2_crossings == crossings


def test_each_side_is_near_to_the_lines_of_its_own(rig, make):
    """Whichever SM reads them first, and how often: the near lines of one are far to the other."""
    side = make()
    times = {}
    for _ in range(3):
        for line in range(4):
            for source in (NEAR, FAR):
                side.read(line * LINE, 0b0001, source=source)
                times[source, line] = took(side)
    near = {source: [n for n in range(4) if times[source, n] == rig.HIT] for source in (NEAR, FAR)}
    assert len(near[NEAR]) == len(near[FAR]) == 2
    assert sorted(near[NEAR] + near[FAR]) == list(range(4))
    assert set(times.values()) == {rig.HIT, rig.HIT + HOP}


def test_reads_of_both_sides_are_answered_to_the_last(rig, make):
    """Seeded traffic of both sides and all kinds: every request has its answer, once."""
    import random

    side = make(l2__mshr_entries=4, dram__read_queue=2, l2__queue=2)
    chance = random.Random(7)
    tags = []
    for _ in range(300):
        address, source = LINE * chance.randrange(40), chance.randrange(2)
        send = chance.choice([side.read, side.read, side.write, side.atomic])
        mask = 1 if send == side.atomic else chance.randrange(1, 16)
        tags.append(send(address, mask, source=source))
    replies = side.finish()
    sectors = {}
    for reply in replies:
        if reply.request == KIND_READ:
            sectors[reply.tag] = sectors.get(reply.tag, 0) + bin(reply.sectors).count("1")
    assert {reply.tag for reply in replies} == set(tags)
    assert not side.memory.l2.slices["mshrs"].any()
    assert not side.memory.l2.slices["waiting"].any()


def test_requests_of_other_gpus_come_to_the_side_that_has_the_line(rig, make):
    """Their numbers are behind those of the SMs, for which there are no replies in this rig."""
    side = make()
    spec = side.memory.l2.spec[0]
    homes = [l2_sides.side_of(spec, source, home) for source in (NEAR, FAR) for home in (0, 1)]
    assert homes == [0, 0, 1, 1]
    assert [l2_sides.side_of(spec, 2 + 65536, home) for home in (0, 1)] == [0, 1]
