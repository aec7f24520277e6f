import numpy as np

from lockstep.kernels import Check, blocks, builtin


@builtin(size=64, small=40, unit="rows and columns of the matrices")
def mm3(device, module, rng, n):
    """Three matrix products: G = (A B) (C D)."""
    matrices = rng.random((4, n, n), dtype=np.float32)
    a, b, c, d = (device.array(values) for values in matrices)
    e, f, g = (device.empty((n, n), np.float32) for _ in range(3))
    multiply = module["mm3"][(blocks(n, 32), blocks(n, 16)), (32, 4)]
    multiply(n, a, b, e)
    multiply(n, c, d, f)
    multiply(n, e, f, g)
    return Check("g", g, lambda: np.linalg.multi_dot(matrices.astype(np.float64)), rtol=1e-5)
