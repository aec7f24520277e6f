"""The end of a CTA: its warps end one after the other, then what they had on the way."""

from lockstep._jit import inline
from lockstep.model.clock import NEVER
from lockstep.model.core import cluster
from lockstep.model.core.accounting import account_end, account_warp_end, settle
from lockstep.model.core.barrier import warp_finished
from lockstep.model.core.stores import tell_ended
from lockstep.model.core.warp import finish, leave


@inline
def leave_order(c, s, w):
    """Take a warp out of its sub-core's list."""
    b = w % c.spec[0].subcores
    sub = c.subcores[s, b]
    k = c.looks[s, w].place
    for j in range(k, sub.count - 1):
        c.order[s, b, j] = c.order[s, b, j + 1]
        c.looks[s, c.order[s, b, j]].place = j
    c.looks[s, w].place = -1
    before = (1 << k) - 1
    sub.awaiting = sub.awaiting & before | sub.awaiting >> 1 & ~before
    sub.count -= 1
    if sub.last == w:
        sub.last = -1


@inline
def end_warp(c, s, w, now):
    """A warp's stream has ended."""
    warp = c.warps[s, w]
    c.looks[s, w].wake = NEVER
    leave_order(c, s, w)
    account_warp_end(c, s, now)
    finish(c.ctas[s, warp.cta], now)
    warp_finished(c, s, w, now)
    cluster.warp_finished(c, s, w, now)


@inline
def end_cta_if_done(c, s, slot, now):
    """End a CTA whose warps have finished and whose memory operations have drained.

    Stores that have been sent keep nothing of the SM; they are known by ``c.left`` from then on.
    """
    cta = c.ctas[s, slot]
    sent = 0 if c.spec[0].exit_waits else cta.written
    if cta.finished < cta.warps or cta.outstanding > sent or not cta.active:
        return  # inactive: two of its warps finished in one cycle, and the first note ended it
    c.left[s, cta.kernel] += sent
    settle(c, s, now)
    leave(cta)
    account_end(c, s, now)
    cluster.leave(c, s, slot, now)
    for w in range(c.spec[0].warps):
        warp = c.warps[s, w]
        if warp.active and warp.cta == slot:
            leave(warp)
    tell_ended(c, s, cta.kernel, cta.cta, cta.started, now, sent, cta.lasted)
    c.counters[s].ctas += 1
