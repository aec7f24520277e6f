"""What follows from the geometry of a kernel."""

import pytest

from lockstep.workload import Code, Kernel


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
