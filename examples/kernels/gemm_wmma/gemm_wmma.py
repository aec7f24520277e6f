import numpy as np

from lockstep.kernels import Check, blocks, builtin


@builtin(size=192, small=60, unit="rows and columns, rounded up to a multiple of 64")
def gemm_wmma(device, module, rng, size):
    """Matrix product on tensor cores, half precision, through WMMA."""
    grid = blocks(size, 64)
    n = 64 * grid
    a, b = rng.integers(-4, 5, (2, n, n)).astype(np.float16)  # small integers: sums are exact
    c = device.empty((n, n), np.float32)
    module["gemm_wmma"][(grid, grid), 128](n, device.array(a), device.array(b), c)
    return Check("c", c, lambda: a.astype(np.float32) @ b.astype(np.float32))
