"""Gaussian elimination: launches that do less and less."""

import numpy as np

from lockstep.kernels import Check, blocks, builtin

BLOCK, TILE = 256, 16


@builtin(size=208, small=20, unit="equations")
def gaussian(device, module, rng, n):
    """Gaussian elimination of a system of equations, two launches a column."""
    n = max(n, 2)
    matrix = rng.random((n, n), dtype=np.float32) + n * np.eye(n, dtype=np.float32)
    right = rng.random(n, dtype=np.float32)
    a, b, factors = device.array(matrix), device.array(right), device.zeros((n, n))
    grid = blocks(n, TILE), blocks(n, TILE)
    for column in range(n - 1):
        module["gaussian_factors"][blocks(n, BLOCK), BLOCK](n, column, a, factors)
        module["gaussian_eliminate"][grid, (TILE, TILE)](n, column, a, b, factors)
    return Check("x", Solved(a, b), lambda: solved(matrix, right), rtol=1e-4, atol=1e-6)


class Solved:
    """The solution of the triangular system that the kernels leave, when it is asked for."""

    def __init__(self, a, b):
        self._a, self._b = a, b

    def numpy(self):
        """Copy what is left, and solve it."""
        return solved(np.triu(self._a.numpy()), self._b.numpy())


def solved(matrix, right):
    """In double precision."""
    return np.linalg.solve(matrix.astype(np.float64), right.astype(np.float64))
