"""What neighbours say of a stratum, against the same in plain words."""

import numpy as np
import pandas as pd
import pytest

from lockstep.sampling import LaunchTable
from lockstep.sampling.neighbours import NEAREST, of_neighbours, work


def _table(random, launches=300, **columns):
    kernel = random.choice(list("abc"), launches)
    frame = pd.DataFrame({"name": kernel, "grid_x": random.integers(1, 9, launches)})
    return LaunchTable(frame.assign(**columns))


def _plain(table, stratum, sampled, mean):
    effort, codes = work(table), table.codes()
    strata = []
    for h in range(len(sampled)):
        rows = np.flatnonzero(stratum == h)
        strata.append((codes[rows[0]], effort[rows].mean(), rows.mean(), h))
    found = np.empty(len(sampled))
    for kernel in set(codes.tolist()):
        line = [h for code, *_, h in sorted(strata) if code == kernel]
        for at, h in enumerate(line):
            low = max(0, min(at - NEAREST // 2, len(line) - NEAREST - 1))
            near = [k for k in line[low : low + NEAREST + 1] if k != h] or [h]
            logs = [sampled[k] * np.log(mean[k]) for k in near]
            found[h] = np.exp(sum(logs) / sum(sampled[k] for k in near))
    return found


@pytest.mark.parametrize("seed", range(8))
def test_it_is_the_mean_of_those_that_do_as_much_work(seed):
    random = np.random.default_rng(seed)
    table = _table(random)
    parts = random.integers(0, (1, 2, 7, 40)[seed % 4], len(table))
    stratum = np.unique(100 * table.codes() + parts, return_inverse=True)[1]
    sampled = random.integers(1, 9, stratum.max() + 1)
    mean = random.uniform(1, 1000, stratum.max() + 1)
    found = of_neighbours(table, stratum, sampled, mean)
    assert found == pytest.approx(_plain(table, stratum, sampled, mean), rel=1e-9)


def test_a_stratum_says_nothing_of_itself_unless_it_is_alone():
    random = np.random.default_rng(3)
    table = _table(random)
    codes = table.codes()
    stratum = np.where(codes == 0, 0, 10 * codes + np.arange(len(table)) % 6)
    stratum = np.unique(stratum, return_inverse=True)[1]
    kernel = np.zeros(stratum.max() + 1, int)
    kernel[stratum] = codes
    sampled, mean = np.full(len(kernel), 2), random.uniform(1, 9, len(kernel))
    before = of_neighbours(table, stratum, sampled, mean)
    for h in range(len(kernel)):
        other = mean.copy()
        other[h] = 1e6
        changed = of_neighbours(table, stratum, sampled, other) > 1.01 * before
        assert changed[h] == (kernel[h] == 0)
        assert not changed[kernel != kernel[h]].any()
        assert kernel[h] == 0 or changed.any(), "it is a neighbour of others"


def test_work_is_instructions_where_all_are_known():
    random = np.random.default_rng(4)
    plain = _table(random, 20)
    assert (work(plain) == plain.threads()).all()
    counts = np.arange(20.0)
    for known, expected in ((counts, counts), (np.where(counts == 3, np.nan, counts), None)):
        table = LaunchTable(plain.frame.assign(**{"smsp__inst_executed.sum": known}))
        assert (work(table) == (table.threads() if expected is None else expected)).all()
