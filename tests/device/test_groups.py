"""Groups of a warpgroup's products that are committed where no product is: ``cubins/groups.cu``."""

import numpy as np
import pytest

import lockstep
from cubin_files import load

ROWS, COLUMNS, DEPTH = 64, 8, 16


@pytest.mark.parametrize("form", ["sm_90a", "ptx"])
@pytest.mark.parametrize("steps", [0, 1, 6])
def test_products_in_a_loop_and_their_group_behind_it(form, steps):
    random = np.random.default_rng(steps)
    a, b = (
        random.integers(-4, 5, (max(steps, 1), lines, DEPTH)).astype(np.float16)
        for lines in (ROWS, COLUMNS)
    )
    with lockstep.Device("H100") as device:
        kernel = load(device, "groups", form)["groups"]
        out = device.zeros((ROWS, COLUMNS), "f4")
        there = [device.array(matrix.view(np.int16)) for matrix in (a, b)]
        shared = 2 * steps * (ROWS + COLUMNS) * DEPTH
        kernel[1, 128, shared](steps, *there, out)
        expected = np.einsum("krd,kcd->rc", a[:steps].astype("f4"), b[:steps].astype("f4"))
        assert np.array_equal(out.numpy(), expected)
