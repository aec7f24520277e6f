"""Effects of launches that are executed at issue: pages that differ, written again."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from lockstep.device.effects import PAGE, _differing


@given(st.integers(1, 3 * PAGE + 5), st.lists(st.integers(0, 3 * PAGE + 4), max_size=4))
def test_pages_that_differ(size, places):
    old = np.zeros(size, np.uint8)
    new = old.copy()
    for place in places:
        new[place % size] = 1
    expected = sorted({place % size // PAGE * PAGE for place in places})
    assert _differing(old, new) == expected
