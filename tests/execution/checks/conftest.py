from collections.abc import Callable

import numpy as np
import pytest

import lockstep
from ptx_twin.programs import kernel

ROOM = ".shared .align 16 .b8 room[512];\n"


@pytest.fixture
def find() -> Callable:
    """Function from a check and a body, see ``ptx_twin.programs.kernel``, to what it finds."""

    def find(check, body, grid=1, block=64, *, before=ROOM, words=128, **launch):
        with lockstep.Device("H100", check=check) as device:
            loaded = device.load_ptx(kernel(body, before))["k"]
            if "cluster" in launch:
                loaded = loaded.with_cluster(launch["cluster"])
            loaded[grid, block](device.array(np.zeros(words, np.uint32)))
            return list(device.findings)

    return find
