import numpy as np
import pytest

from lockstep.microbench import fills
from lockstep.microbench.benchmark import Buffer, Fill

BASE = 1 << 40


def filled(buffer):
    memory = np.full(buffer.bytes, 0xEE, np.uint8)
    fills.fill(memory, BASE, buffer)
    return memory


def visited(memory, first=0):
    """Offsets of the nodes of a chain until it is back at the first."""
    places, at = [], first
    while not places or at != first:
        places.append(at)
        at = int(memory.view(np.uint64)[at // 8]) - BASE
    return places


@pytest.mark.parametrize("fill", [Fill.CHAIN, Fill.CYCLE])
@pytest.mark.parametrize("count", [1, 8, 20])
def test_a_chain_comes_to_all_its_nodes_and_back(fill, count):
    memory = filled(Buffer("b", 128 * count, fill, 128, count))
    assert sorted(visited(memory)) == [128 * k for k in range(count)]


def test_a_cycle_begins_at_node_0_and_is_in_no_order():
    order = fills.cycle(64)
    assert order[0] == 0
    assert list(order) != sorted(order)


def test_what_is_not_visited_is_not_written():
    memory = filled(Buffer("b", 1024, Fill.CHAIN, 128, 8, visited=3))
    words = memory.view(np.uint64)[::16]
    assert list(words[:3]) == [BASE + 128, BASE + 256, BASE + 384]
    assert (words[3:] == 0xEEEEEEEEEEEEEEEE).all()


def test_indices_lead_round():
    words = filled(Buffer("b", 64, Fill.INDICES, 16, 4)).view(np.uint32)
    assert list(words[::4]) == [4, 8, 12, 0]


def test_words_know_the_vector_they_are_in():
    assert list(filled(Buffer("b", 32, Fill.OWN, 8)).view(np.uint32)) == [
        0,
        0,
        8,
        8,
        16,
        16,
        24,
        24,
    ]
