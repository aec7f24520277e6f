"""Clusters: their barrier waits for all CTAs, accesses to other CTAs take longer."""

import pytest

from lockstep.builder import KernelBuilder

pytestmark = pytest.mark.plain
BASE = 1 << 40
TAG = 1 << 24


def kernel(grid=2, block=32, cluster=2, **needs):
    return KernelBuilder(
        "k", grid=grid, block=block, cluster=cluster, architecture=90, shared_base=BASE, **needs
    )


def work(k, cta, cycles):
    """Keeps one CTA busy before it goes on."""
    with k.lanes(lambda at: at.cta == cta):
        for _ in range(cycles):
            k("NOP")


@pytest.mark.parametrize("latency", [200, 1])
def test_the_barrier_opens_after_the_last_cta(watch, tiny, latency):
    """A barrier opens between windows at the earliest."""
    gpu = tiny(sm__count=2, sm__cluster_barrier_latency=latency)
    k = kernel()
    work(k, 1, 30)
    k("UCGABAR_ARV")
    k("UCGABAR_WAIT")
    k("MOV R1, R2")
    seen = watch(k.workload(), gpu)
    window = gpu.interconnect.latency
    expected = max(30 + latency, -(-31 // window) * window)
    for sm, arrived in ((0, 0), (1, 30)):
        assert seen.of(0, sm)[-4:-1] == [arrived, arrived + 1, expected]


def test_who_comes_late_to_the_wait_does_not_wait_again(watch, tiny):
    gpu = tiny(sm__count=2, sm__cluster_barrier_latency=20)
    k = kernel()
    k("UCGABAR_ARV")
    work(k, 1, 400)
    k("UCGABAR_WAIT")
    k("MOV R1, R2")
    seen = watch(k.workload(), gpu)
    assert seen.of(0, 1)[400:403] == [400, 401, 402]
    assert seen.of(0, 0)[2] < 400


def test_a_warp_that_has_ended_is_not_waited_for(watch, tiny):
    gpu = tiny(sm__count=2, sm__cluster_barrier_latency=150)
    k = kernel(block=64)
    with k.lanes(lambda at: (at.cta == 0) | (at.warp == 0)):
        k("UCGABAR_ARV")
        k("UCGABAR_WAIT")
    with k.lanes(lambda at: (at.cta == 1) & (at.warp == 1)):
        for _ in range(50):
            k("NOP")
    seen = watch(k.workload(), gpu)
    last = seen.of(1, 1)[-1]
    assert seen.run.stopped == "" and last == 50
    assert {seen.of(w, 0)[2] for w in range(2)} == {last + 150}


def test_a_cta_that_has_ended_is_not_waited_for(watch, tiny):
    gpu = tiny(sm__count=2)
    k = kernel()
    with k.lanes(lambda at: at.cta == 0):
        k("UCGABAR_ARV")
        k("UCGABAR_WAIT")
    seen = watch(k.workload(), gpu)
    assert seen.run.stopped == "" and len(seen.of(0, 0)) == 3


def test_barriers_again_and_again_in_clusters_one_after_the_other(watch, tiny):
    """Four clusters on SMs that hold one: each passes three barriers in step."""
    gpu = tiny(sm__count=4, sm__ctas=1)
    k = kernel(grid=16, cluster=4)
    for cta in range(4):
        for _ in range(3):
            with k.lanes(lambda at, cta=cta: at.cta % 4 == cta):
                for _ in range(7 * cta):
                    k("NOP")
    for _ in range(3):
        k("UCGABAR_ARV")
        k("UCGABAR_WAIT")
    k("MOV R1, R2")
    seen = watch(k.workload(), gpu, cta_events=True)
    assert seen.run.stopped == ""
    final = sorted(i[0] for i in seen.issues if i[3] == max(j[3] for j in seen.issues))
    assert len(final) == 16 and len(set(final)) == 4


def test_who_waits_in_vain_is_told(watch, tiny):
    k = kernel()
    with k.lanes(lambda at: at.cta == 1):
        k("BAR.SYNC 0x3, 0x40")
    k("UCGABAR_ARV")
    k("UCGABAR_WAIT")
    k("NOP")
    stopped = watch(k.workload(), tiny(sm__count=2)).run.stopped
    assert "waits: the barrier of the cluster: 1 of 1 warps of its CTA arrived" in stopped
    assert "waits: barrier 3: 1 of 2 warps arrived" in stopped


def test_a_predicate_that_is_false_keeps_a_warp_from_the_barrier(watch, tiny):
    k = kernel()
    k("UCGABAR_ARV", mask=lambda at: at.lane < 0)
    k("UCGABAR_WAIT", mask=lambda at: at.lane < 0)
    k("MOV R1, R2")
    seen = watch(k.workload(), tiny(sm__count=2))
    assert seen.of(0, 0)[:3] == [0, 1, 2]


@pytest.mark.parametrize(("interval", "lone"), [(0, 0), (2, 40)])
def test_alone_a_cta_has_a_barrier_of_its_own(watch, tiny, interval, lone):
    gpu = tiny(sm__barrier_interval=interval, sm__lone_cluster_barrier_latency=lone)
    k = kernel(grid=2, block=64, cluster=1)
    with k.lanes(lambda at: at.warp == 1):
        for _ in range(20):
            k("NOP")
    k("UCGABAR_ARV")
    k("UCGABAR_WAIT")
    k("MOV R1, R2")
    seen = watch(k.workload(), gpu)
    opens = 20 + interval + (lone or gpu.sm.barrier_latency)
    assert seen.of(1)[22] == opens == seen.of(0)[2]


@pytest.mark.parametrize(("rank", "cluster", "far"), [(0, 2, False), (1, 2, True), (0, 1, False)])
def test_an_access_to_another_cta_takes_longer(watch, tiny, rank, cluster, far):
    gpu = tiny(sm__count=2, shared__remote_latency=180)
    k = kernel(cluster=cluster)
    with k.lanes(lambda at: at.cta == 0):
        k("LD.E R2, [R4]", address=BASE + rank * TAG)
        k("MOV R3, R2")
    seen = watch(k.workload(), gpu)
    load, use = seen.of(0, 0)[:2]
    assert use - load == (gpu.shared.remote_latency if far else gpu.shared.latency)


def test_one_lane_far_away_is_enough(watch, tiny):
    gpu = tiny(sm__count=2, shared__remote_latency=180)
    k = kernel()
    with k.lanes(lambda at: at.cta == 1):
        k("LD.E R2, [R4]", address=lambda at: BASE + TAG * (at.lane != 31) + 4 * at.lane)
        k("MOV R3, R2")
    seen = watch(k.workload(), gpu)
    load, use = seen.of(0, 1)[:2]
    assert use - load == gpu.shared.remote_latency


@pytest.mark.parametrize("interval", [1, 6])
@pytest.mark.parametrize(
    ("stride", "packets"), [(0, 1), (4, 4), (8, 8), (32, 32)], ids=["one", "line", "two", "each"]
)
def test_packets_to_another_cta_keep_the_arbiter(watch, tiny, interval, stride, packets):
    """Packets of 32 bytes, four in as many cycles as the GPU says; the last one is waited for."""
    gpu = tiny(sm__count=2, shared__remote_interval=interval, sm__memory__accept_interval=1)
    k = kernel(block=128, shared_bytes=1024)
    with k.lanes(lambda at: at.cta == 0):
        k("LD.E R2, [R4]", address=lambda at: BASE + TAG + stride * at.lane)
        k("MOV R3, R2")
    seen = watch(k.workload(), gpu)
    used = sorted(seen.of(w, 0)[1] for w in range(4))
    ways = max(1, stride // 4)  # words of a bank
    takes = max(ways, -(-packets * interval // 4))
    behind = max(ways - 1, -(-packets * interval // 4) - -(-min(packets, 4) * interval // 4))
    assert used == [gpu.shared.remote_latency + behind + n * takes for n in range(4)]


def test_lanes_at_home_are_no_packets(watch, tiny):
    gpu = tiny(sm__count=2, shared__remote_interval=64, sm__memory__accept_interval=1)
    k = kernel(block=64, shared_bytes=1024)
    with k.lanes(lambda at: at.cta == 1):
        k("LD.E R2, [R4]", address=lambda at: BASE + TAG * (at.lane != 31) + 4 * at.lane)
        k("MOV R3, R2")
    seen = watch(k.workload(), gpu)
    used = sorted(seen.of(w, 1)[1] for w in range(2))
    assert used == [gpu.shared.remote_latency, gpu.shared.remote_latency + 16]
