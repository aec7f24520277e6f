"""BitonicSort of AMD's APP SDK 2.5: words sorted by a launch for each pass of each stage.

python examples/southern-islands/bitonic_sort.py --binaries DIR [--size N] [--timing]
"""

import numpy as np

from lockstep.kernels import Check

BINARY = "BitonicSort_Kernels.bin"
INCREASING = 1


def run(device, module, rng, size):
    """Sort ``size`` words, rounded up to a power of two of at least 512."""
    stages = max(9, (size - 1).bit_length())
    values = rng.integers(0, 2**32, 1 << stages, dtype=np.uint32)
    array = device.array(values)
    for stage in range(stages):
        for step in range(stage + 1):
            module["bitonicSort"][len(values) // 2, 256](
                array, stage, step, len(values), INCREASING
            )
    yield Check("bitonicSort", array, lambda: np.sort(values))


if __name__ == "__main__":
    from host import main

    main(__doc__, run, BINARY, 2048, "words")
