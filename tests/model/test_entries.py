"""Entry pools and lists against plain Python ones."""

from collections import deque

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lockstep._jit import as_records
from lockstep.model import entries as lists
from lockstep.model.memory import ENTRY, LISTS, SLICE

pytestmark = pytest.mark.plain

ROOM = 12
STEPS = st.lists(st.tuples(st.sampled_from(["append", "pop", "drop"]), st.integers(0, LISTS - 1)))


@given(STEPS, st.integers(0, 2))
def test_lists_share_a_pool_and_keep_their_order(steps, block):
    """``block``: a slice's entries are somewhere among those of all slices."""
    entries = as_records(np.zeros(3 * ROOM, ENTRY))
    state = as_records(np.zeros(1, SLICE))[0]
    state.free = block * ROOM
    twins = [deque() for _ in range(LISTS)]
    for what, which in steps:
        if what == "pop" and twins[which]:
            index = lists.pop(entries, state, which)
            assert index == twins[which].popleft()
            lists.release(entries, state, index)
        elif what != "pop" and sum(map(len, twins)) < ROOM:
            index = int(lists.take(state, entries))
            assert block * ROOM <= index < (block + 1) * ROOM
            assert not any(index in twin for twin in twins)
            if what == "append":
                lists.append(entries, state, which, index)
                twins[which].append(index)
            else:
                lists.release(entries, state, index)
        assert state.count.tolist() == [len(twin) for twin in twins]
    for which, twin in enumerate(twins):
        assert [lists.pop(entries, state, which) for _ in list(twin)] == list(twin)


def test_a_copy_is_for_the_same_requester():
    entries = as_records(np.zeros(4, ENTRY))
    state = as_records(np.zeros(1, SLICE))[0]
    first = lists.take(state, entries)
    asked = {"kind": 2, "source": 7, "line": 32, "home": 3, "full": 3, "tag": 9, "policy": 1}
    asked["issued"] = 5
    for name, value in asked.items():
        entries[first][name] = value
    other = lists.copy(entries, state, first)
    assert other != first
    assert {name: entries[other][name] for name in asked} == asked
