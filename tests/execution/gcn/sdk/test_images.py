"""SimpleImage: pixels through a sampler."""

import numpy as np


def test_a_copy_of_an_image_is_a_copy(load, rng):
    device, module = load("SimpleImage")
    pixels = rng.integers(0, 256, (24, 32, 4), dtype=np.uint8)
    out = device.image(np.zeros_like(pixels))
    module["image2dCopy"][(32, 24), (16, 8)](device.image(pixels), out)
    assert np.array_equal(out.numpy(), pixels)


def test_two_slices_become_two_halves(load, rng):
    """What lies outside of a slice reads as 0, so that the sum of both is one of them."""
    device, module = load("SimpleImage")
    slices = rng.integers(0, 256, (2, 16, 32, 4), dtype=np.uint8)
    out = device.image(np.zeros((32, 32, 4), np.uint8))
    module["image3dCopy"][(32, 32), (16, 8)](device.image(slices), out)
    assert np.array_equal(out.numpy(), slices.reshape(32, 32, 4))
