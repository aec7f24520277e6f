"""When lines were used last: what a cache keeps of them, and of the youngest ones of each set.

A cache keeps when each sector was used last, once for all shapes and sizes of lines, since a line
was used with the last of its sectors; and each set of each shape has the times of its youngest
lines, in order, but not which these are.
"""

import numpy as np

from lockstep._jit import Context, Records, force_inline, inline, jit
from lockstep.caches.accesses import FARTHEST, LINE_SECTORS
from lockstep.caches.lookups import EPOCH_BITS, HOLE

NO_LINE = -FARTHEST
NEVER_USED = -1  # before all times: so deep lies what is not there
WIDE = 16  # times that are looked at together, of sets with more than FEW
HASHED, GOLDEN = (1 << 28) - 1, 0x9E3779B1  # whose product fits into a word
BLOCK_ENTRIES = 1024  # that pass all shapes of a cache before the next ones

_FIELDS = ("caches", "l2", "evict", "classes", "slots", "passes")
RECENCY = np.dtype([(name, "i8") for name in _FIELDS])
"""``classes``: of lines, which no set puts together with others, a power of two; or 0.
``slots``: of a cache, a power of two."""
USE_PASS = np.dtype(
    [
        ("first", "i8"),  # its shapes: the one with most sets,
        ("last", "i8"),  # and that with fewest
        ("widest", "i8"),  # the last one that is so
        ("parts", "i8"),  # lines of this pass in one of the stream
        ("uses", "i8"),  # where its list begins
        ("count", "i8"),  # of that
    ]
)
SPAN = np.dtype(
    [
        ("mask", "i8"),  # the bits of a line that are its set
        ("room", "i8"),  # times of a set: 1, FEW, or WIDE times something
        ("ways", "i8"),
        ("first", "i8"),  # where the times of its sets begin
        ("size", "i8"),  # ... of one cache
        ("widest", "i8"),  # whether no shape with more sets has as many ways
    ]
)
USE = np.dtype([("row", "i4"), ("used", "i4"), ("limit", "i4"), ("now", "i4")])
"""A line that is used: its set in the first shape, with the kind of access from KIND_SHIFT on; when
it was used last; that again, or STAYED; and the time of its use."""
KIND_SHIFT = 24


class Recency(Context):
    """What the compiled side reads and writes."""

    spec: Records  # RECENCY, one
    passes: Records  # USE_PASS
    spans: Records  # SPAN: the shapes of pass after pass
    lines: np.ndarray  # int64 [caches * slots]: those that were used, or NO_LINE
    times: np.ndarray  # int32 [caches * slots * LINE_SECTORS]: when each of their sectors was
    held: np.ndarray  # int64 [caches]: lines that each has
    spare_lines: np.ndarray  # int64 [slots]
    spare_times: np.ndarray  # int32 [slots * LINE_SECTORS]
    now: np.ndarray  # int64 [caches]: time of the last access
    emptied: np.ndarray  # int64 [caches]: when each was emptied: what was used until then is lost
    newest: np.ndarray  # int64 [caches * classes]: the line that was used last, or NO_LINE
    masks: np.ndarray  # int64, likewise: sectors of it that were used since another one was
    stacks: np.ndarray  # int32, shape after shape, cache after cache: times of sets, the last first
    uses: Records  # USE: of each pass those of a block
    tops: np.ndarray  # int64 [KINDS, 16]: accesses to the newest line of their class, by sectors
    met: np.ndarray  # int64 [shapes, KINDS, room + 1]: others by depth
    missed: np.ndarray  # int64 [passes, KINDS]: those that found nothing, and left nothing
    absent: np.ndarray  # int64 [KINDS, 16]: those that no pass has to see, by sectors
    at: np.ndarray  # int64 [caches]: the next item
    left: np.ndarray  # int64 [caches]: the first item that a cache leaves to stacks


@force_inline
def slot_of(u, cache, line):
    """Where a line is among those of a cache, or would be."""
    slots = u.spec[0].slots
    # Four neighbours lie together, and are not where those of another place would be searched.
    place = (((line >> 2 ^ line >> 30) & HASHED) * GOLDEN >> 20) << 2 | (line & 3)
    while True:
        slot = cache * slots + (place & (slots - 1))
        if u.lines[slot] == line or u.lines[slot] == NO_LINE:
            return slot
        place += 1


@force_inline
def begin_line(u, cache, slot, line):
    """A line comes to where ``slot_of`` would have it: none of its sectors was used."""
    u.lines[slot] = line
    u.held[cache] += 1
    for at in range(slot * LINE_SECTORS, (slot + 1) * LINE_SECTORS):
        u.times[at] = 0


@inline
def was_used(u, cache, slot):
    """Whether any sector of a line was used since its cache was emptied."""
    for at in range(slot * LINE_SECTORS, (slot + 1) * LINE_SECTORS):
        if u.times[at] > u.emptied[cache]:
            return True
    return False


@force_inline
def sector_used(u, slot, sector, emptied):
    """When a sector was used last, if that was after its cache was emptied."""
    time = u.times[slot * LINE_SECTORS + sector]
    return time if time > emptied else NEVER_USED


@inline
def forget_lost(u, cache):
    """Forget lines that no shape has any more."""
    slots, count, oldest = u.spec[0].slots, 0, _oldest(u, cache)
    for slot in range(cache * slots, (cache + 1) * slots):
        line = u.lines[slot]
        if line != NO_LINE and _is_somewhere(u, cache, slot, oldest):
            u.spare_lines[count] = line
            for k in range(LINE_SECTORS):
                time = u.times[slot * LINE_SECTORS + k]
                u.spare_times[count * LINE_SECTORS + k] = time
            count += 1
        u.lines[slot] = NO_LINE
    u.held[cache] = 0
    for n in range(count):
        _take_over(u, cache, u.spare_lines[n], u.spare_times, n * LINE_SECTORS)


@inline
def _take_over(u, cache, line, times, first):
    """A cache gets a line that it has not, with the times of its sectors."""
    slot = slot_of(u, cache, line)
    u.lines[slot] = line
    u.held[cache] += 1
    for k in range(LINE_SECTORS):
        u.times[slot * LINE_SECTORS + k] = times[first + k]


@inline
def _oldest(u, cache):
    """No set of a cache has anything that was used before."""
    oldest = u.now[cache]
    for n in range(u.spec[0].passes):
        of = u.passes[n]
        for k in range(of.first, of.widest + 1):
            span = u.spans[k]
            if span.widest:
                first = span.first + cache * span.size + span.ways - 1
                for at in range(first, first + span.size, span.room):
                    oldest = min(oldest, u.stacks[at])
    return oldest


@inline
def _is_somewhere(u, cache, slot, oldest):
    """Whether a line, or a part of it, is among the youngest of any set."""
    emptied, line = u.emptied[cache], u.lines[slot]
    a, b = sector_used(u, slot, 0, emptied), sector_used(u, slot, 1, emptied)
    c, d = sector_used(u, slot, 2, emptied), sector_used(u, slot, 3, emptied)
    left, right = max(a, b), max(c, d)
    if max(left, right) < max(oldest, 0):
        return False
    for n in range(u.spec[0].passes):
        of = u.passes[n]
        if of.parts == 1:
            there = _lies(u, cache, of, line, max(left, right))
        elif of.parts == 2:
            there = _lies(u, cache, of, 2 * line, left) or _lies(u, cache, of, 2 * line + 1, right)
        else:
            there = (
                _lies(u, cache, of, 4 * line, a)
                or _lies(u, cache, of, 4 * line + 1, b)
                or _lies(u, cache, of, 4 * line + 2, c)
                or _lies(u, cache, of, 4 * line + 3, d)
            )
        if there:
            return True
    return False


@force_inline
def _lies(u, cache, of, line, used):
    """Whether any shape of a pass has a line that was used then."""
    if used < 0:
        return False
    for k in range(of.first, of.widest + 1):
        span = u.spans[k]
        if span.widest and u.stacks[_set_of(u, cache, span, line) + span.ways - 1] <= used:
            return True
    return False


@force_inline
def _set_of(u, cache, span, line):
    """Where the times begin of the set of a line in a shape."""
    return span.first + cache * span.size + (line & span.mask) * span.room


@inline
def _part_used(u, cache, slot, parts, part):
    """When a part of a line was used last."""
    used = NEVER_USED
    for k in range(part * LINE_SECTORS // parts, (part + 1) * LINE_SECTORS // parts):
        used = max(used, sector_used(u, slot, k, u.emptied[cache]))
    return used


@inline
def _depth_of(u, cache, of, k, line, used):
    """How deep a line lies in a shape that was used then; its ways if it is not there."""
    span = u.spans[k]
    if used < 0:
        return span.ways
    at = _set_of(u, cache, span, line)
    depth = 0
    while depth < span.ways and u.stacks[at + depth] > used:
        depth += 1
    return depth


@inline
def empty(u, cache):
    """A cache has nothing any more."""
    u.emptied[cache] = u.now[cache]
    for at in range(cache * u.spec[0].classes, (cache + 1) * u.spec[0].classes):
        u.newest[at] = NO_LINE


@jit
def move(u, to):
    """Lines move to where there are more slots."""
    for cache in range(u.spec[0].caches):
        for slot in range(cache * u.spec[0].slots, (cache + 1) * u.spec[0].slots):
            if u.lines[slot] != NO_LINE:
                _take_over(to, cache, u.lines[slot], u.times, slot * LINE_SECTORS)


@jit
def settle(u, n, c, cache):
    """Put the lines of a cache into the stacks of the ``n``-th pass, by age."""
    of = u.passes[n]
    for k in range(of.first, of.last + 1):
        shape = c.shapes[k - of.first]
        size = shape.sets * shape.room
        begin = shape.first + cache * size
        for at in range(begin, begin + size):
            c.holes[k - of.first] -= c.words[at] == HOLE
            c.words[at] = 0
    for slot in range(cache * u.spec[0].slots, (cache + 1) * u.spec[0].slots):
        if u.lines[slot] == NO_LINE:
            continue
        for part in range(of.parts):
            used = _part_used(u, cache, slot, of.parts, part)
            line = u.lines[slot] * of.parts + part
            for k in range(of.first, of.last + 1):
                depth = _depth_of(u, cache, of, k, line, used)
                if depth < u.spans[k].ways:
                    shape = c.shapes[k - of.first]
                    at = shape.first + (cache * shape.sets + (line & u.spans[k].mask)) * shape.room
                    c.words[at + depth] = line << EPOCH_BITS | c.epochs[cache]
