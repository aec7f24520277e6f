import numpy as np

from lockstep.kernels import Check, blocks, builtin

RADIUS = 4


def separable(image, taps):
    """Convolution along both axes with zeros beyond the border, in double precision."""
    for axis in (1, 0):
        pad = [(RADIUS, RADIUS) if a == axis else (0, 0) for a in (0, 1)]
        windows = np.lib.stride_tricks.sliding_window_view(
            np.pad(image.astype(np.float64), pad), 2 * RADIUS + 1, axis=axis
        )
        image = windows @ taps[::-1]
    return image


@builtin(size=192, small=45, unit="columns of the image; two thirds as many rows and one")
def convolution(device, module, rng, width):
    """Separable convolution of an image, coefficients in constant memory."""
    height = width * 2 // 3 + 1
    image = rng.random((height, width), dtype=np.float32)
    taps = rng.random(2 * RADIUS + 1, dtype=np.float32)
    between, out = device.empty(image.shape, np.float32), device.empty(image.shape, np.float32)
    module.symbol("convolution_taps").copy_from(taps.view(np.uint8))
    launch = (blocks(width, 32), blocks(height, 8)), (32, 8)
    module["convolution_rows"][launch](width, height, device.array(image), between)
    module["convolution_columns"][launch](width, height, between, out)
    return Check("out", out, lambda: separable(image, taps), rtol=1e-5)
