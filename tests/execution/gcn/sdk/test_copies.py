"""DeviceFission and MemoryOptimizations: copies by several routes."""

import numpy as np
import pytest

N = 512


@pytest.mark.parametrize(
    ("program", "kernel", "width"),
    [
        ("DeviceFission", "copy", 1),
        ("MemoryOptimizations", "copy1DFastPath", 1),
        ("MemoryOptimizations", "copy1DCompletePath", 1),
        ("MemoryOptimizations", "copy1Dfloat4", 4),
        ("MemoryOptimizations", "NoCoal", 1),
    ],
)
def test_a_copy_is_a_copy(program, kernel, width, load, rng):
    device, module = load(program)
    values = rng.random((N, width), dtype=np.float32)
    out = device.zeros(values.shape, np.float32)
    module[kernel][N, 64](device.array(values), out)
    assert np.array_equal(out.numpy(), values)


@pytest.mark.parametrize(("kernel", "width"), [("copy2Dfloat", 1), ("copy2Dfloat4", 4)])
def test_a_copy_in_two_dimensions_is_a_copy(kernel, width, load, rng):
    """Rows are 1,024 elements apart, whatever is launched."""
    device, module = load("MemoryOptimizations")
    values = rng.random((4, 1024, width), dtype=np.float32)
    out = device.zeros(values.shape, np.float32)
    module[kernel][(512, 4), (64, 2)](device.array(values), out)
    expected = values.copy()
    expected[:, 512:] = 0
    assert np.array_equal(out.numpy(), expected)


def test_a_split_copy_turns_the_even_elements_of_the_first_group(load, rng):
    """Even items copy element 62 - i of the first 64, by a slip of the program: ``gid & !63``."""
    device, module = load("MemoryOptimizations")
    values = rng.random(N, dtype=np.float32)
    out = device.zeros(N, np.float32)
    module["Split"][N, 64](device.array(values), out)
    expected = np.zeros_like(values)
    expected[1::2] = values[1::2]
    expected[:64] = values[:64]
    assert np.array_equal(out.numpy(), expected)
