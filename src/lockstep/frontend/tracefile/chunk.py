"""One chunk: a few megabytes of consecutive CTAs of a kernel, as the bytes of a section.

Decoding only; ``build.py`` makes chunks. ``docs/trace-format.md`` gives the layout.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from lockstep.frontend.tracefile import walk
from lockstep.frontend.tracefile.columns import LIMIT, Malformed, unpack, unpack_tables
from lockstep.frontend.tracefile.rows import STORED, Kind, blank_rows, finished, place_streams
from lockstep.frontend.tracefile.shapes import (
    MemoryMap,
    Shapes,
    measure,
    slots,
    starts,
    unpack_runs,
)
from lockstep.workload import ADDRESS, RUN, WARP, Cta

TABLES = (2, 1, 1, 3, 1, len(STORED))
"""Columns of each table: CTAs, warps of CTA shapes, warp shapes, runs, literal masks, rows."""


class Geometry(NamedTuple):
    """What a kernel's chunks need to know of it."""

    grid: tuple[int, int, int]
    warps: int  # in a CTA
    memory: MemoryMap


@dataclass(slots=True)
class Chunk:
    """The CTAs of a chunk, decoded."""

    index: list[tuple[int, int, int]]
    shape: list[int]  # CTA shape of each CTA; CTAs of one shape share warps and runs
    warps: list[np.ndarray]
    runs: list[np.ndarray]
    addresses: np.ndarray
    address_first: list[int]
    pool: np.ndarray
    pool_first: list[int]

    def cta(self, n: int) -> Cta:
        """The ``n``-th CTA of the chunk."""
        s, a, p = self.shape[n], self.address_first, self.pool_first
        addresses, pool = self.addresses[a[n] : a[n + 1]], self.pool[p[n] : p[n + 1]]
        return Cta(self.index[n], self.warps[s], self.runs[s], addresses, pool)

    def __iter__(self) -> Iterator[Cta]:
        return map(self.cta, range(len(self.shape)))


def decode(payload: bytes, ctas: int, geometry: Geometry) -> Chunk:
    """Decode a chunk of ``ctas`` CTAs. Raises :class:`Malformed` for anything unexpected."""
    data = np.frombuffer(payload, np.uint8)
    tables, position = unpack_tables(data, TABLES)
    (index, shape), (warps,), (run_counts,), runs, (literals,), table = tables
    if len(index) != ctas or len(warps) % geometry.warps:
        raise Malformed(f"expected {ctas} CTAs, with {geometry.warps} warps in a CTA shape")
    warps = warps.reshape(-1, geometry.warps)
    shapes = _shapes(run_counts, (*runs, literals), geometry.memory)
    _check_range(shape, len(warps), "CTA shape")
    _check_range(warps, len(run_counts), "warp shape")
    rows = _rows(table)
    lengths = place_streams(rows)
    streams, position = unpack(data, position, lengths)
    if position != len(data):
        raise Malformed(f"{len(data) - position} bytes too many in the unpacked chunk")
    warp_table, runs = _cta_shapes(warps, shapes)
    address_first = starts(warp_table["addresses"].sum(axis=1)[shape])
    w = _walk(rows, streams, shapes, geometry.memory, (warps, shape, index, address_first[-1]))
    if not (walk.decode(w) and finished(w.rows, lengths)):
        raise Malformed("expected address columns that fit the warps")
    return Chunk(
        _block_index(index, geometry.grid),
        shape.tolist(),
        list(warp_table),
        runs,
        w.addresses,
        address_first.tolist(),
        w.pool,
        w.pool_first.tolist(),
    )


def _shapes(run_counts, columns, memory: MemoryMap) -> Shapes:
    """The warp shapes from the columns of their runs."""
    jump, count, back, literals = columns
    if (run_counts < 0).any() or run_counts.sum() != len(jump):
        raise Malformed("expected run counts that add up to the number of runs")
    first = starts(run_counts)
    return measure(first, unpack_runs(first, jump, count, back, literals), memory)


def _rows(table) -> np.ndarray:
    """The rows from their columns, every value within its range."""
    columns = dict(zip(STORED, table))
    n = len(table[0])
    _check_range(columns["kind"], len(Kind), "kind of prediction")
    _check_range(columns["reference"], n, "row referred to")
    _check_range(columns["scale"] + 63, 127, "shift")
    for name in ("records", "lists", "lanes"):
        _check_range(columns[name], LIMIT, name)
    if (columns["lists"] > columns["records"]).any():
        raise Malformed("expected no more lists than records")
    if (columns["lists"].sum() + columns["lanes"].sum()) > LIMIT // 8:
        raise Malformed("expected fewer addresses in one chunk")
    return blank_rows(table)


def _check_range(values: np.ndarray, end: int, what: str) -> None:
    if len(values) and (values.min() < 0 or values.max() >= end):
        raise Malformed(f"{what} out of range; expected 0 to {end - 1}")


def _cta_shapes(warps: np.ndarray, shapes: Shapes) -> tuple[np.ndarray, list[np.ndarray]]:
    """The WARP table of each CTA shape, one line a shape, and its runs."""
    counts = np.diff(shapes.first)[warps]
    totals = shapes.totals[warps]
    per_shape = counts.sum(axis=1)
    if per_shape.sum() > LIMIT // RUN.itemsize:
        raise Malformed("expected fewer runs in one chunk")
    table = np.empty(warps.shape, WARP)
    table["runs"] = counts
    table["first_run"] = np.cumsum(counts, axis=1) - counts
    for name in totals.dtype.names:
        table[name] = totals[name]
    table["first_address"] = np.cumsum(totals["addresses"], axis=1) - totals["addresses"]
    flat = counts.ravel()
    begins = np.repeat(shapes.first[warps.ravel()] - (np.cumsum(flat) - flat), flat)
    runs = shapes.runs[begins + np.arange(len(begins))]
    ends = np.cumsum(per_shape).tolist()
    return table, [runs[e - n : e] for n, e in zip(per_shape.tolist(), ends)]


def _walk(rows, streams, shapes: Shapes, memory: MemoryMap, ctas) -> walk.Walk:
    """The walk that fills the addresses of the chunk."""
    warps, shape, index, n_addresses = ctas
    if n_addresses != rows["records"].sum() or n_addresses > LIMIT // ADDRESS.itemsize:
        raise Malformed("expected as many address records as the warps execute")
    table = slots(shapes, memory)
    row_of = np.full(len(memory.instructions), len(rows), np.int64)
    _check_range(rows["instruction"], len(row_of), "memory instruction")
    row_of[rows["instruction"]] = np.arange(len(rows))
    table.row = row_of[table.row]
    _check_range(table.row, len(rows), "memory instruction")
    pool = np.empty(int(rows["lists"].sum() + rows["lanes"].sum()), np.int64)
    addresses = np.zeros(n_addresses, ADDRESS)
    return walk.Walk(
        rows,
        streams,
        addresses,
        pool,
        np.zeros(len(shape) + 1, np.int64),
        np.empty(n_addresses, np.int64),
        table,
        starts(shapes.totals["addresses"]),
        warps,
        shape,
        index,
    )


def _block_index(index: np.ndarray, grid: tuple[int, int, int]) -> list[tuple[int, int, int]]:
    """Linear to x, y, z."""
    x, y, z = grid
    _check_range(index, x * y * z, "CTA index")
    rest, column = np.divmod(index, x)
    layer, line = np.divmod(rest, y)
    return list(zip(column.tolist(), line.tolist(), layer.tolist()))
