"""Caches of one configuration, by the tags and the replacement of the model, without time.

What :class:`~lockstep.caches.stacks.Stacks` finds for LRU and all associativities at once this
finds for any replacement and one: with LRU both count the same. A line that misses is there at
once. What an L2 lets by are reads of what it has not, and writes of what was written to lines that
make room for others.
"""

from collections.abc import Callable

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
from lockstep.caches.geometry import RowFinder, row_of
from lockstep.caches.order import ENTRY
from lockstep.caches.stacks import KINDS, Level, pass_on
from lockstep.model.cache import replacement, tags
from lockstep.model.cache.tags import Tags

USER = "user"
REPLACEMENTS = tuple(tags.REPLACEMENT)

_SPEC = np.dtype(
    [
        (name, "i8")
        for name in (
            "sets", "parts", "sectors", "whole", "l2", "evict", "sectored", "keeps", "fetches",
            "out",
        )
    ]
)  # fmt: skip
_ACCESSES, _MISSES = range(2)


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


class Tagged:
    """A pass over a stream, in parts, with the methods of ``Stacks``; of ``level.ways`` ways.

    ``how`` is one of REPLACEMENTS; ``victim`` a user's, as ``lockstep.simulate`` takes it.
    ``fetches``: an L2 reads all that it has not before it is written; else that of which the stream
    writes a part, which are lines where there are no sectors.
    """

    def __init__(
        self,
        level: Level,
        how: str = "lru",
        victim: Callable | None = None,
        fetches: bool = False,
    ):
        if how not in REPLACEMENTS or (how == USER) != (victim is not None):
            raise ValueError(f"replacement {how!r}")
        spec = as_records(np.zeros(1, _SPEC))
        s = spec[0]
        s.sets, s.parts = level.sets.count, LINE_BYTES // level.sets.line_bytes
        s.sectors = LINE_SECTORS // s.parts
        s.whole = (1 << s.sectors) - 1
        s.l2, s.evict, s.sectored, s.keeps = level.l2, level.evict, level.sectored, level.keeps > 0
        s.fetches = fetches
        self.level = level
        self._epochs, self._counts = np.ones(level.caches, np.int64), np.zeros((2, KINDS), np.int64)
        self._spec = s
        self._context = _Tagged(
            spec,
            level.sets.rows(),
            self._epochs,
            np.ones(level.caches * level.sets.count, np.int64),
            tags.build(level.caches, level.sets.count, level.ways, how),
            self._counts,
            as_records(np.zeros(1, ENTRY)),
            replacement.compile_victim(victim or replacement.first_way),
        )

    def forget(self) -> None:
        """Empty all caches; what was counted stays."""
        self._epochs += 1

    def look_up(self, entries: Records, count: int) -> Records:
        """Pass the first ``count`` entries; what goes on to the level below, valid until called
        again."""
        most = LINE_SECTORS * count * (1 + self.level.l2) + 1
        if self.level.keeps and len(self._context.out) < most:
            self._context = self._context._replace(out=as_records(np.zeros(most, ENTRY)))
        look_up(self._context, entries, count)
        return self._context.out[: self._spec.out]

    def misses(self, ways: int) -> np.ndarray:
        """Accesses that miss, of each kind: int64 [KINDS]; ``ways`` are those of the level."""
        assert ways == self.level.ways, "of one configuration"
        return self._counts[_MISSES]

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
    row = row_of(c.rows, line)
    cache = 0
    if spec.l2 == 0:
        cache = entry.sm
        row += cache * spec.sets
    if c.begun[row] != c.epochs[cache]:
        _begin(c, cache, row)
    way = tags.find(c.tags, cache, row, line)
    if spec.l2 != 0 or entry.kind == READ:
        left = _use(c, spec, entry, cache, row, way, line, sectors)
    else:
        left = _pass_by(c, spec, entry, row, way, sectors)
    if spec.keeps and left:
        pass_on(c, spec, entry, left << part * spec.sectors)
        if spec.l2:
            c.out[spec.out - 1].kind = READ


@inline
def _drop(c, spec, entry):
    """A line is written behind the back of an L1."""
    for part in range(spec.parts):
        if (entry.sectors >> part * spec.sectors) & spec.whole:
            line = entry.line * spec.parts + part
            row = entry.sm * spec.sets + row_of(c.rows, line)
            way = tags.find(c.tags, entry.sm, row, line)
            if c.begun[row] == c.epochs[entry.sm] and way >= 0:
                tags.invalidate(c.tags, row, way)


@inline
def _begin(c, cache, row):
    """A row was emptied."""
    c.begun[row] = c.epochs[cache]
    for way in range(c.tags.shape[0].ways):
        tags.forget(c.tags, row, way)


@force_inline
def _pass_by(c, spec, entry, row, way, sectors):
    """A write or an atomic goes past an L1, which may lose the line; what goes on."""
    if spec.sectored:
        missing = sectors & ~tags.way_of(c.tags, row, way).valid if way >= 0 else sectors
        c.counts[_ACCESSES, entry.kind] += popcount(sectors)
        c.counts[_MISSES, entry.kind] += popcount(missing)
    else:
        c.counts[_ACCESSES, entry.kind] += 1
        c.counts[_MISSES, entry.kind] += way < 0
    if way >= 0 and (entry.kind == ATOMIC or (spec.evict and entry.flags & PRIVATE == 0)):
        tags.invalidate(c.tags, row, way)
    return sectors


@force_inline
def _use(c, spec, entry, cache, row, way, line, sectors):
    """An access takes room for its line, and stays; what goes on."""
    missing = sectors
    if way < 0:
        way = replacement.victim(c.tags, cache, row, c.victim)
        if spec.l2 and spec.keeps:
            _write_back(c, spec, entry, row, way)
        record = replacement.insert(c.tags, cache, row, way, line, 0)
    else:
        record = tags.way_of(c.tags, row, way)
        missing = sectors & ~record.valid
        replacement.touch(c.tags, cache, row, way, 0)
    if spec.sectored:
        record.valid |= sectors
        c.counts[_ACCESSES, entry.kind] += popcount(sectors)
        c.counts[_MISSES, entry.kind] += popcount(missing)
    else:
        record.valid = spec.whole
        c.counts[_ACCESSES, entry.kind] += 1
        c.counts[_MISSES, entry.kind] += missing != 0
    if spec.l2 == 0 or entry.kind == READ:
        return missing if spec.sectored or missing == 0 else spec.whole
    record.dirty |= sectors if spec.sectored else spec.whole
    complete = spec.sectored != 0 or sectors == spec.whole
    if entry.kind == WRITE and spec.fetches == 0 and complete:
        return 0
    return missing if spec.sectored or missing == 0 else spec.whole


@inline
def _write_back(c, spec, entry, row, way):
    """What was written to a line that makes room goes to the level below."""
    line = tags.line_of(c.tags, row, way)
    dirty = tags.way_of(c.tags, row, way).dirty
    if line != tags.NO_LINE and dirty:
        part = line % spec.parts
        pass_on(c, spec, entry, dirty << part * spec.sectors)
        out = c.out[spec.out - 1]
        out.line, out.kind, out.last = line // spec.parts, WRITE, 1
