"""CTA dispatch: one CTA at a time, round robin over the SMs that have room.

It runs between windows, on what the SMs reported at the end of the last one. Kernels that run
together are served in launch order: a later one gets what an earlier one leaves.
"""

from lockstep._jit import inline, jit
from lockstep.model.cache.l1_fill import invalidate
from lockstep.model.sm.accounting import settle
from lockstep.model.sm.cta import fits, launch

THOUSAND = 1000


@inline
def find_room(c, kernel):
    """The next SM in turn that has room for a CTA of the kernel, or -1."""
    n = c.spec[0].sms
    for turn in range(n):
        s = (c.dispatcher[0].next_sm + turn) % n
        if fits(c, s, kernel):
            return s
    return -1


@jit
def dispatch(c, order, n_kernels, start, end):
    """Dispatch CTAs at cycles start <= t < end, from the kernel slots order[:n_kernels].

    Returns how many; 0 if no CTA is waiting or none fits.
    """
    state = c.dispatcher[0]
    interval = c.spec[0].dispatch_interval
    state.time = max(state.time, start * THOUSAND)
    n = 0
    for i in range(n_kernels):
        kernel = c.kernels[order[i]]
        while state.time < end * THOUSAND and kernel.taken < kernel.queued:
            s = find_room(c, kernel)
            if s < 0:
                break
            cycle = state.time // THOUSAND
            if kernel.started < 0:
                kernel.started = cycle
            pending = c.pending[order[i], kernel.taken % c.pending.shape[1]]
            kernel.taken += 1
            launch(c, s, order[i], pending, cycle)
            c.dispatcher[0].next_sm = (s + 1) % c.spec[0].sms
            state.time += interval
            n += 1
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
