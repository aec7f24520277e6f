"""What front ends and the model agree on."""

import pytest

from lockstep.workload import OBJECT_SHIFT, OBJECTS, Code, Kernel, object_number


@pytest.mark.parametrize(
    ("address", "number"),
    [(0, 0), (7, 0), (8, 1), (8 * OBJECTS - 1, OBJECTS - 1), (8 * OBJECTS, 0)],
)
def test_a_barrier_object_is_told_apart_by_its_address_alone(address, number):
    assert object_number(address) == number
    assert object_number(5 << OBJECT_SHIFT | address) == number


@pytest.mark.parametrize(("cluster", "whole"), [((2, 3, 1), True), ((4, 1, 1), False)])
def test_clusters_of_a_kernel(cluster, whole):
    kernel = Kernel(0, "k", (6, 3, 1), (32, 1, 1), 16, 0, Code(), tuple, cluster=cluster)
    assert kernel.cluster_ctas == (6 if whole else 4)
    assert kernel.whole_clusters == whole
