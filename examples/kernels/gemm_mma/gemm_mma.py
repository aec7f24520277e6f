import numpy as np

from lockstep.kernels import Check, blocks, builtin


def bfloat16(values):
    """The upper halves of single precision numbers, exact for small integers."""
    return (values.view(np.uint32) >> 16).astype(np.uint16)


@builtin(size=192, small=60, unit="rows and columns, rounded up to a multiple of 64", arch="sm_80")
def gemm_mma(device, module, rng, size):
    """Matrix product on tensor cores, bfloat16, by mma.sync, ldmatrix and cp.async."""
    grid = blocks(size, 64)
    n = 64 * grid
    a, b = rng.integers(-4, 5, (2, n, n)).astype(np.float32)
    inputs = device.array(bfloat16(a)), device.array(bfloat16(b))
    c = device.empty((n, n), np.float32)
    module["gemm_mma"][(grid, grid), 128](n, *inputs, c)
    return Check("c", c, lambda: a @ b)
