"""Asynchronous copies that fill with zeros what they do not copy: ``cubins/zeros.cu``."""

import numpy as np
import pytest

import lockstep
from cubin_files import load

LANES = 32
UNTOUCHED = 255


@pytest.fixture(scope="module", params=["sm_80", "sm_90", "ptx"])
def module(request):
    with lockstep.Device("H100") as device:
        yield load(device, "zeros", request.param)


@pytest.mark.parametrize("size", [4, 8, 16])
@pytest.mark.parametrize("how", ["bytes", "whole", "ignored", "guarded"])
def test_what_is_not_copied_is_zeros_unless_the_copy_is_guarded(module, how, size):
    random = np.random.default_rng(size)
    given = random.integers(1, UNTOUCHED, LANES * size, dtype=np.uint8)
    asked = random.permutation(np.arange(LANES) % (size + 1)).astype(np.int32)
    out = module.device.zeros(LANES * size, "u1")
    module[f"{how}_{size}"][1, LANES](module.device.array(given), module.device.array(asked), out)
    copied = asked if how == "bytes" else np.where(asked, size, 0)
    mask = np.arange(size) < copied[:, None]
    rest = UNTOUCHED if how == "guarded" else 0
    assert np.array_equal(
        out.numpy().reshape(-1, size), np.where(mask, given.reshape(-1, size), rest)
    )


def test_what_is_not_copied_may_lie_outside_of_memory(module):
    out = module.device.zeros(LANES * 16, "u1")
    kernel = module["whole_16"]
    kernel[1, LANES](0, module.device.zeros(LANES, "i4"), out)
    assert not out.numpy().any()
    one = module.device.array((np.arange(LANES) == 5).astype(np.int32))
    with pytest.raises(
        lockstep.LockstepError, match=r"access of 16 bytes at 0x50.* thread \(5, 0, 0\)"
    ):
        kernel[1, LANES](0, one, out)
