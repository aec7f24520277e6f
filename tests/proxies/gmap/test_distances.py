"""Stack distances, beside a list of lines that is searched from its front."""

import itertools

import numpy as np
import pytest

from lockstep.frontend.proxy.gmap.sites import COLD
from lockstep.proxies.gmap.distances import stack_distances


def twin(lines):
    stack, found = [], []
    for line in lines:
        found.append(stack.index(line) if line in stack else COLD)
        if line in stack:
            stack.remove(line)
        stack.insert(0, line)
    return found


def test_by_hand():
    found = stack_distances(np.array([0, 6]), np.array([1, 1, 2, 3, 2, 1]))
    assert found.tolist() == [COLD, 0, COLD, COLD, 1, 2]


@pytest.mark.parametrize("seed", range(20))
def test_as_a_list_has_it(seed):
    random = np.random.default_rng(seed)
    counts = random.integers(0, 90, 7)
    begin = np.concatenate([[0], np.cumsum(counts)])
    lines = random.integers(-5, random.integers(1, 40), begin[-1]) << 40
    expected = [d for a, b in itertools.pairwise(begin) for d in twin(lines[a:b].tolist())]
    assert stack_distances(begin, lines).tolist() == expected


def test_warps_know_nothing_of_each_other():
    assert stack_distances(np.array([0, 2, 4]), np.array([5, 5, 5, 5])).tolist() == [-1, 0, -1, 0]


def test_nothing_has_no_distances():
    assert stack_distances(np.array([0, 0]), np.zeros(0, np.int64)).tolist() == []
