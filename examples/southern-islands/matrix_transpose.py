"""MatrixTranspose of AMD's APP SDK 2.5: a matrix of floats, transposed by blocks in LDS.

python examples/southern-islands/matrix_transpose.py --binaries DIR [--size N] [--timing]
"""

import numpy as np

import lockstep
from lockstep.kernels import Check

BINARY = "MatrixTranspose_Kernels.bin"
BLOCK = 16


def run(device, module, rng, size):
    """Transpose ``size`` x ``size`` floats, rounded up to whole blocks."""
    width = height = -(-size // BLOCK) * BLOCK
    matrix = rng.integers(0, 256, (height, width)).astype(np.float32)
    out = device.empty((width, height), np.float32)
    module["matrixTranspose"][(width, height), (BLOCK, BLOCK)](
        out, device.array(matrix), lockstep.local(4 * BLOCK * BLOCK), width, height, BLOCK
    )
    yield Check("matrixTranspose", out, lambda: matrix.T)


if __name__ == "__main__":
    from host import main

    main(__doc__, run, BINARY, 1024, "columns and rows")
