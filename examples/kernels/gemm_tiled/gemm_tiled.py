import numpy as np

from lockstep.kernels import Check, blocks, builtin


@builtin(size=112, small=40, unit="rows and columns of the matrices")
def gemm_tiled(device, module, rng, n):
    """Matrix product in single precision with tiles in shared memory."""
    a, b = rng.random((2, n, n), dtype=np.float32)
    c = device.empty((n, n), np.float32)
    grid = blocks(n, 16), blocks(n, 16)
    module["gemm_tiled"][grid, (16, 16)](n, device.array(a), device.array(b), c)
    return Check("c", c, lambda: a.astype(np.float64) @ b, rtol=1e-5)
