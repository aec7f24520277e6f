from gcn_twin import real
from lockstep.execution.gcn.floating import FLOATING


def test_operations_are_those_of_their_twins(wrong_results):
    assert wrong_results(FLOATING, real.FLOATING) == []
