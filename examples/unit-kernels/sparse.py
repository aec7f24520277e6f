"""Sparse matrices and colours of graphs: what NumPy makes of the same matrices, dense."""

import numpy as np

from lockstep.kernels import Check

ROWS, BLOCK, WARP = 60, 32, 32
EDGE = 3  # of a block
ALPHA, BETA = 1.5, -0.75
REPLACE, SUM_INTO = 0, 1
GRID = -(-ROWS // BLOCK)


class DeviceCrs:
    """A matrix by rows on a device; ``dense`` it is for NumPy."""

    def __init__(self, device, views, lengths, entries, values):
        self.map = device.array(np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32))
        self.entries, self.values = device.array(entries), device.array(values)
        self.view = views.struct(len(lengths), self.map, self.entries, self.values)

    def numpy(self):
        """The matrix, dense."""
        dense = np.zeros((ROWS, ROWS))
        ends, entries, values = (a.numpy() for a in (self.map, self.entries, self.values))
        for row in range(ROWS):
            part = slice(ends[row], ends[row + 1])
            assert (np.diff(entries[part]) > 0).all(), f"columns of row {row} are not sorted"
            dense[row, entries[part]] = values[part]
        return dense

    @classmethod
    def of(cls, device, views, dense):
        """The elements that are not zero."""
        rows, columns = np.nonzero(dense)
        lengths = np.bincount(rows, minlength=len(dense))
        return cls(device, views, lengths, columns.astype(np.int32), dense[rows, columns])

    @classmethod
    def of_map(cls, device, views, ends):
        """One without entries yet, whose ends of rows are on the device."""
        made, count = cls.__new__(cls), int(ends.numpy()[-1])
        made.map = ends
        made.entries = device.zeros(count, np.int32)
        made.values = device.zeros(count, np.float64)
        made.view = views.struct(ROWS, made.map, made.entries, made.values)
        return made


def _random(rng, share=0.1):
    return rng.uniform(-2, 2, (ROWS, ROWS)) * (rng.random((ROWS, ROWS)) < share)


def _symmetric(rng):
    """A pattern that is symmetric, and a diagonal that dominates."""
    dense = _random(rng, 0.04)
    dense += rng.uniform(0.5, 2) * dense.T
    return dense + np.diag(1 + abs(dense).sum(axis=1))


def _scanned(device, module, views, counts):
    """Ends of rows from their lengths."""
    ends = device.zeros(ROWS + 1, np.int32)
    module["sparse_scan"][1, 256](views.struct(views.struct(counts, ends, ROWS), 1))
    return ends


def _spgemm(device, module, rng, views):
    left, right = _random(rng), _random(rng)
    a, b = (DeviceCrs.of(device, views, m) for m in (left, right))
    counts = device.zeros(ROWS, np.int32)
    bits = 4 * -(-ROWS // 32)
    symbolic = views.struct(a.view, b.view, ROWS, counts)
    module["sparse_spgemm_symbolic"][ROWS, WARP, bits](views.struct(symbolic, ROWS))
    c = DeviceCrs.of_map(device, views, _scanned(device, module, views, counts))
    numeric = views.struct(a.view, b.view, c.view, ROWS)
    module["sparse_spgemm_numeric"][ROWS, WARP, 8 * ROWS + bits](views.struct(numeric, ROWS))
    pattern = (left != 0).astype(int) @ (right != 0) > 0
    return [
        Check("c", c, lambda: left @ right, rtol=1e-12, atol=1e-12),
        Check("lengths", counts, lambda: pattern.sum(axis=1).astype(np.int32)),
    ]


def _spadd(device, module, rng, views):
    left, right = _random(rng), _random(rng)
    a, b = (DeviceCrs.of(device, views, m) for m in (left, right))
    counts = device.zeros(ROWS, np.int32)
    symbolic = views.struct(a.view, b.view, counts)
    module["sparse_spadd_symbolic"][GRID, BLOCK](views.struct(symbolic, ROWS))
    c = DeviceCrs.of_map(device, views, _scanned(device, module, views, counts))
    numeric = views.struct(a.view, b.view, c.view, ALPHA, BETA)
    module["sparse_spadd_numeric"][GRID, BLOCK](views.struct(numeric, ROWS))
    return [Check("c", c, lambda: ALPHA * left + BETA * right, rtol=1e-14, atol=1e-14)]


def _coloured(device, module, views, graph, name):
    """Colours of a graph, and how many rounds they took."""
    colours = device.zeros(ROWS, np.int32)
    lists = [device.array(np.arange(ROWS, dtype=np.int32)), device.zeros(ROWS, np.int32)]
    waiting, count = ROWS, device.zeros(1, np.int32)
    for _ in range(ROWS):
        assign = views.struct(graph.view, lists[0], colours)
        module[f"{name}_assign"][-(-waiting // BLOCK), BLOCK](views.struct(assign, waiting))
        count.fill(0)
        conflicts = views.struct(graph.view, lists[0], colours, lists[1], count)
        module[f"{name}_conflicts"][-(-waiting // BLOCK), BLOCK](views.struct(conflicts, waiting))
        waiting = int(count.numpy()[0])
        lists.reverse()
        if not waiting:
            return colours
    raise AssertionError(f"{name}: no colours after {ROWS} rounds")


def _coloring(name, distance):
    def run(device, module, rng, views):
        pattern = _symmetric(rng) != 0
        graph = DeviceCrs.of(device, views, pattern.astype(np.float64))
        colours = _coloured(device, module, views, graph, name)
        near = pattern if distance == 1 else pattern.astype(int) @ pattern > 0
        near = near & ~np.eye(ROWS, dtype=bool)

        class Wrong:
            """Neighbours of the same colour, and vertices without one."""

            @staticmethod
            def numpy():
                found = colours.numpy()
                return np.array([(near & (found[:, None] == found)).sum(), (found < 1).sum()])

        degree = near.sum(axis=1).max() + 1
        return [
            Check("conflicts", Wrong, lambda: np.zeros(2, int)),
            Check("colours", colours, lambda: np.minimum(colours.numpy(), degree)),
        ]

    return run


def _by_colour(device, module, views, pattern):
    """The rows of each colour."""
    graph = DeviceCrs.of(device, views, pattern.astype(np.float64))
    colours = _coloured(device, module, views, graph, "sparse_graph_color").numpy()
    return [np.flatnonzero(colours == n).astype(np.int32) for n in range(1, colours.max() + 1)]


def _swept(device, module, views, kernel, a, rows, b, x):
    """Forwards and backwards over the colours."""
    for part in (*rows, *reversed(rows)):
        functor = views.struct(a, device.array(part), b, x)
        module[kernel][-(-len(part) // BLOCK), BLOCK](views.struct(functor, len(part)))


def _gauss_seidel(device, module, rng, views):
    dense, b = _symmetric(rng), rng.uniform(-2, 2, ROWS)
    rows, x = _by_colour(device, module, views, dense != 0), device.zeros(ROWS, np.float64)
    a = DeviceCrs.of(device, views, dense)
    name = "sparse_gauss_seidel_sweep"
    _swept(device, module, views, name, a.view, rows, device.array(b), x)

    def expected():
        found = np.zeros(ROWS)
        for i in np.concatenate([*rows, *reversed(rows)]):
            found[i] += (b[i] - dense[i] @ found) / dense[i, i]
        return found

    return [Check("x", x, expected, rtol=1e-11, atol=1e-12)]


def _blocks(rng, device, views):
    """A matrix of blocks, dense as [rows, rows, EDGE, EDGE], and on the device."""
    pattern = _symmetric(rng) != 0
    blocks = rng.uniform(-1, 1, (ROWS, ROWS, EDGE, EDGE)) * pattern[..., None, None]
    blocks[np.arange(ROWS), np.arange(ROWS)] += 40 * np.eye(EDGE)
    rows, columns = np.nonzero(pattern)
    lengths = pattern.sum(axis=1)
    values = blocks[rows, columns].ravel()
    return blocks, DeviceCrs(device, views, lengths, columns.astype(np.int32), values), pattern


def _block_gauss_seidel(device, module, rng, views):
    blocks, a, pattern = _blocks(rng, device, views)
    b, x = rng.uniform(-2, 2, (ROWS, EDGE)), device.zeros(ROWS * EDGE, np.float64)
    rows = _by_colour(device, module, views, pattern)
    name = "sparse_block_gauss_seidel_sweep"
    _swept(device, module, views, name, a.view, rows, device.array(b), x)

    def expected():
        found = np.zeros((ROWS, EDGE))
        for i in np.concatenate([*rows, *reversed(rows)]):
            rest = b[i] - np.einsum("jrs,js->r", blocks[i], found)
            found[i] += np.linalg.solve(blocks[i, i], rest)
        return found.ravel()

    return [Check("x", x, expected, rtol=1e-11, atol=1e-12)]


def _crsmatrix(device, module, rng, views):
    dense, x = _random(rng), rng.uniform(-2, 2, ROWS)
    rows, columns = np.nonzero(dense)
    order = rng.permutation(len(rows))
    rows, columns = rows[order].astype(np.int32), columns[order].astype(np.int32)
    given = [device.array(values) for values in (rows, columns, dense[rows, columns])]
    triples, total = views.struct(*given), len(rows)
    counts, taken = device.zeros(ROWS, np.int32), device.zeros(ROWS, np.int32)
    grid = -(-total // BLOCK)
    count = views.struct(triples, counts)
    module["sparse_crsmatrix_count"][grid, BLOCK](views.struct(count, total))
    a = DeviceCrs.of_map(device, views, _scanned(device, module, views, counts))
    place = views.struct(triples, a.view, taken)
    module["sparse_crsmatrix_place"][grid, BLOCK](views.struct(place, total))
    module["sparse_crsmatrix_sort"][GRID, BLOCK](views.struct(views.struct(a.view), ROWS))
    y = device.zeros(ROWS, np.float64)
    multiply = views.struct(a.view, device.array(x), y)
    module["sparse_crsmatrix_multiply"][ROWS, WARP](views.struct(multiply, ROWS))
    return [
        Check("matrix", a, lambda: dense),
        Check("product", y, lambda: dense @ x, rtol=1e-12, atol=1e-12),
    ]


def _blkcrsmatrix(device, module, rng, views):
    blocks, a, pattern = _blocks(rng, device, views)
    x, y = rng.uniform(-2, 2, ROWS * EDGE), device.zeros(ROWS * EDGE, np.float64)
    multiply = views.struct(a.view, device.array(x), y)
    module["sparse_blkcrsmatrix_multiply"][GRID, BLOCK](views.struct(multiply, ROWS))
    dense = blocks.swapaxes(1, 2).reshape(ROWS * EDGE, ROWS * EDGE)
    lengths = np.repeat(pattern.sum(axis=1), EDGE) * EDGE
    total = int(lengths.sum())
    empty = (np.full(total, -1, np.int32), np.zeros(total))
    plain = DeviceCrs(device, views, lengths, *empty)
    rows = ROWS * EDGE
    unblock = views.struct(a.view, plain.view)
    module["sparse_blkcrsmatrix_unblock"][-(-rows // BLOCK), BLOCK](views.struct(unblock, rows))
    columns = np.nonzero(np.kron(pattern, np.ones((EDGE, EDGE))))
    return [
        Check("product", y, lambda: dense @ x, rtol=1e-12, atol=1e-12),
        Check("columns", plain.entries, lambda: columns[1].astype(np.int32)),
        Check("values", plain.values, lambda: dense[columns]),
    ]


def _changes(kernel, teams):
    """Values of columns are replaced, then others are added to."""

    def run(device, module, rng, views):
        dense = _random(rng, 0.5 if teams else 0.15)
        a, expected = DeviceCrs.of(device, views, dense), dense.copy()
        for change in (REPLACE, SUM_INTO):
            columns = np.stack([rng.permutation(ROWS)[:20] for _ in range(ROWS)]).astype(np.int32)
            values = rng.uniform(-2, 2, columns.shape)
            lists = views.struct(*(views.Strided(device, v) for v in (columns, values)))
            functor = views.struct(a.view, lists, change)
            shape = (ROWS, WARP) if teams else (GRID, BLOCK)
            module[kernel][shape](views.struct(functor, ROWS))
            rows = np.arange(ROWS)[:, None]
            there = dense[rows, columns] != 0
            old = expected[rows, columns] if change == SUM_INTO else 0
            new = np.where(there, old + values, expected[rows, columns])
            expected[rows, columns] = new
        return [Check("matrix", a, lambda: expected, rtol=1e-14)]

    return run


_RUNS = {
    "spgemm": _spgemm,
    "spadd": _spadd,
    "gauss_seidel": _gauss_seidel,
    "block_gauss_seidel": _block_gauss_seidel,
    "crsmatrix": _crsmatrix,
    "blkcrsmatrix": _blkcrsmatrix,
    "replaceSumIntoLonger": _changes("sparse_replaceSumIntoLonger_change", teams=True),
    "replaceSumInto": _changes("sparse_replaceSumInto_change", teams=False),
    "graph_color": _coloring("sparse_graph_color", 1),
    "graph_color_d2": _coloring("sparse_graph_color_d2", 2),
}
KERNELS = {f"sparse_{name}_double_int_int_TestExecSpace": run for name, run in _RUNS.items()}
