"""Modified Gram-Schmidt: launches that count the same and do not take the same time."""

import numpy as np

from lockstep.kernels import Check, blocks, builtin

BLOCK = 256


@builtin(size=256, small=24, unit="columns, and as many rows")
def gramschmidt(device, module, rng, n):
    """Modified Gram-Schmidt, three launches a column."""
    matrix = rng.random((n, n), dtype=np.float32) + 4 * np.eye(n, dtype=np.float32)
    a, q, r = device.array(matrix), device.zeros((n, n)), device.zeros((n, n))
    grid = blocks(n, BLOCK)
    for k in range(n):
        module["gramschmidt_norm"][1, BLOCK](n, n, k, a, r)
        module["gramschmidt_column"][grid, BLOCK](n, n, k, a, r, q)
        module["gramschmidt_project"][grid, BLOCK](n, n, k, a, r, q)
    expected = factors(matrix)
    return (
        Check("q", q, lambda: expected[0], rtol=1e-2, atol=1e-3),
        Check("r", r, lambda: expected[1], rtol=1e-2, atol=1e-3),
    )


def factors(matrix):
    """Orthonormal columns, and a triangle with a positive diagonal, in double precision."""
    q, r = np.linalg.qr(matrix.astype(np.float64))
    sign = np.sign(np.diag(r))
    return q * sign, r * sign[:, None]
