"""What the L2 holds at a kernel's start: copies, what passes through, nothing after a flush."""

from itertools import pairwise

import numpy as np
import pytest

from lockstep.model import contents
from lockstep.workload.warm import L2_RUN

pytestmark = pytest.mark.plain

LINE = 128


@pytest.mark.parametrize("start", [0, 40, 3 * LINE + 96])
@pytest.mark.parametrize("hashes", ["linear", "ipoly"])
@pytest.mark.parametrize("replacement", ["lru", "fifo"])
def test_a_long_copy_leaves_what_its_pieces_leave(rig, start, hashes, replacement):
    size, parts = 400 * LINE + 50, 61
    sizes = {"l2__sets": 2, "l2__ways": 3, "l2__slices_per_channel": 2}
    hashes = {"l2__slice_hash": hashes, "l2__set_hash": hashes, "l2__replacement": replacement}
    whole, pieces = (rig.MemorySide(**sizes, **hashes) for _ in range(2))
    capacity = whole.memory.l2.tags.keys.size
    assert size // LINE > 2 * contents.COPY_CAPACITIES * capacity, "its beginning is left out"
    whole.copy(start, size)
    bounds = np.linspace(start, start + size, parts, dtype=int) // 32 * 32
    bounds[0], bounds[-1] = start, start + size
    for low, high in pairwise(bounds.tolist()):
        pieces.copy(low, high - low)
    for side in (whole, pieces):
        tags = side.memory.l2.tags
        side.found = list(zip(tags.lines.ravel().tolist(), tags.held["valid"].ravel().tolist()))
    assert sorted(whole.found) == sorted(pieces.found)
    counts = [side.memory.counters["copy_sectors"].sum() for side in (whole, pieces)]
    assert counts[0] == counts[1] == (start + size - 1) // 32 - start // 32 + 1


@pytest.mark.parametrize(("written", "writes"), [(False, 0), (True, 4)])
def test_what_passes_through_is_there_uncounted_and_dirty_where_it_is_written(rig, written, writes):
    side = rig.MemorySide(l2__sets=1, l2__ways=2)
    side.pass_through(0, LINE, written=written)
    side.read(0)
    side.finish()
    assert (side.count.l2_read_hits, side.count.copy_sectors) == (4, 0)
    for n in (1, 2):  # of two ways
        side.read(n * LINE)
        side.finish()
    assert side.way(0) is None
    assert side.count.dram_writes == writes


def test_a_flush_drops_what_is_there_and_writes_nothing(rig):
    side = rig.MemorySide()
    side.pass_through(0, LINE, written=True)
    contents.flush(side.memory)
    side.read(0)
    side.finish()
    assert (side.count.l2_read_hits, side.count.dram_reads) == (0, 4)
    assert side.count.dram_writes == 0


def test_a_flush_leaves_what_is_on_its_way(rig):
    side = rig.MemorySide()
    side.read(0, 0b1111)
    side.run_to(rig.LATENCY + rig.HIT)
    contents.flush(side.memory)
    assert sum(r.sectors for r in side.finish()) == 0b1111


def _hold(side, *runs):
    runs = np.array(list(runs), L2_RUN)
    contents.hold(side.memory, *(runs[name].copy() for name in L2_RUN.names))


def _masks(side, address):
    way = side.way(address)
    return way and (int(way["valid"]), int(way["dirty"]), int(way["partial"]))


def test_lines_that_are_held_have_their_sectors_and_bursts_of_what_was_read(rig):
    side = rig.MemorySide(dram__burst_length=4)
    burst = side.memory.l2.spec[0].burst_sectors
    assert burst == 2, "of two sectors of a line"
    _hold(side, (0, 2, 0b0001, 0b0000), (7, 1, 0b1001, 0b1000), (5, 1, 0b0100, 0b0100))
    assert _masks(side, 0) == _masks(side, LINE) == (0b0011, 0, 0)
    assert _masks(side, 7 * LINE) == (0b1011, 0b1000, 0)
    assert _masks(side, 5 * LINE) == (0b0100, 0b0100, 0), "what was written alone stays alone"
    assert _masks(side, 2 * LINE) is None
    side.read(0, 0b0001)
    side.finish()
    assert (side.count.l2_read_hits, side.count.copy_sectors, side.count.dram_reads) == (1, 0, 0)


@pytest.mark.parametrize("replacement", ["lru", "fifo"])
def test_an_l2_without_room_for_all_lines_holds_the_last_ones(rig, replacement):
    side = rig.MemorySide(l2__sets=2, l2__ways=2, l2__replacement=replacement)
    _hold(side, (100, 3, 15, 15), (10, 2, 15, 0), (200, 2, 15, 15))
    held = [n for n in range(300) if side.way(n * LINE) is not None]
    assert held == [10, 11, 200, 201]
    side.read(50 * LINE)
    side.finish()
    assert side.way(10 * LINE) is None, "the oldest of its set goes first"
    assert side.count.dram_writes == 0


@pytest.mark.parametrize("line, sector", [(64, 32), (128, 64), (256, 32)])
def test_lines_of_other_sizes_hold_the_same_bytes(rig, line, sector):
    sizes = {
        f"l{n}__{what}_bytes": size
        for n in (1, 2)
        for what, size in (("line", line), ("sector", sector))
    }
    side = rig.MemorySide(**sizes, l2__interleave_bytes=256)
    _hold(side, (0, 2, 0b1111, 0b1111), (3, 1, 0b1100, 0b1100))
    held = {a for a in range(0, 1024, line) if side.way(a) is not None}
    assert held == {a // line * line for a in (*range(0, 256, 32), 3 * 128 + 64)}
    total = sum(int(side.way(a)["valid"]).bit_count() for a in held) * sector
    assert total == 256 + 64
