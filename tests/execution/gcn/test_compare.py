from gcn_twin import real
from lockstep.execution.gcn.compare import COMPARE


def test_operations_are_those_of_their_twins(wrong_results):
    assert wrong_results(COMPARE, real.COMPARE) == []
