"""Warp schedulers. The built-in policies are orders in which warps are examined.

A user's policy is a plain function ``pick(warps, first, count, last, now) -> int``. Candidate i,
``warps[first + i]`` for 0 <= i < count, is a record with the fields of
:data:`~lockstep.model.sm.state.CANDIDATE`: ``ready`` (1 = it can issue now), ``age`` (smaller =
launched earlier), ``slot``, ``cta``, ``op`` (OpClass of its next instruction), ``issued``
(instructions so far), ``last_issue`` (cycle) and ``reason`` (Stall, if not ready). ``last`` is
the candidate that issued last, or -1. It returns a ready candidate, or -1 to let the cycle pass.
A constant operand is looked up only then: if it is absent, nobody issues for a few cycles.
The candidates are ordered from the oldest to the youngest.
"""

from lockstep._jit import force_inline, record_array
from lockstep.model.policy import compile_policy
from lockstep.model.sm.accounting import NO_WARP, account, account_issue
from lockstep.model.sm.issue import STALL_CONSTANT, examine, has_constant, issue
from lockstep.model.sm.state import CANDIDATE, NEVER
from lockstep.model.sm.write_ports import settle_results

POLICIES = {"gto": 0, "lrr": 1, "gty": 2, "oldest": 3, "grr": 5}
GTO, LRR, GTY, OLDEST, USER, GRR = 0, 1, 2, 3, 4, 5


def compile_scheduler(function):
    """A user's warp scheduler, ready to be passed to the model."""
    usage = "pick(warps, first, count, last, now)"
    kinds = record_array(CANDIDATE), "int64", "int64", "int64", "int64"
    return compile_policy(function, usage, *kinds)


def first_ready(warps, first, count, last, now):
    """The policy that stands in where the user gives none; never called then."""
    return -1


@force_inline
def try_warp(c, s, b, w, now, again):
    """Whether the warp can issue now; otherwise notes when to look at it again."""
    warp = c.warps[s, w]
    if warp.wake > now and not again:
        return False
    at = examine(c, s, b, w, now)
    if at <= now:
        return True
    warp.wake = at
    return False


@force_inline
def position_of(c, s, b, w):
    """Place of a warp in its sub-core's order, or -1."""
    for k in range(c.subcores[s, b].count):
        if c.order[s, b, k] == w:
            return k
    return -1


@force_inline
def place(policy, last, turn, count):
    """The place to examine at a turn: turn 0 of the greedy policies is the last issuer's."""
    if policy == LRR or policy == GRR:
        k = last + 1 + turn
        return k if k < count else k - count
    if policy == GTY:
        young = count - turn if last >= 0 else count - 1 - turn
        return last if last >= 0 and turn == 0 else young
    if policy == GTO:
        return last if last >= 0 and turn == 0 else (turn - 1 if last >= 0 else turn)
    return turn


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
    candidate.reason = warp.reason


@force_inline
def choose(c, s, b, again, now):
    """The warp to issue from, or -1; ``again``: only this one, for a second issue in a cycle."""
    policy = c.spec[0].policy
    sub = c.subcores[s, b]
    last = position_of(c, s, b, sub.last) if sub.last >= 0 and policy != OLDEST else -1
    if policy == GRR:  # whoever issued last, first if it has not yielded, else at the end
        last = last - 1 if last >= 0 else position_of(c, s, b, sub.turn)
    turns = sub.count
    if (policy == GTO or policy == GTY) and last >= 0:
        turns += 1
    if again >= 0:
        turns = 1
    for turn in range(turns):
        k = place(policy, last, turn, sub.count)
        w = again if again >= 0 else c.order[s, b, k]
        ready = try_warp(c, s, b, w, now, again >= 0)
        if policy == USER and again < 0:
            offer(c, s, b, k, w, ready)
        elif ready:
            return w
    if policy != USER or again >= 0 or turns == 0:
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
        sub.next = sub.constant_until
        return
    soonest = NEVER + 1
    why = 0
    for k in range(sub.count):
        warp = c.warps[s, c.order[s, b, k]]
        if warp.wake < soonest:
            soonest = warp.wake
            why = warp.reason
    if sub.count == 0:
        if c.sms[s].resident_ctas > 0:  # data of a load that nobody waited for comes later
            account(c, s, b, now, NO_WARP)
        sub.next = NEVER
        return
    account(c, s, b, now, why)
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
        if c.warps[s, w].wake != now + 1:  # it ended, waits or branched
            break
    if issuer < 0:
        sleep(c, s, b, now)
    else:
        c.subcores[s, b].next = now + 1
