"""Tags of a set-associative sectored cache: which lines are where, and what is known of each.

One :class:`Tags` holds several caches of one kind (all L1s of a GPU, all slices of an L2). Set
``s`` of cache ``c`` is row ``c * sets + s``. Three arrays describe a way, which all are zero while
it is empty, so that a cache is ready without being touched:

* ``lines[row, way]``, the line number in exclusive or with ``NO_LINE``; ``line_of`` tells it. It
  stands alone because ``find`` searches it without branches, which LLVM turns into vector code: 256
  ways take 10 ns.
* ``keys[row, way]``, the order of replacement, kept by ``replacement.py``: the smallest key goes
  first. The same reason.
* ``held[row * most_ways + way]``, a small record of its sectors, and of who waits for them; what
  else a kind of cache must know of a line is a record of its own.

Only where the user has a policy of replacement is more known of each way, ``history``; ``ways`` is
where the policy finds it all.

A cache may use fewer ways than there is room for (``set_ways``): an L1 shares its memory with
shared memory, and the carve-out changes from kernel to kernel.
"""

import numpy as np

from lockstep._jit import Context, Records, inline, jit
from lockstep.gpus.choices import Replacement, numbered
from lockstep.model.records import nothing, records, words, zeros

NO_LINE = 1 << 62  # no address has that line: they have 64 signed bits
WAY_BITS = 21  # low bits of a key hold the way, the others the time
LOCKED = 1 << 62  # key of a way that must stay

LRU = 0
FIFO = 1
RANDOM = 2
NRU = 3
USER = 4
REPLACEMENT = numbered(Replacement, globals()) | {"user": USER}

HELD = np.dtype(
    [
        ("valid", "u1"),  # bit s: every byte of sector s is here
        ("dirty", "u1"),  # bit s: sector s was written and the memory below does not know
        ("partial", "u1"),  # bit s: some bytes of sector s were written, the rest is not here
        ("pending", "u1"),  # bit s: sector s is on its way from below
        ("waiters", "i4"),  # first of the requests that wait for this line, or -1
    ]
)
"""What a way holds of its line."""

HISTORY = np.dtype(
    [
        ("used", "i8"),  # accesses the cache had seen at the last touch
        ("inserted", "i8"),  # ... when the line came
        ("mark", "i8"),  # free for the policy; 0 when the line comes
    ]
)
"""What a user's policy may know of a way besides."""

WAY = np.dtype(words(*(HELD.names or ()), *(HISTORY.names or ())))
"""A way as a user's policy finds it: HELD and HISTORY."""

CACHE = np.dtype(
    [
        ("ways", "i8"),  # in use
        ("accesses", "i8"),  # touches and insertions so far: the clock of replacement
        ("random", "i8"),
    ]
)
SHAPE = np.dtype([("sets", "i8"), ("ways", "i8"), ("replacement", "i8")])


class Tags(Context):
    """State of the tags of all caches of one kind."""

    shape: Records  # SHAPE, one
    caches: Records  # CACHE, one a cache
    lines: np.ndarray  # int64, (caches * sets) x ways: line numbers ^ NO_LINE
    keys: np.ndarray  # int64, (caches * sets) x ways
    epochs: (
        np.ndarray
    )  # int64, caches * sets of NRU, else one: what a set's keys are recent against
    held: Records  # HELD or the owner's, caches * sets * ways
    history: Records  # HISTORY, as many for a user's policy, otherwise one
    ways: Records  # WAY, caches * ways for a user's policy, otherwise one


def build(
    caches: int, sets: int, ways: int, replacement: str, held: np.dtype = HELD, seed: int = 1
) -> Tags:
    """Empty tags; ``replacement`` is one of REPLACEMENT, ``held`` what is known of a way."""
    rows = caches * sets
    shape = records(1, SHAPE)
    shape[0] = (sets, ways, REPLACEMENT[replacement])
    state = records(caches, CACHE)
    state["ways"] = ways
    state["random"] = np.arange(caches) * 0x9E3779B97F4A7 + seed * 0x5DEECE66D + 1
    return Tags(
        shape,
        state,
        zeros((rows, ways)),
        zeros((rows, ways)),
        zeros(rows) if replacement == "nru" else _no_epochs(),
        records(rows * ways, held),  # set by insert: untouched memory costs nothing
        *(
            (records(rows * ways, HISTORY), records(caches * ways, WAY))
            if replacement == "user"
            else _no_history()
        ),
    )


@nothing
def _no_epochs() -> np.ndarray:
    return zeros(1)


@nothing
def _no_history() -> tuple[Records, Records]:
    return records(1, HISTORY), records(1, WAY)


@inline
def row_of(tags, cache, set_index):
    """Row of a set of a cache."""
    return cache * tags.shape[0].sets + set_index


@inline
def kept_as(line):
    """What stands for a line number in ``lines``."""
    return line ^ NO_LINE


@inline
def find(tags, cache, row, line):
    """The way of a row that holds a line, or -1."""
    lines = tags.lines[row]
    kept = kept_as(line)
    found = 0
    for way in range(tags.caches[cache].ways):
        found |= way + 1 if lines[way] == kept else 0
    return found - 1


@inline
def way_of(tags, row, way):
    """What a way holds."""
    return tags.held[row * tags.shape[0].ways + way]


@inline
def history_of(tags, row, way):
    """What the user's policy knows of a way."""
    return tags.history[row * tags.shape[0].ways + way]


@inline
def line_of(tags, row, way):
    """The line number that a way holds, or ``NO_LINE``."""
    return kept_as(tags.lines[row, way])


@inline
def set_line(tags, row, way, line):
    """Let a way hold a line; its key and its record are the caller's."""
    tags.lines[row, way] = kept_as(line)


@inline
def forget(tags, row, way):
    """Empty a way; its record stays as it is until a line is put in."""
    tags.lines[row, way] = 0
    tags.keys[row, way] = 0


@inline
def invalidate(tags, row, way):
    """Empty a way and its record."""
    forget(tags, row, way)
    _reset(way_of(tags, row, way))


@inline
def _reset(record):
    record.valid = 0
    record.dirty = 0
    record.partial = 0
    record.pending = 0
    record.waiters = -1


@jit
def clear(tags, cache):
    """Empty a whole cache."""
    shape = tags.shape[0]
    for row in range(cache * shape.sets, (cache + 1) * shape.sets):
        for way in range(shape.ways):
            invalidate(tags, row, way)


@jit
def set_ways(tags, cache, ways):
    """Let a cache use its first ``ways`` ways; it is empty afterwards."""
    clear(tags, cache)
    tags.caches[cache].ways = min(ways, tags.shape[0].ways)
