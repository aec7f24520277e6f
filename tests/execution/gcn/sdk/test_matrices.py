"""DCT, MatrixMultiplication and MatrixMulImage."""

import numpy as np
import pytest

import lockstep

BLOCK = 8


@pytest.mark.parametrize("inverse", [0, 1])
def test_a_dct_is_two_products_of_each_block(inverse, load, rng):
    device, module = load("DCT")
    width = 32
    base = rng.random((BLOCK, BLOCK), dtype=np.float32)
    image = rng.uniform(0, 255, (width, width)).astype(np.float32)
    out = device.zeros(image.shape, np.float32)
    module["DCT"][(width, width), (BLOCK, BLOCK)](
        out, device.array(image), device.array(base), lockstep.local(4 * BLOCK**2),
        width, BLOCK, inverse,
    )  # fmt: skip
    blocks = image.reshape(width // BLOCK, BLOCK, width // BLOCK, BLOCK).swapaxes(1, 2)
    turned = base.T if inverse else base
    columns = np.einsum("ki,yxkj->yxji", turned.astype(float), blocks)
    # An item (i, j) reads row i of what its group has made, and writes row j.
    whole = np.einsum("yxik,kj->yxji", columns, turned.astype(float))
    expected = whole.swapaxes(1, 2).reshape(image.shape)
    assert np.allclose(out.numpy(), expected, rtol=1e-5)


@pytest.fixture
def factors(rng):
    return [rng.random((64, 64), dtype=np.float32) for _ in range(2)]


def test_a_product_by_tiles_of_registers(load, rng):
    device, module = load("MatrixMultiplication")
    left = rng.random((32, 64), dtype=np.float32)
    right = rng.random((64, 128), dtype=np.float32)
    out = device.zeros((32, 128), np.float32)
    module["mmmKernel"][(128 // 4, 32 // 4), (BLOCK, BLOCK)](
        device.array(left), device.array(right), out, 64, 128
    )
    assert np.allclose(out.numpy(), left.astype(float) @ right, rtol=1e-5)


@pytest.mark.parametrize(("kernel", "blocks"), [("mmmKernel_local", 1), ("mmmKernel_local2", 2)])
def test_a_product_by_tiles_of_local_memory(kernel, blocks, factors, load):
    device, module = load("MatrixMultiplication")
    out = device.zeros((64, 64), np.float32)
    tiles = [lockstep.local(4 * (4 * BLOCK) ** 2)] * blocks
    module[kernel][(16, 16), (BLOCK, BLOCK)](*map(device.array, factors), out, 64, *tiles)
    assert np.allclose(out.numpy(), factors[0].astype(float) @ factors[1], rtol=1e-5)


@pytest.mark.parametrize(
    ("kernel", "rows"), [("mmmKernel", 4), ("mmmKernel2", 8), ("mmmKernel3", 8)]
)
def test_a_product_of_images(kernel, rows, factors, load):
    device, module = load("MatrixMulImage")
    left, right, out = (
        device.image(matrix.reshape(64, 16, 4)) for matrix in (*factors, np.zeros_like(factors[0]))
    )
    module[kernel][(16, 64 // rows), (8, 8)](left, right, out, 64, 64)
    expected = factors[0].astype(float) @ factors[1]
    assert np.allclose(out.numpy().reshape(64, 64), expected, rtol=1e-5)
