"""Miss status holding registers of an L2 slice: what is on its way, and who waits for it.

An entry stands for the sectors of one DRAM request; it is in use while they are marked pending in
the tags. The requests that wait for sectors of a line hang on the line's way, oldest first.
"""

from lockstep._jit import inline

NONE = -1


@inline
def has_entry(memory, slice_):
    """Whether another DRAM read may be under way for a slice."""
    return memory.l2[slice_].mshrs < memory.spec[0].mshrs


@inline
def has_waiter(memory, slice_):
    """Whether another request may wait at a slice."""
    return memory.l2[slice_].free_waiter != NONE


@inline
def mergeable(memory, way, sectors):
    """Those of some pending sectors that another request may wait for."""
    merges = memory.spec[0].merges
    allowed = 0
    for sector in range(memory.spec[0].line_sectors):
        bit = 1 << sector
        if sectors & bit and _waiting(memory, way, bit, merges) < merges:
            allowed |= bit
    return allowed


@inline
def _waiting(memory, way, bit, most):
    """Requests that wait for one sector; counted up to ``most``."""
    found = 0
    index = way.waiters
    while index != NONE and found < most:
        waiter = memory.waiters[index]
        if waiter.sectors & bit:
            found += 1
        index = waiter.next
    return found


@inline
def add(memory, slice_, way, request, sectors):
    """Let a request wait for sectors of a way."""
    state = memory.l2[slice_]
    index = state.free_waiter
    waiter = memory.waiters[index]
    state.free_waiter = waiter.next
    waiter.next = NONE
    waiter.sectors = sectors
    waiter.kind = request.kind
    waiter.source = request.source
    waiter.address = request.address
    waiter.tag = request.tag
    waiter.policy = request.policy
    waiter.issued = request.issued
    waiter.full = request.full
    if way.waiters == NONE:
        way.waiters = index
        return
    last = way.waiters
    while memory.waiters[last].next != NONE:
        last = memory.waiters[last].next
    memory.waiters[last].next = index


@inline
def drop_served(memory, slice_, way, previous, index):
    """Free a waiter that has all it waited for; returns the one that follows it."""
    state = memory.l2[slice_]
    after = memory.waiters[index].next
    if previous == NONE:
        way.waiters = after
    else:
        memory.waiters[previous].next = after
    memory.waiters[index].next = state.free_waiter
    state.free_waiter = index
    return after
