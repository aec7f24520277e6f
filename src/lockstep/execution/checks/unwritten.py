"""Reads of bytes that nobody wrote: generated code finds the lanes, here they are noted."""

import functools

from lockstep._jit import jit, phase
from lockstep.execution.checks.kinds import Hazard
from lockstep.execution.checks.record import note


@jit
def unwritten(x, w, site, size, mask):
    """Note reads by the lanes in ``mask``; host addresses are in the warp's scratch words."""
    running = x.running[0]
    for lane in range(x.launch[0].lanes):
        if not mask >> lane & 1:
            continue
        n = note(x, Hazard.UNWRITTEN_READ, site, -1, w, lane)
        if n >= 0:
            row, address = x.checked.findings[n], x.scratch[w, lane]
            offset = address - running.shared_address
            row.bytes, row.address, row.other_cta = size, address, -1
            if 0 <= offset < len(x.ctas) * running.shared_stride:
                holder = offset // running.shared_stride
                row.address = address - x.ctas[holder].shared
                row.other_cta = x.ctas[holder].linear
    return 0


@functools.cache
def entry_points(kind):
    """The runtime function as a pointer for generated code; ``kind`` is that of the machine."""
    return phase(unwritten, (kind,), 4)
