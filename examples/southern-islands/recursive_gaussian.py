"""RecursiveGaussian of AMD's APP SDK 2.5: a blur by a filter along columns, then along rows.

python examples/southern-islands/recursive_gaussian.py --binaries DIR [--size N] [--timing]
"""

import numpy as np

import lockstep
from lockstep.kernels import Check

BINARY = "RecursiveGaussian_Kernels.bin"
BLOCK, GROUP, SIGMA = 16, 256, 10.0


def run(device, module, rng, size):
    """Blur ``size`` x ``size`` pixels of four bytes, rounded up to whole groups of 256."""
    width = height = -(-size // GROUP) * GROUP
    image = rng.integers(0, 256, (height, width, 4), dtype=np.uint8)
    filter_ = coefficients(SIGMA)
    current, other = device.array(image), device.zeros(image.shape, np.uint8)
    for columns, rows in ((width, height), (height, width)):
        module["RecursiveGaussian_kernel"][(columns, 1), (GROUP, 1)](
            current, other, columns, rows, *filter_
        )
        current, other = other, current
        module["transpose_kernel"][(columns, rows), (BLOCK, BLOCK)](
            other, current, lockstep.local(4 * BLOCK * BLOCK), columns, rows, BLOCK
        )
        current, other = other, current
    yield Check("blurred", current, lambda: blurred(image, filter_))


def coefficients(sigma):
    """a0 to a3, b1, b2 and two that are not used: R. Deriche's smoothing filter."""
    alpha = np.float32(1.695 / sigma)
    decay = np.exp(-alpha)
    gain = (1 - decay) ** 2 / (1 + 2 * alpha * decay - decay**2)
    a = gain, gain * (alpha - 1) * decay, gain * (alpha + 1) * decay, -gain * decay**2
    return tuple(np.float32(value) for value in (*a, -2 * decay, decay**2, 0, 0))


def blurred(image, filter_):
    """Both directions of the filter along columns, then the same of what is transposed."""
    for _ in range(2):
        image = along_columns(image, filter_).transpose(1, 0, 2)
    return image


def along_columns(image, filter_):
    """Down and up; each result is cut to bytes, and so is their sum."""
    a0, a1, a2, a3, b1, b2, *_ = filter_
    zero = np.zeros(image.shape[1:], np.float32)
    out = np.empty_like(image)
    before, last, older = zero, zero, zero
    for row in range(len(image)):
        here = image[row].astype(np.float32)
        new = a0 * here + a1 * before - b1 * last - b2 * older
        out[row] = new.astype(np.int32)
        before, last, older = here, new, last
    after, later, last, older = zero, zero, zero, zero
    for row in reversed(range(len(image))):
        new = a2 * after + a3 * later - b1 * last - b2 * older
        after, later, last, older = image[row].astype(np.float32), after, new, last
        out[row] = (out[row].astype(np.float32) + new).astype(np.int32)
    return out


if __name__ == "__main__":
    from host import main

    main(__doc__, run, BINARY, 256, "columns and rows")
