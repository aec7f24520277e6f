"""The summary at the end of a run."""

import numpy as np
import pytest

from lockstep.device.device import Geometry
from lockstep.runtime.images import find_entry
from lockstep.runtime.summary import summary


@pytest.mark.parametrize("timed", [False, True])
def test_it_says_which_code_ran_and_what_its_dependences_came_from(
    make_simulator, repository, timed
):
    simulator = make_simulator(timed)
    device = simulator.device
    module = device.load_cubin(repository / "tests/device/cubins/recorded.sm_80.cubin")
    entry = find_entry(module, "add")
    words = device.array(np.ones(32, "f4"))  # lives until the launch ends
    parameters = np.array([words.pointer] * 3 + [32], "<u8").tobytes()
    simulator.launch(entry, Geometry((1, 1, 1), (32, 1, 1), 32), parameters, device.default_stream)
    device.synchronize()
    lines = summary(simulator).splitlines()
    assert "  executed: machine code of sm_80" in lines
    assert ("  dependences: control bits" in lines) == timed
