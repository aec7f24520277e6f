import numpy as np

from lockstep.kernels import Check, blocks, builtin

FACTOR = 4  # fractions of texels are multiples of 1/8, which hardware interpolates exactly


def between(length, count):
    """The texels on either side of each output, and the second's weight."""
    at = (np.arange(length) + 0.5) / FACTOR - 0.5
    low = np.floor(at).astype(int)
    return np.clip(low, 0, count - 1), np.clip(low + 1, 0, count - 1), at - low


def enlarged(image, width, height):
    """Bilinear interpolation with the border repeated, in double precision."""
    top, bottom, v = between(height, image.shape[0])
    left, right, u = between(width, image.shape[1])
    rows = image[top] * (1 - v)[:, None] + image[bottom] * v[:, None]
    return rows[:, left] * (1 - u) + rows[:, right] * u


@builtin(size=384, small=50, unit="columns of the image; three quarters as many rows and one")
def texture(device, module, rng, width):
    """Enlarging an image through a texture with linear interpolation."""
    height = width * 3 // 4 + 1
    image = rng.random((blocks(height, FACTOR), blocks(width, FACTOR)), dtype=np.float32)
    out = device.empty((height, width), np.float32)
    source = device.texture(image, filter="linear", address="clamp")
    launch = module["texture"][(blocks(width, 32), blocks(height, 8)), (32, 8)]
    launch(width, height, 1 / FACTOR, source, out)
    return Check("out", out, lambda: enlarged(image, width, height), rtol=1e-5, atol=1e-6)
