"""How large kernels are divided, and what of them is in no loop."""

from itertools import pairwise

import pytest

from lockstep.execution.flow.blocks import BasicBlock
from lockstep.execution.programs import parts


def chain(*counts):
    """Blocks of so many instructions, each followed by the next."""
    blocks, first = [], 0
    for number, count in enumerate(counts):
        blocks.append(BasicBlock(first, first + count, number=number))
        first += count
    for block, after in pairwise(blocks):
        block.next = after
    return blocks


def test_functions_begin_parts_and_no_part_is_larger_than_allowed(monkeypatch):
    monkeypatch.setattr(parts, "PART", 10)
    blocks = chain(4, 6, 1, 12, 3, 3)
    assert parts.divided(blocks, [0, 5]) == [(0, 2), (2, 3), (3, 4), (4, 5), (5, 6)]
    assert parts.divided(blocks[:2], []) == [(0, 2)]


@pytest.mark.parametrize("functions", [[0], [0, 4]])
def test_blocks_of_loops_are_inside(functions):
    blocks = chain(1, 1, 1, 1, 1, 1)
    blocks[2].taken = blocks[1]  # a loop of two
    blocks[4].taken = blocks[4]  # and of one
    outside = {b.number for b in parts.outside_loops(blocks, functions)}
    assert outside == {0, 3, 5}


def test_a_way_through_another_function_is_no_loop():
    blocks = chain(1, 1)
    blocks[1].taken = blocks[0]
    assert not parts.outside_loops(blocks, [0])
    assert parts.outside_loops(blocks, [0, 1]) == set(blocks)
