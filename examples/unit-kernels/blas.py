"""Vectors, multivectors and two products: what NumPy makes of the same numbers."""

import numpy as np

from lockstep.kernels import Check

ROWS, COLUMNS = 700, 3
BLOCKS, BLOCK = 4, 64
A, B, C = 1.5, -0.75, 2.5


def _numbers(rng, *shape):
    return rng.uniform(-2, 2, shape)


def _elementwise(name, formula):
    """A kernel that writes y from x and y, of vectors with a stride and of columns."""

    def vector(device, module, rng, views):
        x, y = _numbers(rng, ROWS), _numbers(rng, ROWS)
        view_x, view_y = views.Strided(device, x, step=2), views.Strided(device, y)
        functor = views.struct(A, B, view_x, view_y)
        module[f"{name}_double"][BLOCKS, BLOCK](views.struct(functor, ROWS))
        return [Check("y", view_y, lambda: formula(A, x, B, y), rtol=1e-14, atol=1e-14)]

    def columns(device, module, rng, views):
        x, y = _numbers(rng, ROWS, COLUMNS), _numbers(rng, ROWS, COLUMNS)
        a, b = _numbers(rng, COLUMNS), _numbers(rng, COLUMNS)
        view_a, view_b = views.Strided(device, a), views.Strided(device, b)
        view_x, view_y = views.Strided(device, x, pad=5), views.Strided(device, y)
        functor = views.struct(view_a, view_b, view_x, view_y)
        module[f"{name}_mv_double"][BLOCKS, BLOCK](views.struct(functor, ROWS))
        return [Check("y", view_y, lambda: formula(a, x, b, y), rtol=1e-14, atol=1e-14)]

    return {f"{name}_double": vector, f"{name}_mv_double": columns}


def _reduction(name, formula, columns_too=True):
    """A kernel that makes one number of each column of x and y."""

    def run(device, module, rng, views, kernel, x, y, columns):
        result = views.Strided(device, np.zeros(columns))
        partial = device.zeros(BLOCKS * columns, np.float64)
        functor = views.struct(views.Strided(device, x), views.Strided(device, y))
        arrived = device.zeros(1, np.uint32)
        driver = views.struct(functor, ROWS, columns, partial, arrived, result)
        module[kernel][BLOCKS, BLOCK, 8 * BLOCK](driver)
        module[kernel][BLOCKS, BLOCK, 8 * BLOCK](driver)  # the counter is ready for the next
        return [
            Check("result", result, lambda: np.atleast_1d(formula(x, y)), rtol=1e-12, atol=1e-12),
            Check("arrived", arrived, lambda: np.zeros(1, np.uint32)),
        ]

    def vector(device, module, rng, views):
        x, y = _numbers(rng, ROWS), _numbers(rng, ROWS)
        return run(device, module, rng, views, f"{name}_double", x, y, 1)

    def multi(device, module, rng, views):
        x, y = _numbers(rng, ROWS, COLUMNS), _numbers(rng, ROWS, COLUMNS)
        return run(device, module, rng, views, f"{name}_mv_double", x, y, COLUMNS)

    found = {f"{name}_double": vector}
    return found | {f"{name}_mv_double": multi} if columns_too else found


def _mult(kernel, shape):
    def run(device, module, rng, views):
        v, x, y = _numbers(rng, ROWS), _numbers(rng, *shape), _numbers(rng, *shape)
        view_y = views.Strided(device, y)
        functor = views.struct(A, B, views.Strided(device, v), views.Strided(device, x), view_y)
        module[kernel][BLOCKS, BLOCK](views.struct(functor, ROWS))
        weights = v if len(shape) == 1 else v[:, None]
        return [Check("y", view_y, lambda: B * y + A * weights * x, rtol=1e-13, atol=1e-13)]

    return {kernel: run}


def _update(kernel, shape):
    def run(device, module, rng, views):
        x, y, z = (_numbers(rng, *shape) for _ in range(3))
        view_z = views.Strided(device, z)
        functor = views.struct(A, B, C, views.Strided(device, x), views.Strided(device, y), view_z)
        module[kernel][BLOCKS, BLOCK](views.struct(functor, ROWS))
        return [Check("z", view_z, lambda: C * z + A * x + B * y, rtol=1e-13, atol=1e-13)]

    return {kernel: run}


def _gemv(device, module, rng, views):
    m, x, y = _numbers(rng, 40, 90), _numbers(rng, 90), _numbers(rng, 40)
    view_y = views.Strided(device, y)
    functor = views.struct(A, B, views.Strided(device, m), views.Strided(device, x), view_y)
    module["gemv_double"][40, 64, 16](views.struct(functor, 40))
    return [Check("y", view_y, lambda: B * y + A * m @ x, rtol=1e-12, atol=1e-12)]


def _gemm(device, module, rng, views):
    left, right, c = _numbers(rng, 35, 40), _numbers(rng, 40, 20), _numbers(rng, 35, 20)
    view_c = views.Strided(device, c, pad=2)
    functor = views.struct(A, B, views.Strided(device, left), views.Strided(device, right), view_c)
    module["gemm_double"][3 * 2, 256](views.struct(functor, 3 * 2))
    return [Check("c", view_c, lambda: B * c + A * left @ right, rtol=1e-12, atol=1e-12)]


KERNELS = {
    **_elementwise("abs", lambda a, x, b, y: abs(x)),
    **_reduction("asum", lambda x, y: abs(x).sum(), columns_too=False),
    **_elementwise("axpby", lambda a, x, b, y: a * x + b * y),
    **_elementwise("axpy", lambda a, x, b, y: y + a * x),
    **_reduction("dot", lambda x, y: (x * y).sum(axis=0)),
    **_mult("mult_double", (ROWS,)),
    **_mult("mult_mv_double", (ROWS, COLUMNS)),
    **_reduction("nrm1", lambda x, y: abs(x).sum(axis=0)),
    **_reduction("nrm2", lambda x, y: np.sqrt((x * x).sum(axis=0))),
    **_reduction("nrm2_squared", lambda x, y: (x * x).sum(axis=0)),
    **_reduction("nrminf", lambda x, y: abs(x).max(axis=0)),
    **_elementwise("reciprocal", lambda a, x, b, y: 1 / x),
    **_elementwise("scal", lambda a, x, b, y: a * x),
    **_reduction("sum", lambda x, y: x.sum(axis=0)),
    **_update("update_double", (ROWS,)),
    **_update("update_mv_double", (ROWS, COLUMNS)),
    "gemv_double": _gemv,
    "gemm_double": _gemm,
}
