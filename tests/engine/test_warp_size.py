"""Kernels with warps of 64 threads, as a whole: what they count, and beside warps of 32."""

import pytest

import lockstep
from lockstep.engine import run
from lockstep.engine.record import totals
from lockstep.errors import WorkloadError

A = 0x7F0000000000
LAST = 1 << 63  # mask of lane 63 alone


def mixed(k):
    """Loads, stores, shared and local memory, atomics, a barrier, and lanes that part."""
    k("LDG.E R4, [R2]", address=k.coalesced(A))
    k("LDG.E.64 R6, [R2]", address=k.strided(A, 40))
    k("STS [R8], R4", address=lambda at: 4 * at.thread)
    k("BAR.SYNC 0x0")
    k("LDS R5, [R8]", address=lambda at: 256 * (at.thread % 16) + 4 * (at.thread // 32))
    with k.lanes(lambda at: at.thread % 64 > 60):
        k("FFMA R9, R4, R5, R6")
        k("STL [R10], R9", address=16)
    k("RED.E.ADD.STRONG.GPU [R2], R9", address=lambda at: A + 8 * (at.thread // 64))
    k("STG.E [R2], R9", address=k.coalesced(A + (1 << 20)))
    return k.workload()


def kernel(size, grid=6, block=192):
    return lockstep.KernelBuilder(
        "wide", grid, block, shared_bytes=4096, local_base=1 << 40, warp_size=size
    )


@pytest.fixture(scope="module")
def counted(small):
    """Counters of the whole GPU by the size of a warp, of one kernel of the same threads."""
    found = {}
    for size in (32, 64):
        found[size] = totals(run(mixed(kernel(size)), small(sm__warp_size=size)).sm)
    return found


def test_counters_of_a_kernel_are_those_that_its_lanes_make(counted):
    wide, ctas, warps = counted[64], 6, 18
    assert wide["ctas"] == ctas
    assert wide["warp_instructions"] == 10 * warps
    assert wide["thread_instructions"] == warps * (8 * 64 + 2 * 3)
    assert wide["memory_instructions"] == 7 * warps
    assert wide["requests_global"] == 4 * warps
    assert wide["requests_local"] == warps
    strided = 20  # lines: 64 lanes 40 bytes apart, from a place that 128 divides
    assert wide["transactions"] == warps * (2 + strided + 1 + 2 + 1)
    assert wide["l1_global_write_sectors"] == warps * 8
    assert wide["shared_accesses"] == 2 * warps
    assert wide["shared_wavefronts"] == warps * (2 + 2 * 16)


def test_the_same_threads_in_warps_of_32_make_the_same_of_all_but_instructions(counted):
    wide, narrow = counted[64], counted[32]
    for name in ("thread_instructions", "shared_wavefronts", "l1_global_write_sectors", "ctas"):
        assert wide[name] == narrow[name], name
    both = 8 * 18  # instructions that all threads execute; of a pair of warps one parts
    assert narrow["warp_instructions"] - wide["warp_instructions"] == both
    for name in ("requests_global", "shared_accesses", "l1_atomic_sectors"):
        assert 2 * wide[name] == narrow[name], name


def test_results_depend_on_neither_threads_nor_the_file_between(small, tmp_path):
    gpu = small(sm__warp_size=64)
    workload = mixed(kernel(64, grid=20, block=200))
    results = [lockstep.simulate(workload, gpu, threads=n) for n in (1, 2, 3)]
    lockstep.save(workload, tmp_path / "wide.lst")
    results.append(lockstep.simulate(tmp_path / "wide.lst", gpu, threads=2))
    assert len({result.hash for result in results}) == 1
    assert results[0].thread_instructions == results[3].thread_instructions > 0
    lanes = results[0].total["sim__lanes_used.pct"]
    share = results[0].thread_instructions / results[0].warp_instructions
    assert lanes == pytest.approx(100 * share / 64)


@pytest.mark.parametrize(("mask", "lanes"), [(LAST, 1), ((1 << 64) - 1, 64), (LAST | 1, 2), (0, 0)])
def test_the_last_lane_counts_as_any_other(small, mask, lanes):
    k = kernel(64, grid=1, block=64)
    k("LDG.E R4, [R2]", address=k.strided(A, 128), mask=mask)
    with k.lanes(mask):
        k("FFMA R9, R4, R5, R6")
    counters = totals(run(k.workload(), small(sm__warp_size=64)).sm)
    assert counters["thread_instructions"] == 2 * lanes + 64  # and the EXIT of all
    assert counters["transactions"] == lanes
    assert counters["memory_instructions"] == (lanes > 0)


@pytest.mark.parametrize(("own", "other"), [(32, 64), (64, 32)])
def test_a_kernel_of_another_size_is_refused_in_one_line(small, own, other):
    with pytest.raises(WorkloadError) as error:
        lockstep.simulate(mixed(kernel(own)), small(sm__warp_size=other))
    assert str(error.value) == (
        f"kernel 1 (wide): warps of {own} threads; those of QV100 have {other}"
    )
