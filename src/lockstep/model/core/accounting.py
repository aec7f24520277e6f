"""Scheduler-cycles and residency, counted lazily: a reason is written down once and holds until
something changes, so that skipped cycles cost nothing and still sum to 100 %."""

from lockstep._jit import force_inline, inline
from lockstep.model.core import attribution
from lockstep.model.counters import Stall

NO_WARP = int(Stall.NO_WARP)
ISSUED = int(Stall.ISSUED)


@force_inline
def account(c, s, b, now, why):
    """Count the cycles up to ``now`` for the reason that held, and note the one that holds now."""
    sub = c.subcores[s, b]
    if now > sub.accounted:
        c.counters[s].stalls[sub.why] += now - sub.accounted
        if c.spec[0].attributes:
            attribution.stall(c, s, b, sub.why, now - sub.accounted)
        sub.accounted = now
    sub.why = why


@force_inline
def account_issue(c, s, b, now):
    """Count the cycle ``now`` as one that issued."""
    account(c, s, b, now, NO_WARP)
    if c.spec[0].attributes:
        attribution.wait_for_nobody(c, s, b)
    c.counters[s].stalls[ISSUED] += 1
    c.subcores[s, b].accounted = now + 1


@force_inline
def account_residency(c, s, now):
    """Count resident warps and active cycles up to ``now``."""
    sm = c.sms[s]
    if now > sm.accounted:
        c.counters[s].warp_cycles += sm.resident_warps * (now - sm.accounted)
        if sm.resident_ctas > 0:
            c.counters[s].active_cycles += now - sm.accounted
        sm.accounted = now


@force_inline
def start_accounting(c, s, now):
    """An idle SM gets a CTA: the cycles before belong to nobody."""
    c.sms[s].accounted = now
    for b in range(c.spec[0].subcores):
        sub = c.subcores[s, b]
        sub.accounted = now
        sub.why = NO_WARP
        if c.spec[0].attributes:
            attribution.wait_for_nobody(c, s, b)


@force_inline
def account_start(c, s, warps, now):
    """A CTA of so many warps will start at ``now``, in this window: until then it is not resident,
    though from here on it is counted."""
    sm = c.sms[s]
    if sm.resident_ctas == 0:
        start_accounting(c, s, now)
    c.counters[s].warp_cycles -= warps * (now - sm.accounted)
    sm.resident_ctas += 1
    sm.resident_warps += warps
    sm.last_start = max(sm.last_start, now)


@force_inline
def account_warp_end(c, s, now):
    """A warp has ended."""
    account_residency(c, s, now)
    c.sms[s].resident_warps -= 1


@inline
def account_end(c, s, now):
    """A CTA has ended, which is not active any more, and all was counted up to ``now``.

    If those that are left have yet to start, the SM idles until one does.
    """
    sm = c.sms[s]
    sm.resident_ctas -= 1
    if sm.resident_ctas == 0 or sm.last_start <= now:
        return
    first = sm.last_start
    for slot in range(c.ctas.shape[1]):
        if c.ctas[s, slot].active:
            first = min(first, c.ctas[s, slot].started)
    if first > now:
        c.counters[s].warp_cycles += sm.resident_warps * (first - now)
        start_accounting(c, s, first)


@inline
def account_blocked(c, s, now):
    """Count the cycles since the L1 last refused a transaction, by what it lacked."""
    sm = c.sms[s]
    if 0 <= sm.blocked < now:
        if sm.queue_blocked:
            c.counters[s].l1_queue_stalls += now - sm.blocked
        else:
            c.counters[s].l1_reservation_fails += now - sm.blocked
            if sm.line_blocked:
                c.counters[s].l1_line_stalls += now - sm.blocked
        sm.blocked = now


@inline
def account_no_credit(c, s, now):
    """Count the cycles since a request last found no credit."""
    sm = c.sms[s]
    if 0 <= sm.no_credit < now:
        c.counters[s].noc_request_stalls += now - sm.no_credit
        sm.no_credit = now


@inline
def refusals(c, s):
    """How often the L1 has refused a transaction, by what it lacked."""
    n = c.counters[s]
    return n.l1_fail_line, n.l1_fail_mshr, n.l1_fail_merge, n.l1_fail_queue


@inline
def account_left_out(c, s, before, windows):
    """Count for windows that were left out what the L1 has refused since ``before`` in one."""
    after = refusals(c, s)
    n = c.counters[s]
    n.l1_fail_line += windows * (after[0] - before[0])
    n.l1_fail_mshr += windows * (after[1] - before[1])
    n.l1_fail_merge += windows * (after[2] - before[2])
    n.l1_fail_queue += windows * (after[3] - before[3])


@force_inline
def settle(c, s, now):
    """Bring the counters of an SM up to ``now``; called when the SM idles or is looked at."""
    if c.sms[s].resident_ctas > 0:
        account_residency(c, s, now)
        account_blocked(c, s, now)
        account_no_credit(c, s, now)
        for b in range(c.spec[0].subcores):
            account(c, s, b, now, c.subcores[s, b].why)
