"""The data port of an L2 slice: how long accesses keep it, alone, in a row and from two sides."""

import itertools

import pytest

from lockstep.model.cache.data_port import RUN
from lockstep.model.link import KIND_REDUCTION

pytestmark = pytest.mark.plain

LINE = 128
NEAR, FAR = 0, 1  # SMs; the first slice of a channel is on the side of the first
HOP = 30
APART = 16 * LINE  # chunks that no other lies next to, in one set
SIDES = {
    "l2__slices_per_channel": 2,
    "l2__slice_hash": "linear",
    "l2__sides": 2,
    "l2__side_reads": "near",
    "l2__far_latency": HOP,
}


@pytest.fixture
def make(rig):
    def build(sides=False, **changes):
        room = {"l2__sets": 64, "l2__ways": 32}
        side = rig.MemorySide(sources=2, **(SIDES if sides else {}) | room | changes)
        side.copy(0, 64 * APART)
        return side

    return build


def gaps(side):
    """Cycles between the replies that came."""
    times = [r.arrival for r in side.finish()]
    return [b - a for a, b in itertools.pairwise(times)]


@pytest.mark.parametrize(
    "sectors, interval, least, cycles",
    [(0b1111, 0.0, 0.0, 4), (0b1111, 3.0, 0.0, 12), (0b0001, 3.0, 0.0, 3), (0b0011, 3.0, 8.0, 8),
     (0b1111, 1.5, 0.0, 6), (0b0001, 1.25, 0.0, 1)],
)  # fmt: skip
def test_sectors_take_the_port_for_their_interval(make, sectors, interval, least, cycles):
    side = make(l2__sector_interval=interval, l2__request_interval=least)
    for n in range(2):
        side.read(n * APART, sectors)
    assert gaps(side)[0] in (cycles, cycles + (interval == 1.25))


def test_parts_of_a_cycle_add_up(make):
    side = make(l2__sector_interval=1.25)
    for n in range(9):
        side.read(n * APART, 0b0001)
    assert sum(gaps(side)) == 10, "eight times 1.25"


def test_a_slice_of_one_side_takes_as_many_times_as_long_as_there_are_sides(make):
    side = make(sides=True, l2__sector_interval=3.0)
    for n in range(5):
        side.read(2 * n * APART, 0b1111, source=NEAR)
    assert gaps(side) == [24] * 4


def test_what_keeps_to_one_chunk_has_a_whole_slice(make):
    side = make(sides=True, l2__sector_interval=3.0)
    for _ in range(RUN + 4):
        side.read(0, 0b1111, source=NEAR)
    found = gaps(side)
    assert found[: RUN - 1] == [24] * (RUN - 1)
    assert found[-2:] == [12] * 2


def test_a_few_others_do_not_take_the_slice_from_a_chunk(make):
    side = make(sides=True, l2__sector_interval=3.0)
    for _ in range(2 * RUN + 2):
        side.read(0, 0b1111, source=NEAR)
    side.finish()
    for n in (0, 16, 0, 0):
        side.read(2 * n * LINE, 0b1111, source=NEAR)
    assert gaps(side)[1:] == [24, 12], "the other one, and the chunk again"


@pytest.mark.parametrize(
    "full, interval, cycles", [(0b1111, 1.0, 4), (0b0011, 1.0, 6), (0, 1.0, 8), (0, 0.0, 4)]
)
def test_sectors_that_are_written_in_part_take_the_port_longer(make, full, interval, cycles):
    side = make(l2__sector_interval=1.0, l2__merge_interval=interval)
    for n in range(3):
        side.write(n * APART, 0b1111, full)
    assert gaps(side) == [cycles] * 2


def test_a_merge_comes_on_top_of_the_time_of_a_request(rig, make):
    side = make(l2__sector_interval=1.0, l2__merge_interval=2.0, l2__request_interval=5.0)
    for n in range(3):
        side.write(n * APART, 0b0001, 0)
    assert [side.took(reply) for reply in side.finish()] == [
        rig.HIT + 2 + n * (5 + 2 - 1)
        for n in range(3)  # they come one a cycle
    ]


@pytest.mark.parametrize("source, cycles", [(NEAR, 0), (FAR, HOP + 8)])
def test_writes_of_the_far_side_pass_through_the_near_slice(rig, make, source, cycles):
    side = make(sides=True, l2__sector_interval=1.0, l2__pass_interval=2.0)
    side.write(0, 0b1111, source=source)
    (reply,) = side.finish()
    assert side.took(reply) == rig.HIT + 3 + cycles


def test_what_passes_through_keeps_the_slice_from_reads(rig, make):
    def read_takes(interval):
        side = make(sides=True, l2__sector_interval=1.0, l2__pass_interval=interval)
        side.write(APART * 2, 0b1111, source=FAR, at=0)
        side.read(APART * 4, 0b0001, source=FAR, at=1)
        reply = next(r for r in side.finish() if r.request == 0)
        return side.took(reply)

    assert read_takes(0.0) == rig.HIT + HOP
    # 4 sectors at 5 cycles, twice as long here, less a cycle; tags run 4 ahead of the port
    assert read_takes(5.0) == rig.HIT + HOP + 4 * 5 * 2 - 1


@pytest.mark.parametrize("sectors, lanes, cycles", [(0b1111, 1, 12), (0b0001, 1, 3), (1, 8, 40)])
def test_atomic_operations_on_sectors_and_on_words(make, sectors, lanes, cycles):
    side = make(
        l2__sector_interval=1.0, l2__atomic_interval=5.0, l2__atomic_sector_interval=3.0
    )  # fmt: skip
    for _ in range(2):
        side.atomic(0, sectors, full=lanes)
    first, second = (r.arrival for r in side.finish())
    assert second - first == max(cycles, 5 * lanes)


@pytest.mark.parametrize("interval, cycles", [(0.0, 31), (2.0, 0)])
def test_results_of_lanes_on_one_word_leave_with_the_first(rig, make, interval, cycles):
    side = make(interconnect__atomic_result_interval=interval)
    side.atomic(0, 0b0001, full=32)
    (reply,) = side.finish()
    assert side.took(reply) == rig.HIT + cycles


@pytest.mark.parametrize("kind, cycles", [(None, 6 + 6 + 10), (KIND_REDUCTION, 6)])
def test_atomics_of_the_far_side_pass_there_and_results_back(rig, make, kind, cycles):
    """Two sectors pass in 6 cycles, but keep their slice for 12: the results pass behind them."""
    side = make(
        sides=True, l2__sector_interval=1.0, l2__atomic_pass_interval=3.0, l2__result_interval=5.0
    )
    more = {} if kind is None else {"kind": kind}
    took = []
    for source in (NEAR, FAR):
        side.atomic(0, 0b0011, source=source, **more)
        (reply,) = side.finish()
        side.replies.clear()
        took.append(side.took(reply))
    assert took[1] - took[0] == HOP + cycles


@pytest.mark.parametrize("lines, cycles", [((0, 0), 6), ((0, 1), 12)])
def test_a_line_that_is_updated_alone_has_a_whole_slice(make, lines, cycles):
    """Not so two lines in turn, though they are of one chunk."""
    side = make(sides=True, l2__sector_interval=1.0, l2__atomic_interval=6.0,
                l2__interleave_bytes=512)  # fmt: skip
    for n in range(4 * RUN):
        side.atomic(lines[n % 2] * LINE, 0b0001, source=NEAR)
    assert gaps(side)[-2:] == [cycles] * 2
