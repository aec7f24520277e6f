"""What tests of advice share: kernels with and without problems, simulated once a session."""

from functools import cache

import pytest

import lockstep
from lockstep.gpus import library


@pytest.fixture(scope="session")
def small(load_script, repository):
    """Function from overrides to a GPU that is quick to simulate."""
    quick = load_script(repository / "tests" / "small_gpu.py").SMALL
    return lambda **changes: library.replace(library.gpu("QV100"), **quick | changes)


@pytest.fixture(scope="session")
def pairs(load_script, repository):
    """The kernels, a pair for each rule."""
    return load_script(repository / "tests" / "advice" / "pairs.py")


@pytest.fixture(scope="session")
def outcome(pairs, small):
    """Function from a rule's name, and which of its two kernels, to the result of a simulation."""

    @cache
    def run(rule, clean, source=True):
        gpu = small(**pairs.GPUS.get(rule, {}))
        return lockstep.simulate(pairs.made(rule, clean), gpu, source=source)

    return run
