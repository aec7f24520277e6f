"""Parts of a GPU: each shard belongs to one machine."""

import pytest

from lockstep.engine.part import Part, parts
from lockstep.errors import LockstepError


@pytest.mark.parametrize("size", [1, 2, 3, 4])
@pytest.mark.parametrize("channels", [1, 2, 5])
def test_every_shard_belongs_to_one_part(size, channels):
    bounds = [p.tolist() for p in parts("G", [4, channels, 7], size)]
    assert [s for (a, b), _, _ in bounds for s in range(a, b)] == [0, 1, 2, 3]
    assert [p for _, (a, b), _ in bounds for p in range(a, b)] == list(range(channels))
    assert [p for _, _, (a, b) in bounds for p in range(a, b)] == list(range(7))
    assert all(a < b for (a, b), _, _ in bounds)


@pytest.mark.parametrize("size", [0, 5])
def test_there_are_no_more_parts_than_sms(size):
    with pytest.raises(LockstepError, match=f"ranks = {size}: expected 1 to 4, the SMs of MINE"):
        parts("MINE", [4, 8], size)


def test_alone_a_machine_runs_all_and_meets_nobody():
    part = Part("MINE", [4, 2], None)
    assert part.bounds.tolist() == [[0, 4], [0, 2]] and part.address == 0
