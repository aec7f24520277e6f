"""Clusters of several CTAs, as the twin has them: registers, memory of others, barriers."""

import numpy as np
import pytest

import lockstep
from lockstep.execution.launches.faults import LaunchError
from ptx_twin.cluster_programs import (
    MEET,
    PROGRAMS,
    SHAPES,
    THREADS,
    by_twin,
    cases,
    kernel,
    launch,
)


@pytest.fixture(scope="module")
def device():
    with lockstep.Device("H100", limit_instructions=5_000_000) as device:
        yield device


def by_device(device, text, grid, cluster):
    return launch(device.load_ptx(text)["k"], grid, cluster)[1].numpy()


@pytest.mark.long
@pytest.mark.parametrize(("name", "shape"), cases(PROGRAMS, SHAPES))
def test_as_the_twin(device, name, shape):
    cluster, grid = SHAPES[shape]
    text = PROGRAMS[name]
    expected = by_twin(text, grid, cluster)
    np.testing.assert_array_equal(by_device(device, text, grid, cluster), expected)
    assert len(set(expected)) > 1 or shape == "one" or "end" in name


def failure(device, text, cluster=4, grid=8):
    with pytest.raises(LaunchError) as caught:
        by_device(device, text, grid, cluster)
    return caught.value


FAR = MEET + "mov.u32 %o, {rank}; mapa.shared::cluster.u32 %y, %x, %o;"


def test_there_are_no_ctas_outside_the_cluster(device):
    text = kernel(FAR.format(rank=4) + "ld.shared::cluster.u32 %a, [%y];")
    error = failure(device, text)
    assert error.kind == "shared_out_of_bounds"
    assert "shared read of 4 bytes at 0x4000000, of CTA 4 of a cluster of 4" in str(error)
    assert by_device(device, text, 16, 8).any()  # five CTAs are enough
    huge = failure(device, kernel(FAR.format(rank=300) + "ld.shared::cluster.u32 %a, [%y];"))
    assert "of CTA 255 of a cluster of 4" in str(huge)


def test_shared_memory_of_others_has_an_end(device):
    """Its 520 bytes: the last word can be read, the one behind it cannot."""
    access = FAR.format(rank=2) + "ld.shared::cluster.u32 %a, [%y+{offset}];"
    assert by_device(device, kernel(access.format(offset=264)), 8, 4).shape == (512,)
    error = failure(device, kernel(access.format(offset=268)))
    assert error.kind == "shared_out_of_bounds" and error.thread == (63, 0, 0)
    assert "at 0x2000208, beyond the 520 bytes of CTA 2 of the cluster" in str(error)


@pytest.mark.parametrize("rank", [0, 3])
def test_a_generic_address_of_another_cta_is_checked(device, rank):
    text = kernel(
        FAR.format(rank=rank) + "cvt.u64.u32 %d, %y; cvta.shared::cluster.u64 %d, %d;"
        "st.u32 [%d+512], %a;"
    )
    message = f"shared write of 4 bytes at {hex(rank << 24 | 0x208)}, beyond the 520 bytes of CTA"
    assert f"{message} {rank}" in str(failure(device, text))


def test_another_ctas_memory_is_not_in_the_space_of_the_own(device):
    text = kernel(FAR.format(rank=1) + "ld.shared::cta.u32 %a, [%y];")
    error = failure(device, text)
    assert error.kind == "shared_out_of_bounds" and error.cta[0] % 4 != 1


def test_misaligned_accesses_of_other_ctas(device):
    error = failure(device, kernel(FAR.format(rank=1) + "ld.shared::cluster.u32 %a, [%y+2];"))
    assert error.kind == "misaligned"


def test_who_waits_for_a_cta_that_never_comes_is_told(device):
    """CTA 1 waits at a barrier of its own, for more threads than it has."""
    body = "setp.eq.u32 %p, %r, 1; @%p barrier.sync 3, 96;" + MEET
    error = failure(device, kernel(body), cluster=2, grid=2)
    assert error.kind == "deadlock"
    assert "barrier 3 of 96 threads" in str(error) or "the cluster's barrier" in str(error)


def test_clusters_wait_for_each_other(device):
    """Each cluster but the last waits for a flag that a later one sets: all must be resident."""
    body = (
        MEET + "ld.param.u64 %d, [k_out]; mov.u32 %b, %nctaid.x; mov.u32 %w, %ntid.x;"
        "mul.lo.u32 %b, %b, %w; mul.wide.u32 %e, %b, 4; add.u64 %d, %d, %e;"
        "mov.u32 %c, %clusterid.x; mul.wide.u32 %e, %c, 4; add.u64 %e, %d, %e;"
        "mov.u32 %w, %nclusterid.x; sub.u32 %w, %w, 1; setp.eq.u32 %p, %c, %w; @%p bra SET;"
        "LOOK: ld.acquire.gpu.global.u32 %b, [%e+4]; setp.eq.u32 %p, %b, 0; @%p bra LOOK;"
        "SET: mov.u32 %b, 1; st.release.gpu.global.u32 [%e], %b; add.u32 %a, %c, 1;" + MEET
    )
    grid = 12
    out = device.array(np.zeros(THREADS * grid + grid + 1, np.uint32))
    device.load_ptx(kernel(body))["k"].with_cluster(2)[grid, THREADS](out)
    expected = np.repeat(np.arange(grid) // 2 + 1, THREADS)
    np.testing.assert_array_equal(out.numpy()[: THREADS * grid], expected)


TILES = """.version 8.6
.target sm_90
.address_size 64
.visible .entry k(.param .align 64 .b8 map[128], .param .u64 target)
{
.reg .b64 %m, %t; .reg .b32 %i, %r, %s, %x, %y, %n; .reg .pred %p; .reg .b16 %mask;
.shared .align 128 .b8 tile[64]; .shared .align 8 .b64 barrier;
mov.b64 %m, map; cvta.param.u64 %m, %m; ld.param.u64 %t, [target];
mov.u32 %i, %tid.x; mov.u32 %r, %cluster_ctarank; mov.u32 %s, %ctaid.x;
mov.u32 %x, tile; mad.lo.u32 %x, %i, 4, %x; mov.u32 %y, 0; st.shared.u32 [%x], %y;
setp.ne.u32 %p, %i, 0; @%p bra MEET;
mbarrier.init.shared::cta.b64 [barrier], 1;
mbarrier.arrive.expect_tx.shared::cta.b64 _, [barrier], EXPECTED;
MEET: barrier.cluster.arrive; barrier.cluster.wait;
setp.ne.u32 %p, %r, 1; @%p bra WAIT; setp.ne.u32 %p, %i, 0; @%p bra WAIT;
shr.u32 %x, %s, 2; shl.b32 %y, %x, 2; mov.u16 %mask, MASK; mov.u32 %x, 4;
cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster
 [tile], [%m, {%x, %y}], [barrier], %mask;
WAIT: mbarrier.try_wait.parity.shared::cta.b64 %p, [barrier], 0; @!%p bra WAIT;
mad.lo.u32 %n, %s, 16, %i; mad.wide.u32 %t, %n, 4, %t;
mov.u32 %x, tile; mad.lo.u32 %x, %i, 4, %x; ld.shared.u32 %y, [%x]; st.global.u32 [%t], %y;
barrier.cluster.arrive; barrier.cluster.wait; ret;
}
"""


@pytest.mark.parametrize("mask", [0b1111, 0b0101, 0b1000])
def test_a_tile_goes_to_the_ctas_that_a_mask_names(device, mask):
    """CTA 1 of each cluster fetches 4 x 4 numbers; CTAs outside the mask expect none."""
    array = np.arange(12 * 12, dtype=np.uint32).reshape(12, 12)
    held = device.array(array)
    tensor_map = device.tensor_map(held, (4, 4))
    body = "shr.u32 %x, MASK, %r; and.b32 %x, %x, 1; mul.lo.u32 %x, %x, 64;"
    text = TILES.replace("EXPECTED", "%x").replace(
        "mbarrier.arrive.expect_tx", body + " mbarrier.arrive.expect_tx", 1
    )
    target = device.array(np.zeros((12, 16), np.uint32))
    entry = device.load_ptx(text.replace("MASK", str(mask)))["k"]
    entry.with_cluster(4)[12, 16](tensor_map, target)
    got = target.numpy()
    for cta in range(12):
        wanted = array[cta // 4 * 4 :, 4:8][:4].ravel() if mask >> cta % 4 & 1 else np.zeros(16)
        np.testing.assert_array_equal(got[cta], wanted, f"CTA {cta}")
