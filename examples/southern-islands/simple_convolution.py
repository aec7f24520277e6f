"""SimpleConvolution of AMD's APP SDK 2.5: an image of words, and a mask of floats.

python examples/southern-islands/simple_convolution.py --binaries DIR [--size N] [--timing]
"""

import numpy as np

from lockstep.kernels import Check

BINARY = "SimpleConvolution_Kernels.bin"
MASK = 3


def run(device, module, rng, size):
    """Convolve ``size`` x ``size`` words, rounded up to a power of two of at least 16."""
    width = height = max(16, 1 << (size - 1).bit_length())
    image = rng.integers(0, 256, (height, width), dtype=np.uint32)
    mask = np.full((MASK, MASK), 1 / MASK**2, np.float32)
    out = device.zeros((height, width), np.uint32)
    module["simpleConvolution"][width * height, 256](
        out, device.array(image), device.array(mask), (width, height), (MASK, MASK)
    )
    yield Check("simpleConvolution", out, lambda: convolve(image, mask))


def convolve(image, mask):
    """Sums of what the mask covers inside of the image, column by column, rounded."""
    height, width = image.shape
    reach = (len(mask) - 1) // 2
    padded = np.pad(image, reach).astype(np.float32)
    total = np.zeros(image.shape, np.float32)
    for x in range(len(mask)):
        for y in range(len(mask)):
            total += padded[y : y + height, x : x + width] * mask[y, x]
    return (total + np.float32(0.5)).astype(np.uint32)


if __name__ == "__main__":
    from host import main

    main(__doc__, run, BINARY, 64, "columns and rows")
