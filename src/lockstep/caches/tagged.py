"""Caches of one configuration, by the tags and the replacement of the model, without time.

What :class:`~lockstep.caches.stacks.Stacks` finds for LRU and all associativities at once this
finds for any replacement and one: with LRU both count the same. A line that misses is there at
once. What an L2 lets by are reads of what it has not, and writes of what was written to lines that
make room for others.
"""

import functools
from collections.abc import Callable

import numpy as np

from lockstep._jit import Context, Records, as_records, force_inline, inline, jit, popcount
from lockstep.caches import ahead
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
from lockstep.caches.ahead import Ahead, Prefetching
from lockstep.caches.depths import pass_on
from lockstep.caches.geometry import RowFinder, line_of, number_of, row_of
from lockstep.caches.lookups import KINDS, Level
from lockstep.caches.order import ENTRY
from lockstep.model.cache import replacement, tags
from lockstep.model.cache.prefetch.table import FIRST_USE, HIT, MISS
from lockstep.model.cache.tags import Tags

USER = "user"
REPLACEMENTS = tuple(tags.REPLACEMENT)

_SPEC = np.dtype(
    [
        (name, "i8")
        for name in (
            "sets", "parts", "sectors", "whole", "l2", "evict", "sectored", "keeps", "fetches",
            "slice_sets", "ahead", "out",
        )
    ]
)  # fmt: skip
_ACCESSES, _MISSES = range(2)
_compile_victim = functools.cache(replacement.compile_victim)  # a hundred passes have the same


class _Tagged(Context):
    """What the compiled side reads and writes."""

    spec: Records  # _SPEC, one
    rows: RowFinder
    epochs: np.ndarray  # int64 [caches]: how often each was emptied, and one more
    begun: np.ndarray  # int64 [caches * sets]: the epoch that a row is of; else it is empty
    tags: Tags
    counts: np.ndarray  # int64 [2, KINDS]: accesses and misses
    out: Records  # ENTRY: what goes on to the level below
    victim: object  # the user's policy of replacement, or its stand-in
    ahead: Ahead


class Tagged:
    """A pass over a stream, in parts, with the methods of ``Stacks``; of ``level.ways`` ways.

    ``how`` is one of REPLACEMENTS; ``victim`` a user's, as ``lockstep.simulate`` takes it. With a
    prefetcher, what it brings is no access.
    ``fetches``: an L2 reads all that it has not before it is written; else that of which the stream
    writes a part, which are lines where there are no sectors.
    """

    def __init__(
        self,
        level: Level,
        how: str = "lru",
        victim: Callable | None = None,
        fetches: bool = False,
        prefetching: Prefetching = Prefetching(),  # noqa: B008 -- immutable
    ):
        if how not in REPLACEMENTS or (how == USER) != (victim is not None):
            raise ValueError(f"replacement {how!r}")
        spec = as_records(np.zeros(1, _SPEC))
        s = spec[0]
        s.sets, s.parts = level.sets.count, LINE_BYTES // level.sets.line_bytes
        s.sectors = LINE_SECTORS // s.parts
        s.whole = (1 << s.sectors) - 1
        s.l2, s.evict, s.sectored, s.keeps = level.l2, level.evict, level.sectored, level.keeps > 0
        s.fetches, s.ahead = fetches, prefetching.name != "none"
        s.slice_sets = level.sets.count // level.sets.slices
        self.level = level
        self._epochs, self._counts = np.ones(level.caches, np.int64), np.zeros((2, KINDS), np.int64)
        self._spec, self._most = s, int(s.parts * (1 + prefetching.most) * (1 + level.l2))
        lines = tags.build(level.caches, level.sets.count, level.ways, how)
        tables = level.sets.slices if level.l2 else level.caches
        self._context = _Tagged(
            spec,
            level.sets.rows(),
            self._epochs,
            np.ones(level.caches * level.sets.count, np.int64),
            lines,
            self._counts,
            as_records(np.zeros(1, ENTRY)),
            _compile_victim(victim or replacement.first_way),
            ahead.build(prefetching, lines, tables, level.sets.line_bytes, level.l2),
        )

    def forget(self) -> None:
        """Empty all caches; what was counted stays."""
        self._epochs += 1

    def look_up(self, entries: Records, count: int) -> Records:
        """Pass the first ``count`` entries; what goes on to the level below, valid until called
        again."""
        most = self._most * count + 1
        if self.level.keeps and len(self._context.out) < most:
            self._context = self._context._replace(out=as_records(np.zeros(most, ENTRY)))
        look_up(self._context, entries, count)
        return self._context.out[: self._spec.out]

    def misses(self, sets: int, ways: int) -> np.ndarray:
        """Accesses that miss, of each kind: int64 [KINDS]; sets and ways are those of the level."""
        assert (sets, ways) == (self.level.sets.count, self.level.ways), "of one configuration"
        return self._counts[_MISSES]

    @property
    def fates(self) -> np.ndarray:
        """What became of prefetches: int64 [4], see ``ahead``."""
        return self._context.ahead.fates.sum(axis=0)

    @property
    def accesses(self) -> np.ndarray:
        """Accesses of each kind: int64 [KINDS]."""
        return self._counts[_ACCESSES]


@jit
def look_up(c, entries, count):
    """Pass entries through the caches."""
    spec = c.spec[0]
    spec.out = 0
    for k in range(count):
        entry = entries[k]
        if entry.kind == INVALIDATE:
            if spec.l2 == 0:
                c.epochs[entry.sm] += 1
        elif spec.l2 == 0 and entry.flags & PAST_L1:
            if entry.kind != READ:
                _drop(c, spec, entry)
            if spec.keeps:
                pass_on(c, spec, entry, entry.sectors)
        else:
            for part in range(spec.parts):
                sectors = (entry.sectors >> part * spec.sectors) & spec.whole
                if sectors:
                    _look_up(c, spec, entry, entry.line * spec.parts + part, sectors, part)


@force_inline
def _look_up(c, spec, entry, line, sectors, part):
    """One access to a line, which is a part of a line of the stream."""
    cache = entry.sm if spec.l2 == 0 else 0
    row = _row(c, spec, cache, line)
    t = row // spec.slice_sets if spec.ahead else 0
    way = tags.find(c.tags, cache, row, line)
    met = MISS
    if spec.l2 != 0 or entry.kind == READ:
        left, met = _use(c, spec, entry, cache, row, way, line, sectors, t)
    else:
        left = _pass_by(c, spec, entry, row, way, sectors, t)
    if spec.keeps and left:
        pass_on(c, spec, entry, left << part * spec.sectors)
        if spec.l2:
            c.out[spec.out - 1].kind = READ
    if spec.ahead and entry.kind == READ:
        _ask(c, spec, entry, cache, line, t, met)


@force_inline
def _row(c, spec, cache, line):
    """The row of a line, which begins if it was emptied."""
    row = row_of(c.rows, line) + cache * spec.sets
    if c.begun[row] != c.epochs[cache]:
        _begin(c, spec, cache, row)
    return row


@inline
def _drop(c, spec, entry):
    """A line is written behind the back of an L1."""
    for part in range(spec.parts):
        if (entry.sectors >> part * spec.sectors) & spec.whole:
            line = entry.line * spec.parts + part
            row = entry.sm * spec.sets + row_of(c.rows, line)
            way = tags.find(c.tags, entry.sm, row, line)
            if c.begun[row] == c.epochs[entry.sm] and way >= 0:
                if spec.ahead:
                    ahead.lose(c.ahead, row // spec.slice_sets, row, way)
                tags.invalidate(c.tags, row, way)


@inline
def _begin(c, spec, cache, row):
    """A row was emptied."""
    c.begun[row] = c.epochs[cache]
    for way in range(c.tags.shape[0].ways):
        if spec.ahead:
            ahead.lose(c.ahead, row // spec.slice_sets, row, way)
        tags.forget(c.tags, row, way)


@force_inline
def _pass_by(c, spec, entry, row, way, sectors, t):
    """A write or an atomic goes past an L1, which may lose the line; what goes on."""
    if spec.sectored:
        missing = sectors & ~tags.way_of(c.tags, row, way).valid if way >= 0 else sectors
        c.counts[_ACCESSES, entry.kind] += popcount(sectors)
        c.counts[_MISSES, entry.kind] += popcount(missing)
    else:
        c.counts[_ACCESSES, entry.kind] += 1
        c.counts[_MISSES, entry.kind] += way < 0
    if way >= 0 and (entry.kind == ATOMIC or (spec.evict and entry.flags & PRIVATE == 0)):
        if spec.ahead:
            ahead.lose(c.ahead, t, row, way)
        tags.invalidate(c.tags, row, way)
    return sectors


@force_inline
def _use(c, spec, entry, cache, row, way, line, sectors, t):
    """An access takes room for its line, and stays; what goes on, and what the access met."""
    missing = sectors
    first = 0
    if way < 0:
        way = _make_room(c, spec, entry, cache, row, t)
        record = replacement.insert(c.tags, cache, row, way, line, 0)
    else:
        record = tags.way_of(c.tags, row, way)
        missing = sectors & ~record.valid
        replacement.touch(c.tags, cache, row, way, 0)
        if spec.ahead and entry.kind != WRITE and missing != sectors:
            first = ahead.use(c.ahead, t, row, way)
    met = FIRST_USE if first else MISS if missing else HIT
    if spec.sectored:
        record.valid |= sectors
        c.counts[_ACCESSES, entry.kind] += popcount(sectors)
        c.counts[_MISSES, entry.kind] += popcount(missing)
    else:
        record.valid = spec.whole
        c.counts[_ACCESSES, entry.kind] += 1
        c.counts[_MISSES, entry.kind] += missing != 0
        complete = sectors == spec.whole
        missing = spec.whole if missing else 0
        if spec.l2 and entry.kind == WRITE and spec.fetches == 0 and complete:
            missing = 0
    if spec.l2 and entry.kind != READ:
        record.dirty |= sectors if spec.sectored else spec.whole
        if spec.sectored and entry.kind == WRITE and spec.fetches == 0:
            missing = 0
    return missing, met


@inline
def _make_room(c, spec, entry, cache, row, t):
    """The way that makes room; what was written to it goes to the level below."""
    way = replacement.victim(c.tags, cache, row, c.victim)
    if spec.ahead:
        ahead.lose(c.ahead, t, row, way)
    if spec.l2 and spec.keeps:
        line = tags.line_of(c.tags, row, way)
        dirty = tags.way_of(c.tags, row, way).dirty
        if line != tags.NO_LINE and dirty:
            pass_on(c, spec, entry, dirty << line % spec.parts * spec.sectors)
            out = c.out[spec.out - 1]
            out.line, out.kind = line // spec.parts, WRITE
    return way


@jit
def _ask(c, spec, entry, cache, line, t, met):
    """The prefetcher sees an access; what it asks for comes."""
    ahead.tell(c.ahead, t)
    given = c.ahead.state
    if spec.l2:
        number = number_of(c.rows, line)
        n = c.ahead.l2(number, met, given.tables[t], given.out[t])
    else:
        n = c.ahead.l1(entry.site, line, entry.warp, met, given.tables[t], given.out[t])
    if n < 0 or n > given.out.shape[1]:
        return
    for k in range(n):
        wanted = given.out[t, k].line
        if ahead.is_line(c.ahead, wanted):
            if spec.l2:
                wanted = line_of(c.rows, t, wanted)
            _bring(c, spec, entry, cache, wanted, t)


@inline
def _bring(c, spec, entry, cache, line, t):
    """A line that was asked for comes, if it is not here."""
    row = _row(c, spec, cache, line)
    way = tags.find(c.tags, cache, row, line)
    if way < 0:
        way = _make_room(c, spec, entry, cache, row, t)
        replacement.insert(c.tags, cache, row, way, line, 0)
    record = tags.way_of(c.tags, row, way)
    missing = spec.whole & ~record.valid
    if missing == 0:
        c.ahead.fates[t, ahead.REDUNDANT] += 1
        return
    record.valid = spec.whole
    ahead.mark(c.ahead, t, row, way)
    if spec.keeps:
        pass_on(c, spec, entry, missing << line % spec.parts * spec.sectors)
        out = c.out[spec.out - 1]
        out.line, out.kind = line // spec.parts, READ
