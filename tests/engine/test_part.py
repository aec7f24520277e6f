"""Parts of a GPU: each shard belongs to one machine."""

import pytest

from lockstep.engine.part import Part, owners
from lockstep.errors import LockstepError


@pytest.mark.parametrize("size", [1, 2, 3, 4])
@pytest.mark.parametrize("channels", [1, 2, 5])
def test_every_shard_belongs_to_one_part(size, channels):
    sms, partitions, others = (row.tolist() for row in owners("G", [4, channels, 7], size))
    assert sms == [s % size for s in range(4)], "in turn: a small grid is on all machines"
    assert partitions == sorted(partitions) and len(partitions) == channels
    assert others == sorted(others) and len(others) == 7
    assert set(sms) == set(others) == set(range(size)) >= set(partitions)


@pytest.mark.parametrize("size", [0, 5])
def test_there_are_no_more_parts_than_sms(size):
    with pytest.raises(LockstepError, match=f"ranks = {size}: expected 1 to 4, the SMs of MINE"):
        owners("MINE", [4, 8], size)


def test_alone_a_machine_runs_all_and_meets_nobody():
    part = Part("MINE", [4, 2], None)
    assert [mine.tolist() for mine in part.shards] == [[0, 1, 2, 3], [0, 1]]
    assert part.address == 0
