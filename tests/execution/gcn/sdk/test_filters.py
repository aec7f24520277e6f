"""BoxFilter, SobelFilter and URNG: images of four bytes a pixel."""

import numpy as np
import pytest

import lockstep

RADIX = 4  # of the passes that sum an image
FILTER = 5
REACH = (FILTER - 1) // 2


@pytest.fixture
def image(rng):
    return rng.integers(0, 256, (64, 512, 4), dtype=np.uint8)


def partial(values, step, axis):
    """Sums of RADIX elements, ``step`` apart, from each one back to the first."""
    out = values.astype(np.uint32)
    for k in range(1, RADIX):
        moved = np.zeros(out.shape, np.uint32)
        place, source = [slice(None)] * 3, [slice(None)] * 3
        place[axis], source[axis] = slice(k * step, None), slice(0, out.shape[axis] - k * step)
        if k * step < out.shape[axis]:
            moved[tuple(place)] = values[tuple(source)]
        out = out + moved
    return out


def test_passes_make_the_sums_of_all_rectangles(load, rng):
    device, module = load("BoxFilter")
    pixels = rng.integers(0, 256, (32, 64, 4), dtype=np.uint8)
    height, width, _ = pixels.shape
    kernels = {1: module["horizontalSAT"], 0: module["verticalSAT"]}
    current = device.array(pixels)
    for axis, passes in ((1, 3), (0, 3)):
        for step in range(passes):
            other = device.zeros(pixels.shape, np.uint32)
            first = axis == 1 and step == 0
            kernel = module["horizontalSAT0"] if first else kernels[axis]
            before = current.numpy()
            kernel[(width, height), (64, 1)](current, other, step, RADIX, width)
            current = other
            assert np.array_equal(current.numpy(), partial(before, RADIX**step, axis))
    assert np.array_equal(current.numpy(), pixels.cumsum(0).cumsum(1))


def test_a_box_is_filtered_from_sums(load, rng):
    device, module = load("BoxFilter")
    pixels = rng.integers(0, 256, (32, 64, 4), dtype=np.uint8)
    height, width, _ = pixels.shape
    sums = pixels.astype(np.uint32).cumsum(0, dtype=np.uint32).cumsum(1, dtype=np.uint32)
    out = device.zeros(pixels.shape, np.uint8)
    module["box_filter"][(width, height), (64, 1)](device.array(sums), out, FILTER)
    expected = np.zeros_like(pixels)
    windows = np.lib.stride_tricks.sliding_window_view(pixels, (FILTER, FILTER), (0, 1))
    mean = windows.sum((-2, -1), dtype=int) // FILTER**2
    expected[REACH : height - REACH, REACH : width - REACH] = mean
    assert np.array_equal(out.numpy(), expected)


def means(image, axis):
    """Means of FILTER pixels along an axis, and 0 where these are not all there."""
    out = np.zeros_like(image)
    place = [slice(None)] * 3
    place[axis] = slice(REACH, image.shape[axis] - REACH)
    windows = np.lib.stride_tricks.sliding_window_view(image, FILTER, axis)
    out[tuple(place)] = windows.sum(-1, dtype=int) // FILTER
    return out


@pytest.mark.parametrize(
    ("kernel", "axis"), [("box_filter_horizontal", 1), ("box_filter_vertical", 0)]
)
def test_a_box_is_filtered_along_an_axis(kernel, axis, load, image):
    device, module = load("BoxFilter")
    height, width, _ = image.shape
    out = device.zeros(image.shape, np.uint8)
    module[kernel][(width, height), (256, 1)](device.array(image), out, FILTER)
    assert np.array_equal(out.numpy(), means(image, axis))


def test_a_box_is_filtered_in_local_memory(load, image):
    """Loads before the first row and behind the last are out of range: they give 0, unused."""
    device, module = load("BoxFilter")
    height, width, _ = image.shape
    out = device.zeros(image.shape, np.uint8)
    local = lockstep.local(4 * (256 + FILTER - 1))
    module["box_filter_horizontal_local"][(width, height), (256, 1)](
        device.array(image), out, FILTER, local
    )
    assert np.array_equal(out.numpy(), means(image, 1))


def test_sobel_finds_edges(load, rng):
    device, module = load("SobelFilter")
    image = rng.integers(0, 90, (32, 64, 4), dtype=np.uint8)  # a result is at most 255
    height, width, _ = image.shape
    out = device.zeros(image.shape, np.uint8)
    module["sobel_filter"][(width, height), (64, 1)](device.array(image), out)
    p = image.astype(int)
    above, below = p[:-2], p[2:]
    gx = (above - below)[:, :-2] + 2 * (above - below)[:, 1:-1] + (above - below)[:, 2:]
    left, right = p[:, :-2], p[:, 2:]
    gy = (left - right)[:-2] + 2 * (left - right)[1:-1] + (left - right)[2:]
    exact = np.hypot(gx, gy) / 2
    inner = out.numpy()[1:-1, 1:-1].astype(int)
    near_whole = np.abs(exact - np.round(exact)) < 1e-4
    assert np.all((inner == exact.astype(int)) | near_whole & (np.abs(inner - exact) <= 1))
    border = out.numpy().copy()
    border[1:-1, 1:-1] = 0
    assert not border.any()


def test_noise_is_park_and_millers(load, rng):
    device, module = load("URNG")
    image = rng.integers(0, 256, (16, 64, 4), dtype=np.uint8)
    factor = 60
    out = device.zeros(image.shape, np.uint8)
    module["noise_uniform"][(64, 16), (64, 1)](device.array(image), out, factor)
    pixels = image.astype(np.float32)
    # The second byte counts twice and the fourth not at all, by a slip of the program.
    seeds = -((pixels[..., 0] + 2 * pixels[..., 1] + pixels[..., 2]) / 4)
    shift = (shuffled(seeds.astype(np.int64)) - 0.55) * factor
    expected = np.clip(pixels + shift[..., None], 0, 255)
    got = out.numpy().astype(float)
    near_whole = np.abs(expected - np.round(expected)) < 1e-3
    assert np.all((got == np.floor(expected)) | near_whole & (np.abs(got - expected) <= 1))


def shuffled(seeds):
    """Numerical Recipes' ran1 with a table of 16, once for each seed: from 0 to 1."""
    modulus, table = 2147483647, [None] * 16
    state = seeds
    for j in range(16, -1, -1):
        state = following(state, modulus)
        if j < 16:
            table[j] = state
    chosen = table[0] // (1 + (modulus - 1) // 16)
    return np.choose(chosen, table) / modulus


def following(state, modulus):
    """Schrage's product without overflow; quotients are cut towards 0."""
    quotient = np.trunc(state / 127773).astype(np.int64)
    state = 16807 * (state - quotient * 127773) - 2836 * quotient
    return np.where(state < 0, state + modulus, state)
