"""Accesses meet stacks of few lines without a jump, compiled: where no line is given up.

All of a stack is looked at, and moves, in a few instructions: which line is met is what the host's
processor cannot foretell, and a jump that it did not foresee costs as much as a whole lookup.
"""

from lockstep._jit import force_inline, jit, meet_words
from lockstep.caches.geometry import row_of
from lockstep.caches.lookups import BLOCK, BLOCKS, EPOCH_BITS, FEW


@jit
def swiftly(c, k, cache, begin, count):
    """As ``_through`` where caches tell nothing, have no sectors and no holes, and no line is given
    up: all of a stack is looked at, and moves, without a jump that is hard to foresee."""
    shape = c.shapes[k]
    room, bottom = shape.room, shape.first + cache * shape.sets * shape.room
    on = begin
    for n in range(begin, begin + count):
        access = c.accesses[n]
        first = bottom + set_of(c, k, access.word) * room
        on += _met(c, k, access, _meet(c.words, first, access.word, access.what - 1, room), on)
    return on - begin


@force_inline
def _meet(words, first, word, moves, room):
    """The depth at which a line is met, in one of the stacks of equal room."""
    if room == FEW:
        return meet_words(words, first, word, moves, FEW)
    if room == BLOCK:
        return meet_words(words, first, word, moves, BLOCK)
    if room == BLOCKS:
        return meet_words(words, first, word, moves, BLOCKS)
    held = words[first]
    words[first] = word if moves < 0 else held
    return 0 if held == word else 1


@force_inline
def set_of(c, k, word):
    """The set of a line in a shape."""
    line, rows = word >> EPOCH_BITS, c.rows.spec[0]
    return (line & rows.mask if rows.simple else hashed_row(c, line)) & c.shapes[k].mask


@force_inline
def _met(c, k, access, depth, on):
    """Count an access, and list it for the next shape: 1 if it goes on to that."""
    c.met[k, access.kind, min(depth, c.shapes[k].ways)] += 1
    to = c.accesses[on]
    to.word, to.kind, to.what = access.word, access.kind, access.what
    to.place, to.sectors = access.place, access.sectors
    return 1 if depth > 0 else 0


@jit
def hashed_row(c, line):
    """The row of a line where it is not the low bits of its number."""
    return row_of(c.rows, line)
