"""Photon's kernel level: by hand, against a loop over earlier launches, and on long programs."""

import numpy as np
import pandas as pd
import pytest

from lockstep.errors import LockstepError
from lockstep.sampling import LaunchTable, sampler
from lockstep.sampling.features import PROFILE
from lockstep.sampling.samplers import photon


def _table(counts, names=None, **columns):
    """Launches with counts of blocks: a dictionary of each."""
    launches = len(counts)
    frame = pd.DataFrame({"name": names or ["k"] * launches, "block_x": 32} | columns)
    frame["blocks"] = [list(of_launch) for of_launch in counts]
    frame["executions"] = [list(of_launch.values()) for of_launch in counts]
    return LaunchTable(frame.assign(**dict.fromkeys(PROFILE, 1.0)))


def _stands(table, **parameters):
    """The launch that stands for each launch."""
    plan = sampler("photon", **parameters).plan(table, np.random.default_rng(0))
    assert not plan.drawn or len(plan.chosen) == len(plan)
    assert len(plan.chosen) == plan.stratum.max() + 1
    found = np.empty(len(plan.chosen), np.int64)
    found[plan.stratum[plan.chosen]] = plan.chosen
    return found[plan.stratum].tolist()


def test_near_counts_are_those_of_one_launch():
    counts = [{0: 1000}, {0: 1040}, {0: 1060}, {0: 960}, {0: 950}]
    # |1040 - 1000| / 1040 = 3.8 %, |1060 - 1000| / 1060 = 5.7 %, 40 / 960 = 4.2, 50 / 950 = 5.3
    assert _stands(_table(counts)) == [0, 0, 2, 0, 4]


def test_the_distance_is_below_the_limit_not_at_it():
    counts = [{0: 3, 1: 4}, {0: 3, 1: 4, 2: 5}]  # 5 of sqrt(50)
    assert _stands(_table(counts), distance=0.7) == [0, 1]
    assert _stands(_table(counts), distance=0.71) == [0, 0]
    assert _stands(_table([{0: 100}, {0: 80}]), distance=0.25) == [0, 1]  # exactly at it


def test_only_equal_counts_are_near_at_no_distance():
    counts = [{0: 10**9, 1: 1}, {1: 1, 0: 10**9}, {0: 10**9, 1: 2}, {}, {}, {7: 0}]
    assert _stands(_table(counts), distance=0) == [0, 0, 2, 3, 3, 3]


def test_the_nearest_number_of_warps_decides_and_then_the_order():
    counts = [{0: 100}, {0: 108}, {0: 104}, {0: 104}, {0: 104}]
    grid = [10, 20, 14, 16, 15]
    assert _stands(_table(counts, grid_x=grid)) == [0, 1, 0, 1, 0]


def test_warps_of_ctas_that_are_not_full():
    # 33 threads are two warps: 5 CTAs of them are nearer to 9 warps than 8 CTAs of one warp
    counts, block = [{0: 100}, {0: 108}, {0: 104}], [32, 33, 32]
    assert _stands(_table(counts, grid_x=[7, 5, 9], block_x=block)) == [0, 1, 1]


def test_codes_are_apart():
    assert _stands(_table([{0: 5}] * 4, ["a", "b", "a", "b"])) == [0, 1, 0, 1]


def test_a_block_may_be_listed_twice():
    table = _table([{0: 4, 1: 2}, {0: 4, 1: 2}])
    table.frame.at[1, "blocks"], table.frame.at[1, "executions"] = [1, 0, 1], [1, 4, 1]
    assert _stands(table) == [0, 0]


def test_what_stands_for_a_launch_was_simulated_before_it():
    counts = [{0: 100}, {0: 104}, {0: 108}]  # the second is near both; the third not the first
    assert _stands(_table(counts, grid_x=[1, 50, 50])) == [0, 0, 2]


def _naive(counts, codes, warps, distance):
    stands, simulated = [], []
    for k, v in enumerate(counts):
        near = [
            s for s in simulated
            if codes[s] == codes[k]
            and (np.linalg.norm(v - counts[s]) < distance * np.linalg.norm(v)
                 or (v == counts[s]).all())
        ]  # fmt: skip
        if not near:
            simulated.append(k)
        stands.append(min(near, key=lambda s: abs(warps[s] - warps[k])) if near else k)
    return stands


@pytest.mark.long
@pytest.mark.parametrize("batch", [1, 5, 64])
@pytest.mark.parametrize("distance", [0, 0.002, 0.05, 0.3])
@pytest.mark.parametrize("seed", range(4))
def test_against_a_loop_over_all_simulated_launches(seed, distance, batch, monkeypatch):
    monkeypatch.setattr(photon, "BATCH", batch)
    random = np.random.default_rng(seed)
    centres = random.integers(0, 10 ** random.integers(1, 7), (6, 12))
    noise = random.choice([0, 0.001, 0.03, 0.1], (200, 1)) * random.standard_normal((200, 12))
    counts = (centres[random.integers(0, 6, 200)] * (1 + noise)).round().clip(0)
    names, grid = random.choice(["a", "b"], 200).tolist(), random.integers(1, 9, 200)
    sparse = [{3 * b: int(row[b]) for b in np.flatnonzero(row)} for row in counts]
    expected = _naive(counts, names, grid, distance)
    assert _stands(_table(sparse, names, grid_x=grid), distance=distance) == expected


def test_many_launches_no_two_of_which_are_equal():
    random = np.random.default_rng(2)
    counts = 1000 + np.cumsum(random.integers(-5, 6, (20_000, 20)), axis=0).clip(-900)
    table = _table([dict(enumerate(row)) for row in counts.tolist()])
    stands = np.array(_stands(table))
    gap = np.linalg.norm(counts - counts[stands], axis=1)
    assert (gap < 0.05 * np.linalg.norm(counts, axis=1)).all()
    assert len(np.unique(stands)) < 1000


def test_what_is_refused():
    table = _table([{0: 1}, {0: 1}])
    with pytest.raises(LockstepError, match="photon: distance is -1; expected 0 or more"):
        sampler("photon", distance=-1)
    table.frame.at[1, "executions"] = [1, 2]
    with pytest.raises(LockstepError, match="launch 1: 1 blocks, and counts of 2"):
        _stands(table)
    table.frame["blocks"] = "all"
    with pytest.raises(LockstepError, match="column blocks does not have a list"):
        _stands(table)
    with pytest.raises(LockstepError, match="no column blocks, which photon reads"):
        _stands(LaunchTable(table.frame.drop(columns="blocks")))
