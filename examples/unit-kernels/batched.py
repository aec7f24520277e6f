"""Small dense operations on a batch: what NumPy makes of the same matrices."""

import numpy as np

from lockstep.kernels import Check

BATCH, ROWS, INNER, COLUMNS = 37, 5, 4, 3
A, B = 1.5, -0.75
TEAM, BLOCK = 16, 32


def _kernels(kind):
    prefix = f"batched_scalar_{kind}_"
    made = {
        f"{prefix}set_double_double": _in_place(lambda x: np.full_like(x, A)),
        f"{prefix}scale_double_double": _in_place(lambda x: A * x),
    }
    for left in ("nt", "t"):
        for right in ("nt", "t"):
            made[f"{prefix}gemm_{left}_{right}_double_double"] = _gemm(left == "t", right == "t")
    for side, triangle in (("l", "l"), ("l", "u"), ("r", "u")):
        for diagonal in "un":
            name = f"{prefix}trsm_{side}_{triangle}_nt_{diagonal}_double_double"
            made[name] = _trsm(side == "r", triangle == "l", diagonal == "u")
    made[f"{prefix}lu_double"] = _lu
    for way in ("nt", "t"):
        made[f"{prefix}gemv_{way}_double_double"] = _gemv(way == "t")
    if kind == "serial":
        for triangle in "lu":
            for diagonal in "un":
                name = f"{prefix}trsv_{triangle}_nt_{diagonal}_double_double"
                made[name] = _trsm(False, triangle == "l", diagonal == "u", vector=True)
    return {name: _launched(kind, name, prepare) for name, prepare in made.items()}


def _launched(kind, name, prepare):
    """Prepares a functor and checks, and launches a thread or a team for each matrix."""

    def run(device, module, rng, views):
        functor, checks = prepare(device, rng, views)
        shape = (BATCH, TEAM) if kind == "team" else (-(-BATCH // BLOCK), BLOCK)
        module[name][shape](views.struct(functor, BATCH))
        return checks

    return run


def _in_place(formula):
    def prepare(device, rng, views):
        x = rng.uniform(-2, 2, (BATCH, ROWS, COLUMNS))
        view = views.Strided(device, x)
        return views.struct(A, view), [Check("x", view, lambda: formula(x), rtol=1e-14)]

    return prepare


def _gemm(left_t, right_t):
    def prepare(device, rng, views):
        left = rng.uniform(-2, 2, (BATCH, INNER, ROWS) if left_t else (BATCH, ROWS, INNER))
        right = rng.uniform(-2, 2, (BATCH, COLUMNS, INNER) if right_t else (BATCH, INNER, COLUMNS))
        c = rng.uniform(-2, 2, (BATCH, ROWS, COLUMNS))
        view = views.Strided(device, c)
        functor = views.struct(A, B, *(views.Strided(device, m) for m in (left, right)), view)
        first, second = (
            m.swapaxes(1, 2) if t else m for m, t in ((left, left_t), (right, right_t))
        )
        return functor, [
            Check("c", view, lambda: B * c + A * first @ second, rtol=1e-12, atol=1e-12)
        ]

    return prepare


def _trsm(right, lower, unit, vector=False):
    def prepare(device, rng, views):
        a = rng.uniform(-1, 1, (BATCH, ROWS, ROWS)) + 4 * np.eye(ROWS)
        triangle = np.tril(a) if lower else np.triu(a)
        if unit:
            triangle = triangle * (1 - np.eye(ROWS)) + np.eye(ROWS)
        shape = (BATCH, COLUMNS, ROWS) if right else (BATCH, ROWS, COLUMNS)
        b = rng.uniform(-2, 2, (BATCH, ROWS) if vector else shape)
        view = views.Strided(device, b)

        def solved():
            if right:
                return np.linalg.solve(triangle.swapaxes(1, 2), A * b.swapaxes(1, 2)).swapaxes(1, 2)
            return np.linalg.solve(triangle, A * (b[..., None] if vector else b)).reshape(b.shape)

        # What a solution does not read is not there: NaN in the other triangle would spread.
        mask = np.tril(np.ones((ROWS, ROWS))) if lower else np.triu(np.ones((ROWS, ROWS)))
        hidden = np.where(mask, a, np.nan)
        given = _column(views, view) if vector else view
        functor = views.struct(A, views.Strided(device, hidden), given)
        return functor, [Check("b", view, solved, rtol=1e-11, atol=1e-11)]

    return prepare


def _column(views, vectors):
    """Vectors of a batch as matrices of one column."""
    return views.struct(vectors.array, *vectors.shape, 1, *vectors.strides, 0)


def _lu(device, rng, views):
    a = rng.uniform(-1, 1, (BATCH, ROWS, ROWS)) + 4 * np.eye(ROWS)
    view = views.Strided(device, a)

    def product():
        found = view.numpy()
        lower = np.tril(found, -1) + np.eye(ROWS)
        return lower @ np.triu(found)

    return views.struct(view), [Check("l u", _Computed(product), lambda: a, rtol=1e-12, atol=1e-12)]


class _Computed:
    """What a check takes from several arrays."""

    def __init__(self, numpy):
        self.numpy = numpy


def _gemv(transposed):
    def prepare(device, rng, views):
        m = rng.uniform(-2, 2, (BATCH, INNER, ROWS) if transposed else (BATCH, ROWS, INNER))
        x, y = rng.uniform(-2, 2, (BATCH, INNER)), rng.uniform(-2, 2, (BATCH, ROWS))
        view_x, view_y = views.Strided(device, x), views.Strided(device, y)
        vectors = [_column(views, view) for view in (view_x, view_y)]
        functor = views.struct(A, B, views.Strided(device, m), *vectors)
        op = m.swapaxes(1, 2) if transposed else m

        def expected():
            return B * y + A * (op @ x[..., None])[..., 0]

        return functor, [Check("y", view_y, expected, rtol=1e-12, atol=1e-12)]

    return prepare


SERIAL, TEAMS = _kernels("serial"), _kernels("team")
