from gcn_twin import real
from lockstep.execution.gcn.exponents import EXPONENTS


def test_operations_are_those_of_their_twins(wrong_results):
    assert wrong_results(EXPONENTS, real.EXPONENTS) == []
