"""State: fields are 64 bits wide, so that plain Python and machine code count alike."""

import numpy as np
import pytest

from lockstep.isa.instruction import MAX_DESTINATIONS, MAX_SOURCES
from lockstep.model.clock import NEVER
from lockstep.model.sm import state

pytestmark = pytest.mark.plain


@pytest.mark.parametrize(
    "name", [n for n, d in vars(state).items() if isinstance(d, np.dtype) and d.names]
)
def test_all_fields_are_64_bits(name):
    record = getattr(state, name)
    assert {record[field].base for field in record.names} == {np.dtype("i8")}
    assert "base" not in record.names and "T" not in record.names


def test_never_can_be_shifted_and_compared():
    assert np.int64(NEVER) << 2 > 0
    assert (np.int64(NEVER) << 2 | state.LONG) >> 2 == NEVER


def test_an_instruction_can_check_all_its_operands():
    assert state.MAX_CHECKS == MAX_DESTINATIONS + MAX_SOURCES
