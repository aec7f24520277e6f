"""What tests of advice share: kernels with and without problems, simulated once a session."""

from functools import cache

import pytest

import lockstep


@pytest.fixture(scope="session")
def pairs(load_script, repository):
    """The kernels, a pair for each rule."""
    return load_script(repository / "tests" / "advice" / "pairs.py")


@pytest.fixture(scope="session")
def outcome(pairs, small):
    """Function from a rule's name, and which of its two kernels, to the result of a simulation."""

    @cache
    def run(rule, clean, source=True):
        changes = {name.replace(".", "__"): n for name, n in pairs.GPUS.get(rule, {}).items()}
        return lockstep.simulate(pairs.made(rule, clean), small(**changes), source=source)

    return run
