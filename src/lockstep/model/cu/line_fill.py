"""A line of the scalar data cache or of the instruction cache is here: who waited for it goes on.

The CU that asked gets it; the cache is that of its neighbours, too.
"""

from lockstep._jit import inline
from lockstep.model.cache import line_cache, line_misses
from lockstep.model.clock import NEVER
from lockstep.model.core.barrier import wake_warp
from lockstep.model.core.kinds import SCALARS
from lockstep.model.cu import fetch, waits


@inline
def fill_scalars(c, s, line, at):
    """Scalar loads of a CU's wavefronts have a line; their data is there at a cycle."""
    for w in range(c.spec[0].warps):
        if c.waits[s, w].lines_awaited > 0 and waits.line_comes(c.waits[s, w], line, at):
            wake_warp(c, s, w, at)


@inline
def fill_instructions(c, s, line, at):
    """Instruction buffers of a CU's wavefronts get what they have asked for of a line."""
    for w in range(c.spec[0].warps):
        if c.warps[s, w].active and fetch.comes(c, c.warps[s, w], line, at):
            wake_warp(c, s, w, at)


@inline
def let_ask(c, s, now):
    """An entry is free: wavefronts that had none to ask with look again."""
    if c.cus[s].entry_wanted:
        c.cus[s].entry_wanted = 0
        for w in range(c.spec[0].warps):
            if c.warps[s, w].active and c.looks[s, w].wake >= NEVER:
                wake_warp(c, s, w, now + 1)


@inline
def fill(c, s, message, now):
    """Take the answer to a request for a line."""
    e = line_misses.receive(c.lines, s, message)
    if e < 0:
        return
    spec, leader = c.spec[0], c.cus[s].leader
    line = c.lines.entries[s, e].line
    scalars = c.lines.entries[s, e].cache == SCALARS
    arrives = now + spec.fill_cycles
    line_cache.here(c.constants if scalars else c.l1i, leader, line, arrives)
    neighbour = leader
    while neighbour < spec.sms and c.cus[neighbour].leader == leader:
        if scalars:
            fill_scalars(c, neighbour, line, arrives + spec.constant_latency)
        else:
            fill_instructions(c, neighbour, line, arrives + spec.l1i_latency)
        neighbour += 1
    let_ask(c, s, now)
