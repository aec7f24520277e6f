"""Why first launches take long is said once, and only where they do."""

import itertools

import numpy as np
import pytest

import lockstep
from lockstep.device import patience
from lockstep.device.patience import LONG, NOTICE, Patience
from lockstep.kernels import load


@pytest.mark.parametrize(("each", "said_after"), [(LONG * 0.6, 2), (LONG * 0.3, 4), (LONG + 1, 1)])
def test_it_is_said_when_kernels_have_taken_long_together(monkeypatch, each, said_after):
    clock = itertools.count(step=each)
    monkeypatch.setattr(patience, "perf_counter", lambda: next(clock))
    said = []
    own = Patience(said.append)
    for kernel in range(1, 7):
        with own.translating():
            pass
        assert said == [NOTICE] * (kernel >= said_after)


def test_without_anybody_to_tell_nothing_is_said(monkeypatch):
    monkeypatch.setattr(patience, "LONG", -1.0)
    with Patience(None).translating():
        pass


@pytest.mark.parametrize(("long", "expected"), [(-1.0, [NOTICE]), (1e6, [])])
def test_a_device_says_so_where_its_kernels_do(monkeypatch, long, expected):
    monkeypatch.setattr(patience, "LONG", long)
    said = []
    with lockstep.Device("QV100", notice=said.append) as device:
        y = device.zeros(1024)
        saxpy = device.load_ptx(load("saxpy").ptx)["saxpy"]
        for _ in range(2):
            saxpy[4, 256](1024, 2.0, device.array(np.ones(1024, np.float32)), y)
        assert y.numpy()[0] == 4.0
    assert [line for line in said if line == NOTICE] == expected
