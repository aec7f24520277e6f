"""What launches have changed: pieces of memory that differ."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import lockstep
from lockstep.device.changes import content, differing

PIECE = 4096


@given(st.integers(1, 3 * PIECE + 5), st.lists(st.integers(0, 3 * PIECE + 4), max_size=4))
def test_pages_that_differ(size, places):
    old = np.zeros(size, np.uint8)
    new = old.copy()
    for place in places:
        new[place % size] = 1
    expected = sorted({place % size // PIECE * PIECE for place in places})
    assert differing(old, new, PIECE) == expected


def test_content_is_that_of_all_allocations_and_a_copy():
    with lockstep.Device("QV100") as device:
        one, none = device.array(np.arange(5, dtype=np.uint8)), device.empty(0)
        hidden = device.memory.allocate(3, hidden=True)
        device.memory.view(hidden, 3)[:] = 7
        found = content(device.memory)
        one.copy_from(np.zeros(5, np.uint8))
        assert found[one.pointer].tolist() == [0, 1, 2, 3, 4]
        assert found[hidden].tolist() == [7, 7, 7] and none.pointer not in found
