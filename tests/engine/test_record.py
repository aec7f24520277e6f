import pytest

from lockstep.engine.record import covered


@pytest.mark.parametrize(
    ("spans", "cycles"),
    [([], 0), ([(5, 9)], 4), ([(0, 10), (2, 4)], 10), ([(6, 9), (0, 4), (3, 5)], 8)],
)
def test_overlapping_spans_count_once(spans, cycles):
    assert covered(spans) == cycles
