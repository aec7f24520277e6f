from gcn_twin import whole
from lockstep.execution.gcn.integer import INTEGER


def test_operations_are_those_of_their_twins(wrong_results):
    assert wrong_results(INTEGER, whole.INTEGER) == []
