"""One chunk: a few megabytes of consecutive CTAs of a kernel, as the bytes of a section.

Decoding only; ``build.py`` makes chunks. ``docs/trace-format.md`` gives the layout.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from lockstep._jit import jit
from lockstep.frontend.tracefile import walk
from lockstep.frontend.tracefile.columns import (
    LIMIT,
    Malformed,
    bounded,
    check_range,
    modular,
    unpack,
    unpack_tables,
)
from lockstep.frontend.tracefile.rows import (
    NONE,
    STORED,
    AddressKind,
    blank_rows,
    finished,
    place_streams,
)
from lockstep.frontend.tracefile.shapes import MemoryMap, Shapes, slots, unpack_runs
from lockstep.workload import ADDRESS, RUN, WARP, Cta

TABLES = np.array([2, 1, 1, 3, 1, len(STORED)])
"""Columns of each table: CTAs, warps of CTA shapes, warp shapes, runs, literal masks, rows."""


MOST_CTAS = 1 << 16  # in a chunk
FREE_ROWS = 1 << 16  # rows of a table that need not take a byte each


class ChunkGeometry(NamedTuple):
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


@modular  # address arithmetic is modulo 2**64
def decode(payload: bytes, ctas: int, geometry: ChunkGeometry) -> Chunk:
    """Decode a chunk of ``ctas`` CTAs. Raises :class:`Malformed` for anything unexpected."""
    data = np.frombuffer(payload, np.uint8)
    tables, position = unpack_tables(data, TABLES, max(FREE_ROWS, len(data)))
    (index, shape), (warps,), (run_counts,), runs, (literals,), table = tables
    if len(index) != ctas or len(warps) % geometry.warps:
        raise Malformed(f"expected {ctas} CTAs, with {geometry.warps} warps in a CTA shape")
    check_range(warps, len(run_counts), "warp shape")
    warps = warps.reshape(-1, geometry.warps)
    check_range(shape, len(warps), "CTA shape")
    if max(ctas, len(warps)) > MOST_CTAS:
        raise Malformed(f"expected at most {MOST_CTAS} CTAs in a chunk")
    shapes = unpack_runs(run_counts, (*runs, literals), geometry.memory)
    n_records, n_listed = _check_rows(table, len(geometry.memory.instructions))
    rows = blank_rows(table)
    lengths = place_streams(rows)
    streams, position = unpack(data, position, lengths)
    if position != len(data):
        raise Malformed(f"{len(data) - position} bytes too many in the unpacked chunk")
    warp_table, cta_runs = _cta_shapes(warps, shapes)
    address_first = np.empty(ctas + 1, np.int64)
    n_addresses = int(_count_addresses(warp_table, shape, address_first))
    if n_addresses != n_records:
        raise Malformed("expected as many address records as the warps execute")
    w = walk.Walk(
        rows,
        streams,
        np.zeros(n_addresses, ADDRESS),
        np.empty(n_listed, np.int64),
        np.empty(ctas + 1, np.int64),
        np.empty(n_addresses, np.int64),
        _row_slots(shapes, geometry.memory, table[0]),
        shapes.slot_first,
        warps,
        shape,
        index,
    )
    if not (walk.decode(w) and finished(rows, lengths)):
        raise Malformed("expected address columns that fit the warps")
    return Chunk(
        _block_index(index, geometry.grid),
        shape.tolist(),
        list(warp_table),
        cta_runs,
        w.addresses,
        address_first.tolist(),
        w.pool,
        w.pool_first.tolist(),
    )


def _check_rows(table: np.ndarray, instructions: int) -> tuple[int, int]:
    """How many records and addresses in lists there are; every value must be within its range."""
    most = LIMIT // ADDRESS.itemsize
    wrong, records, listed = _count_rows(table, instructions, len(AddressKind), most)
    if wrong != NONE:
        raise Malformed(f"{STORED[wrong]} of a memory instruction out of range")
    return records, listed


@jit
def _count_rows(table, instructions, kinds, most):
    """The first column with a value out of range, or NONE; all records; all addresses in lists."""
    listed, records, before = np.int64(0), np.int64(0), np.int64(-1)
    for r in range(table.shape[1]):
        wrong = NONE
        if table[0, r] <= before or table[0, r] >= instructions:
            wrong = 0
        for column in range(1, 4):
            if table[column, r] < 0 or table[column, r] > most:
                wrong = column
        before = table[0, r]
        records += table[1, r]
        listed += table[2, r] + table[3, r]
        if table[2, r] > table[1, r] or records > most or listed > 2 * most:
            wrong = 2
        if table[4, r] < 0 or table[4, r] >= kinds:
            wrong = 4
        if table[7, r] < 0 or table[7, r] >= table.shape[1]:
            wrong = 7
        if table[8, r] < -63 or table[8, r] > 63:
            wrong = 8
        if wrong != NONE:
            return wrong, records, listed
    return NONE, records, listed


def _cta_shapes(warps: np.ndarray, shapes: Shapes) -> tuple[np.ndarray, list[np.ndarray]]:
    """The WARP table of each CTA shape, one line a shape, and its runs."""
    bounded(warps.size, WARP)
    table = np.empty(warps.shape, WARP)
    counted = np.empty(len(warps) + 1, np.int64)
    _count_runs(warps, shapes.first, counted)
    ends = counted.tolist()
    runs = np.empty(bounded(ends[-1], RUN), RUN)
    _fill_shapes(warps, shapes.first, shapes.totals, shapes.runs, table, runs)
    return table, [runs[begin:end] for begin, end in pairwise(ends)]


@jit
def _count_runs(warps, first, ends):
    """Fill where the runs of each CTA shape begin, and the end."""
    ends[0] = 0
    for c in range(len(warps)):
        ends[c + 1] = ends[c]
        for s in warps[c]:
            ends[c + 1] += first[s + 1] - first[s]


@jit
def _fill_shapes(warps, first, totals, source, table, runs):
    """Fill the warps of each CTA shape and its runs, which come from ``source``."""
    at = np.int64(0)
    for c in range(len(warps)):
        begin, address = at, np.int64(0)
        for slot in range(warps.shape[1]):
            s = warps[c, slot]
            warp, total = table[c, slot], totals[s]
            warp["first_run"], warp["runs"] = at - begin, first[s + 1] - first[s]
            warp["first_address"], warp["addresses"] = address, total["addresses"]
            warp["warp_instructions"] = total["warp_instructions"]
            warp["thread_instructions"] = total["thread_instructions"]
            address += warp["addresses"]
            for r in range(first[s], first[s + 1]):
                runs[at] = source[r]
                at += 1


@jit
def _count_addresses(table, shape, first):
    """Fill where the address records of each CTA begin; returns how many there are."""
    last = table.shape[1] - 1
    first[0] = 0
    for c in range(len(shape)):
        warp = table[shape[c], last]
        first[c + 1] = first[c] + warp["first_address"] + warp["addresses"]
    return first[len(shape)]


def _row_slots(shapes: Shapes, memory: MemoryMap, instructions: np.ndarray) -> np.ndarray:
    """The address records of the shapes, referring to the rows of ``instructions``."""
    table = slots(shapes, memory)
    if not _to_rows(table, instructions, np.empty(len(memory.instructions), np.int64)):
        raise Malformed("expected a row for every memory instruction that is executed")
    return table


@jit
def _to_rows(table, instructions, row_of):
    """Replace instructions by their rows; False if one has none."""
    row_of[:] = NONE
    for row in range(len(instructions)):
        row_of[instructions[row]] = row
    for k in range(len(table)):
        row = row_of[table[k].row]
        if row == NONE:
            return False
        table[k].row = row
    return True


def _block_index(index: np.ndarray, grid: tuple[int, int, int]) -> list[tuple[int, int, int]]:
    """Linear to x, y, z."""
    x, y, z = grid
    check_range(index, x * y * z, "CTA index")
    split = np.empty((3, len(index)), np.int64)
    _split_index(index, x, y, split)
    return list(zip(*split.tolist()))


@jit
def _split_index(index, x, y, split):
    for c in range(len(index)):
        split[0, c] = index[c] % x
        split[1, c] = index[c] // x % y
        split[2, c] = index[c] // x // y
