"""Putting launches into strata."""

import math

import numpy as np
import pandas as pd

from lockstep.sampling.features import INSTRUCTIONS
from lockstep.sampling.table import LaunchTable

SHAPE = ("grid_x", "grid_y", "grid_z", "block_x", "block_y", "block_z", "shared_bytes")
MOST_VALUES = 64  # of a column that are told apart by equality
OFTEN = 8  # launches that have such a value, in the mean
STEP = 0.25  # in log2, between the bins of a column with more


def members(labels: np.ndarray) -> list[np.ndarray]:
    """The rows of each label 0, 1, ..., in order; int64 arrays."""
    order = np.argsort(labels, kind="stable")
    return np.split(order, np.cumsum(np.bincount(labels))[:-1])


def joined(*columns: np.ndarray) -> np.ndarray:
    """A label of each distinct row of several columns, int64: 0, 1, ... as they first come."""
    labels = np.zeros(len(columns[0]), np.int64)
    for column in columns:
        values = pd.factorize(column)[0]
        labels = pd.factorize(labels * (values.max() + 1) + values)[0]
    return labels


def binned(labels: np.ndarray, column: np.ndarray) -> np.ndarray:
    """Labels of launches whose column is alike, int64.

    Alike is equal, but in bins where a label has more than ``MOST_VALUES``, or few launches of
    each: bins of ``STEP`` in log2, and of more where so many do not hold ``OFTEN`` launches.
    """
    values, distinct = pd.factorize(column)
    if len(distinct) == 1:
        return values
    pairs = joined(labels, values)
    first = np.unique(pairs, return_index=True)[1]
    different = np.bincount(labels[first], minlength=labels.max() + 1)
    many = (different > MOST_VALUES) | (np.bincount(labels) < OFTEN * different)
    many &= different > 1
    bins = np.floor(np.log2(np.maximum(np.nan_to_num(column), 0) + 1) / STEP).astype(np.int64)
    return np.where(many[labels], -1 - _coarsened(labels, bins, many), values)


def _coarsened(labels: np.ndarray, bins: np.ndarray, many: np.ndarray) -> np.ndarray:
    """Neighbouring bins of each label of ``many`` put together until each has ``OFTEN`` rows."""
    rows = np.flatnonzero(many[labels])
    cells, of, count = np.unique(
        np.stack([labels[rows], bins[rows]]), axis=1, return_inverse=True, return_counts=True
    )
    found, held, group, last = np.empty(len(count), np.int64), 0, -1, -1
    for cell, (label, size) in enumerate(zip(cells[0].tolist(), count.tolist())):
        if label != last or held >= OFTEN:
            group, held = (group + 1 if label == last else 0), 0
        found[cell], last = group, label
        held += size
    # What is left at a label's end is too small: it joins the group before.
    starts = np.flatnonzero(np.diff(cells[0], append=-1))
    for end in starts.tolist():
        mine = (cells[0] == cells[0, end]) & (found == found[end])
        if found[end] > 0 and count[mine].sum() < OFTEN:
            found[mine] -= 1
    out = bins.copy()
    out[rows] = found[of.reshape(-1)]
    return out


def before(table: LaunchTable, labels: np.ndarray) -> np.ndarray:
    """The label of the launch before each one in its stream, int64; -1 of the first."""
    found = np.full(len(labels), -1, np.int64)
    for rows in members(np.unique(table.frame["stream"], return_inverse=True)[1]):
        found[rows[1:]] = labels[rows[:-1]]
    return found


def alike(table: LaunchTable, most: float = math.inf) -> np.ndarray:
    """Labels of launches that the table does not tell apart, int64, from 0 without gaps.

    By code, shape, what the profile says of work and memory, and arguments: by equality where they
    take few values, else in bins. A column that would give more than ``most`` labels is left out.
    """
    labels = table.codes()
    columns = [table.column(name) for name in SHAPE]
    columns += [table.column(name) for name in (INSTRUCTIONS, "new_sectors") if name in table.frame]
    for column in (*columns, pd.factorize(table.frame["arguments"])[0]):
        labels = _within(labels, joined(labels, binned(labels, column)), most)
    return labels


def in_context(
    table: LaunchTable, labels: np.ndarray, depth: int, most: float = math.inf
) -> np.ndarray:
    """Labels cut by those of the ``depth`` launches before, which tells places in a loop apart.

    As many launches before, up to ``depth``, as give no more than ``most`` labels.
    """
    for _ in range(depth):
        labels = _within(labels, joined(labels, before(table, labels)), most)
    return labels


def _within(labels: np.ndarray, finer: np.ndarray, most: float) -> np.ndarray:
    return finer if finer.max() < most else labels


def merged(labels: np.ndarray, parents: np.ndarray, least: int) -> np.ndarray:
    """Labels with those of fewer than ``least`` rows put together where they have one parent.

    ``parents``: a coarser label of each row. Where only one is small, it is put to the label of its
    parent that has the fewest rows.
    """
    sizes = np.bincount(labels)
    small = sizes < least
    parent = np.zeros(len(sizes), np.int64)
    parent[labels] = parents
    found = np.arange(len(sizes))
    for family in members(np.unique(parent, return_inverse=True)[1]):
        few = family[small[family]]
        if not len(few):
            continue
        found[few] = few[0]
        others = family[~small[family]]
        if sizes[few].sum() < least and len(others):
            found[few] = others[sizes[others].argmin()]
    return np.unique(found[labels], return_inverse=True)[1]


def filled(
    labels: np.ndarray, chosen: np.ndarray, wanted: int | np.ndarray, random: np.random.Generator
) -> np.ndarray:
    """The chosen rows, and so many more of each label, drawn at random, that it has ``wanted``.

    ``labels`` 0, 1, ... without gaps; ``wanted``: of each, or of all; no more than there are.
    """
    sizes = np.bincount(labels)
    have = np.bincount(labels[np.unique(chosen)], minlength=len(sizes))
    lack = np.maximum(np.minimum(wanted, sizes) - have, 0)
    free = lack[labels] > 0
    free[chosen] = False
    rows = np.flatnonzero(free)
    rows = rows[np.lexsort([random.random(len(rows)), labels[rows]])]
    mine = labels[rows]
    counts = np.bincount(mine, minlength=len(sizes))
    rank = np.arange(len(rows)) - (np.cumsum(counts) - counts)[mine]
    return np.union1d(chosen, rows[rank < lack[mine]])


def in_time(
    labels: np.ndarray, cuts: np.ndarray, wanted: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Cut labels into ``cuts`` intervals of their order each, as long as each other.

    The new labels, and how many rows of each are wanted, of ``wanted`` before: none less than its
    share.
    """
    sizes = np.bincount(labels)
    order = np.argsort(labels, kind="stable")
    rank = np.empty(len(labels), np.int64)
    rank[order] = np.arange(len(labels)) - (np.cumsum(sizes) - sizes)[labels[order]]
    part = rank * cuts[labels] // sizes[labels]
    return (np.cumsum(cuts) - cuts)[labels] + part, np.repeat(-(-wanted // cuts), cuts)
