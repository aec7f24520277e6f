"""Kernels whose CTAs all differ: some stand for the others, and caches see about the same."""

import numpy as np
import pytest

from lockstep import api
from lockstep.builder import KernelBuilder, program
from lockstep.proxies import agreement, profile
from lockstep.proxies.affine import exemplars

BASE, TABLE = 1 << 40, 1 << 41
CTAS, WARPS = 400, 4
LINES = 512  # of the table


def gathers(draw):
    """A regular load, and one whose lanes are drawn, a random number of times."""
    rng = np.random.default_rng(1)
    turns = rng.integers(1, 6, (CTAS, WARPS, 1, 1))
    lanes = draw(rng, (CTAS, WARPS, 6, 32))
    k = KernelBuilder("gathers", CTAS, 32 * WARPS)
    with k.loop(lambda at: turns[at.cta][at.warp.reshape(-1)]):
        k("LDG.E R0, [R2]", address=k.coalesced(BASE, 4, 1 << 20))
        k("LDG.E R4, [R2]", address=lambda at: TABLE + 4 * lanes[at.cta, at.warp, at.i, at.lane])
    return program(k)


def uniform(rng, shape):
    """Any element of the table."""
    return rng.integers(0, LINES * 32, shape)


def skewed(rng, shape):
    """Few elements are popular."""
    return (LINES * 32 * rng.random(shape) ** 4).astype(np.int64)


def nearby(rng, shape):
    """Elements about where the CTA is in the grid."""
    centre = np.arange(shape[0]) * (LINES * 32 - 4096) // shape[0]
    return centre[:, None, None, None] + rng.integers(0, 1024, shape)


@pytest.mark.long
@pytest.mark.parametrize("draw", [uniform, skewed, nearby])
def test_caches_miss_about_as_often(draw):
    original = gathers(draw)
    proxy = profile(original)
    gpu = api.gpu("QV100", ["sm.count=8"])
    sets = agreement.SETS[:2]
    sides = [agreement.explorations(gpu, sets) for _ in range(2)]
    for side, workload in zip(sides, (original, proxy.workload())):
        for each in side.values():
            each.explore(workload)
    errors = agreement.summarise(agreement.compare(*sides, sets))
    assert errors["mean"].max() < 2, errors
    assert errors["p90"].max() < 5, errors


@pytest.mark.long
def test_regular_accesses_stay_exact_where_others_are_drawn():
    original = gathers(uniform)
    made = profile(original).workload().kernels[0]
    for cta, other in zip(original.kernels[0].ctas(), made.ctas(), strict=True):
        ours = [int(other.addresses[w["first_address"]]["first"]) for w in other.warps]
        assert ours == [int(cta.addresses[w["first_address"]]["first"]) for w in cta.warps]


@pytest.mark.long
def test_what_stands_for_others_is_bounded(monkeypatch):
    monkeypatch.setattr(exemplars, "MOST", 16)
    few = profile(gathers(uniform))
    monkeypatch.undo()
    more = profile(gathers(uniform))
    assert len(np.unique(few.models[0].tables.origin_cta)) == 16
    assert len(np.unique(more.models[0].tables.origin_cta)) == CTAS // exemplars.SHARE
    assert few.numbers < more.numbers


@pytest.mark.long
def test_the_same_seed_gives_the_same():
    proxy = profile(gathers(uniform))
    assert proxy.workload(seed=3).digest == proxy.workload(seed=3).digest
    assert proxy.workload(seed=3).digest != proxy.workload(seed=4).digest


def test_lines_move_within_what_was_touched():
    proxy = profile(gathers(uniform))
    for cta in proxy.workload(seed=9).kernels[0].ctas():
        listed = cta.pool >> 7
        assert listed.min() >= TABLE >> 7 and listed.max() < (TABLE >> 7) + LINES


@pytest.mark.long
def test_some_that_stand_are_themselves():
    original = gathers(uniform)
    proxy = profile(original)
    origins = set(proxy.models[0].tables.origin_cta.tolist())
    made = proxy.workload(seed=5).kernels[0]
    for n, (cta, other) in enumerate(zip(original.kernels[0].ctas(), made.ctas())):
        if n in origins:
            assert np.array_equal(cta.pool, other.pool)
