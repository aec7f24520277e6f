"""What passes through stacks of lines read and write."""

import numpy as np

from lockstep._jit import Context, Records
from lockstep.caches.geometry import RowFinder

NEVER = (1 << 15) - 1  # depth of a sector that has not come
EPOCH_BITS = 5
MOST_EPOCHS = (1 << EPOCH_BITS) - 2  # the first one is 1: in memory that is new there is no line
HOLE = -1
KINDS = 3  # READ, WRITE, ATOMIC
DEPTH_BITS = 16  # of a sector's depth in the word of a line

TOGETHER = 1 << 15  # entries whose accesses are listed: these stay in the host's caches, too
FEW, BLOCK = 4, 8  # lines that are looked at together, in stacks of no more and of more than FEW
BLOCKS = 2 * BLOCK  # lines of the largest stack that is looked at as a whole

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
MOVES, STAYS, GOES, DROPS, NOTHING = range(5)  # of the first, less 1, all bits are set
"""What an access does: its line comes to the top, stays where it is, or is given up; it is given up
behind the back of an L1, which is no access."""


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
    met: np.ndarray  # int64 [shapes, KINDS, ways + 1]: those by depth that were met swiftly
    counts: np.ndarray  # int64 [caches]: entries of each
    ends: np.ndarray  # int64 [caches]: where its accesses end
    gives: np.ndarray  # int64 [caches]: whether one of them gives up a line
    accesses: Records  # ACCESS, cache after cache
    left: np.ndarray  # int64 [entries * parts]: sectors that go on to the level below
    out: Records  # ENTRY: what goes on to the level below
