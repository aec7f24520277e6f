"""The lines of an L2 slice, numbered without gaps, as its prefetcher counts them.

Blocks of ``interleave_bytes`` go over the slices by a hash. Of each aligned group of as many blocks
as there are slices, a slice has one; so the blocks of a slice are numbered by their groups, and
memory that is read from front to back is so in each slice. A slice that serves the lines of other
sides, too, has a block of each side in every group.
"""

from lockstep._jit import force_inline, inline
from lockstep.model.cache import l2_sides, slice_hash, tags
from lockstep.model.divisor import quotient, remainder
from lockstep.model.modules import pages


@force_inline
def _sides(spec):
    """Slices whose lines one slice serves."""
    return spec.sides if spec.near_reads else 1


@force_inline
def number_of(spec, home, line):
    """The number of a line, which belongs to slice ``home``, in the slice that serves it."""
    sides = _sides(spec)
    side = 0
    if sides > 1:
        side = home % spec.slices // (spec.slices // sides)
    group = quotient(spec.all_slices, quotient(spec.unit_lines, line))
    return (group * sides + side) * spec.unit_lines.value + remainder(spec.unit_lines, line)


@inline
def line_of(memory, slice_, number):
    """The line with a number in a slice, and the slice that it belongs to; (-1, -1) = none.

    A user's hash may leave a slice without a block in a group.
    """
    spec = memory.l2.spec[0]
    sides = _sides(spec)
    block = quotient(spec.unit_lines, number)
    home = slice_ if sides == 1 else l2_sides.mirror(spec, slice_, block % sides)
    unit = _unit_of(memory, block // sides * spec.all_slices.value, home)
    if unit < 0:
        return -1, -1
    return unit * spec.unit_lines.value + remainder(spec.unit_lines, number), home


@inline
def _unit_of(memory, first, home):
    """The block of a slice in the group of blocks that begins with ``first``, or -1."""
    spec = memory.l2.spec[0]
    choose = memory.l2.policies.slice_hash
    unit_bytes = spec.unit_lines.value * spec.line_bytes.value
    # Built-in hashes flip bits of the quotient by odd, the same ones in the whole group.
    odd = memory.slices.hash.spec[0].odd
    flipped = pages.slice_of(memory.slices, first * unit_bytes, choose) // odd
    likely = first + odd * (home // odd ^ flipped) + home % odd
    for k in range(-1, spec.all_slices.value):
        unit = likely if k < 0 else first + k
        if pages.slice_of(memory.slices, unit * unit_bytes, choose) == home:
            return unit
    return -1


@inline
def locate(memory, request, slice_, address):
    """Find a line's tag and its row of the tags."""
    spec = memory.l2.spec[0]
    request.line = quotient(spec.line_bytes, address)
    unit = quotient(spec.unit_lines, request.line)
    block = quotient(spec.all_slices, unit)
    offset = remainder(spec.unit_lines, request.line)
    set_index = slice_hash.index_of(memory.sets, block * spec.unit_lines.value + offset)
    request.row = tags.row_of(memory.l2.tags, slice_, set_index)
