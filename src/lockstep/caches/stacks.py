"""LRU caches of all associativities in one pass: a stack of lines for each set (Mattson, 1970).

The line at depth d of its set's stack is in every cache with more than d ways, and so a pass counts
at which depth each access finds its line. With sectors, a sector is in a cache if its line has
never left it since the sector came: it remembers the greatest depth at which its line was touched
since then. A line that is given up leaves a hole, which the next line that comes from below it, or
from nowhere, fills: in a cache so large that the line was in it, a way is free.
"""

from typing import NamedTuple

import numpy as np

from lockstep._jit import Context, Records, as_records, force_inline, inline, jit
from lockstep.caches.accesses import (
    ATOMIC,
    INVALIDATE,
    LINE_BYTES,
    LINE_SECTORS,
    PAST_L1,
    PRIVATE,
    READ,
    WRITE,
)
from lockstep.caches.geometry import RowFinder, Sets, row_of
from lockstep.caches.order import ENTRY

MOST_WAYS = 1 << 14
NEVER = (1 << 15) - 1  # depth of a sector that has not come
NO_LINE = -(1 << 62)
KINDS = 3  # READ, WRITE, ATOMIC
_BITS = 16  # of a sector's depth in the word of a line

_SPEC = np.dtype(
    [
        (name, "i8")
        for name in (
            "caches", "sets", "ways", "parts", "sectors", "l2", "evict", "sectored", "filter",
            "out",
        )
    ]
)  # fmt: skip


class _Stacks(Context):
    """What the compiled side reads and writes."""

    spec: Records  # _SPEC, one
    rows: RowFinder
    epochs: np.ndarray  # int64 [caches]: how often each was emptied, and one more
    begun: np.ndarray  # int64 [caches * sets]: the epoch that a row is of; else it is empty
    lines: np.ndarray  # int64 [caches * sets, ways]: a stack a row
    deep: np.ndarray  # int64, likewise: for each sector the greatest depth since it came
    depths: np.ndarray  # int64 [KINDS, ways + 1]: accesses by depth; the last: deeper, or never
    out: Records  # ENTRY: what goes on to the level below


class Level(NamedTuple):
    """What a pass is of: ``caches`` alike, each of so many sets, and what they do with writes.

    ``ways``: the most that are told apart. An L1 takes no room for what is written, and gives up
    lines that atomics touch, writes that go past it, and with ``evict`` all writes but those of
    local memory; with ``l2`` all accesses take room and stay. ``sectored``: a line's sectors of 32
    bytes come one by one; else lines come whole. ``keeps``: with so many ways, what misses is
    listed for the level below; 0 = nothing is.
    """

    sets: Sets
    ways: int
    caches: int = 1
    l2: bool = False
    evict: bool = False
    sectored: bool = False
    keeps: int = 0


class Stacks:
    """A pass over a stream, in parts. ``depths[kind, d]``: accesses that met depth d.

    An access is one of a line, or of a sector where there are sectors. ``depths`` has a row for
    reads, writes and atomics, int64; the last column counts those that met their line deeper than
    it was looked for, or not at all. An L1 is not asked for what goes past it.
    """

    def __init__(self, level: Level):
        if not 1 <= level.ways <= MOST_WAYS:
            raise ValueError(f"{level.ways} ways")
        rows = level.sets.rows()
        spec = as_records(np.zeros(1, _SPEC))
        s = spec[0]
        s.caches, s.sets, s.ways = level.caches, level.sets.count, level.ways
        s.parts = LINE_BYTES // level.sets.line_bytes
        s.sectors = LINE_SECTORS // s.parts
        s.l2, s.evict, s.sectored, s.filter = level.l2, level.evict, level.sectored, level.keeps
        count = level.caches * level.sets.count
        shape = (count, level.ways)
        self._epochs = np.ones(level.caches, np.int64)
        self.level = level
        self.depths = np.zeros((KINDS, level.ways + 1), np.int64)
        self._out = as_records(np.zeros(1, ENTRY))
        deep = np.zeros(shape if level.sectored else (1, 1), np.int64)
        begun, lines = np.zeros(count, np.int64), np.zeros(shape, np.int64)  # untouched: no memory
        self._parts = (spec, rows, self._epochs, begun, lines, deep, self.depths)
        self._context = _Stacks(*self._parts, self._out)

    def forget(self) -> None:
        """Empty all caches; what was counted stays."""
        self._epochs += 1

    def look_up(self, entries: Records, count: int) -> Records:
        """Pass the first ``count`` entries; what goes on to the level below, valid until called
        again."""
        most = LINE_SECTORS * count + 1
        if self.level.keeps and len(self._out) < most:
            self._out = as_records(np.zeros(most, ENTRY))
            self._context = _Stacks(*self._parts, self._out)
        look_up(self._context, entries, count)
        return self._out[: self._parts[0][0].out]

    def misses(self, ways: int) -> np.ndarray:
        """Accesses that miss a cache of so many ways, of each kind: int64 [KINDS]."""
        return self.depths[:, ways:].sum(axis=1)

    @property
    def accesses(self) -> np.ndarray:
        """Accesses of each kind: int64 [KINDS]."""
        return self.depths.sum(axis=1)


@jit
def look_up(c, entries, count):
    """Pass entries through the stacks."""
    spec = c.spec[0]
    spec.out = 0
    for k in range(count):
        entry = entries[k]
        if entry.kind == INVALIDATE:
            if spec.l2 == 0:
                c.epochs[entry.sm] += 1
        elif spec.l2 == 0 and entry.flags & PAST_L1:
            if entry.kind != READ:
                for part in range(spec.parts):
                    if (entry.sectors >> part * spec.sectors) & ((1 << spec.sectors) - 1):
                        _drop(c, spec, entry.sm, entry.line * spec.parts + part)
            if spec.filter > 0:
                pass_on(c, spec, entry, entry.sectors)
        else:
            for part in range(spec.parts):
                sectors = (entry.sectors >> part * spec.sectors) & ((1 << spec.sectors) - 1)
                if sectors:
                    _look_up(c, spec, entry, entry.line * spec.parts + part, sectors, part)


@inline
def pass_on(c, spec, entry, sectors):
    """Sectors of a line of the stream go on to the level below."""
    out = c.out[spec.out]
    spec.out += 1
    out.line, out.sectors = entry.line, sectors
    out.site, out.warp, out.sm = entry.site, entry.warp, entry.sm
    out.kind, out.flags = entry.kind, entry.flags


@inline
def _drop(c, spec, cache, line):
    """A line is written behind the back of an L1."""
    row = cache * spec.sets + row_of(c.rows, line)
    if c.begun[row] == c.epochs[cache]:
        for d in range(spec.ways):
            if c.lines[row, d] == line:
                c.lines[row, d] = NO_LINE


@force_inline
def _look_up(c, spec, entry, line, sectors, part):
    """One access to a line, which is a part of a line of the stream."""
    row = row_of(c.rows, line)
    cache = 0
    if spec.l2 == 0:
        cache = entry.sm
        row += cache * spec.sets
    ways = spec.ways
    if c.begun[row] != c.epochs[cache]:
        c.begun[row] = c.epochs[cache]
        for d in range(ways):
            c.lines[row, d] = NO_LINE
    depth = 0
    hole = ways
    while depth < ways and c.lines[row, depth] != line:
        if hole == ways and c.lines[row, depth] == NO_LINE:
            hole = depth
        depth += 1
    moves = spec.l2 != 0 or entry.kind == READ
    left = 0
    if spec.sectored:
        left = _count_sectors(c, spec, entry.kind, row, depth, sectors, moves)
    else:
        c.depths[entry.kind, depth] += 1
        if depth >= spec.filter:
            left = sectors if entry.kind == WRITE else (1 << spec.sectors) - 1
    if not moves:
        left = sectors
        gone = entry.kind == ATOMIC or (spec.evict != 0 and entry.flags & PRIVATE == 0)
        if depth < ways and gone:
            c.lines[row, depth] = NO_LINE
    elif depth > 0:
        _come_up(c, spec, row, line, depth, min(hole, depth), sectors)
    if spec.filter > 0 and left:
        pass_on(c, spec, entry, left << part * spec.sectors)


@force_inline
def _count_sectors(c, spec, kind, row, depth, sectors, moves):
    """Count the sectors of an access; those that a cache of ``filter`` ways has not.

    They have come now, but for those of an access that takes no room.
    """
    missing = 0
    deeps = c.deep[row, depth] if depth < spec.ways else 0
    now = 0
    for s in range(spec.sectors):
        deep = NEVER if depth == spec.ways else max((deeps >> _BITS * s) & NEVER, depth)
        if (sectors >> s) & 1:
            c.depths[kind, min(deep, spec.ways)] += 1
            missing |= 1 << s if deep >= spec.filter else 0
        else:
            now |= deep << _BITS * s
    if depth < spec.ways and moves:
        c.deep[row, depth] = now
    return missing


@force_inline
def _come_up(c, spec, row, line, depth, hole, sectors):
    """A line comes to the top of its stack, from a depth; those above a hole go down into it."""
    ways = spec.ways
    there = depth < ways
    last = min(hole, ways - 1)
    if spec.sectored:
        now = c.deep[row, depth] if there else _only(spec, sectors)
        for d in range(last, 0, -1):
            c.deep[row, d] = c.deep[row, d - 1]
        c.deep[row, 0] = now
    for d in range(last, 0, -1):
        c.lines[row, d] = c.lines[row, d - 1]
    c.lines[row, 0] = line
    if there and hole < depth:
        c.lines[row, depth] = NO_LINE


@inline
def _only(spec, sectors):
    """The depths of the sectors of a line that has just come with some of them."""
    word = 0
    for s in range(spec.sectors):
        word |= 0 if (sectors >> s) & 1 else NEVER << _BITS * s
    return word
