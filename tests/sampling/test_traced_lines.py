"""Lines that a trace touches, against a list of them."""

from collections import OrderedDict

import numpy as np
import pytest

from lockstep.builder import KernelBuilder
from lockstep.errors import LockstepError
from lockstep.sampling import traced_lines
from lockstep.sampling.traced_lines import CHUNK_SHIFT, TracedLines
from lockstep.workload import MemoryCopy
from lockstep.workload.warm import L2_LINE, L2_SECTOR

BASES = (0x7F00_0000_0000, 0x1000_0000, 0x7F00_0020_0000 - 256, 0x5555_0000_1000)
ALL = (1 << L2_LINE // L2_SECTOR) - 1


class Twin:
    """Lines in the order in which they were last touched: sectors that are here, and dirty ones."""

    def __init__(self):
        self.lines = OrderedDict()

    def touch(self, sector, written):
        line, bit = divmod(sector, L2_LINE // L2_SECTOR)
        here, dirty = self.lines.pop(line, (0, 0))
        self.lines[line] = here | 1 << bit, dirty | written << bit

    def copy(self, address, size):
        for line in range(address // L2_LINE, (address + size - 1) // L2_LINE + 1):
            sectors = range(line * L2_LINE, (line + 1) * L2_LINE, L2_SECTOR)
            bits = [s + L2_SECTOR > address and s < address + size for s in sectors]
            mask = sum(bit << k for k, bit in enumerate(bits))
            here, dirty = self.lines.pop(line, (0, 0))
            self.lines[line] = here | mask, dirty & ~mask & ALL

    def last(self, most):
        return [(line, *masks) for line, masks in self.lines.items()][-most:]


def told(lines, most):
    """Line by line what runs say."""
    return [
        (line, sectors, dirty)
        for first, count, sectors, dirty in lines.runs(most).tolist()
        for line in range(first, first + count)
    ]


def accesses(k, random):
    """A kernel of one warp that reads and writes sectors of far places, one lane each time."""
    found = []
    for _ in range(30):
        base = BASES[random.integers(len(BASES))]
        address = base + L2_SECTOR * int(random.integers(40))
        written = bool(random.integers(2))
        k("STG.E [R2], R4" if written else "LDG.E R4, [R2]", address=address)
        found.append((address // L2_SECTOR, written))
    return found


@pytest.mark.parametrize("seed", range(12))
def test_far_places_are_noted_as_near_ones(seed):
    random, twin = np.random.default_rng(seed), Twin()
    lines = TracedLines(1 << 40)
    for number in range(6):
        if random.integers(3) == 0:
            place = BASES[random.integers(len(BASES))] + 4 * int(random.integers(100))
            size = int(random.choice([4, 100, 5000, 3 << CHUNK_SHIFT]))
            lines.copy(MemoryCopy(place, size))
            twin.copy(place, size)
        k = KernelBuilder(f"k{number}", grid=1, block=1)
        for sector, written in accesses(k, random):
            twin.touch(sector, written)
        kernel = k.kernel()
        lines.read(kernel, list(kernel.ctas()))
    for most in (1, 7, 1 << 20):
        assert told(lines, most) == twin.last(most)
    lines.begin()
    assert told(lines, 1 << 20) == []
    assert len(lines.constants()) == 0


def test_kernels_without_accesses_touch_nothing():
    k = KernelBuilder("nothing", grid=2, block=32)
    k("FFMA R1, R2, R3, R4")
    lines = TracedLines(1 << 40)
    lines.read(k.kernel(), list(k.kernel().ctas()))
    lines.copy(MemoryCopy(BASES[0], 0))
    assert told(lines, 10) == []


def test_more_memory_than_has_records_is_refused(monkeypatch):
    monkeypatch.setattr(traced_lines, "MOST_BYTES", 4 << CHUNK_SHIFT)
    lines = TracedLines(1 << 40)
    lines.copy(MemoryCopy(0, 4 << CHUNK_SHIFT))
    with pytest.raises(LockstepError, match="the trace touches more than 0 GiB of memory"):
        lines.copy(MemoryCopy(1 << 40, 1))
