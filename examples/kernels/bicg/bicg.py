import numpy as np

from lockstep.kernels import Check, blocks, builtin


@builtin(size=384, small=70, unit="rows of the matrix; three quarters as many columns and one")
def bicg(device, module, rng, rows):
    """The products of the biconjugate gradient method: q = A p, s = A^T r."""
    columns = rows * 3 // 4 + 1
    a = rng.random((rows, columns), dtype=np.float32)
    p, r = rng.random(columns, dtype=np.float32), rng.random(rows, dtype=np.float32)
    matrix, q = device.array(a), device.empty(rows, np.float32)
    s = device.array(np.zeros(columns, np.float32))
    module["bicg_q"][blocks(rows, 4), 128](rows, columns, matrix, device.array(p), q)
    grid = blocks(columns, 128), min(rows, 8)
    module["bicg_s"][grid, 128](rows, columns, matrix, device.array(r), s)
    yield Check("q", q, lambda: a @ p.astype(np.float64), rtol=1e-5)
    yield Check("s", s, lambda: a.T @ r.astype(np.float64), rtol=1e-5)
