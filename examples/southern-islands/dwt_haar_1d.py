"""DwtHaar1D of AMD's APP SDK 2.5: a Haar wavelet transform, up to nine levels a launch.

python examples/southern-islands/dwt_haar_1d.py --binaries DIR [--size N] [--timing]
"""

import numpy as np

import lockstep
from lockstep.kernels import Check

BINARY = "DwtHaar1D_Kernels.bin"
MOST_LEVELS = 9  # of one launch: a group of 256 items has 512 samples


def run(device, module, rng, size):
    """Transform ``size`` samples, rounded up to a power of two."""
    levels = max(1, (size - 1).bit_length())
    signal = rng.integers(0, 10, 1 << levels).astype(np.float32)
    samples, done = device.array(signal), 0
    coefficients = device.zeros(len(signal), np.float32)
    while True:
        now = min(levels, MOST_LEVELS)
        length, group = 1 << levels, (1 << now) // 2
        averages = device.zeros(max(1, length // 2 // group), np.float32)
        module["dwtHaar1D"][length // 2, group](
            samples, coefficients, averages, lockstep.local(8 * group),
            levels, length, done, MOST_LEVELS,
        )  # fmt: skip
        if levels <= MOST_LEVELS:
            break
        levels, done, samples = levels - now, done + now, averages
    result = coefficients.numpy()
    result[0] = averages.numpy()[0]
    yield Check("dwtHaar1D", device.array(result), lambda: transform(signal), 1e-6, 2e-6)


def transform(signal):
    """The average, and the differences from the coarsest to the finest."""
    rest, parts = signal / np.sqrt(np.float32(len(signal))), []
    while len(rest) > 1:
        even, odd = rest[::2], rest[1::2]
        parts.append((even - odd) / np.sqrt(np.float32(2)))
        rest = (even + odd) / np.sqrt(np.float32(2))
    return np.concatenate([rest, *reversed(parts)])


if __name__ == "__main__":
    from host import main

    main(__doc__, run, BINARY, 1024, "samples")
