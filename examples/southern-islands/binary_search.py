"""BinarySearch of AMD's APP SDK 2.5: each launch finds the segment that holds a word.

python examples/southern-islands/binary_search.py --binaries DIR [--size N] [--timing]
"""

import numpy as np

from lockstep.kernels import Check

BINARY = "BinarySearch_Kernels.bin"
GROUP = 256


def run(device, module, rng, size):
    """Look for a word in ``size`` sorted ones, rounded up to a power of two of at least 256."""
    length = max(GROUP, 1 << (size - 1).bit_length())
    values = np.cumsum(rng.integers(1, 10, length), dtype=np.uint32)  # no two are the same
    wanted = int(rng.integers(length))
    segments = max(GROUP, length // GROUP)
    array, low, high = device.array(values), 0, length - 1
    while (part := (high - low + 1) // segments) > 1:
        found = device.zeros(4, np.uint32)
        module["binarySearch"][segments, GROUP](found, array, int(values[wanted]), low, high, part)
        low, high, _, hit = (int(word) for word in found.numpy())
        if not hit:
            break
    near = low + np.flatnonzero(values[low : high + 1] == values[wanted])  # the rest is the host's
    yield Check("binarySearch", device.array(near), lambda: np.array([wanted]))


if __name__ == "__main__":
    from host import main

    main(__doc__, run, BINARY, 65536, "words")
