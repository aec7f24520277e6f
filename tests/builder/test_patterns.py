"""Address patterns: what each lane gets, and the properties the names promise."""

from dataclasses import replace

import numpy as np
import pytest

from lockstep.builder import KernelBuilder, Site
from lockstep.builder import patterns as p

THREADS = 96


def site(cta=0, block=(0, 0, 0), iterations=1):
    executions = np.arange(iterations).reshape(1, -1, 1)
    return Site(cta, block, THREADS, np.arange(3).reshape(-1, 1, 1), (executions,), executions)


def at(pattern, **where):
    where = site(**where)
    shape = (3, where.execution.size, 32)
    return np.broadcast_to(pattern(where), shape)


def test_coalesced_gives_each_thread_of_the_grid_its_element():
    got = at(p.coalesced(1000, size=8, step=4096), cta=2, iterations=2)
    thread = 2 * THREADS + np.arange(THREADS).reshape(3, 32)
    assert (got[:, 0] == 1000 + 8 * thread).all()
    assert (got[:, 1] == 1000 + 8 * thread + 4096).all()


def test_threads_of_wide_warps_follow_each_other():
    where = replace(site(cta=1), warp_size=64)
    assert where.lane.ravel().tolist() == list(range(64))
    assert where.thread.ravel().tolist() == list(range(3 * 64))
    assert p.coalesced(0)(where).ravel().tolist() == [4 * (THREADS + t) for t in range(3 * 64)]
    assert p.bank_conflict(2)(where).shape == (3, 1, 64)


def test_strided_lanes_are_the_stride_apart():
    assert (np.diff(at(p.strided(0, 132)), axis=-1) == 132).all()


def test_broadcast_is_one_address():
    assert np.unique(at(p.broadcast(64))).tolist() == [64]


def test_random_is_aligned_in_range_reproducible_and_spread():
    got = at(p.random(4096, 1 << 16, size=8, seed=3), iterations=50)
    assert got.min() >= 4096
    assert got.max() < 4096 + (1 << 16)
    assert (got % 8 == 0).all()
    assert (got == at(p.random(4096, 1 << 16, size=8, seed=3), iterations=50)).all()
    assert (got != at(p.random(4096, 1 << 16, size=8, seed=4), iterations=50)).any()
    counts = np.bincount((got.ravel() - 4096) // 4096, minlength=16)
    expected = got.size / 16
    assert (abs(counts - expected) < 6 * np.sqrt(expected)).all()


def test_a_pointer_chase_follows_its_list_around():
    got = at(p.pointer_chase([10, 30, 20]), iterations=5)
    assert got[1, :, 7].tolist() == [10, 30, 20, 10, 30]


@pytest.mark.parametrize("ways", range(1, 33))
def test_bank_conflicts_have_the_ways_they_claim(ways):
    words = at(p.bank_conflict(ways))[0, 0] // 4
    rows_by_bank = {}
    for word in words:
        rows_by_bank.setdefault(word % 32, set()).add(word)
    assert max(map(len, rows_by_bank.values())) == ways
    assert len(np.unique(words)) == 32


def test_a_tile_walks_rows_and_moves_with_the_block():
    got = at(p.tile(0, pitch=1024, width=16, size=4, block_step=(64, 4096)), block=(2, 1, 0))
    thread = np.arange(THREADS).reshape(3, 32)
    assert (got[:, 0] == 128 + 4096 + thread // 16 * 1024 + thread % 16 * 4).all()


def test_below_masks_the_tail_of_the_grid():
    assert p.below(100)(site(cta=1)).sum() == 4


def test_patterns_are_reachable_from_the_builder():
    assert KernelBuilder.coalesced is p.coalesced
    names = ["strided", "broadcast", "random", "pointer_chase", "bank_conflict", "tile", "below"]
    assert [getattr(KernelBuilder, n) for n in names] == [getattr(p, n) for n in names]
