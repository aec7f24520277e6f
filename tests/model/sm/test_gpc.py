"""How SMs are divided into GPCs, and which clusters they hold."""

import pytest

from lockstep.builder import KernelBuilder
from lockstep.errors import WorkloadError
from lockstep.model.sm.gpc import check_cluster, ctas_held, first_sms


def kernel(grid, cluster):
    k = KernelBuilder("k", grid=grid, block=128, cluster=cluster)
    k("EXIT")
    return k.workload().kernels[0]


@pytest.mark.parametrize(
    ("sms", "gpcs", "expected"),
    [(8, 1, [0, 8]), (7, 2, [0, 3, 7]), (7, 3, [0, 2, 4, 7]), (2, 8, [0, 1, 2])],
)
def test_gpcs_have_as_many_sms_or_one_more(tiny, sms, gpcs, expected):
    assert first_sms(tiny(sm__count=sms, sm__gpcs=gpcs)) == expected


def test_a_gpc_holds_what_its_sms_hold(tiny):
    """An SM of twelve warps holds three CTAs of four."""
    gpu = tiny(sm__count=7, sm__gpcs=3, sm__warps=12)
    assert ctas_held(kernel(8, 1), gpu) == [6, 6, 9]


@pytest.mark.parametrize(("cluster", "fits"), [(1, True), (9, True), (10, False)])
def test_a_cluster_fits_if_the_largest_gpc_holds_it(tiny, cluster, fits):
    gpu = tiny(sm__count=7, sm__gpcs=3, sm__warps=12)
    if fits:
        check_cluster(kernel(2 * cluster, cluster), gpu)
    else:
        with pytest.raises(WorkloadError, match="runs at most 9 of these CTAs together"):
            check_cluster(kernel(2 * cluster, cluster), gpu)


def test_a_cluster_has_at_most_sixteen_ctas(tiny):
    gpu = tiny(sm__count=64, sm__gpcs=1)
    check_cluster(kernel(32, 16), gpu)
    with pytest.raises(WorkloadError, match="at most 16 of these"):
        check_cluster(kernel(34, 17), gpu)


def test_clusters_divide_the_grid(tiny):
    with pytest.raises(WorkloadError, match=r"clusters of \(3, 1, 1\) CTAs do not divide the grid"):
        check_cluster(kernel(8, 3), tiny(sm__count=8))
