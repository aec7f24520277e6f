"""Libraries that are not there are named before a run, and where they are needed."""

import importlib
import importlib.util

import numpy as np
import pandas as pd
import pytest

from lockstep.errors import LockstepError
from lockstep.sampling import LaunchTable, Plan, estimate, extras
from lockstep.sampling.running import Follower, Online

ABSENT = r"sampling needs scipy: pip install 'lockstep-gpu\[sampling\]'"


@pytest.fixture
def plan():
    table = LaunchTable(pd.DataFrame({"name": ["k"] * 9}))
    return Plan.of(table, "test", np.zeros(9), np.array([1, 5]), drawn=True)


@pytest.fixture
def without(monkeypatch):
    find, load = importlib.util.find_spec, importlib.import_module

    def absent(name, *arguments):
        if name.startswith(("scipy", "sklearn")):
            raise ImportError(name)
        return load(name, *arguments)

    def spec(name, *arguments):
        return None if name == "scipy" else find(name, *arguments)

    monkeypatch.setattr(importlib.util, "find_spec", spec)
    monkeypatch.setattr(importlib, "import_module", absent)


def test_before_a_run(plan, without):
    with pytest.raises(LockstepError, match=ABSENT):
        Online(error=0.01)
    with pytest.raises(LockstepError, match=ABSENT):
        Follower(plan)


def test_where_they_are_needed(plan, without):
    with pytest.raises(LockstepError, match=ABSENT):
        estimate(plan, np.array([1.0, 2.0]))
    with pytest.raises(LockstepError, match="sampling needs sklearn: pip install"):
        extras.sklearn("cluster")


def test_where_they_are_there(plan):
    extras.check_scipy()
    assert Online(error=0.01) and Follower(plan)
    assert extras.sklearn("cluster").KMeans
