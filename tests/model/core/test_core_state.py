"""State: what its fields hold, and how they lie in the host's cache lines."""

import numpy as np
import pytest

from lockstep.isa.instruction import MAX_DESTINATIONS, MAX_SOURCES
from lockstep.model.clock import NEVER
from lockstep.model.core import state

pytestmark = pytest.mark.plain


RECORDS = [n for n, d in vars(state).items() if isinstance(d, np.dtype) and d.names]


@pytest.mark.parametrize("name", RECORDS)
def test_fields_lie_where_the_host_reads_them_at_once(name):
    """No field across two words, and the next record of an array as well aligned as the first."""
    record = getattr(state, name)
    for field in record.names:
        kind, place = record.fields[field][:2]
        assert place % kind.base.itemsize == 0, field
    assert record.itemsize % 8 == 0
    assert "base" not in record.names and "T" not in record.names


@pytest.mark.parametrize("name", RECORDS)
def test_cycles_are_64_bits(name):
    """What is compared with the clock has its width: runs may take long."""
    record = getattr(state, name)
    cycles = {"wake", "stall_until", "accessed", "ready_at", "latest", "next", "free", "arrives"}
    for field in cycles & set(record.names) - ({"next"} if name == "ACCESS" else set()):
        assert record[field] == np.dtype("i8"), field


def test_what_an_issue_looks_at_lies_in_one_cache_line():
    hot = "mask", "static", "left", "kernel", "cta", "barrier", "cleared", "lanes", "stall_until"
    lines = {state.WARP_STATE.fields[name][1] // 64 for name in hot}
    assert lines == {0}
    assert state.WARP_STATE.itemsize % 64 == 0 and state.ISSUE.itemsize % 64 == 0


def test_never_can_be_shifted_and_compared():
    assert np.int64(NEVER) << 2 > 0
    assert (np.int64(NEVER) << 2 | state.LONG) >> 2 == NEVER


def test_an_instruction_can_check_all_its_operands():
    assert state.MAX_CHECKS == MAX_DESTINATIONS + MAX_SOURCES
