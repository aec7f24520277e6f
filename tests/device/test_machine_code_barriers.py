"""Barriers that are objects in shared memory, from machine code: ``cubins/barriers.cu``."""

import numpy as np
import pytest

import lockstep
from cubin_files import cubins

GPUS = {"sm_75": "RTX2060", "sm_80": "A100", "sm_90": "H100"}
MODES = {
    "executed": {},
    "timed": {"timing": True},
    "at issue": {"timing": True, "at_issue": True},
}


def of(*builds):
    """The builds that a test is about, each in every mode."""
    pairs = [(build, mode) for build in builds for mode in MODES]
    return pytest.mark.parametrize("module", pairs, ids=" ".join, indirect=True)


# How code is lifted depends on the build, how it is run and what it records on the mode: every
# one of both, and one build in every mode.
PAIRS = [("sm_75", "executed"), ("sm_80", "timed"), *(("sm_90", mode) for mode in MODES)]


@pytest.fixture(params=PAIRS, ids=" ".join)
def module(request):
    build, mode = request.param
    gpu = lockstep.gpu(GPUS[build], ["sm.count=2"])
    with lockstep.Device(gpu, limit_instructions=1_000_000, **MODES[mode]) as device:
        yield device.load_cubin(cubins("barriers")[build])


@pytest.mark.long
@pytest.mark.parametrize("threads", [33, 256])
def test_threads_exchange_what_they_wrote(module, threads):
    out = module.device.zeros(threads, "i4")
    module["rounds"][1, threads](out, 5)
    other = (np.arange(threads) + 33) % threads
    np.testing.assert_array_equal(out.numpy(), 5 * other + 10)


@pytest.mark.long
def test_parities_tell_whose_turn_it_is(module):
    out = module.device.zeros(128, "i4")
    module["pipeline"][1, 128](out, 6)
    lane = np.arange(128)
    np.testing.assert_array_equal(out.numpy(), np.where(lane < 32, 0, 1500 + 6 * (lane % 32)))


def test_those_who_leave_are_not_waited_for(module):
    out = module.device.zeros(40, "i4")
    module["dropping"][2, 40](out)
    np.testing.assert_array_equal(out.numpy(), 39 - np.arange(40))


def test_a_thread_arrives_for_others(module):
    out = module.device.zeros((3, 256), "i4")
    module["counted"][1, 256](out)
    expected = 10 * (255 - np.arange(256)) + np.arange(3)[:, None]
    np.testing.assert_array_equal(out.numpy(), expected)


def test_copies_arrive_when_they_are_complete(module):
    values = module.device.array(np.arange(1024, dtype="i4") * 7)
    out = module.device.zeros(800, "i4")
    module["copies"][1, 200](out, values)
    np.testing.assert_array_equal(out.numpy(), 7 * (5 * np.arange(800) % 800))


@of("sm_90")
def test_a_phase_lasts_until_the_announced_bytes_have_come(module):
    out = module.device.zeros(2, "i4")
    module["announced"][1, 64](out)
    assert out.numpy().tolist() == [2, 1], "both have come; an arrival was missing before"


@of("sm_80", "sm_90")
def test_arrivals_of_several_and_of_copies(module):
    values, out = module.device.array(np.arange(64, dtype="i4")), module.device.zeros(96, "i4")
    module["parts"][1, 32](out, values)
    missing, *copied = out.numpy().reshape(3, 32)
    np.testing.assert_array_equal(missing, 96 - 2 * np.arange(32))
    np.testing.assert_array_equal(np.concatenate(copied), np.arange(64) ^ 1)


@of("sm_90")
@pytest.mark.parametrize("count", [4, 400, 2048])
def test_a_bulk_copy_brings_the_bytes_that_were_announced(module, count):
    values, out = module.device.array(np.arange(2048, dtype="i4")), module.device.zeros(2048, "i4")
    module["bulk"][1, 64](out, values, 4 * count)
    expected = np.where(np.arange(2048) < count, np.arange(2048) ^ 3, 0)
    np.testing.assert_array_equal(out.numpy(), expected)
