"""What the L2 holds at a kernel's start: copies, what passes through, nothing after a flush."""

from itertools import pairwise

import numpy as np
import pytest

from lockstep.model import contents

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
