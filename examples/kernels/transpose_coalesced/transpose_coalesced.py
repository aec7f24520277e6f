import numpy as np

from lockstep.kernels import Check, blocks, builtin


@builtin(size=512, small=50, unit="columns; half as many rows and one")
def transpose_coalesced(device, module, rng, columns):
    """Matrix transpose through padded tiles in shared memory."""
    rows = columns // 2 + 1
    matrix = rng.random((rows, columns), dtype=np.float32)
    out = device.empty((columns, rows), np.float32)
    grid = blocks(columns, 32), blocks(rows, 32)
    module["transpose_coalesced"][grid, (32, 8)](rows, columns, device.array(matrix), out)
    return Check("out", out, lambda: matrix.T)
