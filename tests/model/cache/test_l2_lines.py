"""Numbers of the lines of an L2 slice: without gaps, in order, and back."""

import pytest

from lockstep.model.cache import l2_lines
from lockstep.model.modules import pages

pytestmark = pytest.mark.plain
LINE = 128


def served(side):
    """(slice, number) -> (line, home) of the first lines, as they are counted for a prefetcher."""
    memory, found = side.memory, {}
    spec = memory.l2.spec[0]
    groups = 5
    for line in range(groups * int(spec.all_slices.value) * int(spec.unit_lines.value)):
        home = int(pages.slice_of(memory.slices, line * LINE, memory.l2.policies.slice_hash))
        number = int(l2_lines.number_of(spec, home, line))
        for slice_ in range(int(spec.all_slices.value)):
            if spec.near_reads == 0 and slice_ != home:
                continue
            if spec.near_reads and l2_lines.line_of(memory, slice_, number)[0] != line:
                continue
            found.setdefault((slice_, number), []).append((line, home))
    return found


@pytest.mark.parametrize("hash_", ["linear", "xor", "ipoly"])
@pytest.mark.parametrize(("channels", "slices"), [(1, 1), (2, 2), (3, 2), (5, 1), (4, 4)])
@pytest.mark.parametrize("interleave", [128, 512])
def test_a_slice_counts_its_lines_without_gaps_and_finds_them_again(
    rig, hash_, channels, slices, interleave
):
    side = rig.MemorySide(
        dram__channels=channels,
        l2__slices_per_channel=slices,
        l2__slice_hash=hash_,
        l2__interleave_bytes=interleave,
    )
    found = served(side)
    for slice_ in range(channels * slices):
        numbers = sorted(n for s, n in found if s == slice_)
        assert numbers == list(range(5 * interleave // LINE))
    for (slice_, number), lines in found.items():
        assert [l2_lines.line_of(side.memory, slice_, number)] == lines


@pytest.mark.parametrize("sides", [2, 4])
def test_a_slice_that_serves_the_lines_of_other_sides_counts_these_too(rig, sides):
    side = rig.MemorySide(
        dram__channels=2, l2__slices_per_channel=4, l2__sides=sides, l2__side_reads="near"
    )
    found = served(side)
    for slice_ in range(8):
        numbers = sorted(n for s, n in found if s == slice_)
        assert numbers == list(range(5 * sides)), "a block of each side in every group"
    assert all(len(lines) == 1 for lines in found.values())


def test_a_users_hash_may_leave_a_slice_without_a_line(rig):
    side = rig.MemorySide(dram__channels=2, policies={"slice_hash": lambda line_address, slices: 0})
    assert l2_lines.line_of(side.memory, 1, 3) == (-1, -1)
    assert l2_lines.line_of(side.memory, 0, 3)[1] == 0
