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
    message = "^sampler random: no parameter is named 'evry'; it has every$"
    with pytest.raises(LockstepError, match=message):
        sampler("random", evry=3)
    with pytest.raises(LockstepError, match=r"^sampler single-iteration: .*; it has none$"):
        sampler("single-iteration", every=3)


@pytest.mark.parametrize("name", ["random", "systematic"])
@pytest.mark.parametrize(
    ("every", "message"),
    [
        (0, "every is 0; expected a number of launches, from 1 on"),
        (-1, "every is -1; expected a number of launches, from 1 on"),
        ("abc", "every is 'abc'; expected a whole number"),
        (1.5, "every is 1.5; expected a whole number"),
        (True, "every is True; expected a whole number"),
    ],
)
def test_values_that_no_parameter_has(name, every, message):
    with pytest.raises(LockstepError, match=f"{name}: {message}$"):
        sampler(name, every=every)


def test_kinds_of_parameters():
    assert sampler("random", every=1e9).every == 10**9
    assert sampler("sieve", bandwidth=None).bandwidth is None
    assert not sampler("two-level", without_times=True).times  # handed on to pks
    with pytest.raises(LockstepError, match="sampler two-level: groups is 'few'; expected a whole"):
        sampler("two-level", groups="few")
    with pytest.raises(LockstepError, match="sampler pks: without_times is 1; expected yes or no"):
        sampler("pks", without_times=1)
    with pytest.raises(LockstepError, match="depth = -1: expected how many launches before"):
        sampler("bounded", depth=-1)
