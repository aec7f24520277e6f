"""The pipes of a slice: replies wait in them until they are ready, then for the port.

All replies of a pipe take equally long, so each pipe is in order of readiness: hits and fills,
each for near SMs and for those beyond the hop between the chip's sides.
"""

from lockstep._jit import force_inline, popcount
from lockstep.model import entries as lists
from lockstep.model import witness
from lockstep.model.cache import l2_sides
from lockstep.model.divisor import quotient
from lockstep.model.link import KIND_DATA

HIT = 0  # what a pipe carries
FILL = 2


@force_inline
def pipe_for(spec, state, source, carries):
    """The pipe of a slice for replies to an SM; ``carries`` is HIT or FILL."""
    if spec.sides > 1:
        if l2_sides.side_of(spec, source, state.side) != state.side:
            return carries + 1
    return carries


@force_inline
def pipe_of_read(spec, state, slice_, request):
    """The pipe of a slice for what it has of a line that is read.

    A copy of what belongs to another side takes as long as the line itself would.
    """
    if request.home != slice_:
        return HIT + 1
    return pipe_for(spec, state, request.source, HIT)


@force_inline
def put(l2, slice_, pipe, index, ready, answer, mask):
    """Make an entry a reply, and put it into a pipe that has room: it was carried out."""
    spec, entries, state = l2.spec[0], l2.entries, l2.slices[slice_]
    reply = entries[index]
    if witness.listens(l2.witness):
        witness.note(
            l2.witness, state.channel, reply.kind, reply.line, mask, reply.tag, reply.source,
            reply.issued, 0,
        )  # fmt: skip
    reply.ready = ready + (pipe & 1) * spec.far_cycles
    reply.answer = answer
    reply.sectors = mask
    reply.flits = 1
    if answer == KIND_DATA:
        last_byte = popcount(mask) * spec.sector_bytes + spec.flit_bytes.value - 1
        reply.flits = quotient(spec.flit_bytes, last_byte)
    lists.append(entries, state, pipe, index)
