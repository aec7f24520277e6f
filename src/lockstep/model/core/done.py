"""What has ended of memory operations, of warps and of CTAs.

Whoever sees something end notes it; ``settle_done`` of the core deals with all notes at one place,
at the end of its memory cycle. The order of notes is the order in which things happened.
"""

from lockstep._jit import inline
from lockstep.isa.instruction import OpClass
from lockstep.model import free_list

ASYNC_COPY = int(OpClass.ASYNC_COPY)
BULK_STORE = int(OpClass.BULK_STORE)
TILE_STORE = int(OpClass.TILE_STORE)
STORE = int(OpClass.STORE)
REDUCTION = int(OpClass.REDUCTION)


@inline
def wake_memory(c, s, cycle):
    """The memory cycle of ``cycle`` at the latest has something to do."""
    sm = c.sms[s]
    sm.memory_next = min(sm.memory_next, cycle)


@inline
def note(c, s, kind, index, cycle):
    """Something ended; the memory cycle of ``cycle`` at the latest deals with it."""
    done = c.done[s, c.n_done[s]]
    c.n_done[s] += 1
    done.kind = kind
    done.index = index
    done.cycle = cycle
    wake_memory(c, s, cycle)


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
def free(c, s, a):
    """An access has ended: its place is free."""
    c.accesses[s, a].next = free_list.link_to(c.sms[s].free_access)
    c.sms[s].free_access = a
