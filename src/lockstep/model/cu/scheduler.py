"""The schedulers of a compute unit: in each cycle, one SIMD in turn.

From its wavefronts, the oldest first, it issues one instruction to each unit at most, and from each
wavefront one. A user's warp scheduler is not asked.
"""

from lockstep._jit import force_inline, inline
from lockstep.model.clock import NEVER
from lockstep.model.core import attribution
from lockstep.model.core.accounting import ISSUED, NO_WARP, account
from lockstep.model.cu.issue import STALL_UNIT, examine, issue, kind_of


@force_inline
def turn_from(simds, b, cycle):
    """The first turn of SIMD ``b`` from a cycle on."""
    return cycle + (b - cycle) % simds


@force_inline
def may_issue(c, s, b, w, taken, now):
    """Whether a wavefront can issue to a unit that is not in ``taken``; else notes why not."""
    look = c.looks[s, w]
    if look.wake > now:
        return False
    if c.spec[0].attributes:
        attribution.look(c, s, w, now)
    until = examine(c, s, b, w, now)
    if until > now:
        look.wake = until
        if c.spec[0].attributes:
            attribution.held(c, s, w, look.reason, now)
        return False
    if (taken >> kind_of(c, s, w)) & 1:
        look.reason = STALL_UNIT
        return False
    return True


@inline
def sleep(c, s, b, now):
    """Nothing issues: note the main reason and the turn at which that may change."""
    sub = c.subcores[s, b]
    if sub.count == 0:
        if c.sms[s].resident_ctas > 0:
            account(c, s, b, now, NO_WARP)
            if c.spec[0].attributes:
                attribution.wait_for_nobody(c, s, b)
        sub.next = NEVER
        return
    soonest, why, first = NEVER + 1, NO_WARP, 0
    for k in range(sub.count):
        look = c.looks[s, c.order[s, b, k]]
        if look.wake < soonest:
            soonest, why, first = look.wake, look.reason, k
    account(c, s, b, now, why)
    if c.spec[0].attributes:
        attribution.wait_for(c, s, b, c.order[s, b, first])
    sub.next = max(soonest, now + 1)


@inline
def cycle(c, s, b, now):
    """The turn of SIMD ``b``: the cycles up to its next one count as what happens in it."""
    sub = c.subcores[s, b]
    taken = k = 0
    while k < sub.count:
        w = c.order[s, b, k]
        if may_issue(c, s, b, w, taken, now):
            taken |= 1 << kind_of(c, s, w)
            if not issue(c, s, b, w, now):
                continue  # who came after it has moved up
        k += 1
    if taken == 0:
        sleep(c, s, b, now)
    else:
        account(c, s, b, now, ISSUED)
        if c.spec[0].attributes:
            attribution.wait_for_nobody(c, s, b)
        sub.next = now + 1
