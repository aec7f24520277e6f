"""Columns: every int64 survives, in the narrowest width, and nothing malformed gets through."""

from itertools import chain

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lockstep.frontend.tracefile.columns import (
    DELTA,
    LIMIT,
    SHIFTED,
    Malformed,
    bounded,
    check_range,
    pack,
    pack_tables,
    unpack,
    unpack_tables,
)

INT64 = st.integers(-(1 << 63), (1 << 63) - 1)


def read(data, *counts):
    with np.errstate(over="ignore"):
        return unpack(np.frombuffer(data, np.uint8), 0, np.array(counts, np.int64))


@settings(deadline=None)
@given(st.lists(st.lists(INT64, max_size=20), max_size=4), st.booleans())
def test_columns_survive(columns, delta):
    data = b"".join(pack(c, delta) for c in columns)
    values, end = read(data, *map(len, columns))
    assert values.tolist() == list(chain(*columns))
    assert end == len(data)


def test_a_table_may_not_have_more_rows_than_the_caller_allows():
    data = np.frombuffer(pack_tables([[range(4)], [range(5)]]), np.uint8)
    assert len(unpack_tables(data, np.array([1, 1]), 5)[0][1][0]) == 5
    with pytest.raises(Malformed, match="number of rows out of range; expected 0 to 4"):
        unpack_tables(data, np.array([1, 1]), 4)


@settings(deadline=None)
@given(st.lists(st.integers(0, 5), min_size=1, max_size=4), st.integers(1, 3))
def test_tables_survive(counts, width):
    tables = [[list(range(n))] * width for n in counts]
    data = np.frombuffer(pack_tables(tables), np.uint8)
    again, end = unpack_tables(data, np.full(len(counts), width), 5)
    assert [t.tolist() for t in again] == tables
    assert end == len(data)


@pytest.mark.parametrize(
    ("values", "size"),
    [
        ([], 1),
        ([0] * 9, 1),
        ([127, -128], 1 + 2),
        ([129, -127], 1 + 4),
        (range(0, 3200, 32), 2 + 100),  # differences, low zeros cut off
        ([1 << 40, 1 << 41], 2 + 2),
    ],
)
def test_a_column_takes_the_narrowest_width(values, size):
    assert len(pack(values)) == size


@pytest.mark.parametrize(
    "data",
    [
        b"",
        bytes([9]) + bytes(99),  # width
        bytes([64, 0]),  # unknown bit
        bytes([SHIFTED]),  # shift missing
        bytes([SHIFTED | 1, 64, 0, 0]),  # shift too large
        bytes([DELTA | 1, 0]),  # a value missing
    ],
)
def test_a_malformed_column_is_refused(data):
    with pytest.raises(Malformed, match="column at offset 0"):
        read(data, 2)


@pytest.mark.parametrize("counts", [(-1,), (1, -1), (LIMIT,), (LIMIT // 16, LIMIT // 16, 1)])
def test_counts_are_checked_before_anything_is_allocated(counts):
    with pytest.raises(Malformed, match="at most"):
        read(bytes(9), *counts)


def test_ranges():
    check_range(np.array([0, 4]), 5, "row")
    check_range(np.array([], np.int64), 0, "row")
    for wrong in ([-1], [5], [0, 5], [1, -9]):
        with pytest.raises(Malformed, match="row out of range; expected 0 to 4"):
            check_range(np.array(wrong), 5, "row")
    assert bounded(LIMIT // 8, np.dtype("i8")) == LIMIT // 8
    with pytest.raises(Malformed, match="expected at most"):
        bounded(LIMIT // 8 + 1, np.dtype("i8"))
