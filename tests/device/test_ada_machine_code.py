"""Products of factors of eight bits, which only Ada has as instructions: ``cubins/ada.cu``."""

import numpy as np
import pytest

import lockstep
from cubin_files import cubins

KERNELS = [f"dense_{kind}" for kind in ("f32_44", "f32_45", "f32_54", "f16_45")]
KERNELS += ["sparse_f32_44", "sparse_f32_54"]


@pytest.fixture
def modules():
    with lockstep.Device("A100") as device:
        code = cubins("ada")
        yield device.load_cubin(code["sm_89"]), device.load_ptx(code["ptx"].decode())


@pytest.mark.parametrize("kernel", KERNELS)
def test_machine_code_gives_what_its_ptx_gives(modules, kernel):
    random = np.random.default_rng(KERNELS.index(kernel))
    given = random.integers(0, 1 << 32, (32, 12), np.uint32)
    given[:, :8] &= 0xBFBFBFBF  # factors below 2, of either sign
    given[:, 8:] = 0x3C003C00 if "f16" in kernel else 0x3F800000
    results = []
    for module in modules:
        device = module.device
        out = device.zeros((32, 4), "u4")
        module[kernel][1, 32](out, device.array(given))
        results.append(out.numpy())
    assert len(np.unique(results[1])) > 40
    np.testing.assert_array_equal(*results)
