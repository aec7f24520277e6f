"""CTA dispatch: one CTA at a time, GPC after GPC, to the SMs that have room.

The CTAs of a cluster start in the same cycle, on SMs of one GPC, the least busy ones; clusters go
round robin over the GPCs.

It runs between windows, on what the SMs reported at the end of the last one. Kernels that run
together are served in launch order: a later one gets what an earlier one leaves.
"""

from lockstep._jit import inline, jit
from lockstep.model.cache.l1_fill import invalidate
from lockstep.model.sm import cluster
from lockstep.model.sm.accounting import settle
from lockstep.model.sm.cta import fits, free_places, launch, room
from lockstep.model.sm.state import NEVER, THOUSAND


@inline
def takes(c, s, slot, most):
    """Whether an SM takes a CTA of a kernel slot: there is room, and it had fewer than ``most``."""
    return c.given[s, slot] < most and fits(c, s, c.kernels[slot])


@inline
def find_room(c, slot, most):
    """The place of the next SM in turn that takes a CTA of a kernel slot, or -1."""
    n = len(c.turns)
    for turn in range(n):
        place = (c.dispatcher[0].next_place + turn) % n
        if takes(c, c.turns[place], slot, most):
            return place
    return -1


@inline
def next_in_turn(c, slot):
    """The place of the SM that gets the next CTA of a kernel slot, or -1.

    Where some SMs have more turns than others, each gets its share of a grid that all of them
    hold at once, and no more while others have room.
    """
    kernel = c.kernels[slot]
    place = -1
    if len(c.turns) > c.spec[0].sms and kernel.taken < kernel.filling:
        place = find_room(c, slot, kernel.share)
    if place < 0:
        place = find_room(c, slot, NEVER)
    return place


@inline
def find_gpc(c, kernel):
    """The next GPC in turn that has room for a cluster of the kernel, or -1."""
    n = len(c.first_sms) - 1
    for turn in range(n):
        gpc = (c.dispatcher[0].next_gpc + turn) % n
        fitting = 0
        for s in range(c.first_sms[gpc], c.first_sms[gpc + 1]):
            fitting += room(c, s, kernel)
        if fitting >= kernel.cluster:
            return gpc
    return -1


@inline
def least_busy(c, gpc, kernel):
    """The SM of a GPC that has room for a CTA and the fewest warps."""
    best = -1
    for s in range(c.first_sms[gpc], c.first_sms[gpc + 1]):
        if fits(c, s, kernel) and (best < 0 or c.sms[s].warps_used < c.sms[best].warps_used):
            best = s
    return best


@inline
def start_next(c, s, slot, cycle):
    """Launch the CTA of a kernel slot that has waited longest; its CTA slot on the SM."""
    kernel = c.kernels[slot]
    if kernel.started < 0:
        kernel.started = cycle
    pending = c.pending[slot, kernel.taken % c.pending.shape[1]]
    kernel.taken += 1
    return launch(c, s, slot, pending, cycle)


@inline
def dispatch_cta(c, slot, cycle):
    """Dispatch one CTA of a kernel slot; 0 if no SM has room."""
    state = c.dispatcher[0]
    if c.kernels[slot].taken == 0:
        state.next_place = c.begins[state.next_place]
    place = next_in_turn(c, slot)
    if place < 0:
        return 0
    s = c.turns[place]
    c.given[s, slot] += 1
    start_next(c, s, slot, cycle)
    state.next_place = (place + 1) % len(c.turns)
    return 1


@inline
def dispatch_cluster(c, slot, cycle):
    """Dispatch one cluster of a kernel slot; how many CTAs: 0 if no GPC has room."""
    kernel = c.kernels[slot]
    gpc = find_gpc(c, kernel)
    if gpc < 0:
        return 0
    row = cluster.allocate(c, kernel.cluster)
    for rank in range(kernel.cluster):
        s = least_busy(c, gpc, kernel)
        cluster.enter(c, s, start_next(c, s, slot, cycle), row, rank)
    c.dispatcher[0].next_gpc = (gpc + 1) % (len(c.first_sms) - 1)
    return kernel.cluster


@inline
def next_place(c):
    """The first cycle at which a place becomes free, as far as is known, or NEVER."""
    at = NEVER
    for s in range(c.spec[0].sms):
        at = min(at, c.sms[s].leaving_at)
    return at


@jit
def dispatch(c, order, n_kernels, start, end):
    """Dispatch CTAs at cycles start <= t < end, from the kernel slots order[:n_kernels].

    Returns how many; 0 if no CTA is waiting or none fits.
    """
    state, spec = c.dispatcher[0], c.spec[0]
    state.time = max(state.time, start * THOUSAND)
    n = 0
    for i in range(n_kernels):
        kernel = c.kernels[order[i]]
        while state.time < end * THOUSAND and kernel.taken < kernel.queued:
            cycle = state.time // THOUSAND
            for s in range(spec.sms):
                free_places(c, s, cycle)
            if kernel.cluster > 1:
                ctas = dispatch_cluster(c, order[i], cycle)
            else:
                ctas = dispatch_cta(c, order[i], cycle)
            if ctas == 0:
                cycle = next_place(c)
                if cycle >= end or i < n_kernels - 1:  # others may have room meanwhile
                    break
                state.time = cycle * THOUSAND
                continue
            first = kernel.taken < kernel.filling
            state.time += ctas * (spec.first_interval if first else spec.dispatch_interval)
            n += ctas
    return n


@jit
def prepare_l1(c, ways, flush):
    """Let every L1 use ``ways`` ways; it is emptied if that changes its size, or on ``flush``."""
    tags = c.l1.tags
    for s in range(c.spec[0].sms):
        if flush or tags.caches[s].ways != ways:
            invalidate(c.l1, s)
            tags.caches[s].ways = min(ways, tags.shape[0].ways)


@jit
def settle_all(c, now):
    """Bring the lazily kept counters of all SMs up to ``now``."""
    for s in range(c.spec[0].sms):
        settle(c, s, now)
