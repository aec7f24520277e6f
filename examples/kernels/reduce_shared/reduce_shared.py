import numpy as np

from lockstep.kernels import Check, blocks, builtin

BLOCK = 256


@builtin(size=200_000, small=5_000, unit="elements")
def reduce_shared(device, module, rng, n):
    """Sum of a vector: a tree in shared memory, in several launches."""
    x = rng.random(n, dtype=np.float32)
    values, left = device.array(x), n
    while True:
        grid = blocks(left, 2 * BLOCK)
        sums = device.empty(grid, np.float32)
        module["reduce_shared"][grid, BLOCK, BLOCK * 4](left, values, sums)
        values, left = sums, grid
        if left == 1:
            break
    return Check("sum", values, lambda: x.sum(dtype=np.float64, keepdims=True), rtol=1e-5)
