"""The end of memory operations, of wavefronts and of work-groups, as they were noted."""

from lockstep._jit import inline
from lockstep.model.core import stores
from lockstep.model.core.barrier import wake_warp
from lockstep.model.core.cta import end_cta_if_done
from lockstep.model.core.done import free, instruction_of, writes_only
from lockstep.model.core.state import DONE_ACCESS, DONE_ACKNOWLEDGED
from lockstep.model.core.warp import access_ends
from lockstep.model.cu import vector_memory, waits


@inline
def complete(c, s, a, cycle, now):
    """All data of an access is here, or sent; its wavefront and the cycle from which it is."""
    access = c.accesses[s, a]
    instruction = instruction_of(c, s, access)
    w = access.warp
    state = c.waits[s, w]
    if writes_only(instruction.op):
        unacknowledged = c.warps[s, w].outstanding - state.flying
        waits.sent(state, access.place, unacknowledged, max(cycle, now))
    else:
        waits.end(state, access.place, max(cycle, now))
    state.flying -= 1
    vector_memory.leaves(c, s, now)
    free(c, s, a)
    return w, max(cycle, now)


@inline
def settle_done(c, s, now):
    """Deal with everything that ended in this cycle."""
    for k in range(c.n_done[s]):
        done = c.done[s, k]
        slot = done.index
        if done.kind == DONE_ACKNOWLEDGED and not stores.arrives(c, s, done.index, now):
            continue
        if done.kind <= DONE_ACKNOWLEDGED:
            w = stores.warp_of(done.index)
            cycle = now
            if done.kind == DONE_ACCESS:
                w, cycle = complete(c, s, done.index, done.cycle, now)
            else:
                waits.acknowledge(c.waits[s, w], now)
            warp = c.warps[s, w]
            slot = warp.cta
            access_ends(c.ctas[s, slot], warp, cycle)
            wake_warp(c, s, w, cycle)
        end_cta_if_done(c, s, slot, now)
    c.n_done[s] = 0
