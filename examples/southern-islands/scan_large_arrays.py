"""ScanLargeArrays of AMD's APP SDK 2.5: prefix sums of blocks, of their sums, and these added.

python examples/southern-islands/scan_large_arrays.py --binaries DIR [--size N] [--timing]
"""

import numpy as np

import lockstep
from lockstep.kernels import Check

BINARY = "ScanLargeArrays_Kernels.bin"
BLOCK = 256


def run(device, module, rng, size):
    """The exclusive prefix sums of ``size`` floats, rounded up to a power of two from 512 on."""
    length = max(2 * BLOCK, 1 << (size - 1).bit_length())
    values = rng.integers(0, 10, length).astype(np.float32)  # whole: their sums are exact
    yield Check(
        "ScanLargeArrays, prefixSum and blockAddition",
        scan(device, module, device.array(values), length),
        lambda: np.cumsum(values) - values,
    )


def scan(device, module, values, length):
    """An array of the sums of what stands before each element."""
    out = device.zeros(length, np.float32)
    if length <= BLOCK:
        module["prefixSum"][length // 2, length // 2](
            out, values, lockstep.local(4 * length), length
        )
        return out
    sums = device.zeros(length // BLOCK, np.float32)
    module["ScanLargeArrays"][length // 2, BLOCK // 2](
        out, values, lockstep.local(4 * BLOCK), BLOCK, length, sums
    )
    module["blockAddition"][length, BLOCK](scan(device, module, sums, length // BLOCK), out)
    return out


if __name__ == "__main__":
    from host import main

    main(__doc__, run, BINARY, 16384, "floats")
