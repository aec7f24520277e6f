"""Caches without sectors in which lines are given up rarely: lines know when they were used."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from lockstep._jit import Records, as_records
from lockstep.caches.accesses import LINE_BYTES, LINE_SECTORS
from lockstep.caches.listed import EntryLists
from lockstep.caches.lookups import FEW, KINDS, Level, StackLookups, StackShape
from lockstep.caches.meetings import meet_listed
from lockstep.caches.order import ENTRY
from lockstep.caches.recency import (
    BLOCK_ENTRIES,
    NO_LINE,
    RECENCY,
    SPAN,
    USE,
    USE_PASS,
    WIDE,
    Recency,
    move,
    settle,
)

MOST_TIME = (1 << 31) - 2
MASKS = 1 << LINE_SECTORS
NOTHING_LEFT = as_records(np.zeros(0, ENTRY))


class _Pass(NamedTuple):
    """Shapes of one size of lines: of a :class:`.Stacks`."""

    level: Level
    shapes: Sequence[StackShape]

    @property
    def parts(self) -> int:
        """Its lines in one of the stream."""
        return LINE_BYTES // self.level.sets.line_bytes


class UseTimes:
    """Looks entries up for all shapes of some :class:`.Stacks`, up to where a cache gives up a line
    that it has: from there on its entries are for the stacks, until all caches are emptied.

    All of these are of the same caches, which differ in their sizes of lines, sets and ways; sets
    are the low bits of lines.
    """

    def __init__(self, shared: bool = False):
        """``shared``: what is looked up for one pass is for all, until ``follow`` is called."""
        self._shared, self._passes = shared, list[_Pass]()
        self._built: Recency | None = None
        self._made = False
        self._rest, self._newly = NOTHING_LEFT, np.zeros(0, np.int64)

    def add(self, level: Level, shapes: Sequence[StackShape]) -> int:
        """Another pass, before the first look: its number."""
        self._passes.append(_Pass(level, shapes))
        return len(self._passes) - 1

    def forget(self) -> None:
        """Empty all caches."""
        u = self._context
        u.emptied[:], u.newest[:] = u.now, NO_LINE
        self._settled[:] = False

    def follow(self) -> None:
        """Other entries follow."""
        self._made = False

    def look_up(self, number: int, stacks: StackLookups, entries: Records, count: int) -> Records:
        """Pass the first ``count`` entries; those that are left to the stacks of a pass."""
        if not self._made:
            self._take(entries, count)
            self._made = self._shared
        for cache in self._newly.tolist():
            settle(self._context, number, stacks, cache)
        return self._rest

    def depths(self, number: int, shape: int) -> np.ndarray:
        """Accesses of each kind by depth in a shape of a pass: int64 [KINDS, ways + 1]."""
        u, of = self._context, self._context.passes[number]
        k, parts = int(of.first) + shape, int(of.parts)
        ways = int(u.spans[k].ways)
        made = u.met[k, :, : ways + 1].copy()
        made[:, ways] += u.met[k, :, ways + 1 :].sum(axis=1) + u.missed[number]
        made[:, 0] += u.met[k + 1 : int(of.last) + 1, :, 0].sum(axis=0)
        own = (1 << LINE_SECTORS // parts) - 1
        shifts = np.arange(parts) * (LINE_SECTORS // parts)
        touched = (np.arange(MASKS)[:, None] >> shifts & own != 0).sum(axis=1)
        made[:, 0] += u.tops @ touched
        made[:, ways] += u.absent @ touched
        return made

    @property
    def _context(self) -> Recency:
        if self._built is None:
            self._built = _build(self._passes)
            self._lists = EntryLists(len(self._built.now))
            self._now, self._left = self._built.now, self._built.left
            self._settled = np.zeros(len(self._now), bool)
        return self._built

    def _take(self, entries: Records, count: int) -> None:
        u = self._context
        listed = self._lists.of(entries, count)
        if self._now.max() > MOST_TIME - LINE_SECTORS * count:
            _renumber(u)
        begins, ends = listed.begins[:-1], listed.begins[1:]
        u.at[:] = begins
        self._left[:] = np.where(self._settled, -1, begins)
        while meet_listed(u, listed) >= 0:
            u = self._built = _with_more_slots(u)
        self._newly = np.flatnonzero((self._left < ends) & ~self._settled)
        if (self._left == ends).all():
            self._rest = NOTHING_LEFT
            return
        self._settled[self._newly] = True
        parts = [listed.items[begin:end] for begin, end in zip(self._left, ends)]
        rest = np.concatenate(parts)
        made = np.zeros(len(rest), ENTRY)
        for name in ("line", "sectors", "kind", "flags", "sm"):
            made[name] = rest[name]
        self._rest = as_records(made)


def _build(passes: Sequence[_Pass]) -> Recency:
    """What some passes take, with caches that have nothing."""
    level, count = passes[0].level, len(passes)
    table = np.zeros(count, USE_PASS)
    spans: list[tuple] = []
    size = listed = 0
    for k, each in enumerate(passes):
        shapes = each.shapes
        first, most, widest = len(spans), 0, len(spans)
        for shape in shapes:
            mask, room = shape.sets - 1, _room(shape.ways)
            own = shape.sets * room
            widest = len(spans) if shape.ways > most else widest
            spans.append((mask, room, shape.ways, size, own, shape.ways > most))
            most = max(most, shape.ways)
            size += level.caches * own
            size += -size % WIDE
        table[k] = (first, len(spans) - 1, widest, each.parts, listed, 0)
        listed += each.parts * BLOCK_ENTRIES
    spec, slots = as_records(np.zeros(1, RECENCY)), 4 * BLOCK_ENTRIES
    classes = _classes(passes)
    spec[0] = (level.caches, level.l2, level.evict, classes, slots, count)
    width = max(span[1] for span in spans) + 1
    numbers = np.zeros((5, level.caches), np.int64)
    return Recency(
        spec,
        as_records(table),
        as_records(np.array(spans, SPAN)),
        *_slots(level.caches, slots, numbers[0]),
        numbers[1],
        numbers[2],
        np.full(level.caches * classes, NO_LINE),
        np.zeros(level.caches * classes, np.int64),
        _times(size),
        as_records(np.zeros(listed, USE)),
        np.zeros((KINDS, MASKS), np.int64),
        np.zeros((len(spans), KINDS, width), np.int64),
        np.zeros((count, KINDS), np.int64),
        np.zeros((KINDS, MASKS), np.int64),
        numbers[3],
        numbers[4],
    )


def _slots(caches: int, slots: int, held: np.ndarray) -> tuple[np.ndarray, ...]:
    """``lines`` to ``spare_times`` of :class:`.Recency`."""
    return (
        np.full(caches * slots, NO_LINE),
        np.zeros(caches * slots * LINE_SECTORS, np.int32),
        held,
        np.zeros(slots, np.int64),
        np.zeros(slots * LINE_SECTORS, np.int32),
    )


def _with_more_slots(u: Recency) -> Recency:
    """The same with twice as many slots."""
    spec = as_records(u.spec.copy())
    spec[0].slots *= 2
    names = ("lines", "times", "held", "spare_lines", "spare_times")
    made = _slots(len(u.held), int(spec[0].slots), np.zeros_like(u.held))
    grown = u._replace(spec=spec, **dict(zip(names, made)))
    move(u, grown)
    return grown


def _renumber(u: Recency) -> None:
    """Times become small numbers in the same order."""
    known = np.concatenate([u.stacks, u.times, u.emptied.astype(np.int32)])
    _, numbers = np.unique(known, return_inverse=True)
    sizes = np.cumsum([len(u.stacks), len(u.times)])
    u.stacks[:], u.times[:], u.emptied[:] = np.split(numbers, sizes)
    u.now[:] = numbers.max()


def _classes(passes: Sequence[_Pass]) -> int:
    """Classes of lines, of which no set of any pass has two; 0 if parts of one may share a set."""
    return min(each.shapes[-1].sets // each.parts for each in passes)


def _room(ways: int) -> int:
    """Times that a set has room for."""
    if ways <= FEW:
        return 1 if ways == 1 else FEW
    return -(-ways // WIDE) * WIDE


def _times(count: int) -> np.ndarray:
    """So many zeros, untouched, where sets of WIDE lie in single cache lines of the host."""
    made = np.zeros(count + WIDE, np.int32)
    return made[-(made.ctypes.data // made.itemsize) % WIDE :]
