"""What passes through caches are of, and what those through stacks of lines read and write."""

from typing import NamedTuple

import numpy as np

from lockstep._jit import Context, Records
from lockstep.caches.geometry import RowFinder, Sets

NEVER = (1 << 15) - 1  # depth of a sector that has not come
EPOCH_BITS = 5
MOST_EPOCHS = (1 << EPOCH_BITS) - 2  # the first one is 1: in memory that is new there is no line
HOLE = -1
KINDS = 3  # READ, WRITE, ATOMIC
DEPTH_BITS = 16  # of a sector's depth in the word of a line

TOGETHER = 1 << 15  # entries whose accesses are listed: these stay in the host's caches, too
FEW, BLOCK = 4, 8  # lines that are looked at together, in stacks of no more and of more than FEW

_FIELDS = ("shapes", "parts", "sectors", "caches", "l2", "evict", "sectored", "filter", "out")
SPEC = np.dtype([(name, "i8") for name in _FIELDS])
SHAPE = np.dtype(
    [
        ("sets", "i8"),
        ("mask", "i8"),  # of the rows of the first shape
        ("ways", "i8"),
        ("room", "i8"),  # of a stack: 1, FEW, or blocks
        ("first", "i8"),  # where the words of its stacks begin
    ]
)
ACCESS = np.dtype(
    [
        ("word", "i8"),  # its line, of this cache's size, and the epoch of the cache
        ("place", "i4"),  # in ``left``
        ("sectors", "u1"),
        ("kind", "u1"),
        ("what", "u2"),
    ]
)
MOVES, STAYS, GOES, DROPS, NOTHING = range(5)
"""What an access does: its line comes to the top, stays where it is, or is given up; it is given up
behind the back of an L1, which is no access."""


class Level(NamedTuple):
    """What a pass is of: ``caches`` alike, each of so many sets, and what they do with writes.

    ``ways``: the most that are told apart. An L1 takes no room for what is written, and gives up
    lines that atomics touch, writes that go past it, and with ``evict`` all writes but those of
    local memory; with ``l2`` all accesses take room and stay. ``sectored``: a line's sectors of 32
    bytes come one by one; else lines come whole. ``keeps``: with so many ways, what misses is
    listed for the level below; 0 = nothing is.
    """

    sets: Sets
    ways: int
    caches: int = 1
    l2: bool = False
    evict: bool = False
    sectored: bool = False
    keeps: int = 0


class StackShape(NamedTuple):
    """Sets of a cache, and the most ways that are told apart."""

    sets: int
    ways: int


class StackLookups(Context):
    """What the compiled side reads and writes."""

    spec: Records  # SPEC, one
    rows: RowFinder  # of the first shape
    shapes: Records  # SHAPE: fewer and fewer sets
    epochs: np.ndarray  # int64 [caches]: how often each was emptied, and one more
    holes: np.ndarray  # int64 [shapes]: in all stacks of each
    words: np.ndarray  # int64: stacks of shape after shape, cache after cache
    deep: np.ndarray  # int64, likewise: for each sector the greatest depth since it came
    tops: np.ndarray  # int64 [shapes + 1, KINDS]: accesses at depth 0 of so many shapes, the first
    depths: np.ndarray  # int64 [shapes, KINDS, ways + 1]: others by depth; the last: deeper
    counts: np.ndarray  # int64 [caches]: entries of each
    ends: np.ndarray  # int64 [caches]: where its accesses end
    accesses: Records  # ACCESS, cache after cache
    left: np.ndarray  # int64 [entries * parts]: sectors that go on to the level below
    out: Records  # ENTRY: what goes on to the level below
