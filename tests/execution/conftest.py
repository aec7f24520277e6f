import numpy as np
import pytest

import lockstep
from ptx_twin.programs import kernel


@pytest.fixture(scope="module")
def device():
    """A functional device on which endless loops fail after a while."""
    with lockstep.Device("QV100", limit_instructions=20_000_000) as device:
        yield device


@pytest.fixture
def run(device):
    """Function from a body, see ``ptx_twin.programs.kernel``, to the words that it leaves."""

    def run(body, grid=1, block=32, *, before="", words=2048):
        out = device.array(np.zeros(words, np.uint32))
        device.load_ptx(kernel(body, before))["k"][grid, block](out)
        return out.numpy()

    return run
