"""Bulk copies: how the memory of one is told, and the barrier objects that they complete."""

TILE_AXES = 4
TILE_HEAD, TILE_AXIS = 5, 6  # words before those of the axes, and of each axis
TILE_BARRIER = TILE_HEAD + TILE_AXIS * TILE_AXES
TILE_WORDS = TILE_BARRIER + 1
"""Words that describe the memory of one bulk copy: rows of bytes, found along four axes.

Base address, bytes of a row (0 = nothing is accessed), number of rows, repeats, and bytes from one
repeat of all rows to the next. Then for each axis, innermost first: first position, lowest and
highest one, step, last one that exists (the first is 0), and stride in bytes. Rows are taken from
the first positions on; an axis that would go past its highest position goes back to its lowest one
and the next axis goes a step further. A row is at base + sum of positions times strides; it is
accessed if all positions exist. The last word is one more than where in shared memory the barrier
object is that the copy completes, or 0.

An instruction of class TILE_COPY or TILE_STORE is executed for one lane at a time. Its run has a
mask of TILE_MASK all the same: these words are its addresses.
"""
TILE_MASK = (1 << TILE_WORDS) - 1

OBJECTS = 64
"""Barrier objects of a CTA that are told apart: an address is that of number address / 8 modulo 64.

An instruction of class OBJECT_WAIT has, for each lane, the address of its barrier object in shared
memory in the low OBJECT_SHIFT bits. The bits above are how many copies, of the whole CTA from its
start on, must have completed objects of that number before the warp goes on: those that had when
the wait ended in the program's execution. 0: the phase was not over, and nothing is waited for.
"""
OBJECT_SHIFT = 32


def object_number(word: int) -> int:
    """Of which number the barrier object is whose address the low OBJECT_SHIFT bits hold.

    Compiled code of both sides has it as a part; this module must not need Numba.
    """
    return (word & ((1 << OBJECT_SHIFT) - 1)) // 8 % OBJECTS
