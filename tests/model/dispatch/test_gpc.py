"""How SMs are divided into GPCs, and which clusters they hold."""

import pytest

from lockstep.builder import KernelBuilder
from lockstep.errors import WorkloadError
from lockstep.model.dispatch.gpc import check_cluster, ctas_held, first_sms, turns


def kernel(grid, cluster):
    k = KernelBuilder("k", grid=grid, block=128, cluster=cluster)
    k("EXIT")
    return k.workload().kernels[0]


@pytest.mark.parametrize(
    ("sms", "gpcs", "expected"),
    [
        (8, (), [0, 8]),
        (7, (3, 4), [0, 3, 7]),
        (7, (2, 3), [2, 4, 7]),
        (7, (2, 4, 8), [0, 2, 6, 7]),
        (2, (2, 4, 8), [0, 2]),
    ],
)
def test_gpcs_have_the_sms_that_there_are(tiny, sms, gpcs, expected):
    assert first_sms(tiny(sm__count=sms, sm__gpcs=gpcs)) == expected


def test_without_sms_outside_all_have_a_turn_and_a_kernel_begins_anywhere(tiny):
    assert turns(tiny(sm__count=5, sm__gpcs=(2, 3))) == ([0, 1, 2, 3, 4], [0, 1, 2, 3, 4])


def test_sms_outside_have_their_turn_after_some_gpcs(tiny):
    gpu = tiny(sm__count=7, sm__gpcs=(2, 3), sm__outside_turns=3)
    order, begins = turns(gpu)
    assert order == [0, 1, 2, 3, 4, 5, 6, 2, 3, 0, 1, 4, 5, 6, 2, 3, 4, 5, 6]
    assert begins == [0, *[9] * 9, *[0] * 9]


def test_a_gpc_holds_what_its_sms_hold(tiny):
    """An SM of twelve warps holds three CTAs of four."""
    gpu = tiny(sm__count=7, sm__gpcs=(2, 2, 3), sm__warps=12)
    assert ctas_held(kernel(8, 1), gpu) == [6, 6, 9]


@pytest.mark.parametrize(("cluster", "fits"), [(1, True), (9, True), (10, False)])
def test_a_cluster_fits_if_the_largest_gpc_holds_it(tiny, cluster, fits):
    gpu = tiny(sm__count=7, sm__gpcs=(2, 2, 3), sm__warps=12)
    if fits:
        check_cluster(kernel(2 * cluster, cluster), gpu)
    else:
        with pytest.raises(WorkloadError, match="runs at most 9 of these CTAs together"):
            check_cluster(kernel(2 * cluster, cluster), gpu)


def test_a_cluster_has_at_most_sixteen_ctas(tiny):
    gpu = tiny(sm__count=64)
    check_cluster(kernel(32, 16), gpu)
    with pytest.raises(WorkloadError, match="at most 16 of these"):
        check_cluster(kernel(34, 17), gpu)


def test_clusters_divide_the_grid(tiny):
    with pytest.raises(WorkloadError, match=r"clusters of \(3, 1, 1\) CTAs do not divide the grid"):
        check_cluster(kernel(8, 3), tiny(sm__count=8))
