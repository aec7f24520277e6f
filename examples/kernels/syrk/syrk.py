import numpy as np

from lockstep.kernels import Check, blocks, builtin

ALPHA, BETA = 1.5, 0.5


def updated(a, c):
    """The lower triangle updated in double precision, the rest as it was."""
    new = ALPHA * a.astype(np.float64) @ a.T + BETA * c
    return np.where(np.tril(np.ones_like(c, bool)), new, c)


@builtin(size=128, small=40, unit="rows of the result; the matrix has half as many columns and one")
def syrk(device, module, rng, n):
    """Symmetric rank-k update of a lower triangle."""
    depth = n // 2 + 1
    a, c = rng.random((n, depth), dtype=np.float32), rng.random((n, n), dtype=np.float32)
    result = device.array(c)
    grid = blocks(n, 32), blocks(n, 8)
    module["syrk"][grid, (32, 8)](n, depth, ALPHA, BETA, device.array(a), result)
    return Check("c", result, lambda: updated(a, c), rtol=1e-5)
