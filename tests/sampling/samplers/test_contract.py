"""What holds of every sampler."""

import json

import numpy as np
import pandas as pd
import pytest

from lockstep.errors import LockstepError
from lockstep.sampling import SAMPLERS, LaunchTable, draw, estimate, sampler
from lockstep.sampling.features import LANES, PROFILE


def _table(launches=900, kernels=5, seed=3):
    """Launches of level 3 with times, in loops, as programs have them."""
    random = np.random.default_rng(seed)
    kernel = np.arange(launches) % kernels
    size = random.integers(1, 4, launches) * (1 + kernel)
    profile = {name: size * (10_000.0 + 1_000 * k) for k, name in enumerate(PROFILE)}
    profile[LANES] = np.full(launches, 32.0)
    frame = pd.DataFrame(
        {"name": [f"k{k}" for k in kernel], "grid_x": size, "block_x": 32, "range": ""}
        | profile
        | {"sectors_read": 4.0 * size, "sectors_written": 1.0 * size, "new_sectors": 0.0}
    )
    frame["blocks"] = [np.array([0, int(k)]) for k in kernel]
    frame["executions"] = [np.array([int(s), int(s)]) for s in size]
    return LaunchTable(frame.assign(time=1000.0 * size + random.random(launches)))


@pytest.fixture(params=sorted(SAMPLERS))
def method(request):
    return sampler(request.param)


def _drawn(method, table, seed=0):
    known = table if method.times else table.without_times()
    return draw(method, known, seed, lambda rows: table.times[rows])


def test_the_estimate_is_near_the_truth_and_something_is_saved(method):
    table = _table()
    plan, seen = _drawn(method, table)
    assert estimate(plan, seen).total == pytest.approx(table.times.sum(), rel=0.25)
    assert len(plan.chosen) < len(table)
    assert plan.sampler == method.name
    json.dumps(plan.parameters)


def test_the_same_seed_gives_the_same_plan(method):
    table = _table()
    plans = [_drawn(method, table, 7)[0] for _ in range(2)]
    np.testing.assert_array_equal(plans[0].chosen, plans[1].chosen)
    np.testing.assert_array_equal(plans[0].stratum, plans[1].stratum)


@pytest.mark.parametrize("launches", [1, 2, 7])
def test_short_programs(method, launches):
    table = _table(launches, min(launches, 2))
    plan, seen = _drawn(method, table)
    assert estimate(plan, seen).total > 0
    assert len(plan) == launches


def test_what_it_needs_is_checked(method):
    table = _table()
    light = LaunchTable(table.frame[["name", "grid_x"]])
    if method.level or method.times:
        with pytest.raises(LockstepError, match=method.name):
            draw(method, light, 0, lambda rows: table.times[rows])
    else:
        draw(method, light, 0, lambda rows: table.times[rows])


def test_names_and_parameters_that_do_not_exist():
    with pytest.raises(LockstepError, match="no sampler is named 'randon'; did you mean random"):
        sampler("randon")
    with pytest.raises(LockstepError, match="sampler random: "):
        sampler("random", evry=3)
