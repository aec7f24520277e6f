"""The end of memory operations, of warps and of CTAs.

Whoever sees something end notes it; ``settle_done`` deals with all notes at one place, at the
end of the SM's memory cycle. The order of notes is the order in which things happened.
"""

from lockstep._jit import inline
from lockstep.isa.instruction import OpClass
from lockstep.model import free_list
from lockstep.model.sm import stores, write_ports
from lockstep.model.sm.barrier import wake_warp
from lockstep.model.sm.cta import end_cta_if_done
from lockstep.model.sm.dependence import lower_barrier, set_result
from lockstep.model.sm.objects import complete_object
from lockstep.model.sm.state import DONE_ACCESS, DONE_ACKNOWLEDGED, LONG
from lockstep.model.sm.warp import access_ends, leave_group
from lockstep.workload import TILE_BARRIER

ASYNC_COPY = int(OpClass.ASYNC_COPY)
BULK_STORE = int(OpClass.BULK_STORE)
TILE_STORE = int(OpClass.TILE_STORE)
TILE_COPY = int(OpClass.TILE_COPY)
STORE = int(OpClass.STORE)
REDUCTION = int(OpClass.REDUCTION)


@inline
def note(c, s, kind, index, cycle):
    """Something ended; the memory cycle of ``cycle`` at the latest deals with it."""
    done = c.done[s, c.n_done[s]]
    c.n_done[s] += 1
    done.kind = kind
    done.index = index
    done.cycle = cycle
    sm = c.sms[s]
    sm.memory_next = min(sm.memory_next, cycle)


@inline
def joins_group(c, op):
    """Whether a copy belongs to the open group of its warp, for which it can wait."""
    bulk = op == BULK_STORE or op == TILE_STORE
    return op == ASYNC_COPY or (bulk and c.spec[0].bulk_groups)


@inline
def writes_only(op):
    """Whether an operation has no result, so that its acknowledgement ends it."""
    return op == STORE or op == REDUCTION


@inline
def instruction_of(c, s, access):
    """The ISSUE record of an access in flight."""
    return c.code[c.kernels[c.warps[s, access.warp].kernel].code + access.code]


@inline
def complete(c, s, a, cycle, now):
    """All data of an access is there at ``cycle``; returns its warp slot and when it can go on."""
    access = c.accesses[s, a]
    instruction = instruction_of(c, s, access)
    w = access.warp
    warp = c.warps[s, w]
    if not writes_only(instruction.op):
        cycle += instruction.more_writes
        set_result(c, s, w, instruction, cycle, LONG)
        lower_barrier(warp, instruction, cycle)
        if instruction.writes != 0:
            b = w % c.spec[0].subcores
            owner = write_ports.owner_of(c, s, w, access.code, LONG)
            write_ports.expect(c, s, b, owner, instruction, cycle)
    if instruction.op == TILE_COPY and c.bulk_places[s, a, TILE_BARRIER] > 0:
        barrier = c.bulk_places[s, a, TILE_BARRIER] - 1
        complete_object(c, s, warp.cta, barrier, max(cycle, now))
    if joins_group(c, instruction.op):
        leave_group(warp, access.group, cycle)
    access.next = free_list.link_to(c.sms[s].free_access)
    c.sms[s].free_access = a
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
