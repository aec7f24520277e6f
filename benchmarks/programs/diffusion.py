"""Anisotropic diffusion of an image: stencils whose neighbours are looked up in tables."""

import numpy as np

from lockstep.kernels import Check, blocks, builtin

BLOCK = 256
STEPS = 2
Q0, RATE = np.float32(0.05), np.float32(0.5)


@builtin(size=512, small=24, unit="columns of the image; three quarters as many rows")
def diffusion(device, module, rng, n):
    """Diffusion that reduces speckle, two launches a step, two steps."""
    rows, columns = max(3 * n // 4, 1), n
    image = np.exp(rng.random((rows, columns), np.float32))
    held, cells = device.array(image), rows * columns
    north, south = (np.clip(np.arange(rows) + k, 0, rows - 1).astype(np.int32) for k in (-1, 1))
    west, east = (np.clip(np.arange(columns) + k, 0, columns - 1).astype(np.int32) for k in (-1, 1))
    tables = [device.array(table) for table in (north, south, west, east)]
    slope, coefficient = device.zeros(4 * cells, np.float32), device.zeros(cells, np.float32)
    shape = blocks(cells, BLOCK), BLOCK
    for _ in range(STEPS):
        module["diffusion_coefficient"][shape](rows, columns, Q0, *tables, held, slope, coefficient)
        module["diffusion_update"][shape](
            rows, columns, RATE, tables[1], tables[3], slope, coefficient, held
        )
    expected = lambda: diffused(image, north, south, west, east)  # noqa: E731
    return Check("image", held, expected, rtol=1e-3, atol=1e-3)


def diffused(image, north, south, west, east):
    """The image in the end, in double precision."""
    image = image.astype(np.float64)
    for _ in range(STEPS):
        slopes = [image[north] - image, image[south] - image]
        slopes += [image[:, west] - image, image[:, east] - image]
        gradient = sum(slope * slope for slope in slopes) / (image * image)
        laplace = sum(slopes) / image
        q = (0.5 * gradient - 0.0625 * laplace**2) / (1 + 0.25 * laplace) ** 2
        c = np.clip(1 / (1 + (q - Q0) / (Q0 * (1 + Q0))), 0, 1)
        flow = c * slopes[0] + c[south] * slopes[1] + c * slopes[2] + c[:, east] * slopes[3]
        image = image + 0.25 * RATE * flow
    return image
