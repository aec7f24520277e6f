"""What the rows of the board, and of pairs of warps, tell of an SM."""

from pathlib import Path

import pytest

from lockstep.gpus import library
from lockstep.tuning.rows import Row, Rows
from lockstep.tuning.tuner import infer


def subcores(*cycles):
    """The tuned GPU, of warp 0 beside each of the following warps."""
    some = (
        Row("sched.subcore_pair", f"warps 0 and {n}", value, "cycles", line=n + 1)
        for n, value in enumerate(cycles, 1)
    )
    return infer(Rows(Path("r.csv"), tuple(some)), library.loaded("H100_SXM"))


def test_the_first_warp_that_takes_longer_shares_the_sub_core():
    tuned = subcores(100.0, 200.0, 100.0, 200.0)
    assert tuned.parameters["sm.subcores"] == 2
    assert tuned.sources["sm.subcores"].startswith("sched.subcore_pair: 200 cycles (warps 0 and 2)")


@pytest.mark.parametrize("value", [-100.0, 0.0])
def test_a_pair_that_takes_no_time_tells_nothing(value):
    tuned = subcores(100.0, value, 100.0, 200.0)
    assert tuned.gpu("mine").sm.subcores == 4
    assert "warps 0 and 2" in tuned.absent["sm.subcores"]
    assert tuned.absent["sm.subcores"].endswith("is not positive")


def test_so_few_sub_cores_as_cannot_have_the_warps_are_the_bases():
    tuned = subcores(200.0, 100.0)
    assert tuned.gpu("mine").sm.subcores == 4
    assert tuned.absent["sm.subcores"].endswith("a sub-core is not for 64 / 1 warps")
