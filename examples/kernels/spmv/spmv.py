import numpy as np

from lockstep.kernels import Check, blocks, builtin


def random_rows(rng, n):
    """Compressed rows of 1 to 60 random entries: (first, columns, values)."""
    first = np.concatenate([[0], np.cumsum(rng.integers(1, 61, n))]).astype(np.int32)
    return first, rng.integers(0, n, first[-1], dtype=np.int32), rng.random(first[-1], np.float32)


@builtin(size=3_000, small=200, unit="rows and columns, 30 entries a row on average")
def spmv(device, module, rng, n):
    """Sparse matrix times vector, compressed rows, a warp a row."""
    first, columns, values = random_rows(rng, n)
    x = rng.random(n, dtype=np.float32)
    y = device.empty(n, np.float32)
    matrix = [device.array(part) for part in (first, columns, values)]
    module["spmv"][blocks(n, 4), 128](n, *matrix, device.array(x), y)
    products = values.astype(np.float64) * x[columns]
    return Check("y", y, lambda: np.add.reduceat(products, first[:-1]), rtol=1e-5)
