"""Halves that machine code exchanges on the way into a product (``cubins/exchanged.cu``)."""

from pathlib import Path

import numpy as np
import pytest

import lockstep

CODE = Path(__file__).parent / "cubins" / "exchanged.sm_90.cubin"
LANES = 32


@pytest.fixture(scope="module")
def module():
    with lockstep.Device("H100", timing=False) as device:
        yield device.load_cubin(CODE)


@pytest.fixture
def numbers():
    draw = np.random.default_rng(3)
    return [draw.integers(-8, 9, (LANES, 2)).astype(np.float16) for _ in range(3)]


def launch(module, name, numbers):
    arrays = [module.device.array(each) for each in numbers]
    module[name][1, LANES](*arrays)
    return arrays[2].numpy()


def test_products_of_complex_numbers(module, numbers):
    a, b, c = ((each[:, 0] + 1j * each[:, 1]).astype(complex) for each in numbers)
    got = launch(module, "products", numbers)
    np.testing.assert_array_equal(got[:, 0] + 1j * got[:, 1], a * b + c)


def test_one_half_negated(module, numbers):
    a, b, c = numbers
    got = launch(module, "conjugates", numbers)
    np.testing.assert_array_equal(got, a * b * np.float16([1, -1]) + c)
