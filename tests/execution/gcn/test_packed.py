from gcn_twin import whole
from lockstep.execution.gcn.packed import PACKED


def test_operations_are_those_of_their_twins(wrong_results):
    assert wrong_results(PACKED, whole.PACKED) == []
