"""What a cache keeps for its prefetcher: a queue of lines, and marks of lines that nobody used.

The queue stands beside that of misses: its lines were asked for, but not looked up yet. If it is
full, the oldest ones are dropped.
"""

import numpy as np

from lockstep._jit import Context, Records, inline
from lockstep.model.cache.prefetch import table
from lockstep.model.cache.tags import Tags
from lockstep.model.records import nothing, records, words, zeros

ROOM = 32  # lines in the queue: a guess
MOST_ADDRESS = (1 << 62) - 1  # that may be asked for: addresses have 64 signed bits

NONE = 0  # marks of a way: its line was not prefetched, or has been used
HERE = 1  # it was prefetched, is here, and nobody has used it
COMING = 2  # ... is on its way, and nobody waits for it
AWAITED = 3  # ... is on its way, and somebody waits for it

SPEC = np.dtype(words("on", "last_line"))
QUEUE = np.dtype(words("head", "count", "blocked"))
"""``blocked``: cycle at which its oldest line could not go on for lack of a credit, or -1."""


class Prefetcher(Context):
    """Those of all caches of a kind; first index: the cache, or a row of its tags."""

    spec: Records  # SPEC, one
    queues: Records  # QUEUE
    lines: np.ndarray  # int64, caches x ROOM, a ring
    tables: Records  # table.STATE, caches x ROWS
    out: Records  # table.OUT, caches x MOST
    marks: np.ndarray  # uint8, rows of the tags x ways


def build(tags: Tags, last_line: int, tables: Records) -> Prefetcher:
    """For caches with these tags: nothing is asked for. ``last_line``: the largest there is."""
    spec = records(1, SPEC)
    spec[0] = 1, last_line
    return _of(spec, len(tags.caches), tags.lines.shape, tables)


@nothing
def absent() -> Prefetcher:
    """Of caches that do not prefetch: there is one of everything, which nobody looks at."""
    return _of(records(1, SPEC), 1, (1, 1), table.build(1, 0, 0))


def _of(spec: Records, caches: int, shape: tuple[int, ...], tables: Records) -> Prefetcher:
    queues = records(caches, QUEUE)
    queues["blocked"] = -1
    return Prefetcher(
        spec,
        queues,
        zeros((caches, ROOM)),
        tables,
        records((caches, table.MOST), table.OUT),
        zeros(shape, np.uint8),
    )


@inline
def tell(prefetch, cache, issued, useful, late, useless):
    """Let the policy of a cache know what became of its prefetches so far."""
    head = prefetch.tables[cache, 0]
    head.issued = issued
    head.useful = useful
    head.late = late
    head.useless = useless


@inline
def push(prefetch, cache, n):
    """Queue the ``n`` lines that the policy asks for; returns how many older ones make room.

    An answer that is no number of lines, and numbers that no line has, ask for nothing.
    """
    if n < 0 or n > table.MOST:
        return 0
    queue = prefetch.queues[cache]
    dropped = 0
    for k in range(n):
        line = prefetch.out[cache, k].line
        if line < 0 or line > prefetch.spec[0].last_line:
            continue
        if queue.count == ROOM:
            pop(prefetch, cache)
            dropped += 1
        prefetch.lines[cache, (queue.head + queue.count) % ROOM] = line
        queue.count += 1
    return dropped


@inline
def first(prefetch, cache):
    """The oldest line of a queue that is not empty."""
    return prefetch.lines[cache, prefetch.queues[cache].head]


@inline
def pop(prefetch, cache):
    """Take the oldest line of a queue."""
    queue = prefetch.queues[cache]
    line = prefetch.lines[cache, queue.head]
    queue.head = (queue.head + 1) % ROOM
    queue.count -= 1
    return line


@inline
def is_unused(prefetch, row, way):
    """Whether a way holds a line that was prefetched, and that nobody has used."""
    return prefetch.marks[row, way] == HERE


@inline
def leave(prefetch, row, way):
    """A line is used, or goes: 1 if it was prefetched and nobody has used it."""
    if prefetch.spec[0].on == 0 or not is_unused(prefetch, row, way):
        return 0
    prefetch.marks[row, way] = NONE
    return 1
