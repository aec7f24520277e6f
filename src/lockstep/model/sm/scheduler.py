"""Warp schedulers. The built-in policies are orders in which warps are examined.

A user's policy is a plain function ``pick(warps, first, count, last, now) -> int``. Candidate i,
``warps[first + i]`` for 0 <= i < count, is a record with the fields of
:data:`~lockstep.model.core.state.CANDIDATE`: ``ready`` (1 = it can issue now), ``age`` (smaller =
launched earlier), ``slot``, ``cta``, ``op`` (OpClass of its next instruction), ``issued``
(instructions so far), ``last_issue`` (cycle) and ``reason`` (Stall, if not ready). ``last`` is
the candidate that issued last, or -1. It returns a ready candidate, or -1 to let the cycle pass.
A constant operand is looked up only then: if it is absent, nobody issues for a few cycles.
The candidates are ordered from the oldest to the youngest.
"""

from lockstep._jit import force_inline, inline, popcount, record_array
from lockstep.gpus.choices import WarpScheduler, numbered
from lockstep.gpus.spec import GPU
from lockstep.model.clock import NEVER
from lockstep.model.core import attribution
from lockstep.model.core.accounting import NO_WARP, account, account_issue
from lockstep.model.core.state import CANDIDATE
from lockstep.model.policy import compile_policy
from lockstep.model.sm.eligibility import STALL_CONSTANT, awaited, examine, has_constant
from lockstep.model.sm.issue import issue
from lockstep.model.sm.write_ports import settle_results

GTO, LRR, GTY, OLDEST, USER, GRR = 0, 1, 2, 3, 4, 5
POLICIES = numbered(WarpScheduler, globals())


def policy_of(gpu: GPU, user: bool) -> int:
    """The number of a GPU's policy, or of the one that a user gives."""
    return USER if user else POLICIES[gpu.sm.scheduler.policy]


def compile_scheduler(function):
    """A user's warp scheduler, ready to be passed to the model."""
    usage = "pick(warps, first, count, last, now)"
    kinds = record_array(CANDIDATE), "int64", "int64", "int64", "int64"
    return compile_policy(function, usage, *kinds)


def first_ready(warps, first, count, last, now):
    """The policy that stands in where the user gives none; never called then."""
    return -1


@force_inline
def position_of(c, s, w):
    """Place of a warp in its sub-core's order, or -1."""
    return c.looks[s, w].place if w >= 0 else -1


@force_inline
def lowest(mask):
    """The lowest bit that is set."""
    return popcount((mask & -mask) - 1)


@force_inline
def highest(mask):
    """The highest bit that is set."""
    for step in (1, 2, 4, 8, 16, 32):
        mask |= mask >> step
    return popcount(mask) - 1


@force_inline
def next_place(policy, last, rest):
    """The first of the places in the mask ``rest`` in a policy's order.

    ``last``: place of the last issuer, the first to be looked at by the greedy policies, or -1.
    """
    if (policy == GTO or policy == GTY) and last >= 0 and (rest >> last) & 1:
        return last
    if policy == GTY:
        return highest(rest)
    if policy == LRR or policy == GRR:
        behind = rest >> (last + 1) << (last + 1)
        return lowest(behind if behind != 0 else rest)
    return lowest(rest)


@force_inline
def offer(c, s, b, k, w, ready):
    """Describe a warp to the user's policy."""
    warp = c.warps[s, w]
    candidate = c.candidates[(s * c.spec[0].subcores + b) * c.spec[0].warps + k]
    candidate.ready = 1 if ready else 0
    candidate.age = warp.age
    candidate.slot = w
    candidate.cta = warp.cta
    candidate.op = warp.op
    candidate.issued = warp.issued
    candidate.last_issue = warp.last_issue
    candidate.reason = c.looks[s, w].reason


@force_inline
def look_at(c, s, b, w, now):
    """Whether a warp can issue now; if not, notes until when and why."""
    look = c.looks[s, w]
    until, reason = now, 0
    if c.spec[0].attributes:
        attribution.look(c, s, w, now)
    if look.awaits == 0:
        until = examine(c, s, b, w, now)
    else:
        until, reason = awaited(c, s, b, look.awaits, now)
        if until > now:
            look.reason = reason
    if until > now:
        look.wake = until
        if c.spec[0].attributes:
            attribution.held(c, s, w, look.reason, now)
    return until <= now


@force_inline
def join(sub, k, look):
    """Put a warp to those that await the same for as long: nobody looks at it until then."""
    if sub.awaiting == 0:
        sub.awaited, sub.free, sub.why_not = look.awaits, look.wake, look.reason
    same = sub.awaited == look.awaits and sub.why_not == look.reason
    if same and sub.free == look.wake:
        sub.awaiting |= 1 << k


@inline
def part(c, s, b, policy, last, chosen):
    """Warps that were just looked at together go on alone, as another one issues.

    Only those before it in the policy's order have been looked at.
    """
    sub = c.subcores[s, b]
    while sub.awaiting != 0:
        k = lowest(sub.awaiting)
        sub.awaiting &= sub.awaiting - 1
        if next_place(policy, last, 1 << k | 1 << chosen) == k:
            look = c.looks[s, c.order[s, b, k]]
            look.wake, look.reason = sub.free, sub.why_not


@force_inline
def last_place(c, s, b, policy):
    """The place of the warp that issued last, as the policy sees it, or -1."""
    sub = c.subcores[s, b]
    last = position_of(c, s, sub.last) if policy != OLDEST else -1
    if policy == GRR:  # whoever issued last, first if it has not yielded, else at the end
        last = last - 1 if last >= 0 else position_of(c, s, sub.turn)
    return last


@force_inline
def choose(c, s, b, again, now):
    """The warp to issue from, or -1; ``again``: only this one, for a second issue in a cycle.

    Of the built-in policies, it is the first that can issue in their order. Warps that await the
    same, mostly a unit that is busy, are looked at together: nothing but its own issue changes
    what a warp awaits. Each has the same wake and the same reason as if it were looked at alone.
    """
    policy = c.spec[0].policy
    sub = c.subcores[s, b]
    last = last_place(c, s, b, policy)
    rest = (1 << sub.count) - 1
    looked = False
    if again >= 0:
        rest = 1 << c.looks[s, again].place
    elif sub.awaiting != 0:
        if sub.free <= now:
            sub.free, sub.why_not = awaited(c, s, b, sub.awaited, now)
            looked = True
        if sub.free > now:
            rest &= ~sub.awaiting
    while rest != 0:
        k = next_place(policy, last, rest)
        rest &= ~(1 << k)
        w = c.order[s, b, k]
        if (sub.awaiting >> k) & 1:
            sub.awaiting &= ~(1 << k)
            if c.spec[0].attributes:
                attribution.held(c, s, w, sub.why_not, now)
            return w
        look = c.looks[s, w]
        ready = (look.wake <= now or again >= 0) and look_at(c, s, b, w, now)
        if policy == USER and again < 0:
            offer(c, s, b, k, w, ready)
        elif ready:
            if looked and sub.free > now:
                part(c, s, b, policy, last, k)
            return w
        elif look.awaits != 0 and look.wake > now and policy != USER:
            join(sub, k, look)
    if policy != USER or again >= 0 or sub.count == 0:
        return -1
    first = (s * c.spec[0].subcores + b) * c.spec[0].warps
    k = c.policies.scheduler(c.candidates, first, sub.count, last, now)
    if 0 <= k < sub.count and c.candidates[first + k].ready:
        return c.order[s, b, k]
    return -1


@force_inline
def sleep(c, s, b, now):
    """Nothing issues: note the main reason and the cycle at which that may change."""
    sub = c.subcores[s, b]
    if sub.constant_until > now:
        account(c, s, b, now, STALL_CONSTANT)
        if c.spec[0].attributes:
            attribution.wait_for_constant(c, s, b)
        sub.next = sub.constant_until
        return
    soonest = NEVER + 1
    why = first = 0
    rest = ((1 << sub.count) - 1) & ~sub.awaiting
    while rest != 0:
        k = lowest(rest)
        rest &= rest - 1
        look = c.looks[s, c.order[s, b, k]]
        if look.wake < soonest:
            soonest, why, first = look.wake, look.reason, k
    if sub.awaiting != 0:
        tie = sub.free == soonest and lowest(sub.awaiting) < first
        if sub.free < soonest or tie:
            soonest, why, first = sub.free, sub.why_not, lowest(sub.awaiting)
    if sub.count == 0:
        if c.sms[s].resident_ctas > 0:  # data of a load that nobody waited for comes later
            account(c, s, b, now, NO_WARP)
            if c.spec[0].attributes:
                attribution.wait_for_nobody(c, s, b)
        sub.next = NEVER
        return
    account(c, s, b, now, why)
    if c.spec[0].attributes:
        attribution.wait_for(c, s, b, c.order[s, b, first])
    sub.next = max(soonest, now + 1)


@force_inline
def cycle(c, s, b, now):
    """One cycle of sub-core ``b``: issue from one warp, or go to sleep."""
    if c.subcores[s, b].result_next <= now:
        settle_results(c, s, b, now)
    issuer = -1
    for _ in range(c.spec[0].issue_width if c.subcores[s, b].constant_until <= now else 0):
        w = choose(c, s, b, issuer, now)
        if w < 0 or not has_constant(c, s, b, w, now):
            break
        if issuer < 0:
            account_issue(c, s, b, now)
        issue(c, s, b, w, now)
        issuer = w
        if c.looks[s, w].wake != now + 1:  # it ended, waits or branched
            break
    if issuer < 0:
        sleep(c, s, b, now)
    else:
        c.subcores[s, b].next = now + 1
