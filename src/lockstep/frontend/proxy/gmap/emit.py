"""From the lines that the warps of a CTA access to their instructions and addresses.

The lines of one instruction are different ones: what would repeat a line begins another
instruction, so that each line that was drawn is an access. A lane accesses a sector or, where all
bytes are written, half of one; lanes that do not suffice leave sectors out.
"""

from typing import NamedTuple

import numpy as np

from lockstep._jit import Records, as_records, jit, popcount, trailing_zeros
from lockstep.frontend.proxy.gmap.draw import DrawTables
from lockstep.frontend.proxy.gmap.five_tuple import FiveTuple
from lockstep.frontend.proxy.gmap.sites import (
    LINE_BYTES,
    MOST_LINES,
    ORDINAL_BITS,
    SECTOR_BYTES,
    SECTORS,
)
from lockstep.workload import ADDRESS, RUN, WARP, Cta

_HALVES = 2  # lanes that write all of a sector
_MOST_LANES = SECTORS * _HALVES  # of a line
_STRIDED = -1


class Emission(NamedTuple):
    """What is made, and what of; the arrays have room for the most that there can be."""

    sectors: np.ndarray  # int64 [sites]
    whole: np.ndarray
    chosen: np.ndarray  # int64 [warps]
    lines: np.ndarray  # int64: of all warps, one behind the other
    lanes: int  # of a warp
    warps: Records
    runs: Records
    addresses: Records
    pool: np.ndarray
    used: np.ndarray  # int64 [3]: runs, addresses, pool


def emitted(
    known: FiveTuple,
    tables: DrawTables,
    lanes: int,
    index: tuple[int, int, int],
    chosen: np.ndarray,
    lines: np.ndarray,
) -> Cta:
    """The CTA whose warps, of so many lanes, take these paths and access these lines."""
    entries = int(np.diff(known.paths.first)[chosen].sum())
    e = Emission(
        np.ascontiguousarray(known.sites["sectors"]),
        np.ascontiguousarray(known.sites["whole"]),
        chosen,
        lines,
        lanes,
        as_records(np.zeros(len(chosen), WARP)),
        as_records(np.zeros(entries + len(chosen), RUN)),
        as_records(np.zeros(len(lines), ADDRESS)),
        np.zeros(_MOST_LANES * len(lines), np.int64),
        np.zeros(3, np.int64),
    )
    emit(tables, e)
    runs, addresses, pool = e.used.tolist()
    return Cta(
        index,
        e.warps.view(np.ndarray).view(WARP),
        e.runs.view(np.ndarray).view(RUN)[:runs].copy(),
        e.addresses.view(np.ndarray).view(ADDRESS)[:addresses],
        e.pool[:pool].copy(),
    )


@jit
def emit(t, e):
    """Make the streams of all warps."""
    line = np.int64(0)
    all_lanes = mask_of(e.lanes)
    for w in range(len(e.chosen)):
        warp = e.warps[w]
        warp.first_run, warp.first_address = e.used[0], e.used[1]
        place, end = t.path_first[e.chosen[w]], t.path_first[e.chosen[w] + 1]
        while place < end:
            site = t.entries[place] >> ORDINAL_BITS
            if t.markers[site] != 0:
                add_run(e, warp, site, all_lanes)
                place += 1
                continue
            count = together(t.entries, place, end, e.lines, line)
            access(e, warp, site, line, count)
            place += count
            line += count
        add_run(e, warp, len(e.sectors), all_lanes)
        warp.runs, warp.addresses = e.used[0] - warp.first_run, e.used[1] - warp.first_address


@jit
def mask_of(lanes):
    """The first lanes of a warp; of 64, the last one is the sign."""
    return np.int64(-1) if lanes == 64 else (np.int64(1) << lanes) - 1


@jit
def add_run(e, warp, site, mask):
    """One instruction of a warp."""
    run = e.runs[e.used[0]]
    run.static, run.count, run.mask = site, 1, mask
    e.used[0] += 1
    warp.warp_instructions += 1
    warp.thread_instructions += popcount(mask)


@jit
def together(entries, place, end, lines, first):
    """How many entries from ``place`` on are different lines of one instruction."""
    count = np.int64(1)
    while place + count < end:
        entry = entries[place + count]
        if entry & (MOST_LINES - 1) == 0 or entry != entries[place] + count:
            return count
        for k in range(count):
            if lines[first + k] == lines[first + count]:
                return count
        count += 1
    return count


@jit
def access(e, warp, site, first, count):
    """One instruction that accesses ``count`` lines."""
    sectors, kept = e.sectors[site], max(e.lanes // count, 1)
    while popcount(sectors) > kept:
        highest = sectors
        while highest & (highest - 1) != 0:
            highest &= highest - 1
        sectors ^= highest
    lanes = popcount(sectors)
    each = _HALVES if e.whole[site] != 0 and count * lanes * _HALVES <= e.lanes else 1
    add_run(e, warp, site, mask_of(count * lanes * each))
    record = e.addresses[e.used[1]]
    e.used[1] += 1
    low = trailing_zeros(sectors)
    record.first = e.lines[first] * LINE_BYTES + low * SECTOR_BYTES
    in_a_row = sectors >> low & (sectors >> low) + 1 == 0
    if count == 1 and in_a_row:
        record.stride, record.pool = SECTOR_BYTES // each, _STRIDED
        return
    record.stride, record.pool = 0, e.used[2]
    for k in range(count):
        for lane in range(SECTORS * each):
            if sectors >> lane // each & 1 != 0:
                offset = lane * (SECTOR_BYTES // each)
                e.pool[e.used[2]] = e.lines[first + k] * LINE_BYTES + offset
                e.used[2] += 1
