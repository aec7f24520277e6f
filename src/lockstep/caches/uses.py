"""Caches without sectors in which lines are given up rarely: lines know when they were used."""

from collections.abc import Sequence
from itertools import groupby

import numpy as np

from lockstep._jit import Records, as_records
from lockstep.caches.accesses import LINE_BYTES, LINE_SECTORS
from lockstep.caches.listed import EntryLists
from lockstep.caches.lookups import FEW, KINDS, Level, StackLookups, StackShape
from lockstep.caches.order import ENTRY
from lockstep.caches.recency import (
    CHAIN,
    NO_LINE,
    RECENCY,
    SPAN,
    WIDE,
    Recency,
    meet_listed,
    settle,
)

MOST_TIME = (1 << 31) - 1


class UseTimes:
    """Looks entries up for all shapes of :class:`.Stacks`, up to where a cache gives up a line that
    it has: from there on its entries are for the stacks, until all caches are emptied."""

    def __init__(self, level: Level, shapes: Sequence[StackShape], lists: EntryLists | None = None):
        self._lists = lists or EntryLists(level.caches)
        spec = as_records(np.zeros(1, RECENCY))
        s = spec[0]
        s.parts = LINE_BYTES // level.sets.line_bytes
        s.shapes, s.sectors = len(shapes), LINE_SECTORS // s.parts
        s.caches, s.l2, s.evict = level.caches, level.l2, level.evict
        s.fewest, s.low = shapes[-1].sets, _mask(shapes, len(shapes) - 1)
        chains, spans, self._chains, orders, ways = _chains(level, shapes)
        s.chains = len(chains)
        most = max(shape.ways for shape in shapes)
        self._missed = np.zeros((len(chains), KINDS), np.int64)
        self._met = np.zeros((len(shapes), KINDS, most + 1), np.int64)
        self._tops = np.zeros((len(shapes) + 1, KINDS), np.int64)
        self._now, self._emptied, self._left = np.zeros((3, level.caches), np.int64)
        self._settled = np.zeros(level.caches, bool)
        self._ways = [shape.ways for shape in shapes]
        self._times = np.zeros(ways, np.int32)
        self._context = Recency(
            spec,
            level.sets.rows(),
            as_records(np.array(chains, CHAIN)),
            as_records(spans),
            np.array(orders, np.int64),
            self._now,
            self._emptied,
            np.full(level.caches * shapes[-1].sets, NO_LINE),
            np.zeros(ways, np.int64),
            self._times,
            np.zeros(ways, np.uint8),
            self._tops,
            self._met,
            self._missed,
            self._left,
        )

    def forget(self) -> None:
        """Empty all caches."""
        self._emptied[:] = self._now
        self._context.newest[:] = NO_LINE
        self._settled[:] = False

    def look_up(self, stacks: StackLookups, entries: Records, count: int) -> Records:
        """Pass the first ``count`` entries; those that are left to the stacks."""
        listed = self._lists.of(entries, count)
        if self._now.max() > MOST_TIME - LINE_SECTORS * count:
            self._renumber()
        self._left[:] = np.where(self._settled, -1, 0)
        meet_listed(self._context, listed)
        ends = listed.begins[1:]
        if (self._left == ends).all():
            return as_records(np.zeros(0, ENTRY))
        for cache in np.flatnonzero((self._left < ends) & ~self._settled).tolist():
            settle(self._context, stacks, cache)
            self._settled[cache] = True
        parts = [listed.items[begin:end] for begin, end in zip(self._left, ends)]
        rest = np.concatenate(parts)
        made = np.zeros(len(rest), ENTRY)
        for name in ("line", "sectors", "kind", "flags", "sm"):
            made[name] = rest[name]
        return as_records(made)

    def depths(self, shape: int) -> np.ndarray:
        """Accesses of each kind by depth in a shape: int64 [KINDS, ways + 1]."""
        ways = self._ways[shape]
        made = self._met[shape, :, : ways + 1].copy()
        made[:, 0] += self._tops[shape + 1 :].sum(axis=0)
        # What lies on top of the sets of a chain never came to the chains of more sets.
        made[:, ways] += self._missed[self._chains[shape]]
        return made

    def _renumber(self) -> None:
        """Times become small numbers in the same order."""
        known = np.concatenate([self._times, self._emptied])
        _, numbers = np.unique(known, return_inverse=True)
        self._times[:], self._emptied[:] = np.split(numbers, [len(self._times)])
        self._now[:] = numbers.max()


def _chains(
    level: Level, shapes: Sequence[StackShape]
) -> tuple[list[tuple], np.ndarray, np.ndarray, list[int], int]:
    """Shapes that follow each other and have equal room, those of fewest sets first.

    Gives the chains and SPANs of :class:`.Recency`, the chain of each shape, orders of sets, and
    how many ways all of it has.
    """
    made: list[tuple] = []
    spans, numbers = np.zeros(len(shapes), SPAN), np.zeros(len(shapes), np.int64)
    orders: list[int] = []
    ways = 0
    alike = groupby(range(len(shapes)), lambda k: _room(shapes[k]))
    for group in reversed([list(group) for _, group in alike]):
        first, last, room = group[0], group[-1], _room(shapes[group[0]])
        sets, fewest = shapes[first].sets, shapes[last].sets
        for k in group:
            spans[k], numbers[k] = (sets // shapes[k].sets, shapes[k].ways), len(made)
        shift = (sets // fewest).bit_length() - 1
        bits = 62 if len(shapes) == 1 else fewest.bit_length() - 1  # of a hash: none is above them
        masks = _mask(shapes, first), _mask(shapes, last)
        made.append((first, last, sets, *masks, bits, shift, len(orders), room, ways))
        orders += [int(f"{n:0{shift}b}"[::-1], 2) if shift else 0 for n in range(1 << shift)]
        ways += level.caches * sets * room
    return made, spans, numbers, orders, ways


def _room(shape: StackShape) -> int:
    """Ways that a set has room for."""
    return FEW if shape.ways <= FEW else max(WIDE, 1 << (shape.ways - 1).bit_length())


def _mask(shapes: Sequence[StackShape], k: int) -> int:
    """What of a row is that of a shape: all of it, if there is one alone."""
    return shapes[k].sets - 1 if len(shapes) > 1 else -1
