"""Division by known numbers is division."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lockstep._jit import as_records
from lockstep.model.divisor import DIVISOR, divisor, quotient, remainder

pytestmark = pytest.mark.plain


@given(st.integers(1, 1 << 20) | st.integers(0, 40).map(lambda k: 1 << k), st.integers(0, 1 << 62))
def test_quotient_and_remainder(value, number):
    record = as_records(np.zeros(1, DIVISOR))
    record[0] = divisor(value)
    assert quotient(record[0], number) == number // value
    assert remainder(record[0], number) == number % value


@pytest.mark.parametrize("value, shift", [(1, 0), (2, 1), (3, -1), (4096, 12), (4097, -1)])
def test_only_powers_of_two_have_a_shift(value, shift):
    assert divisor(value) == (value, shift)
