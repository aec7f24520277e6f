"""Read-only cache of whole lines, for instructions and constants.

Whoever misses learns at once when the line will be there, and puts it in with that cycle; others
that look it up before wait until then. So lines on their way need no MSHRs. Where the answer
takes a time that nobody knows, the cycle is NEVER until ``here`` says it. The line that was used
longest ago makes room. What is fetched ahead counts as used when it is asked for, maybe later
than a look-up that comes after it: so the order is that of cycles, not that of look-ups.
"""

import numpy as np

from lockstep._jit import inline, jit
from lockstep.model.cache import replacement, tags
from lockstep.model.cache.tags import Tags

ABSENT = -1 << 62  # arrival of a line that nobody has asked for
ARRIVAL = np.dtype([("arrives", "i8")])
"""What a way holds: the cycle from which its line is there."""


def shape_of(total_bytes: int, ways: int, line_bytes: int) -> tuple[int, int]:
    """(sets, ways) of a cache; one of zero bytes is perfect and has no sets."""
    lines = total_bytes // line_bytes
    if lines == 0:
        return 0, 1
    ways = min(ways, lines)
    return lines // ways, ways


def build(caches: int, total_bytes: int, ways: int, line_bytes: int) -> Tags:
    """Empty caches of so many bytes each."""
    return tags.build(caches, *shape_of(total_bytes, ways, line_bytes), "lru", ARRIVAL)


@inline
def is_perfect(lines):
    """Whether the caches have every line at once: look-ups are the caller's to leave out."""
    return lines.shape[0].sets == 0


@inline
def row_of(lines, i, line):
    """Row of the tags of the set that a line belongs to; lines may be negative."""
    return tags.row_of(lines, i, line % lines.shape[0].sets)


@inline
def look_up(lines, i, line, now):
    """Use a line of cache ``i``: the cycle from which it is there, or ABSENT."""
    row, kept = row_of(lines, i, line), tags.kept_as(line)
    for way in range(lines.shape[0].ways):  # few, and mostly there: quicker than ``tags.find``
        if lines.lines[row, way] == kept:
            replacement.touch_at(lines, row, way, now)
            return tags.way_of(lines, row, way).arrives
    return ABSENT


@inline
def insert(lines, i, line, now, arrives):
    """Put in a line that is not there and will be from cycle ``arrives`` on; used ``now``."""
    row = row_of(lines, i, line)
    way = replacement.oldest(lines, i, row)
    replacement.insert_at(lines, row, way, line, now)
    tags.way_of(lines, row, way).arrives = arrives


@inline
def here(lines, i, line, arrives):
    """Say when a line comes that was put in before that was known; another may have its way."""
    row = row_of(lines, i, line)
    way = tags.find(lines, i, row, line)
    if way >= 0:
        tags.way_of(lines, row, way).arrives = arrives


@jit
def settle(lines, now):
    """What was used after cycle ``now`` was used by then, in the same order, and is there."""
    if is_perfect(lines):
        return
    for row in range(lines.lines.shape[0]):
        last = ABSENT
        for way in range(lines.shape[0].ways):
            last = max(last, replacement.cycle_of(lines, row, way))
        if last > now:
            _bring_forward(lines, row, max(now, lines.shape[0].ways))


@inline
def _bring_forward(lines, row, last):
    """Let the uses of a row's lines end with cycle ``last``, each at most where it was."""
    ways = lines.shape[0].ways
    for way in range(ways):
        later = 0
        for other in range(ways):
            later += 1 if lines.keys[row, other] > lines.keys[row, way] else 0
        tags.way_of(lines, row, way).arrives = later
    for way in range(ways):
        if tags.line_of(lines, row, way) != tags.NO_LINE:
            record = tags.way_of(lines, row, way)
            cycle = min(replacement.cycle_of(lines, row, way), last - record.arrives)
            replacement.touch_at(lines, row, way, cycle)
            record.arrives = ABSENT + 1
