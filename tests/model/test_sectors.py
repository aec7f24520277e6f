"""Sector masks."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lockstep.model import sectors

pytestmark = pytest.mark.plain


@given(st.integers(0, (1 << 32) - 1))
def test_count_is_the_number_of_bits(mask):
    assert sectors.count(mask) == mask.bit_count()
