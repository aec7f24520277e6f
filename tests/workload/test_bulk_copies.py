"""What bulk copies and those that wait for them agree on."""

import pytest

from lockstep.workload.bulk_copies import OBJECT_SHIFT, OBJECTS, object_number


@pytest.mark.parametrize(
    ("address", "number"),
    [(0, 0), (7, 0), (8, 1), (8 * OBJECTS - 1, OBJECTS - 1), (8 * OBJECTS, 0)],
)
def test_a_barrier_object_is_told_apart_by_its_address_alone(address, number):
    assert object_number(address) == number
    assert object_number(5 << OBJECT_SHIFT | address) == number
