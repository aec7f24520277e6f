"""The kernels of ``examples/southern-islands/kernels`` compute what their texts say."""

from pathlib import Path

import numpy as np
import pytest

import lockstep

FOLDER = Path(__file__).parents[2] / "examples" / "southern-islands" / "kernels"
GROUP = 64


@pytest.fixture(scope="module")
def device():
    with lockstep.Device("QV100", timing=False) as device:
        yield device


@pytest.fixture
def kernel(device):
    """Function from a kernel's name to the kernel, of the binary with the same name."""
    return lambda name: device.load_gcn(FOLDER / f"{name}.bin")[name]


@pytest.fixture
def rng():
    return np.random.default_rng(5)


@pytest.mark.parametrize("n", [0, 1, 63, 100, 128])
def test_vector_add_leaves_what_is_behind_n(n, device, kernel, rng):
    a, b = rng.random((2, 128), dtype=np.float32)
    c = device.array(np.full(128, -1, np.float32))
    kernel("vector_add")[128, GROUP](device.array(a), device.array(b), c, n)
    assert np.array_equal(c.numpy(), np.where(np.arange(128) < n, a + b, np.float32(-1)))


@pytest.mark.parametrize("shape", [(16, 16), (48, 32), (32, 80)])
def test_transpose(shape, device, kernel, rng):
    matrix = rng.random(shape, dtype=np.float32)
    height, width = shape
    out = device.zeros((width, height), np.float32)
    kernel("transpose")[(width, height), (16, 16)](out, device.array(matrix), width, height)
    assert np.array_equal(out.numpy(), matrix.T)


def test_reduce(device, kernel, rng):
    values = rng.integers(0, 2**32, (5, 256), dtype=np.uint32)
    out = device.zeros(5, np.uint32)
    kernel("reduce")[values.size, 256](device.array(values), out)
    assert np.array_equal(out.numpy(), values.sum(1, dtype=np.uint32))


def test_scan_adds_in_the_order_of_its_text(device, kernel, rng):
    values = rng.random((3, 256), dtype=np.float32)
    out = device.zeros(values.shape, np.float32)
    kernel("scan")[values.size, 256](device.array(values), out)
    expected, step = values, 1
    while step < 256:
        before = np.pad(expected, ((0, 0), (step, 0)))[:, :256]
        expected, step = before + expected, 2 * step
    assert np.array_equal(out.numpy(), expected)


def collatz(n):
    steps = 0
    while n > 1:
        n, steps = (3 * n + 1 if n % 2 else n // 2), steps + 1
    return steps


def test_lanes_of_collatz_leave_the_loop_one_by_one(device, kernel, rng):
    values = rng.integers(0, 1000, 3 * GROUP, dtype=np.uint32)
    out = device.zeros(len(values), np.uint32)
    kernel("collatz")[len(values), GROUP](device.array(values), out)
    assert out.numpy().tolist() == [collatz(int(n)) for n in values]


@pytest.mark.parametrize("words", [0, 1, 6])
def test_histogram_adds_to_what_is_there(words, device, kernel, rng):
    values = rng.integers(0, 2**32, 2 * 256 * words or 512, dtype=np.uint32)
    before = rng.integers(0, 100, 256, dtype=np.uint32)
    bins = device.array(before)
    kernel("histogram")[2 * 256, 256](device.array(values), bins, words)
    counted = values[: 2 * 256 * words].view(np.uint8)
    assert np.array_equal(bins.numpy(), before + np.bincount(counted, minlength=256))


def test_daxpy_rounds_once(device, kernel):
    """(1 + e)(1 - e) - 1 is -e**2, which a product that is rounded loses."""
    e = 2.0**-30
    x, y = np.full(GROUP, 1 - e), np.full(GROUP, -1.0)
    out = device.array(y)
    kernel("daxpy")[GROUP, GROUP](device.array(x), out, 1 + e, GROUP - 1)
    assert np.array_equal(out.numpy(), [-(e**2)] * (GROUP - 1) + [-1.0])


def test_scale4(device, kernel, rng):
    values = rng.random((GROUP, 4), dtype=np.float32)
    out = device.zeros(values.shape, np.float32)
    kernel("scale4")[GROUP, GROUP](device.array(values), out, 2.5)
    assert np.array_equal(out.numpy(), values * np.float32(2.5))


@pytest.mark.parametrize("delta", [100, -100])
def test_brighten_stays_within_a_byte(delta, device, kernel):
    values = np.arange(256, dtype=np.uint8)
    out = device.zeros(256, np.uint8)
    kernel("brighten")[256, GROUP](device.array(values), out, delta)
    assert np.array_equal(out.numpy(), np.clip(values.astype(int) + delta, 0, 255))


def test_polynomial_has_coefficients_of_its_own(device, kernel, rng):
    x = rng.uniform(-2, 2, GROUP).astype(np.float32)
    out = device.zeros(GROUP, np.float32)
    kernel("polynomial")[GROUP, GROUP](device.array(x), out)
    expected = np.full(GROUP, 2**-7, np.float32)
    for coefficient in (-(2**-5), 2**-3, -(2**-1), 1, -2, 3, 0.5):
        expected = expected * x + np.float32(coefficient)
    assert np.array_equal(out.numpy(), expected)


def test_every_item_gets_a_ticket_of_its_own(device, kernel, rng):
    extra = rng.integers(0, 2, 4 * GROUP, dtype=np.uint32) * np.uint32(1000)
    counter, out = device.array(np.array([7], np.uint32)), device.zeros(4 * GROUP, np.uint32)
    kernel("tickets")[4 * GROUP, GROUP](counter, device.array(extra), out)
    assert counter.numpy()[0] == 7 + 4 * GROUP
    assert sorted(out.numpy() - extra) == list(range(7, 7 + 4 * GROUP))


@pytest.mark.parametrize("shift", [0, 3, 7])
def test_rotate(shift, device, kernel, rng):
    values = rng.integers(0, 2**32, (GROUP, 8), dtype=np.uint32)
    out = device.zeros(values.shape, np.uint32)
    kernel("rotate")[GROUP, GROUP](device.array(values), out, shift)
    assert np.array_equal(out.numpy(), np.roll(values, -shift, 1))


def test_image_copy(device, kernel, rng):
    pixels = rng.integers(0, 256, (16, 32, 4), dtype=np.uint8)
    out = device.image(np.zeros_like(pixels))
    kernel("image_copy")[(32, 16), (16, 16)](device.image(pixels), out)
    assert np.array_equal(out.numpy(), pixels)
