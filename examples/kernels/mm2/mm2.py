import numpy as np

from lockstep.kernels import Check, blocks, builtin

ALPHA, BETA = 1.5, 0.5


@builtin(size=80, small=40, unit="rows of the result; other edges are near it")
def mm2(device, module, rng, n):
    """Two matrix products in a row: D = alpha A B C + beta D."""
    p, q = n + 1, n + 7
    shapes = (n, p), (p, q), (q, n), (n, n)
    a, b, c, d = (rng.random(shape, dtype=np.float32) for shape in shapes)
    inputs = [device.array(values) for values in (a, b, c)]
    product, result = device.empty((n, q), np.float32), device.array(d)
    launch = module["mm2"][(blocks(q, 32), blocks(n, 8)), (32, 8)]
    launch(n, q, p, ALPHA, 0.0, inputs[0], inputs[1], product)
    launch = module["mm2"][(blocks(n, 32), blocks(n, 8)), (32, 8)]
    launch(n, n, q, 1.0, BETA, product, inputs[2], result)
    return Check("d", result, lambda: ALPHA * a.astype(np.float64) @ b @ c + BETA * d, rtol=1e-5)
