"""Blocks: where they begin, and in which order they run."""

from pathlib import Path

import numpy as np
import pytest

from lockstep.execution.flow.blocks import LONGEST, BasicBlock, bounds, in_running_order, reach


@pytest.fixture(scope="module")
def graphs(load_script):
    return load_script(Path(__file__).with_name("random_graphs.py"))


def test_blocks_begin_at_leaders_and_are_never_long():
    assert bounds({3}, 5) == [0, 3, 5]
    assert bounds({3, 0}, 3) == [0, 3]
    assert bounds((), 2 * LONGEST) == [0, LONGEST, 2 * LONGEST]
    assert bounds((), 2 * LONGEST + 1) == [0, LONGEST, 2 * LONGEST, 2 * LONGEST + 1]


def test_loops_are_contiguous_and_what_nobody_reaches_is_left_out():
    """Text: entry, a loop of two blocks, one without a way to it, what follows the loop."""
    entry, head, body, lost, after = (BasicBlock(k, k + 1) for k in range(5))
    entry.next, head.taken, head.next, body.next, lost.next = head, after, body, head, after
    assert in_running_order(entry) == [entry, head, body, after]


def test_the_text_decides_where_the_flow_does_not():
    entry, one, two, end = (BasicBlock(k, k + 1) for k in range(4))
    entry.taken, entry.next = two, one
    one.next = two.next = end
    assert in_running_order(entry) == [entry, one, two, end]


@pytest.mark.parametrize("seed", range(30))
def test_each_block_that_is_reached_has_a_place(graphs, seed):
    blocks = graphs.make(np.random.default_rng(seed), 20)
    order = in_running_order(blocks[0])
    following = lambda b: b.successors  # noqa: E731
    assert order[0] is blocks[0] and len(order) == len(set(order))
    assert set(order) == graphs.reached(blocks[0], following) == reach([blocks[0]], following)
    place = {b: k for k, b in enumerate(order)}
    for block in order:
        for other in block.successors:  # backward only in circles
            if place[other] <= place[block]:
                assert block in graphs.reached(other, following)
