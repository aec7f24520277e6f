import numpy as np

from lockstep.kernels import Check, blocks, builtin

TILE = 16


def factors(matrix):
    """Both factors in one matrix, without pivoting, in double precision."""
    a = matrix.astype(np.float64)
    for k in range(len(a) - 1):
        a[k + 1 :, k] /= a[k, k]
        a[k + 1 :, k + 1 :] -= np.outer(a[k + 1 :, k], a[k, k + 1 :])
    return a


@builtin(size=128, small=40, unit="rows and columns, rounded up to a multiple of 16")
def lu(device, module, rng, size):
    """LU factorisation in place, by tiles, without pivoting."""
    n = blocks(size, TILE) * TILE
    matrix = rng.random((n, n), dtype=np.float32) + n * np.eye(n, dtype=np.float32)
    a = device.array(matrix)
    for start in range(0, n, TILE):
        module["lu_diagonal"][1, TILE](n, start, a)
        left = (n - start) // TILE - 1
        if left:
            module["lu_perimeter"][(left, 2), TILE](n, start, a)
            module["lu_interior"][(left, left), (TILE, TILE)](n, start, a)
    return Check("a", a, lambda: factors(matrix), rtol=1e-3, atol=1e-4)
