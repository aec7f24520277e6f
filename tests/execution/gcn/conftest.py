"""Tables of operations against twins that were written by themselves, in NumPy and integers."""

import numpy as np
import pytest

from gcn_twin.compare import differences
from gcn_twin.operands import cases, operands
from gcn_twin.run import on_lanes


@pytest.fixture(scope="session")
def rng():
    return np.random.default_rng(20241107)


@pytest.fixture(scope="session")
def columns_and_lanes(rng):
    """Operand columns by type, and which lanes are active."""
    return operands(rng)


@pytest.fixture
def wrong_results(columns_and_lanes):
    """Function from a table of operations and one of twins to what differs."""
    columns, active = columns_and_lanes

    def wrong(table, twins):
        assert set(table) == set(twins)
        applied = cases(table, columns)
        return differences(on_lanes(applied, active), twins, applied, active)

    return wrong
