"""The pipes of a slice: replies wait in them until they are ready, then for the port.

All replies of a pipe take equally long, so each pipe is in order of readiness: hits and fills,
each for near SMs and for those beyond the hop between the chip's sides.
"""

from lockstep._jit import force_inline, popcount
from lockstep.model import entries as lists
from lockstep.model.divisor import quotient
from lockstep.model.link import KIND_DATA

HIT = 0  # what a pipe carries
FILL = 2


@force_inline
def pipe_for(spec, state, source, carries):
    """The pipe of a slice for replies to an SM; ``carries`` is HIT or FILL."""
    if spec.sides > 1:
        if source * spec.sides // spec.sources != state.side:
            return carries + 1
    return carries


@force_inline
def put(spec, entries, state, pipe, index, ready, answer, mask):
    """Make an entry a reply, and put it into a pipe that has room."""
    reply = entries[index]
    reply.ready = ready + (pipe & 1) * spec.far_cycles
    reply.answer = answer
    reply.sectors = mask
    reply.flits = 1
    if answer == KIND_DATA:
        last_byte = popcount(mask) * spec.sector_bytes + spec.flit_bytes.value - 1
        reply.flits = quotient(spec.flit_bytes, last_byte)
    lists.append(entries, state, pipe, index)
