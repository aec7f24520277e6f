"""Accesses meet lines by the times of their last uses, compiled: where no line is given up.

A line's depth in a set is how many lines of the set were used since. So lines stay in their ways,
and a chain of shapes with equal room shares what its most sets hold: a set of fewer ones is some of
these put together, which lie side by side, and a line is as deep there as all of them have younger
ones. Each has as many ways as any shape of the chain, and what it has lost lies deeper in all.
"""

import numpy as np

from lockstep._jit import (
    Context,
    Records,
    equal_bytes,
    equal_words,
    force_inline,
    greater,
    inline,
    jit,
    place_of_least,
    popcount,
    trailing_zeros,
)
from lockstep.caches.accesses import FARTHEST, INVALIDATE
from lockstep.caches.depths import hashed_row, what_of
from lockstep.caches.geometry import RowFinder
from lockstep.caches.lookups import DROPS, EPOCH_BITS, FEW, GOES, HOLE, MOVES, NOTHING

NO_LINE = -FARTHEST
WIDE = 16  # ways that are looked at together, in sets of more than FEW

_FIELDS = ("shapes", "chains", "parts", "sectors", "caches", "l2", "evict", "fewest", "low")
RECENCY = np.dtype([(name, "i8") for name in _FIELDS])
"""``fewest``: sets of the last shape; ``low``: the mask of its rows."""
CHAIN = np.dtype(
    [
        ("first", "i8"),  # its shapes: the one with most sets,
        ("last", "i8"),  # and that with fewest
        ("sets", "i8"),  # of the first one
        ("mask", "i8"),  # of the rows of the first shape of all
        ("low", "i8"),  # mask of the last shape
        ("bits", "i8"),  # log2 of the sets of that
        ("shift", "i8"),  # log2 of how many sets of the first make one of the last
        ("order", "i8"),  # where these begin in ``reversed``
        ("room", "i8"),  # ways of a set: FEW, or WIDE times a power of two
        ("ways", "i8"),  # where the ways of its sets begin
    ]
)
SPAN = np.dtype([("sets", "i8"), ("ways", "i8")])
"""A shape: how many sets of the first one of its chain it puts together, and its ways."""


class Recency(Context):
    """What the compiled side reads and writes."""

    spec: Records  # RECENCY, one
    rows: RowFinder  # of the first shape
    chains: Records  # CHAIN: those of fewest sets first
    spans: Records  # SPAN, by shape
    reversed: np.ndarray  # int64: numbers below powers of two, with their bits reversed
    now: np.ndarray  # int64 [caches]: time of the last access
    emptied: np.ndarray  # int64 [caches]: when each was emptied: what was used until then is lost
    newest: np.ndarray  # int64 [caches * fewest sets]: the line that was used last, or NO_LINE
    lines: np.ndarray  # int64, chain after chain, cache after cache
    times: np.ndarray  # int32, likewise: of their last uses
    marks: np.ndarray  # uint8, likewise, of sets that are looked at by WIDE: bits of their lines
    tops: np.ndarray  # int64 [shapes + 1, KINDS]: accesses at depth 0 of so many shapes, the first
    met: np.ndarray  # int64 [shapes, KINDS, ways + 1]: others by depth; the last: deeper
    missed: np.ndarray  # int64 [chains, KINDS]: those that found nothing in all shapes of a chain
    left: np.ndarray  # int64 [caches]: the first item that a cache leaves to stacks


@jit
def meet_listed(u, listed):
    """Pass what is listed through all chains. A cache stops before an access that gives up a line
    that it has, and one whose ``left`` is -1 does not begin."""
    for cache in range(u.spec[0].caches):
        begin, end = listed.begins[cache], listed.begins[cache + 1]
        u.left[cache] = begin if u.left[cache] < 0 else _meet_items(u, listed, cache, begin, end)


@inline
def _meet_items(u, listed, cache, begin, end):
    spec = u.spec[0]
    for n in range(begin, end):
        item = listed.items[n]
        if item.kind == INVALIDATE:
            if spec.l2 == 0:
                empty(u, cache)
            continue
        what = what_of(spec, item)
        if what >= GOES:
            if what != NOTHING and not _give_up(u, spec, item, cache, what):
                return n
            continue
        sectors, line = item.sectors, item.line * spec.parts
        while sectors:
            if sectors & ((1 << spec.sectors) - 1):
                _meet(u, spec, cache, line, item.kind, what)
            sectors >>= spec.sectors
            line += 1
    return end


@inline
def _give_up(u, spec, item, cache, what):
    """Count an access that gives up lines, unless the cache has one of them."""
    missing = 0
    for part in range(spec.parts):
        if (item.sectors >> part * spec.sectors) & ((1 << spec.sectors) - 1) == 0:
            continue
        line = item.line * spec.parts + part
        for k in range(spec.chains):
            chain = u.chains[k]
            way = _find(u, chain, way_of(u, chain, cache, row_of_line(u, line)), line)
            if way >= 0 and u.times[way] > u.emptied[cache]:
                return False
        missing += 1
    if what != DROPS:
        for k in range(spec.chains):
            u.missed[k, item.kind] += missing
    return True


@force_inline
def _meet(u, spec, cache, line, kind, what):
    """A line is read or written in all chains."""
    row = row_of_line(u, line)
    newest = cache * spec.fewest + (row & spec.low)
    if u.newest[newest] == line:  # on top wherever it is: nothing would change
        u.tops[spec.shapes, kind] += 1
        return
    time = -1
    if what == MOVES:
        u.newest[newest] = line
        time = u.now[cache] + 1
        u.now[cache] = time
    for k in range(spec.chains):
        chain = u.chains[k]
        first = way_of(u, chain, cache, row)
        way = _find(u, chain, first, line)
        if way < 0:
            u.missed[k, kind] += 1
            if time >= 0:
                _come(u, chain, first, line, time)
        elif u.times[way] <= u.emptied[cache]:
            u.missed[k, kind] += 1
            if time >= 0:
                u.times[way] = time
        elif _use(u, chain, cache, first, way, kind, time) == 0:
            u.tops[chain.first, kind] += 1
            return


@force_inline
def row_of_line(u, line):
    """The set of a line in the first shape."""
    rows = u.rows.spec[0]
    return line & rows.mask if rows.simple else hashed_row(u, line)


@force_inline
def way_of(u, chain, cache, row):
    """The first way of a set of a chain."""
    row &= chain.mask
    place = (row & chain.low) << chain.shift | u.reversed[chain.order + (row >> chain.bits)]
    return chain.ways + (cache * chain.sets + place) * chain.room


@force_inline
def _mark(line):
    """Bits of a line: those of a set differ from those of its neighbours there, mostly."""
    return (line ^ line >> 6 ^ line >> 12) & 0xFF


@force_inline
def _find(u, chain, first, line):
    """The way that has a line, or had it when its cache was emptied; -1 if there is none."""
    if chain.room == FEW:
        found = equal_words(u.lines, first, line, FEW)
        return first + trailing_zeros(found) if found else -1
    for way in range(first, first + chain.room, WIDE):
        found = equal_bytes(u.marks, way, _mark(line), WIDE)
        while found:
            if u.lines[way + trailing_zeros(found)] == line:
                return way + trailing_zeros(found)
            found &= found - 1
    return -1


@force_inline
def _come(u, chain, first, line, time):
    """A line comes where the oldest one was."""
    if chain.room == FEW:
        way = first + place_of_least(u.times, first, FEW)
    else:
        way = first + place_of_least(u.times, first, WIDE)
        for other in range(first + WIDE, first + chain.room, WIDE):
            one = other + place_of_least(u.times, other, WIDE)
            way = one if u.times[one] < u.times[way] else way
        u.marks[way] = _mark(line)
    u.lines[way], u.times[way] = line, time


@force_inline
def _use(u, chain, cache, first, way, kind, time):
    """A line is used that a set of a chain has: its depth there."""
    room, used = chain.room, u.times[way]
    top = depth = _younger(u, first, first + room, used)
    if time >= 0:
        u.times[way] = time
    k = chain.first
    u.met[k, kind, min(depth, u.spans[k].ways)] += 1
    bottom, begin, end = chain.ways + cache * chain.sets * room, first, first + room
    while k < chain.last:
        k += 1
        if depth < room:
            size = u.spans[k].sets * room
            wider = bottom + ((first - bottom) & -size)
            depth += _younger(u, wider, begin, used) + _younger(u, end, wider + size, used)
            begin, end = wider, wider + size
        u.met[k, kind, min(depth, u.spans[k].ways)] += 1
    return top


@force_inline
def _younger(u, begin, end, used):
    """How many of some ways have been used since then."""
    count = 0
    while end - begin >= WIDE:
        count += popcount(greater(u.times, begin, used, WIDE))
        begin += WIDE
    while begin < end:
        count += popcount(greater(u.times, begin, used, FEW))
        begin += FEW
    return count


@jit
def empty(u, cache):
    """A cache has nothing any more."""
    u.emptied[cache] = u.now[cache]
    fewest = u.spec[0].fewest
    for at in range(cache * fewest, (cache + 1) * fewest):
        u.newest[at] = NO_LINE


@jit
def settle(u, c, cache):
    """Put the lines of a cache into stacks, by age."""
    for n in range(len(u.chains)):
        chain = u.chains[n]
        for k in range(chain.first, chain.last + 1):
            shape, size = c.shapes[k], u.spans[k].sets * chain.room
            for row in range(shape.sets):
                to = shape.first + (cache * shape.sets + row) * shape.room
                first, used = way_of(u, chain, cache, row), 1 << 62
                for at in range(to, to + shape.room):
                    c.holes[k] -= c.words[at] == HOLE
                    way = _next(u, first, first + size, u.emptied[cache], used)
                    c.words[at] = u.lines[way] << EPOCH_BITS | c.epochs[cache] if way >= 0 else 0
                    used = u.times[way] if way >= 0 else -1


@inline
def _next(u, begin, end, emptied, used):
    """The way that was used last of those that were between two times; -1 if there is none."""
    best = -1
    for way in range(begin, end):
        if emptied < u.times[way] < used and (best < 0 or u.times[way] > u.times[best]):
            best = way
    return best
