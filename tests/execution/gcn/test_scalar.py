from gcn_twin.compare import differences
from gcn_twin.operands import cases
from gcn_twin.run import on_scalars
from gcn_twin.scalars import SCALAR as TWINS
from lockstep.execution.gcn.scalar import SCALAR


def test_operations_are_those_of_their_twins(columns_and_lanes):
    applied = cases(SCALAR, columns_and_lanes[0])
    assert set(applied) == set(TWINS)
    assert differences(on_scalars(applied), TWINS, applied) == []
