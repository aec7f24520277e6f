"""Operands by type: pairs of all edges, and seeded numbers of all magnitudes and near to each
other."""

import numpy as np

from lane_kernels import masks
from lockstep.execution.lanes.types import F32, F64, I32, I64, PRED

COUNT, LANES = 1024, 64

WORDS = [
    0, 1, 2, 5, 31, 32, 33, 63, 64, 0x7F, 0x80, 0xFF, 0x100, 0x7FFF, 0x8000, 0xFFFF,
    0x7FFFFF, 0x800000, 0xFFFFFF, 0x1000000, 0x7FFFFFFF, 0x80000000, 0x80000001, 0xFFFFFFFF,
]  # fmt: skip
LONGS = [
    0, 1, 31, 32, 63, 64, 0xFF, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0x100000000,
    2**62, 2**63 - 1, 2**63, 2**63 + 1, 2**64 - 2**32, 2**64 - 1,
]  # fmt: skip
SINGLES = [
    0, 1, 0x7FFFFF, 0x800000, 0x3E800000, 0x3EFFFFFF, 0x3F000000, 0x3F7FFFFF, 0x3F800000,
    0x40200000, 0x437F8000, 0x4EFFFFFF, 0x4F000000, 0x4F800000, 0x7E800001, 0x7F7FFFFF, 0x7F800000,
    0x7F800001, 0x7FC00000,
]  # fmt: skip
DOUBLES = [
    0, 1, (1 << 52) - 1, 1 << 52, 0x3FDFFFFFFFFFFFFF, 0x3FE0000000000000, 0x3FF0000000000000,
    0x4004000000000000, 0x41DFFFFFFFC00000, 0x41E0000000000000, 0x41EFFFFFFFF00000,
    0x7FE0000000000001, 0x7FEFFFFFFFFFFFFF, 0x7FF0000000000000, 0x7FF0000000000001,
    0x7FF8000000000000,
]  # fmt: skip


def _edges(values, kind, top):
    """Three arrays that begin with all pairs of edges; of those with a sign also negative ones."""
    values = np.array(values + [v | top for v in values] if top else values, kind)
    first, second = (v.reshape(-1) for v in np.meshgrid(values, values))
    third = np.resize(np.roll(values, 5), len(first))
    return [first, second, third]


def _integers(rng, bits, edges):
    kind = np.dtype(f"uint{bits}")
    columns = []
    for edge in _edges(edges, kind, 0):
        wide = rng.integers(0, 1 << bits, COUNT, kind) >> rng.integers(0, bits, COUNT).astype(kind)
        wide[: min(len(edge), COUNT)] = edge[:COUNT]
        columns.append(wide)
    return columns


def _reals(rng, bits, edges):
    kind, real = np.dtype(f"uint{bits}"), np.dtype(f"float{bits}")
    pairs = _edges(edges, kind, 1 << bits - 1)
    chosen = rng.permutation(len(pairs[0]))[: COUNT // 2]  # of all pairs, with either sign
    columns = []
    for pair in pairs:
        column = rng.integers(0, 1 << bits, COUNT, kind)
        near = rng.normal(size=COUNT // 4) * 10.0 ** rng.integers(-2, 4, COUNT // 4)
        column[: len(chosen)] = pair[chosen]
        column[-len(near) :] = near.astype(real).view(kind)
        columns.append(column.view(real))
    return columns


def operands(rng):
    """Columns by type, and which lanes are active."""
    active = masks(rng, LANES, COUNT // LANES)
    columns = {
        I32: _integers(rng, 32, WORDS),
        I64: _integers(rng, 64, LONGS),
        F32: _reals(rng, 32, SINGLES),
        F64: _reals(rng, 64, DOUBLES),
        PRED: [rng.random(COUNT) < 0.5 for _ in range(4)],
    }
    return columns, active


def cases(table, columns):
    """Each operation with the column of its type for each operand."""
    return {
        name: (operation, [columns[kind][k % 4 if kind == PRED else k]
                           for k, kind in enumerate(operation.sources)])
        for name, operation in table.items()
    }  # fmt: skip
