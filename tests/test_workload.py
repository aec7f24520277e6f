"""What front ends and the model agree on."""

import pytest

from lockstep.errors import WorkloadError
from lockstep.workload import OBJECT_SHIFT, OBJECTS, Code, Kernel, MemoryCopy, object_number


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


@pytest.mark.parametrize(("size", "warps"), [(32, [1, 1, 2, 2, 3]), (64, [1, 1, 1, 1, 2])])
def test_warps_of_a_block(size, warps):
    found = [
        Kernel(0, "k", (1, 1, 1), (threads, 1, 1), 16, 0, Code(), tuple, warp_size=size).warps
        for threads in (1, 32, 33, 64, 65)
    ]
    assert found == warps


@pytest.mark.parametrize("address", [1 << 63, -(1 << 63) - 1, 2.5, "0x100"])
def test_the_address_of_a_copy_has_64_bits(address):
    with pytest.raises(WorkloadError, match=r"^memory copy to .*; expected an address of 64"):
        MemoryCopy(address, 4)


@pytest.mark.parametrize("size", [-1, 1 << 63, 2.5, None])
def test_the_size_of_a_copy_is_a_number_of_bytes(size):
    with pytest.raises(WorkloadError, match=f"^memory copy of {size} bytes; expected 0 to"):
        MemoryCopy(0, size)


def test_every_other_copy_can_be():
    assert MemoryCopy(-(1 << 63), 0) != MemoryCopy((1 << 63) - 1, (1 << 63) - 1)
