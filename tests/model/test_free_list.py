"""The list of free records against a plain Python stack."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lockstep.model import free_list

pytestmark = pytest.mark.plain


@given(st.lists(st.integers(-1, 20), max_size=80), st.integers(1, 8))
def test_every_record_is_free_once(steps, size):
    """A step of -1 takes a record, another gives one back."""
    links, head = np.zeros(size, np.int64), np.int64(0)
    held, twin = [], list(range(size))[::-1]
    for step in steps:
        if step < 0 and twin:
            index = head
            head = free_list.after(links[index], index)
            assert index == twin.pop()
            held.append(index)
        elif step >= 0 and held:
            index = held.pop(step % len(held))
            links[index] = free_list.link_to(head)
            head = index
            twin.append(int(index))
        assert (head >= size) == (not twin)
