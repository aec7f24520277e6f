import numpy as np

from lockstep.kernels import Check, blocks, builtin

ALPHA, BETA = 1.5, 0.75


@builtin(size=320, small=70, unit="rows and columns of the matrices")
def gesummv(device, module, rng, n):
    """The sum of two matrices times one vector."""
    a, b = rng.random((2, n, n), dtype=np.float32)
    x = rng.random(n, dtype=np.float32)
    y = device.empty(n, np.float32)
    inputs = [device.array(values) for values in (a, b, x)]
    module["gesummv"][blocks(n, 64), 64](n, ALPHA, BETA, *inputs, y)
    return Check("y", y, lambda: (ALPHA * a.astype(np.float64) + BETA * b) @ x, rtol=1e-5)
