"""FastWalshTransform of AMD's APP SDK 2.5: a launch for each step of butterflies.

python examples/southern-islands/fast_walsh_transform.py --binaries DIR [--size N] [--timing]
"""

import numpy as np

from lockstep.kernels import Check

BINARY = "FastWalshTransform_Kernels.bin"


def run(device, module, rng, size):
    """Transform ``size`` floats, rounded up to a power of two of at least 512."""
    length = max(512, 1 << (size - 1).bit_length())
    values = rng.uniform(0, 255, length).astype(np.float32)
    array = device.array(values)
    step = 1
    while step < length:
        module["fastWalshTransform"][length // 2, 256](array, step)
        step *= 2
    yield Check("fastWalshTransform", array, lambda: transform(values))


def transform(values):
    """The same butterflies, in the same order, in float32."""
    step = 1
    while step < len(values):
        pairs = values.reshape(-1, 2, step)
        first, second = pairs[:, 0], pairs[:, 1]
        values = np.stack([first + second, first - second], 1).reshape(-1)
        step *= 2
    return values


if __name__ == "__main__":
    from host import main

    main(__doc__, run, BINARY, 4096, "floats")
