import numpy as np

from lockstep.kernels import Check, blocks, builtin


@builtin(size=160, small=40, unit="rows and columns of the matrices")
def gemm_dp4a(device, module, rng, n):
    """Matrix product of 8-bit integers, four products an instruction."""
    words = blocks(n, 4)
    a, b = np.zeros((2, n, 4 * words), np.int8)
    a[:, :n], b[:, :n] = rng.integers(-128, 128, (2, n, n), dtype=np.int8)
    c = device.empty((n, n), np.int32)
    inputs = device.array(a.view(np.int32)), device.array(b.view(np.int32))
    grid = blocks(n, 16), blocks(n, 16)
    module["gemm_dp4a"][grid, (16, 16)](n, words, *inputs, c)
    return Check("c", c, lambda: a.astype(np.int32) @ b.T.astype(np.int32))
