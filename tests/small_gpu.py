"""A GPU that is quick to simulate, for the tests of several folders."""

import pytest

from lockstep.gpus import library

SMALL = {
    "sm.count": 4,
    "dram.channels": 2,
    "launch.overhead": 100,
    "launch.cta_interval": 1.0,
    "launch.concurrent_kernels": 4,
}


@pytest.fixture(scope="session")
def small():
    """Function from overrides to a GPU of four SMs and two channels."""
    return lambda **changes: library.replace(
        library.gpu("QV100"),
        **SMALL | {name.replace("__", "."): value for name, value in changes.items()},
    )
