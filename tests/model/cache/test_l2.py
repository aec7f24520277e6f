"""The L2: what a hit and a miss take, merging, what is refused, writes, atomics, evictions."""

import pytest

from lockstep.model import partition
from lockstep.model.dram.build import idle_latency
from lockstep.model.link import (
    KIND_ACK,
    KIND_ATOMIC,
    KIND_DATA,
    KIND_NACK,
    KIND_READ,
    KIND_REDUCTION,
    KIND_WRITE,
)

pytestmark = pytest.mark.plain

LINE = 128
SETS = 4
SAME_SET = SETS * LINE  # distance of lines that share a set


@pytest.fixture
def make(rig):
    return rig.MemorySide


@pytest.fixture
def side(make):
    return make()


class TestTime:
    def test_a_hit_takes_the_cycles_of_a_hit(self, rig, side):
        side.copy(0, LINE)
        side.read(0, 0b0001)
        (reply,) = side.finish()
        assert side.took(reply) == rig.HIT
        assert (reply.kind, reply.request, reply.flits) == (KIND_DATA, KIND_READ, 1)

    def test_a_miss_adds_the_cycles_of_a_miss(self, rig, side):
        side.read(0, 0b0001)
        (reply,) = side.finish()
        assert side.took(reply) == rig.HIT + rig.MISS

    def test_a_miss_takes_no_less_than_the_dram(self, rig, make):
        side = make(dram__timing={"nRCD": 200})
        side.read(0, 0b0001)
        (reply,) = side.finish()
        assert side.took(reply) == idle_latency(side.gpu) > rig.HIT + rig.MISS

    @pytest.mark.parametrize("port, extra", [(32, 3), (64, 1), (128, 0), (16, 7)])
    def test_the_data_port_moves_so_many_bytes_a_cycle(self, rig, make, port, extra):
        side = make(l2__bytes_per_cycle=port)
        side.copy(0, LINE)
        side.read(0, 0b1111)
        (reply,) = side.finish()
        assert side.took(reply) == rig.HIT + extra
        assert side.count.l2_busy == extra + 1

    def test_replies_leave_one_flit_a_cycle(self, rig, make):
        side = make(sources=2, l2__bytes_per_cycle=128)
        side.copy(0, 2 * LINE)
        side.read(0, 0b1111, source=0)
        side.read(LINE, 0b0001, source=1)
        first, second = sorted(side.finish(), key=lambda r: r.arrival)
        assert (first.flits, second.flits) == (4, 1)
        assert second.arrival == first.arrival + 4

    def test_a_reply_with_data_has_a_header(self, make):
        side = make(interconnect__reply_header_bytes=16, l2__bytes_per_cycle=128, sources=4)
        side.copy(0, 4 * LINE)
        for source in range(4):
            side.read(source * LINE, 0b0001, source=source)
        cycles = sorted(r.arrival for r in side.finish())
        assert [c - cycles[0] for c in cycles] == [0, 1, 3, 4]  # a flit and a half each

    def test_requests_are_taken_one_flit_a_cycle(self, rig, make):
        side = make(sources=2)
        side.write(0, 0b0001, flits=4, source=0)
        side.write(LINE, 0b0001, source=1)
        assert [side.took(r) for r in side.finish()] == [rig.HIT + 3, rig.HIT + 4]

    @pytest.mark.parametrize("source, extra", [(0, 0), (1, 30)])
    def test_the_far_side_of_the_chip_is_farther(self, rig, make, source, extra):
        side = make(sources=2, dram__channels=2, l2__sides=2, l2__far_latency=30)
        address = next(
            a for a in range(0, 64 * LINE, LINE) if rig.slice_of(side.memory.slices, a, None) == 0
        )
        side.read(address, 0b0001, source=source)
        assert side.took(side.finish()[0]) == rig.HIT + rig.MISS + extra
        side.read(address, 0b0001, source=source)
        assert side.took(side.finish()[0]) == rig.HIT + extra

    def test_a_slower_clock_of_the_slices_halves_their_rate(self, make):
        arrivals = {}
        for mhz in (1000.0, 500.0):
            side = make(sources=4, l2__clock_mhz=mhz)
            side.copy(0, 4 * LINE)
            for source in range(4):
                side.read(source * LINE, 0b0001, source=source)
            arrivals[mhz] = sorted(r.arrival for r in side.finish())
        assert arrivals[1000.0][3] - arrivals[1000.0][0] == 3
        assert arrivals[500.0][3] - arrivals[500.0][0] == 6


class TestMisses:
    def test_a_second_read_merges_with_the_first(self, make):
        side = make(sources=2)
        tags = [side.read(0, 0b0001, source=s) for s in range(2)]
        side.finish()
        assert (side.count.dram_reads, side.count.l2_read_pending) == (1, 1)
        assert [side.answered()[t][KIND_DATA] for t in tags] == [[1], [1]]

    def test_another_sector_of_the_line_is_a_miss_of_its_own(self, make):
        side = make(sources=2)
        side.read(0, 0b0001, source=0)
        side.read(0, 0b0010, source=1)
        side.finish()
        assert (side.count.dram_reads, side.count.l2_read_pending) == (2, 0)

    def test_one_request_is_answered_in_parts_as_data_comes(self, side):
        side.copy(0, 32)
        tag = side.read(0, 0b0111)
        side.finish()
        assert side.answered()[tag][KIND_DATA] == [0b001, 0b010, 0b100]

    def test_a_full_entry_makes_the_next_one_wait(self, make):
        side = make(sources=3, l2__mshr_merges=2)
        tags = [side.read(0, 0b0001, source=s) for s in range(3)]
        side.finish()
        assert side.count.dram_reads == 1
        assert (side.count.l2_read_pending, side.count.l2_read_hits) == (1, 1)
        assert side.count.l2_stall_mshr > 0
        assert all(side.answered()[t][KIND_DATA] == [1] for t in tags)

    def test_a_full_file_stalls(self, rig, make):
        side = make(l2__mshr_entries=1)
        side.read(0, 0b0001)
        side.read(LINE, 0b0001)
        first, second = side.finish()
        assert first.kind == second.kind == KIND_DATA
        assert second.arrival > first.arrival + 10
        assert side.count.l2_stall_mshr == side.count.l2_stalls > 0

    @pytest.mark.parametrize("kind", [KIND_READ, KIND_ATOMIC])
    def test_a_full_file_refuses_and_says_what(self, rig, make, kind):
        side = make(l2__mshr_entries=1, l2__mshr_full="nack")
        side.read(0, 0b0001)
        tag = side.send(kind, LINE, 0b0110, full=3, policy=2)
        replies = side.finish()
        (refusal,) = [r for r in replies if r.kind == KIND_NACK]
        assert (refusal.request, refusal.tag, refusal.flits) == (kind, tag, 1)
        assert (refusal.address, refusal.sectors) == (LINE, 0b0110)
        assert (refusal.full, refusal.policy) == (3, 2)
        assert side.took(refusal) == rig.HIT
        assert side.count.l2_nacks == 1

    def test_what_found_room_is_not_refused(self, make):
        side = make(l2__mshr_entries=2, l2__mshr_full="nack")
        tag = side.read(0, 0b0111)
        side.finish()
        assert side.answered()[tag] == {KIND_NACK: [0b100], KIND_DATA: [0b001, 0b010]}

    def test_refused_requests_are_served_when_they_come_again(self, make):
        side = make(l2__mshr_entries=1, l2__mshr_full="nack")
        side.repeat = 7
        tags = [side.read(i * LINE, 0b0011) for i in range(3)]
        side.finish()
        assert side.count.l2_nacks > 0
        assert all(sum(side.answered()[t][KIND_DATA]) == 0b0011 for t in tags)

    def test_a_storm_on_one_line_ends_and_nobody_is_refused_for_ever(self, make):
        """Ten times 64 reads of a line whose entry takes two at a time."""
        side = make(sources=10, l2__mshr_entries=1, l2__mshr_merges=2, l2__mshr_full="nack")
        side.repeat = 1
        other = [side.read(LINE * (1 + s), 0b1, source=s) for s in range(10)]
        tags = [side.read(0, 0b1 << i % 4, source=i % 10) for i in range(640)]
        side.finish()
        answered = side.answered()
        assert all(len(answered[tag][KIND_DATA]) == 1 for tag in tags + other)
        refused = [len(answered[tag].get(KIND_NACK, ())) for tag in tags + other]
        assert max(refused) <= partition.MOST_REFUSALS
        assert side.count.l2_nacks == sum(refused) > 0

    def test_a_request_that_was_refused_so_often_waits_in_front_of_the_tags(self, make):
        def nacks(refusals):
            side = make(l2__mshr_entries=1, l2__mshr_full="nack")
            side.read(0, 0b1)
            tag = side.read(LINE, 0b1)
            side.waiting[0][-1].refusals = refusals
            side.repeat = 5
            side.finish()
            assert len(side.answered()[tag][KIND_DATA]) == 1
            return int(side.count.l2_nacks)

        assert nacks(partition.MOST_REFUSALS) == 0
        assert nacks(partition.MOST_REFUSALS - 1) == 1

    @pytest.mark.parametrize("kind", [KIND_WRITE, KIND_REDUCTION])
    def test_writes_and_reductions_are_never_refused(self, make, kind):
        side = make(l2__mshr_entries=1, l2__mshr_full="nack", l2__protocol="write_fetch")
        side.read(0, 0b0001)
        tag = side.send(kind, LINE, 0b0011)
        side.finish()
        assert side.answered()[tag] == {KIND_ACK: [0b0011]}
        assert side.count.l2_nacks == 0

    def test_a_set_of_fills_under_way_takes_no_other_line(self, side):
        for i in range(3):
            side.read(i * SAME_SET, 0b0001)
        assert [r.address for r in side.finish()] == [0, SAME_SET, 2 * SAME_SET]
        assert side.count.l2_stall_line > 0

    def test_a_full_read_queue_stalls(self, make):
        side = make(dram__read_queue=1)
        for i in range(3):
            side.read(i * LINE, 0b0001)
        assert len(side.finish()) == 3
        assert side.count.l2_stall_dram_queue > 0


class TestWrites:
    def test_a_sector_written_in_full_is_valid_without_a_read(self, side):
        tag = side.write(0, 0b0011)
        side.finish()
        assert side.answered()[tag] == {KIND_ACK: [0b0011]}
        way = side.way(0)
        assert (way.valid, way.dirty, way.partial) == (0b0011, 0b0011, 0)
        side.read(0, 0b0011)
        side.finish()
        assert (side.count.dram_reads, side.count.l2_read_hits) == (0, 2)

    def test_a_sector_written_in_part_is_fetched_when_it_is_read(self, side):
        side.write(0, 0b0011, full=0b0001)
        side.finish()
        way = side.way(0)
        assert (way.valid, way.dirty, way.partial) == (0b0001, 0b0011, 0b0010)
        side.read(0, 0b0011)
        side.finish()
        way = side.way(0)
        assert (way.valid, way.dirty, way.partial) == (0b0011, 0b0011, 0)
        assert (side.count.dram_reads, side.count.l2_partial_fills) == (1, 1)
        assert (side.count.l2_read_hits, side.count.l2_write_hits) == (1, 0)

    def test_the_rest_of_a_partial_sector_may_come_by_a_full_write(self, side):
        side.write(0, 0b0001, full=0)
        side.write(0, 0b0001)
        side.finish()
        assert (side.way(0).valid, side.way(0).partial) == (1, 0)
        assert (side.count.l2_write_hits, side.count.dram_reads) == (1, 0)

    def test_a_write_during_a_fetch_survives_it(self, make):
        side = make(sources=2)
        side.read(0, 0b0001, source=0)
        side.write(0, 0b0001, full=0, source=1)
        side.finish()
        way = side.way(0)
        assert (way.valid, way.dirty, way.partial, way.pending) == (1, 1, 0, 0)

    @pytest.mark.parametrize("full", [0b0000, 0b0001])
    def test_an_evicted_sector_is_one_write_and_no_read(self, side, full):
        side.write(0, 0b0001, full=full)
        for i in (1, 2):
            side.write(i * SAME_SET, 0b0001)
        side.finish()
        assert side.way(0) is None
        assert (side.count.dram_writes, side.count.dram_reads) == (1, 0)
        assert (side.count.l2_writebacks, side.count.l2_evictions) == (1, 1)

    def test_only_dirty_sectors_are_written_back(self, side):
        side.copy(0, LINE)
        side.write(0, 0b0101)
        side.finish()
        for i in (1, 2):
            side.read(i * SAME_SET, 0b0001)
        side.finish()
        assert (side.count.dram_writes, side.count.l2_writebacks) == (2, 2)

    def test_a_clean_line_just_goes(self, side):
        for i in range(3):
            side.read(i * SAME_SET, 0b0001)
        side.finish()
        assert (side.count.l2_evictions, side.count.dram_writes) == (1, 0)

    def test_a_full_write_queue_holds_up_the_eviction(self, make):
        side = make(dram__write_queue=1)
        for i in range(6):
            side.write(i * SAME_SET, 0b1111)
        assert len(side.finish()) == 6
        assert side.count.l2_stall_dram_queue > 0
        assert side.count.dram_writes == side.count.l2_writebacks == 4 * 4

    def test_fetch_reads_the_sector_of_a_write_miss(self, make):
        side = make(l2__protocol="write_fetch")
        side.write(0, 0b0001)
        side.finish()
        assert side.count.dram_reads == 1
        way = side.way(0)
        assert (way.valid, way.dirty, way.partial) == (1, 1, 0)
        side.write(0, 0b0001, full=0)
        side.finish()
        assert (side.count.dram_reads, side.count.l2_write_hits) == (1, 1)

    def test_an_acknowledgement_does_not_wait_for_the_fetch(self, rig, make):
        side = make(l2__protocol="write_fetch")
        side.write(0, 0b0001)
        assert [side.took(r) for r in side.finish()] == [rig.HIT]


class TestAtomics:
    def test_an_atomic_fetches_its_sector_and_leaves_it_dirty(self, rig, side):
        tag = side.atomic(0, 0b0010)
        (reply,) = side.finish()
        assert side.took(reply) == rig.HIT + rig.MISS + 1, "the data port is filling the line"
        assert (reply.tag, reply.kind, reply.request) == (tag, KIND_DATA, KIND_ATOMIC)
        assert (side.way(0).valid, side.way(0).dirty) == (0b0010, 0b0010)
        side.atomic(0, 0b0010)
        assert side.took(side.finish()[0]) == rig.HIT
        assert (side.count.l2_atomic_sectors, side.count.l2_atomic_hits) == (2, 1)

    def test_a_reduction_is_acknowledged_at_once_and_sends_no_data(self, rig, side):
        side.atomic(0, 0b0011, kind=KIND_REDUCTION)
        (reply,) = side.finish()
        assert (reply.kind, reply.sectors, side.took(reply)) == (KIND_ACK, 0b0011, rig.HIT)
        assert (side.way(0).valid, side.way(0).dirty) == (0b0011, 0b0011)
        assert side.count.dram_reads == 2

    @pytest.mark.parametrize("lanes, sectors, ticks", [(1, 1, 1), (32, 1, 32), (2, 0b1111, 4)])
    def test_lanes_on_one_word_take_turns(self, rig, make, lanes, sectors, ticks):
        side = make(l2__bytes_per_cycle=128)
        side.copy(0, LINE)
        side.atomic(0, sectors, full=lanes)
        assert side.took(side.finish()[0]) == rig.HIT + ticks - 1

    def test_an_atomic_joins_a_fetch(self, make):
        side = make(sources=2)
        side.read(0, 0b0001, source=0)
        side.atomic(0, 0b0001, source=1)
        side.finish()
        assert (side.count.dram_reads, side.count.l2_atomic_pending) == (1, 1)
        assert side.way(0).dirty == 1


class TestCopies:
    def test_what_was_copied_hits_and_is_clean(self, side):
        side.copy(32, LINE)  # three sectors of line 0 and one of line 1
        assert (side.way(0).valid, side.way(LINE).valid) == (0b1110, 0b0001)
        assert (side.way(0).dirty, side.count.copy_sectors) == (0, 4)
        side.read(0, 0b1110)
        side.finish()
        assert (side.count.l2_read_hits, side.count.dram_reads) == (3, 0)
        for i in (1, 2):
            side.read(i * SAME_SET, 0b0001)
        side.finish()
        assert side.count.dram_writes == 0

    def test_a_copy_replaces_what_was_written(self, side):
        side.write(0, 0b0011, full=0b0001)
        side.finish()
        side.copy(0, LINE)
        assert (side.way(0).valid, side.way(0).dirty, side.way(0).partial) == (0b1111, 0, 0)

    @pytest.mark.parametrize(
        "address, size, masks",
        [(0, 0, []), (5, 1, [1]), (31, 2, [3]), (127, 2, [8, 1]), (64, 192, [12, 15])],
    )
    def test_sectors_that_are_touched_are_copied(self, side, address, size, masks):
        side.copy(address, size)
        ways = [side.way(a) for a in range(0, 3 * LINE, LINE)]
        assert [w.valid for w in ways if w is not None] == masks

    def test_a_copy_finds_no_room_beside_fills_under_way(self, side):
        for i in range(2):
            side.read(i * SAME_SET, 0b0001)
        side.run_to(20)
        side.copy(2 * SAME_SET, LINE)
        assert side.way(2 * SAME_SET) is None
        assert len(side.finish()) == 2


def test_accesses_are_hits_pending_or_misses(make):
    side = make(sources=2)
    side.read(0, 0b0011, source=0)
    side.read(0, 0b0111, source=1)
    side.finish()
    side.read(0, 0b1111)
    side.finish()
    count = side.count
    assert count.l2_read_sectors == 9
    assert (count.l2_read_hits, count.l2_read_pending) == (3, 2)
    assert count.l2_fills == 9 - 3 - 2 == count.dram_reads
    assert count.l2_requests == 3


def test_a_users_replacement_chooses_the_victim(make):
    seen = []

    def last(ways, first, count, now):
        seen.append([int(w.inserted) for w in ways[first : first + count]])
        return count - 1

    side = make(policies={"l2_replacement": last})
    for i in range(4):
        side.read(i * SAME_SET, 0b0001)
        side.finish()
    assert len(seen) == 2
    assert [side.way(i * SAME_SET) is not None for i in range(4)] == [True, False, False, True]
