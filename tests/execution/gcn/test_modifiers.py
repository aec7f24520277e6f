"""What VOP3 does to operands and results."""

import numpy as np
import pytest

from gcn_twin.real import bits, flushed
from gcn_twin.run import on_lanes
from lockstep.execution.gcn.arithmetic import Arithmetic
from lockstep.execution.gcn.modifiers import result_of, source_of
from lockstep.execution.lanes.types import F32, F64, I32, I64

TYPES = [F32, F64, I32, I64]
WAYS = [(0, 0), (1, 0), (0, 1), (1, 1)]


@pytest.mark.parametrize("kind", TYPES, ids=lambda kind: kind.name)
def test_signs_are_the_top_bits_of_all_types(columns_and_lanes, kind):
    column = columns_and_lanes[0][kind][0]
    top = bits(column).dtype.type(1 << kind.bits - 1)
    whole = kind.integer
    applied = {
        way: (Arithmetic(lambda b, x, w=way: b.cast(source_of(b, x, *w), whole), (kind,), (whole,)),
              [column])
        for way in WAYS
    }  # fmt: skip
    found = on_lanes(applied, np.ones(len(column), bool))
    for absolute, negative in WAYS:
        expected = bits(column) & ~top if absolute else bits(column)
        expected = expected ^ top if negative else expected
        assert (found[absolute, negative][0] == expected).all()


@pytest.mark.parametrize("kind", TYPES, ids=lambda kind: kind.name)
def test_results_are_scaled_and_kept_from_0_to_1(columns_and_lanes, kind):
    """``omod`` is for f32 alone and leaves no -0; integers stay; a NaN is kept as 0."""
    column = columns_and_lanes[0][kind][0]
    ways = [(omod, clamp) for omod in range(4) for clamp in (False, True)]
    applied = {
        way: (Arithmetic(lambda b, x, w=way: result_of(b, x, *w), (kind,), (kind,)), [column])
        for way in ways
    }
    found = on_lanes(applied, np.ones(len(column), bool))
    for omod, clamp in ways:
        expected = column
        with np.errstate(all="ignore"):
            if kind == F32 and omod:
                expected = flushed(flushed(column) * np.float32((1, 2, 4, 0.5)[omod])) + 0
            if clamp and kind.kind == "float":
                expected = np.nan_to_num(np.clip(expected, 0, 1), nan=0) + 0.0
        same = bits(found[omod, clamp][0]) == bits(np.asarray(expected, column.dtype))
        assert (same | (expected != expected)).all(), (omod, clamp)


def test_nothing_is_emitted_for_nothing():
    class Nothing:
        pass

    value = type("Value", (), {"type": F32})()
    assert result_of(Nothing(), value, 0, False) is value
