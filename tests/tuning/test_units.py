"""Entries of units that a GPU has no place for."""

import pytest

from lockstep.tuning.units import misplaced

GPU = {
    "sm.units.fp32.lanes": 16,
    "sm.units.fp32.operations.FP32": 4,
    "sm.units.imad.lanes": 16,
    "sm.units.imad.operations.IMAD": 5,
}


@pytest.mark.parametrize(
    ("path", "why"),
    [
        ("sm.units.fp32.operations.FP32", ""),
        ("sm.units.fp32.operations.IMAD_WIDE", ""),
        ("sm.units.fp32.intervals.FP32", ""),
        ("sm.units.fp32.intervals.IMAD_WIDE", "there is no sm.units.fp32.operations.IMAD_WIDE"),
        ("sm.units.fp32.operations.IMAD", "IMAD is an operation of sm.units.imad"),
        ("sm.units.int.operations.INT32", "there is no sm.units.int; facts may add it"),
        ("sm.units.int.intervals.INT32", "there is no sm.units.int; facts may add it"),
    ],
)
def test_an_entry_needs_its_unit_its_latency_and_no_other_owner(path, why):
    found = misplaced(path, GPU | {path: 2})
    assert found.startswith(why) and bool(found) == bool(why)
