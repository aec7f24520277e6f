"""Streams of CTAs grow, but not without end."""

import numpy as np
import pytest

import lockstep
from lockstep.frontend.exec import stream_buffers
from lockstep.kernels import load


def test_a_stream_without_end_is_an_error_of_its_launch(monkeypatch):
    monkeypatch.setattr(stream_buffers, "MOST_STREAM_WORDS", 8)
    monkeypatch.setattr(stream_buffers, "FIRST_STREAM_WORDS", 64)
    with lockstep.Device("QV100", timing=True) as device:
        module = device.load_ptx(load("saxpy").ptx)
        x, y = device.array(np.ones(1024, np.float32)), device.zeros(1024)
        launch = module["saxpy"][1, 256](1024, 2.0, x, y)
        with pytest.raises(lockstep.LockstepError, match="executes without end"):
            launch.wait()
