import numpy as np

from lockstep.kernels import Check, blocks, builtin


@builtin(size=320, small=70, unit="rows and columns of the matrix")
def mvt(device, module, rng, n):
    """A square matrix and its transpose times vectors, added to others."""
    a, vectors = rng.random((n, n), dtype=np.float32), rng.random((4, n), dtype=np.float32)
    x1, x2, y1, y2 = vectors
    matrix, first, second = device.array(a), device.array(x1), device.array(x2)
    module["mvt"][blocks(n, 64), 64](n, matrix, device.array(y1), first)
    module["mvt_transposed"][blocks(n, 64), 64](n, matrix, device.array(y2), second)
    yield Check("x1", first, lambda: x1 + a @ y1.astype(np.float64), rtol=1e-5)
    yield Check("x2", second, lambda: x2 + a.T @ y2.astype(np.float64), rtol=1e-5)
