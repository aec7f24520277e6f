from gcn_twin import whole
from lockstep.execution.gcn.bits import BITS


def test_operations_are_those_of_their_twins(wrong_results):
    assert wrong_results(BITS, whole.BITS) == []
