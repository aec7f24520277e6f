"""Launches in clusters: what kernels and launches ask for, what GPUs take."""

import numpy as np
import pytest

import lockstep
from lockstep.errors import WorkloadError
from lockstep.gpus import library
from ptx_twin.programs import kernel

BODY = "mov.u32 %a, %cluster_nctarank; mov.pred %q, %is_explicit_cluster; selp.u32 %b, 100, 0, %q;"


@pytest.fixture(scope="module")
def device():
    with lockstep.Device("H100") as device:
        yield device


def entry(device, directives=""):
    text = kernel(BODY + "add.u32 %a, %a, %b;")
    return device.load_ptx(text.replace("k_out)", f"k_out) {directives}", 1))["k"]


def sizes(device, configured, threads):
    out = device.array(np.zeros(threads, np.uint32))
    configured(out)
    return set(out.numpy().tolist())


@pytest.mark.parametrize(
    ("directives", "cluster", "expected"),
    [
        ("", None, 1),
        ("", 1, 101),
        ("", 4, 104),
        ("", (2, 1, 1), 102),
        (".reqnctapercluster 4", None, 104),
        (".reqnctapercluster 4", 4, 104),
        (".reqnctapercluster 1 .explicitcluster", None, 101),
        (".explicitcluster", 2, 102),
        (".reqnctapercluster 2 .blocksareclusters", None, 102),
        (".maxclusterrank 4", 4, 104),
        (".maxclusterrank 4", None, 1),
    ],
)
def test_the_cluster_is_what_kernel_or_launch_asks_for(device, directives, cluster, expected):
    found = entry(device, directives)
    found = found if cluster is None else found.with_cluster(cluster)
    blocks = 4 if "blocksareclusters" in directives else 8
    assert sizes(device, found[blocks, 32], 256) == {expected}


@pytest.mark.parametrize(
    ("directives", "cluster", "message"),
    [
        (".reqnctapercluster 4", 2, r"clusters of \(2, 1, 1\).*reqnctapercluster is \(4, 1, 1\)"),
        (".explicitcluster", None, "explicitcluster wants a cluster: launch it as"),
        (".maxclusterrank 4", 8, "clusters of 8 CTAs; its .maxclusterrank is 4"),
        ("", 3, r"clusters of \(3, 1, 1\) CTAs do not divide the grid \(16, 1, 1\)"),
        ("", (1, 2), "do not divide the grid"),
        ("", 16, r"a GPU takes at most 8 \(if not portable, 16\)"),
        ("", 0, "cluster 0; expected one to three positive"),
        ("", "wide", "cluster 'wide'; expected one to three positive"),
    ],
)
def test_what_cannot_be_launched(device, directives, cluster, message):
    found = entry(device, directives)
    with pytest.raises(WorkloadError, match=message):
        (found if cluster is None else found.with_cluster(cluster))[16, 32](0)


def test_sixteen_ctas_are_not_portable(device):
    found = entry(device).with_cluster(16, portable=False)
    assert sizes(device, found[32, 32], 1024) == {116}
    with pytest.raises(WorkloadError, match=r"a GPU takes at most 16$"):
        entry(device).with_cluster(32, portable=False)[32, 32](0)


def test_gpus_before_hopper_have_none():
    device = lockstep.Device("A100")
    assert sizes(device, entry(device).with_cluster(1)[4, 32], 128) == {101}
    with pytest.raises(WorkloadError, match="A100 has no clusters; they came with sm_90"):
        entry(device).with_cluster(2)[4, 32](0)


def test_only_whole_clusters_are_resident(device):
    """An H100 of 114 SMs has GPCs of 14 and 16; an SM holds one CTA of so much shared memory."""
    found = entry(device)
    grid = (3000, 1, 1), (32, 1, 1), 200 * 1024
    assert found.geometry(grid).places == 114
    assert found.geometry(grid, (4, 1, 1)).places == 4 * (7 * 3 + 4)
    assert found.geometry(grid, (5, 1, 1)).places == 5 * (7 * 2 + 3)
    assert found.geometry(grid, (10, 1, 1), portable=False).places == 80


def test_sms_outside_of_gpcs_hold_no_clusters():
    """As measured on an H100 SXM: 248 clusters of four CTAs, eight of them on an SM."""
    found = entry(lockstep.Device("H100_SXM"))
    grid = (3000, 1, 1), (256, 1, 1), 0
    assert found.geometry(grid).places == 132 * 8
    assert found.geometry(grid, (4, 1, 1)).places == 248 * 4


def test_a_cluster_that_no_gpc_holds():
    gpu = library.replace(lockstep.gpu("H100"), **{"sm.count": 8, "sm.gpcs": [2, 2, 2, 2]})
    device = lockstep.Device(gpu)
    with pytest.raises(WorkloadError, match=r"no GPC of .* holds 4 of its CTAs"):
        entry(device).with_cluster(4)[8, 32, 200 * 1024](0)
