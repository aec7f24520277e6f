"""Accesses meet stacks of few lines without a jump, compiled: where no line is given up.

All of a stack is looked at, and moves, in a few instructions: which line is met is what the host's
processor cannot foretell, and a jump that it did not foresee costs as much as a whole lookup.
"""

from lockstep._jit import force_inline, inline, jit, meet_words
from lockstep.caches.geometry import row_of
from lockstep.caches.lookups import BLOCK, BLOCKS, EPOCH_BITS, FEW, MOVES


@inline
def swiftly(c, k, cache, begin, count):
    """As ``_through`` where caches tell nothing, have no sectors and no holes, and no line is given
    up: all of a stack is looked at, and moves, without a jump."""
    shape = c.shapes[k]
    bottom = shape.first + cache * shape.sets * shape.room
    if shape.room == 1:
        return _meet_one(c, k, bottom, begin, count)
    if shape.room == FEW:
        return _meet_few(c, k, bottom, begin, count)
    if shape.room == BLOCK:
        return _meet_block(c, k, bottom, begin, count)
    return _meet_blocks(c, k, bottom, begin, count)


@jit
def _meet_one(c, k, bottom, begin, count):
    """``swiftly`` in stacks of one line."""
    on = begin
    for n in range(begin, begin + count):
        access = c.accesses[n]
        place = bottom + set_of(c, k, access.word)
        held = c.words[place]
        c.words[place] = access.word if access.what == MOVES else held
        on += _met(c, k, access, 0 if held == access.word else 1, on)
    return on - begin


@jit
def _meet_few(c, k, bottom, begin, count):
    """``swiftly`` in stacks of FEW lines."""
    on = begin
    for n in range(begin, begin + count):
        access = c.accesses[n]
        first = bottom + set_of(c, k, access.word) * FEW
        on += _met(c, k, access, meet_words(c.words, first, access.word, access.what - 1, FEW), on)
    return on - begin


@jit
def _meet_block(c, k, bottom, begin, count):
    """``swiftly`` in stacks of BLOCK lines."""
    on = begin
    for n in range(begin, begin + count):
        access = c.accesses[n]
        first = bottom + set_of(c, k, access.word) * BLOCK
        depth = meet_words(c.words, first, access.word, access.what - 1, BLOCK)
        on += _met(c, k, access, depth, on)
    return on - begin


@jit
def _meet_blocks(c, k, bottom, begin, count):
    """``swiftly`` in stacks of BLOCKS lines."""
    on = begin
    for n in range(begin, begin + count):
        access = c.accesses[n]
        first = bottom + set_of(c, k, access.word) * BLOCKS
        depth = meet_words(c.words, first, access.word, access.what - 1, BLOCKS)
        on += _met(c, k, access, depth, on)
    return on - begin


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
