"""Lanes of a warp that come to a barrier before others of it have copied: ``cubins/ring.cu``."""

import numpy as np
import pytest

import lockstep
from cubin_files import load

WAYS = {
    "executed": {"timing": False},
    "timed": {"timing": True},
    "at issue": {"timing": True, "at_issue": True},
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("form", ["sm_90", "ptx"])
def test_what_a_lane_copies_comes_before_the_barrier_of_its_warp(form, way):
    given = np.random.default_rng(1).integers(0, 1 << 32, (5, 32), dtype=np.uint32)
    expected = np.zeros(32, np.uint32)
    for row in given:
        expected = expected * 3 + row
    with lockstep.Device("H100", **WAYS[way]) as device:
        out = device.zeros(64, "u4")
        load(device, "ring", form)["ring"][1, 64](5, device.array(given), out)
        device.synchronize()
        assert np.array_equal(out.numpy(), np.concatenate([expected, expected + 1]))
