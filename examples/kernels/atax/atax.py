import numpy as np

from lockstep.kernels import Check, blocks, builtin


@builtin(size=384, small=70, unit="rows of the matrix; three quarters as many columns and one")
def atax(device, module, rng, rows):
    """A matrix times a vector, then its transpose times the product."""
    columns = rows * 3 // 4 + 1
    a, x = rng.random((rows, columns), dtype=np.float32), rng.random(columns, dtype=np.float32)
    matrix, vector = device.array(a), device.array(x)
    product, y = device.empty(rows, np.float32), device.empty(columns, np.float32)
    module["atax"][blocks(rows, 128), 128](rows, columns, matrix, vector, product)
    module["atax_transposed"][blocks(columns, 128), 128](rows, columns, matrix, product, y)
    return Check("y", y, lambda: a.T.astype(np.float64) @ (a @ x.astype(np.float64)), rtol=1e-5)
