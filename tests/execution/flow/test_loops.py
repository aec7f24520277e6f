"""Loops, against paths that are tried one by one."""

from pathlib import Path

import numpy as np
import pytest

from lockstep.execution.flow.blocks import BasicBlock
from lockstep.execution.flow.loops import circles, inverse, mark_waiting, turns


@pytest.fixture(scope="module")
def graphs(load_script):
    return load_script(Path(__file__).with_name("random_graphs.py"))


def edges(blocks):
    return {b: b.successors for b in blocks}


def test_what_comes_before_is_the_inverse_of_what_comes_after(graphs):
    after = edges(graphs.make(np.random.default_rng(3), 15))
    before = inverse(after)
    assert {(a, b) for a in after for b in after[a]} == {(a, b) for b in before for a in before[b]}


@pytest.mark.parametrize("seed", range(30))
def test_circles_are_blocks_that_reach_each_other(graphs, seed):
    after = edges(graphs.make(np.random.default_rng(seed), 15))
    reached = {b: graphs.reached(b, after.__getitem__) for b in after}
    expected = {frozenset(o for o in reached[b] if b in reached[o]) for b in after}
    found = circles(after)
    assert {frozenset(c) for c in found} == expected
    assert sum(map(len, found)) == len(after)


def between(graphs, start, end, circle, before):
    """The blocks of a circle on ways from one to another that does not come by the first again."""
    return graphs.reached(end, lambda b: [] if b is start else circle & {*before[b]})


def marked(graphs, after, polling):
    """Which blocks are in a loop that polls, each edge back by itself."""
    spins, ends = {b: False for b in after}, {True: set(), False: set()}
    before = inverse(after)
    for end in after:
        for start in after[end]:
            circle = graphs.reached(start, after.__getitem__)
            circle = {b for b in circle if start in graphs.reached(b, after.__getitem__)}
            if end not in circle or start.number > end.number:
                continue
            inside = between(graphs, start, end, circle, before)
            ends[bool(polling & inside)].add(end)
            for block in inside if polling & inside else ():
                spins[block] = True
    for end in ends[False] - ends[True]:
        spins[end] = False
    return spins


@pytest.mark.parametrize("seed", range(60))
def test_a_loop_waits_if_something_between_its_edge_back_polls(graphs, seed):
    rng = np.random.default_rng(seed)
    blocks = graphs.make(rng, 15)
    after, polling = edges(blocks), {b for b in blocks if rng.random() < 0.15}
    mark_waiting(after, polling)
    assert {b: b.spins for b in blocks} == marked(graphs, after, polling)


def test_loops_that_are_contiguous_lie_between_the_ends_of_their_edge_back():
    one, two, three, four = blocks = [BasicBlock(k, k + 1) for k in range(4)]
    one.next, two.next, three.next = two, three, four
    three.taken, four.taken = two, four
    assert [(end, list(loop)) for end, loop in turns(blocks)] == [
        (three, [two, three]),
        (four, [four]),
    ]
