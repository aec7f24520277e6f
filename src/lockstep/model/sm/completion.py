"""The end of memory operations, of warps and of CTAs, as they were noted."""

from lockstep._jit import inline
from lockstep.isa.instruction import OpClass, Space
from lockstep.model.cache.l1_fill import invalidate
from lockstep.model.core import releases, stores
from lockstep.model.core.barrier import wake_warp
from lockstep.model.core.cta import end_cta_if_done
from lockstep.model.core.done import free, instruction_of, joins_group, writes_only
from lockstep.model.core.objects import complete_object
from lockstep.model.core.release_state import FORGETS, HOLDS
from lockstep.model.core.state import DONE_ACCESS, DONE_ACKNOWLEDGED, LONG, SHORT
from lockstep.model.core.warp import access_ends, leave_group, let_go_at
from lockstep.model.sm import write_ports
from lockstep.model.sm.dependence import lower_barrier, set_result
from lockstep.workload.bulk_copies import TILE_BARRIER

TILE_COPY, SHARED = int(OpClass.TILE_COPY), int(Space.SHARED)


@inline
def complete(c, s, a, cycle, now):
    """All data of an access is there at ``cycle``; returns its warp slot and when it can go on."""
    access = c.accesses[s, a]
    instruction = instruction_of(c, s, access)
    w = access.warp
    warp = c.warps[s, w]
    if not writes_only(instruction.op):
        cycle += instruction.more_writes
        producer = SHORT if access.space == SHARED else LONG
        set_result(c, s, w, instruction, cycle, producer)
        lower_barrier(warp, instruction, cycle, producer)
        if instruction.writes != 0:
            b = w % c.spec[0].subcores
            owner = write_ports.owner_of(c, s, w, access.code, producer)
            write_ports.expect(c, s, b, owner, instruction, cycle)
    if instruction.op == TILE_COPY and c.bulk_places[s, a, TILE_BARRIER] > 0:
        barrier = c.bulk_places[s, a, TILE_BARRIER] - 1
        complete_object(c, s, warp.cta, barrier, max(cycle, now))
    orders = releases.orders(instruction)
    if orders & HOLDS:
        let_go_at(warp, max(cycle, now))
        if orders & FORGETS:
            invalidate(c.l1, s, c.counters[s])
    if joins_group(c, instruction.op):
        leave_group(warp, access.group, cycle)
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
            warp = c.warps[s, w]
            slot = warp.cta
            access_ends(c.ctas[s, slot], warp, cycle)
            wake_warp(c, s, w, cycle)
        end_cta_if_done(c, s, slot, now)
    c.n_done[s] = 0
