"""Chooses how the addresses of each memory instruction are predicted: the writer's half.

A reader needs none of this. Candidates come from a sample; the choice among them from what they
would cost on the whole chunk.
"""

from typing import NamedTuple

import numpy as np

from lockstep._jit import force_inline, jit
from lockstep.frontend.tracefile import walk
from lockstep.frontend.tracefile.columns import records_for_jit
from lockstep.frontend.tracefile.rows import (
    LANES,
    NONE,
    STORED,
    AddressKind,
    blank_rows,
    place_streams,
)
from lockstep.frontend.tracefile.shapes import lanes_of
from lockstep.frontend.tracefile.walk import Walk, lowest

RECENT = 8  # instructions executed last in a warp: candidates to refer to
CANDIDATES = 16  # remembered for each instruction
SCALES = 7  # shifts from -3 to 3
SAMPLE = 256  # lists looked at for each instruction

SEEN = np.dtype(
    [
        ("records", "i8"),
        ("lists", "i8"),
        ("lanes", "i8"),
        ("first", "i8"),  # first address, and the lowest
        ("lowest", "i8"),
        ("gap", "i8"),  # the most common distance of neighbouring lanes, by majority vote
        ("votes", "i8"),
        ("warp", "i8"),
        ("mask", "i8"),
        ("lane", "i8", (LANES,)),
        ("candidates", "i8"),
        ("candidate", "i8", (CANDIDATES,)),
        ("offset", "i8", (CANDIDATES * SCALES,)),
        ("hits", "i8", (CANDIDATES * SCALES,)),  # lanes whose offset was that of the lane before
    ]
)
"""What was seen of one memory instruction."""


class Sample(NamedTuple):
    """The walk being looked at, and what was found."""

    walk: Walk
    seen: np.ndarray  # SEEN
    recent: np.ndarray  # rows executed last in this warp, newest first


def choose(w: Walk, instructions: np.ndarray) -> Walk:
    """The walk with the best parameters found for each row, its residuals filled in.

    ``instructions`` are the numbers of the rows' memory instructions; ``w`` needs no rows yet.
    """
    seen = records_for_jit(np.zeros(len(instructions), SEEN))
    seen["warp"] = NONE
    _survey(Sample(w, seen, np.zeros(RECENT, np.int64)))
    grid = _table(seen, instructions)
    trials = [grid, _as_origin(grid, seen)]
    if seen["lists"].any():
        trials.append(_as_reference(grid, seen))
    costs = np.array([_costs(encoded(w, table)) for table in trials])
    costs[2:, trials[-1][STORED.index("kind")] != AddressKind.REFERENCE] = np.inf
    best = np.argmin(costs, axis=0)
    return encoded(w, np.stack(trials)[best, :, np.arange(len(seen))].T.copy())


def encoded(w: Walk, table: np.ndarray) -> Walk:
    """The walk with rows made from ``table`` and the residuals they leave."""
    rows = blank_rows(table)
    residuals = np.zeros(int(place_streams(rows).sum()), np.int64)
    w = w._replace(rows=rows, residuals=residuals)
    walk.encode(w)
    return w


def _table(seen, instructions) -> np.ndarray:
    """Row table in which every row is predicted from the grid."""
    table = np.zeros((len(STORED), len(seen)), np.int64)
    columns = dict(zip(STORED, table))
    columns["instruction"][:] = instructions
    for name in ("records", "lists", "lanes", "gap"):
        columns[name][:] = seen[name]
    columns["origin"][:] = seen["first"]
    return table


def _as_origin(grid, seen) -> np.ndarray:
    table = grid.copy()
    table[STORED.index("kind")] = AddressKind.ORIGIN
    table[STORED.index("origin")] = seen["lowest"]
    table[STORED.index("gap")] = 0
    return table


def _as_reference(grid, seen) -> np.ndarray:
    """Each row refers to the candidate with most hits; rows without any stay as they are."""
    table = grid.copy()
    best = np.argmax(seen["hits"], axis=1)
    every = np.arange(len(seen))
    found = seen["hits"][every, best] > 0
    table[STORED.index("kind")] = np.where(found, AddressKind.REFERENCE, AddressKind.GRID)
    reference = seen["candidate"][every, best // SCALES]
    table[STORED.index("reference")] = np.where(found, reference, 0)
    shift = best % SCALES
    shift -= SCALES * (shift > SCALES // 2)
    table[STORED.index("scale")] = np.where(found, shift, 0)
    return table


def _costs(w: Walk) -> np.ndarray:
    """About how many bits the addresses of each row take."""
    rows = w.rows
    costs = np.zeros(len(rows))
    for name, count in (("at_first", "records"), ("at_lane", "lanes")):
        _add_costs(w.residuals, rows[name] - rows[count], rows[name] + 0, costs)
    return costs


@jit
def _add_costs(residuals, begins, ends, costs):
    """Bits of the magnitudes, where there are any; signs cost as far as they are mixed."""
    for r in range(len(begins)):
        negative, other = 0, 0
        for i in range(begins[r], ends[r]):
            left = residuals[i] ^ (residuals[i] >> 63)
            negative += residuals[i] < 0
            other += residuals[i] > 0
            while left != 0:
                costs[r] += 1
                left >>= 1
        costs[r] += 2 * (negative + other + min(negative, other))


@jit
def _survey(sample):
    """Look at every record once."""
    w = sample.walk
    record, warp, at = np.int64(0), np.int64(0), np.int64(0)
    for cta in range(len(w.shape)):
        for slot in range(w.warps.shape[1]):
            s = w.warps[w.shape[cta], slot]
            sample.recent[:] = NONE
            for k in range(w.slot_first[s], w.slot_first[s + 1]):
                row, mask = w.slots[k].row, w.slots[k].mask
                at = _look(sample, (row, mask, warp), w.addresses[record], at)
                _push(sample.recent, row)
                record += 1
            warp += 1


@force_inline
def _look(sample, what, target, at):
    """Count one record, vote for its gap and test its candidates; returns the next pool place."""
    row, mask, warp = what
    seen = sample.seen[row]
    start, stride = target["first"], np.int64(target["stride"])
    if seen.records == 0:
        seen.first = seen.lowest = start
    seen.records += 1
    seen.lowest = min(seen.lowest, start)
    lanes = lanes_of(mask)
    listed = target["pool"] >= 0
    if listed:
        seen.lists += 1
        seen.lanes += lanes - 1
        for i in range(at, at + lanes):
            seen.lowest = min(seen.lowest, sample.walk.pool[i])
        if seen.lists <= SAMPLE:
            _vote(sample.walk, seen, mask, at)
            _test(sample, what, at)
    if seen.warp != warp:
        seen.warp, seen.mask = warp, 0
    seen.mask |= mask
    n = np.int64(0)
    for lane in range(LANES):
        if (mask >> lane) & 1:
            seen.lane[lane] = sample.walk.pool[at + n] if listed else start + n * stride
            n += 1
    return at + lanes if listed else at


@force_inline
def _vote(w, seen, mask, at):
    """Boyer and Moore's majority vote over the distances of neighbouring lanes."""
    before = lowest(mask)
    for lane in range(before + 1, LANES):
        if (mask >> lane) & 1 == 0:
            continue
        at += 1
        distance = w.pool[at] - w.pool[at - 1]
        gap = distance // (lane - before)
        before = lane
        if seen.votes == 0:
            seen.gap = gap
        seen.votes += 1 if gap == seen.gap else -1


@force_inline
def _test(sample, what, at):
    """Count for each candidate and scale the lanes at a constant offset."""
    row, mask, warp = what
    seen = sample.seen[row]
    for r in range(RECENT):
        other = sample.recent[r]
        c = _candidate(seen, other) if other != NONE else NONE
        if c == NONE:
            continue
        referred = sample.seen[other]
        n = at
        for lane in range(LANES):
            if (mask >> lane) & 1 == 0:
                continue
            if referred.warp == warp and (referred.mask >> lane) & 1:
                _compare(seen, c * SCALES, referred.lane[lane], sample.walk.pool[n])
            n += 1


@force_inline
def _compare(seen, first, reference, actual):
    for s in range(SCALES):
        shift = _shift(s)
        scaled = reference << shift if shift >= 0 else reference >> -shift
        if seen.offset[first + s] == actual - scaled:
            seen.hits[first + s] += 1
        seen.offset[first + s] = actual - scaled


@force_inline
def _shift(s):
    """Scale number to shift; 0 comes first, so that it wins a draw."""
    return s if s <= SCALES // 2 else s - SCALES


@force_inline
def _candidate(seen, other):
    """Index of ``other`` among the candidates, added while there is room; else NONE."""
    for c in range(seen.candidates):
        if seen.candidate[c] == other:
            return c
    if seen.candidates == CANDIDATES:
        return NONE
    seen.candidate[seen.candidates] = other
    seen.candidates += 1
    return seen.candidates - 1


@force_inline
def _push(recent, row):
    """Move ``row`` to the front of the rows executed last."""
    i = 0
    while i < RECENT - 1 and recent[i] != row:
        i += 1
    while i > 0:
        recent[i] = recent[i - 1]
        i -= 1
    recent[0] = row
