"""Reduction of AMD's APP SDK 2.5: sums of vectors of four words, by a tree in LDS.

python examples/southern-islands/reduction.py --binaries DIR [--size N] [--timing]
"""

import numpy as np

import lockstep
from lockstep.kernels import Check

BINARY = "Reduction_Kernels.bin"
GROUP = 256


def run(device, module, rng, size):
    """Reduce ``size`` words to four a group, rounded up to whole groups of 1,024."""
    groups = -(-size // (4 * GROUP))
    values = rng.integers(0, 2**32, (groups, GROUP, 4), dtype=np.uint32)
    sums = device.zeros((groups, 4), np.uint32)
    module["reduce"][groups * GROUP, GROUP](device.array(values), sums, lockstep.local(16 * GROUP))
    yield Check("reduce", sums, lambda: values.sum(1, dtype=np.uint32))


if __name__ == "__main__":
    from host import main

    main(__doc__, run, BINARY, 65536, "words")
