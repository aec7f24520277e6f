"""LRU caches of all associativities in one pass: a stack of lines for each set (Mattson, 1970).

The line at depth d of its set's stack is in every cache with more than d ways, and so a pass counts
at which depth each access finds its line. With sectors, a sector is in a cache if its line has
never left it since the sector came: it remembers the greatest depth at which its line was touched
since then. A line that is given up leaves a hole, which the next line that comes from below it, or
from nowhere, fills: in a cache so large that the line was in it, a way is free.

Caches of fewer sets are passed together where these are sets of the first ones put together: there
a line lies no higher, since whatever lies above it in a set does so in all sets that hold this one
(Hill and Smith, "Evaluating associativity in CPU caches", 1989). So each search begins at the depth
of the one before, and what lies on top where sets are fewest does so everywhere.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from lockstep._jit import Context, Records, as_records, force_inline, inline, jit, popcount
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
        for name in ("shapes", "parts", "sectors", "l2", "evict", "sectored", "filter", "out")
    ]
)
_SHAPE = np.dtype(
    [
        ("sets", "i8"),
        ("mask", "i8"),  # of the rows of the first shape
        ("ways", "i8"),
        ("room", "i8"),  # of a stack: twice its ways
        ("stacks", "i8"),  # the first of its stacks
        ("lines", "i8"),  # where the lines of that one begin
    ]
)
_STACK = np.dtype(
    [
        ("begun", "i8"),  # the epoch that it is of; else it is empty
        ("first", "i8"),  # of its places in ``lines``
        ("top", "i8"),  # where its top is; what is below follows
        ("holes", "i8"),
    ]
)


class _Stacks(Context):
    """What the compiled side reads and writes."""

    spec: Records  # _SPEC, one
    rows: RowFinder  # of the first shape
    shapes: Records  # _SHAPE: fewer and fewer sets
    epochs: np.ndarray  # int64 [caches]: how often each was emptied, and one more
    stacks: Records  # _STACK, of shape after shape, cache after cache
    lines: np.ndarray  # int64: ``room`` for each of these
    deep: np.ndarray  # int64, likewise: for each sector the greatest depth since it came
    tops: np.ndarray  # int64 [shapes + 1, KINDS]: accesses at depth 0 of so many shapes, the first
    depths: np.ndarray  # int64 [shapes, KINDS, ways + 1]: others by depth; the last: deeper
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


class StackShape(NamedTuple):
    """Sets of a cache, and the most ways that are told apart."""

    sets: int
    ways: int


class Stacks:
    """A pass over a stream, in parts: through caches of a level, and of ``fewer`` sets than these.

    ``fewer`` shapes have fewer and fewer sets, and each number divides the one before; the sets of
    the level are then the low bits of lines, and it keeps nothing. An access is one of a line, or
    of a sector where there are sectors. An L1 is not asked for what goes past it.
    """

    def __init__(self, level: Level, fewer: Sequence[StackShape] = ()):
        shapes = [StackShape(level.sets.count, level.ways), *fewer]
        for shape in shapes:
            if not 1 <= shape.ways <= MOST_WAYS:
                raise ValueError(f"{shape.ways} ways")
        counts = [shape.sets for shape in shapes]
        if fewer and (
            level.keeps or not level.sets.nest or any(a % b for a, b in pairwise(counts))
        ):
            raise ValueError(f"{counts} sets in one pass")
        spec = as_records(np.zeros(1, _SPEC))
        s = spec[0]
        s.shapes, s.parts = len(shapes), LINE_BYTES // level.sets.line_bytes
        s.sectors = LINE_SECTORS // s.parts
        s.l2, s.evict, s.sectored, s.filter = level.l2, level.evict, level.sectored, level.keeps
        table, stacks, lines = np.zeros(len(shapes), _SHAPE), 0, 0
        for k, shape in enumerate(shapes):
            mask, room = shape.sets - 1 if k else -1, 2 * shape.ways
            table[k] = (shape.sets, mask, shape.ways, room, stacks, lines)
            stacks += level.caches * shape.sets
            lines += level.caches * shape.sets * room
        self._epochs = np.ones(level.caches, np.int64)
        self.level, self._shapes = level, {shape.sets: k for k, shape in enumerate(shapes)}
        self._tops = np.zeros((len(shapes) + 1, KINDS), np.int64)
        most = max(shape.ways for shape in shapes)
        self._depths = np.zeros((len(shapes), KINDS, most + 1), np.int64)
        self._spec = s
        self._context = _Stacks(
            spec,
            level.sets.rows(),
            as_records(table),
            self._epochs,
            as_records(np.zeros(stacks, _STACK)),
            np.zeros(lines, np.int64),  # untouched: no memory
            np.zeros(lines if level.sectored else 1, np.int64),
            self._tops,
            self._depths,
            as_records(np.zeros(1, ENTRY)),
        )

    def forget(self) -> None:
        """Empty all caches; what was counted stays."""
        self._epochs += 1

    def look_up(self, entries: Records, count: int) -> Records:
        """Pass the first ``count`` entries; what goes on to the level below, valid until called
        again."""
        most = LINE_SECTORS * count + 1
        if self.level.keeps and len(self._context.out) < most:
            self._context = self._context._replace(out=as_records(np.zeros(most, ENTRY)))
        look_up(self._context, entries, count)
        return self._context.out[: self._spec.out]

    def depths(self, sets: int) -> np.ndarray:
        """Accesses of each kind by the depth at which they met their line: int64 [KINDS, ways + 1].

        The last column has those that met it deeper than it was looked for, or not at all.
        """
        k = self._shapes[sets]
        ways = int(self._context.shapes[k].ways)
        made = self._depths[k, :, : ways + 1].copy()
        made[:, 0] += self._tops[k + 1 :].sum(axis=0)
        return made

    def misses(self, sets: int, ways: int) -> np.ndarray:
        """Accesses that miss a cache of so many sets and ways, of each kind: int64 [KINDS]."""
        return self.depths(sets)[:, ways:].sum(axis=1)

    @property
    def accesses(self) -> np.ndarray:
        """Accesses of each kind: int64 [KINDS]."""
        return self.depths(self.level.sets.count).sum(axis=1)


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


@force_inline
def _stack_of(c, shape, cache, row):
    """The stack of a row of the first shape."""
    return c.stacks[shape.stacks + cache * shape.sets + (row & shape.mask)]


@inline
def _drop(c, spec, cache, line):
    """A line is written behind the back of an L1."""
    row = row_of(c.rows, line)
    for k in range(spec.shapes):
        stack = _stack_of(c, c.shapes[k], cache, row)
        if stack.begun == c.epochs[cache]:
            for at in range(stack.top, stack.top + c.shapes[k].ways):
                if c.lines[at] == line:
                    c.lines[at] = NO_LINE
                    stack.holes += 1


@force_inline
def _look_up(c, spec, entry, line, sectors, part):
    """One access to a line, which is a part of a line of the stream."""
    row = row_of(c.rows, line)
    cache = entry.sm if spec.l2 == 0 else 0
    moves = spec.l2 != 0 or entry.kind == READ
    gone = not moves and (entry.kind == ATOMIC or (spec.evict != 0 and entry.flags & PRIVATE == 0))
    k = 0
    if not gone:
        k = _count_tops(c, spec, cache, row, line, sectors)
        c.tops[k, entry.kind] += popcount(sectors) if spec.sectored else 1
    depth = left = 0
    for shape in range(k, spec.shapes):
        depth, left = _access(
            c, spec, shape, entry.kind, cache, row, line, sectors, depth, moves, gone
        )
    if spec.filter > 0:
        if not moves:
            left = sectors
        if left:
            pass_on(c, spec, entry, left << part * spec.sectors)


@force_inline
def _count_tops(c, spec, cache, row, line, sectors):
    """In how many of the shapes an access finds all that it needs at depth 0: the first ones.

    Nothing moves there.
    """
    if _is_on_top(c, spec, spec.shapes - 1, cache, row, line, sectors):
        return spec.shapes
    k = 0
    while k < spec.shapes - 1 and _is_on_top(c, spec, k, cache, row, line, sectors):
        k += 1
    return k


@force_inline
def _is_on_top(c, spec, k, cache, row, line, sectors):
    """Whether an access finds all that it needs at depth 0 of a shape."""
    stack = _stack_of(c, c.shapes[k], cache, row)
    if c.lines[stack.top] != line or stack.begun != c.epochs[cache]:
        return False
    if spec.sectored:
        for s in range(spec.sectors):
            if (sectors >> s) & 1 and (c.deep[stack.top] >> _BITS * s) & NEVER:
                return False
    return True


@force_inline
def _access(c, spec, k, kind, cache, row, line, sectors, least, moves, gone):
    """An access in one shape, to a line at depth ``least`` or below; its depth, and the sectors
    that a cache of ``filter`` ways has not."""
    shape = c.shapes[k]
    stack = _stack_of(c, shape, cache, row)
    if stack.begun != c.epochs[cache]:
        _begin(c, shape, stack, c.epochs[cache], cache * shape.sets + (row & shape.mask))
    top, ways = stack.top, shape.ways
    depth = min(least, ways)
    while depth < ways and c.lines[top + depth] != line:
        depth += 1
    left = 0
    if spec.sectored:
        left = _count_sectors(c, spec, k, kind, top, depth, sectors, moves)
    else:
        c.depths[k, kind, depth] += 1
        if depth >= spec.filter:
            left = sectors if kind == WRITE else (1 << spec.sectors) - 1
    if moves:
        _come_up(c, spec, shape, stack, line, depth, sectors)
    elif gone and depth < ways:
        c.lines[top + depth] = NO_LINE
        stack.holes += 1
    return depth, left


@inline
def _begin(c, shape, stack, epoch, number):
    """A stack was emptied."""
    stack.begun, stack.holes = epoch, 0
    stack.first = shape.lines + number * shape.room
    stack.top = stack.first + shape.room - shape.ways
    for at in range(stack.top, stack.top + shape.ways):
        c.lines[at] = NO_LINE


@force_inline
def _count_sectors(c, spec, k, kind, top, depth, sectors, moves):
    """Count the sectors of an access; those that a cache of ``filter`` ways has not.

    They have come now, but for those of an access that takes no room.
    """
    ways = c.shapes[k].ways
    missing = 0
    there = depth < ways
    deeps = c.deep[top + depth] if there else 0
    now = 0
    for s in range(spec.sectors):
        deep = max((deeps >> _BITS * s) & NEVER, depth) if there else NEVER
        if (sectors >> s) & 1:
            c.depths[k, kind, min(deep, ways)] += 1
            missing |= 1 << s if deep >= spec.filter else 0
        else:
            now |= deep << _BITS * s
    if there and moves:
        c.deep[top + depth] = now
    return missing


@force_inline
def _come_up(c, spec, shape, stack, line, depth, sectors):
    """A line comes to the top of its stack, from a depth; those above a hole go down into it."""
    top = stack.top
    there = depth < shape.ways
    hole = depth
    if stack.holes > 0:
        hole = 0
        while hole < depth and c.lines[top + hole] != NO_LINE:
            hole += 1
    now = 0
    if spec.sectored:
        now = c.deep[top + depth] if there else _only(spec, sectors)
    if hole < shape.ways:
        _go_down(c, spec, top, top, hole)
        if hole < depth:
            if there:
                c.lines[top + depth] = NO_LINE
            else:
                stack.holes -= 1
    else:
        top = _grow(c, spec, shape, stack)
    c.lines[top] = line
    if spec.sectored:
        c.deep[top] = now


@force_inline
def _go_down(c, spec, top, to, count):
    """So many lines from the top on go to the places behind another."""
    for k in range(count, 0, -1):
        c.lines[to + k] = c.lines[top + k - 1]
    if spec.sectored:
        for k in range(count, 0, -1):
            c.deep[to + k] = c.deep[top + k - 1]


@force_inline
def _grow(c, spec, shape, stack):
    """The top moves up by one, and the lowest line is forgotten."""
    top = stack.top
    if top == stack.first:  # to the end of its places
        stack.top = top + shape.room - shape.ways
        _go_down(c, spec, top, stack.top, shape.ways - 1)
    else:
        stack.top = top - 1
    return stack.top


@inline
def _only(spec, sectors):
    """The depths of the sectors of a line that has just come with some of them."""
    word = 0
    for s in range(spec.sectors):
        word |= 0 if (sectors >> s) & 1 else NEVER << _BITS * s
    return word
