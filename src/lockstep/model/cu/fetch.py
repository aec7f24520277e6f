"""Instruction fetch of a compute unit: lines of the instruction cache that neighbours share.

There is no cache between it and the instruction buffers of wavefronts. A SIMD fetches in its turn
for each of its wavefronts that needs a line: the width of a fetch is not modelled.
"""

from lockstep._jit import inline
from lockstep.model.core.fetch import from_l1


@inline
def fetch(c, s, warp, line, now):
    """Cycle at which a line of a wavefront's code is there."""
    return from_l1(c, c.cus[s].leader, line + c.kernels[warp.kernel].fetch_base, now)


@inline
def fetch_ahead(c, s, warp, line, now):
    """The instruction buffer asks for the first instruction of another line."""
    warp.ahead = line
    warp.ahead_ready = fetch(c, s, warp, line, now)


@inline
def move_to_line(c, s, warp, line, now):
    """The wavefront's next instruction is in another line; the cycle at which it is buffered."""
    at = warp.ahead_ready if warp.ahead == line else fetch(c, s, warp, line, now)
    warp.line = line
    warp.ahead = -1
    return at
