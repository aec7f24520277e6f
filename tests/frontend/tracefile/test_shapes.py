"""Warp shapes: runs as columns, what they execute, and which instructions take an address."""

from itertools import chain

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lockstep.frontend.tracefile.columns import Malformed
from lockstep.frontend.tracefile.shapes import (
    measure,
    memory_map,
    pack_runs,
    slots,
    starts,
    unpack_runs,
)
from lockstep.isa.instruction import blank
from lockstep.workload import RUN

WIDTHS = [0, 4, 4, 0, 8]
MASKS = st.sampled_from([0, 1, 0xFF, -1]) | st.integers(-(1 << 63), (1 << 63) - 1)
RUNS = st.tuples(st.integers(0, 2), st.integers(1, 3), MASKS)


def memory():
    code = blank(len(WIDTHS))
    code["width"] = WIDTHS
    return memory_map(code)


@settings(deadline=None)
@given(st.lists(st.lists(RUNS, max_size=12), max_size=4))
def test_runs_survive_and_are_counted(shapes):
    counts = np.array([len(s) for s in shapes], np.int64)
    runs = np.array(list(chain(*shapes)), RUN)
    columns = pack_runs(starts(counts), runs)
    again = unpack_runs(counts, columns, memory())
    assert again.runs.tolist() == runs.tolist()
    executed = [[(i, m) for f, n, m in s for i in range(f, f + n)] for s in shapes]
    bits = [[(m & (1 << 64) - 1).bit_count() for _, m in e] for e in executed]
    assert again.totals["warp_instructions"].tolist() == [len(e) for e in executed]
    assert again.totals["thread_instructions"].tolist() == [sum(b) for b in bits]
    taking = [[([1, 2, 4].index(i), m) for i, m in e if WIDTHS[i] and m] for e in executed]
    assert again.totals["addresses"].tolist() == [len(t) for t in taking]
    assert slots(again, memory()).tolist() == list(chain(*taking))


def test_a_mask_seen_before_is_a_distance():
    masks = [7, 1, 7, 2, 7, 7, 1]
    runs = np.array([(0, 1, m) for m in masks], RUN)
    _, _, back, literals = pack_runs(np.array([0, 6, 7]), runs)
    assert back.tolist() == [0, 0, 2, 0, 2, 1, 0]  # the second shape does not see the first
    assert literals.tolist() == [7, 1, 2, 1]


@pytest.mark.parametrize("run", [(-1, 1), (5, 1), (0, 6), (4, 2), (0, 0), (0, -1)])
def test_a_run_outside_the_code_is_refused(run):
    with pytest.raises(Malformed, match="the code has 5"):
        measure(np.array([0, 1]), np.array([(*run, 1)], RUN), memory())


GOOD = {"jump": [0, 1], "count": [1, 2], "back": [0, 1], "masks": [3]}


@pytest.mark.parametrize(
    "wrong",
    [
        {"jump": [-1, 1]},
        {"jump": [1 << 31, 1]},
        {"jump": [0, (1 << 63) - 1]},
        {"count": [0, 2]},
        {"count": [(1 << 63) - 1, 2]},
        {"back": [0, 2]},
        {"back": [1, 0]},
        {"back": [0, -1]},
        {"masks": []},
        {"masks": [3, 3]},
        {"counts": [3]},
        {"counts": [1]},
        {"counts": [3, -1]},
    ],
)
def test_columns_that_do_not_fit_are_refused(wrong):
    def unpacked(counts=(2,), **columns):
        arrays = [np.array(c, np.int64) for c in columns.values()]
        with np.errstate(over="ignore"):
            return unpack_runs(np.array(counts), tuple(arrays), memory())

    assert unpacked(**GOOD).runs.tolist() == [(0, 1, 3), (2, 2, 3)]
    with pytest.raises(Malformed):
        unpacked(**(GOOD | wrong))
