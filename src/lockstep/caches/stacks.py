"""LRU caches of all associativities in one pass: a stack of lines for each set (Mattson, 1970).

The line at depth d of its set's stack is in every cache with more than d ways, and so a pass counts
at which depth each access finds its line. With sectors, a sector is in a cache if its line has
never left it since the sector came: it remembers the greatest depth at which its line was touched
since then. A line that is given up leaves a hole, which the next line that comes from below it, or
from nowhere, fills: in a cache so large that the line was in it, a way is free.

Caches of fewer sets are passed together where these are sets of the first ones put together: there
a line lies no higher, since whatever lies above it in a set does so in all sets that hold this one
(Hill and Smith, "Evaluating associativity in CPU caches", 1989). So what lies on top where sets are
fewest does so everywhere, and nothing moves: accesses go from fewest sets to most, without those
that found all that they need on top.

Where lines come whole, their low bits are their sets, and nothing goes on to a level below, this is
done without stacks, for as long as no line is given up: see :mod:`~lockstep.caches.meetings`.
"""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from lockstep._jit import Records, as_records
from lockstep.caches.accesses import LINE_BYTES, LINE_SECTORS
from lockstep.caches.depths import look_up, renew
from lockstep.caches.lookups import (
    ACCESS,
    BLOCK,
    FEW,
    KINDS,
    MOST_EPOCHS,
    SHAPE,
    SPEC,
    TOGETHER,
    Level,
    StackLookups,
    StackShape,
)
from lockstep.caches.order import ENTRY
from lockstep.caches.uses import UseTimes

MOST_WAYS = 1 << 14


class Stacks:
    """A pass over a stream, in parts: through caches of a level, and of ``fewer`` sets than these.

    ``fewer`` shapes have fewer and fewer sets, and each number divides the one before; the sets of
    the level are then the low bits of lines, and it keeps nothing. An access is one of a line, or
    of a sector where there are sectors. An L1 is not asked for what goes past it. ``uses`` may be
    those of other passes, too.
    """

    def __init__(
        self,
        level: Level,
        fewer: Sequence[StackShape] = (),
        uses: UseTimes | None = None,
    ):
        shapes = [StackShape(level.sets.count, level.ways), *fewer]
        for shape in shapes:
            if not 1 <= shape.ways <= MOST_WAYS:
                raise ValueError(f"{shape.ways} ways")
        counts = [shape.sets for shape in shapes]
        if fewer and (
            level.keeps or not level.sets.nest or any(a % b for a, b in pairwise(counts))
        ):
            raise ValueError(f"{counts} sets in one pass")
        spec = as_records(np.zeros(1, SPEC))
        s = spec[0]
        s.shapes, s.parts = len(shapes), LINE_BYTES // level.sets.line_bytes
        s.sectors = LINE_SECTORS // s.parts
        s.caches, s.l2, s.evict = level.caches, level.l2, level.evict
        s.sectored, s.filter = level.sectored, level.keeps
        table, size = np.zeros(len(shapes), SHAPE), 0
        for k, shape in enumerate(shapes):
            mask, room = shape.sets - 1 if k else -1, _room(shape.ways)
            table[k] = (shape.sets, mask, shape.ways, room, size)
            size += level.caches * shape.sets * room
            size += -size % BLOCK
        self._epochs = np.ones(level.caches, np.int64)
        self.level, self._shapes = level, {shape.sets: k for k, shape in enumerate(shapes)}
        self._tops = np.zeros((len(shapes) + 1, KINDS), np.int64)
        most = max(shape.ways for shape in shapes)
        self._depths = np.zeros((len(shapes), KINDS, most + 1), np.int64)
        self._spec = s
        self._context = StackLookups(
            spec,
            level.sets.rows(),
            as_records(table),
            self._epochs,
            np.zeros(len(shapes), np.int64),
            _words(size),
            _words(size if level.sectored else 0),
            self._tops,
            self._depths,
            *np.zeros((2, level.caches), np.int64),
            as_records(np.zeros(s.parts * TOGETHER, ACCESS)),
            np.zeros(1, np.int64),
            as_records(np.zeros(1, ENTRY)),
        )
        timed = level.sets.nest and not level.sectored and not level.keeps
        self._uses = uses or UseTimes() if timed else None
        self._number = self._uses.add(level, shapes) if self._uses else 0

    def forget(self) -> None:
        """Empty all caches; what was counted stays."""
        self._epochs += 1
        if self._epochs.max() > MOST_EPOCHS:
            renew(self._context, MOST_EPOCHS)
        if self._uses:
            self._uses.forget()

    def look_up(self, entries: Records, count: int) -> Records:
        """Pass the first ``count`` entries; what goes on to the level below, valid until called
        again."""
        most = self._spec.parts * count
        if self.level.keeps and len(self._context.out) < most:
            left, out = np.zeros(most, np.int64), as_records(np.zeros(most, ENTRY))
            self._context = self._context._replace(left=left, out=out)
        if self._uses:
            entries = self._uses.look_up(self._number, self._context, entries, count)
            count = len(entries)
            if not count:
                return entries
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
        return made + self._uses.depths(self._number, k) if self._uses else made

    def misses(self, sets: int, ways: int) -> np.ndarray:
        """Accesses that miss a cache of so many sets and ways, of each kind: int64 [KINDS]."""
        return self.depths(sets)[:, ways:].sum(axis=1)

    @property
    def accesses(self) -> np.ndarray:
        """Accesses of each kind: int64 [KINDS]."""
        return self.depths(self.level.sets.count).sum(axis=1)


def _room(ways: int) -> int:
    """Lines that a stack has: 1, FEW, or blocks."""
    if ways <= FEW:
        return 1 if ways == 1 else FEW
    return -(-ways // BLOCK) * BLOCK


def _words(count: int) -> np.ndarray:
    """So many zeros, untouched, where blocks of them lie in single cache lines of the host."""
    made = np.zeros(count + BLOCK, np.int64)
    return made[-(made.ctypes.data // made.itemsize) % BLOCK :]
