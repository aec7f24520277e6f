"""Liveness, against paths to a read that no write comes before."""

from pathlib import Path

import numpy as np
import pytest

from lockstep.execution.flow.blocks import BasicBlock
from lockstep.execution.flow.liveness import find_live

NAMES = ("a", "b", "c", "d")


@pytest.fixture(scope="module")
def graphs(load_script):
    return load_script(Path(__file__).with_name("random_graphs.py"))


def some(rng):
    return {name for name in NAMES if rng.random() < 0.2}


def naive(graphs, block, name):
    """Whether some path from the start of a block comes to a read first."""

    def following(b):
        return [] if name in b.reads or name in b.writes else b.successors

    return any(
        name in b.reads or (name in b.passes and name not in b.writes)
        for b in graphs.reached(block, following)
    )


@pytest.mark.parametrize("seed", range(40))
def test_a_register_is_live_if_it_may_be_read_before_it_is_written(graphs, seed):
    rng = np.random.default_rng(seed)
    blocks = graphs.make(rng, 12)
    for block in blocks:
        block.reads, block.writes, block.passes = some(rng), some(rng), some(rng)
    find_live(blocks)
    for block in blocks:
        begins = {name for name in NAMES if naive(graphs, block, name)}
        ends = {n for n in NAMES if any(naive(graphs, s, n) for s in block.successors)}
        assert block.live_in == begins
        assert block.live_out == ends | block.passes


def test_what_is_not_known_may_read_anything():
    block, unknown = BasicBlock(0, 1), BasicBlock(1, 2)
    block.taken, block.reads, block.writes = unknown, {"a"}, {"b"}
    find_live([block])
    assert block.live_out == {"a", "b"} and block.live_in == {"a"}


def test_blocks_that_join_others_are_gone_through():
    first, second, joint = (BasicBlock(k, k + 1) for k in range(3))
    first.more, joint.more, second.reads = [joint], [second], {"a"}
    find_live([first, second], [joint])
    assert first.live_out == {"a"} and joint.live_in == set()
