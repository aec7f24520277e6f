"""Barriers of a CTA: sixteen of them. Each counts warps, not threads, until it opens.

It opens for a stated number of arrivals, from whichever warps, so that some warps can produce what
others consume; without a number, when all unfinished warps of the CTA are there.
"""

from lockstep._jit import inline
from lockstep.isa.instruction import NAMED_BARRIERS, THREADS_SHIFT
from lockstep.model.core.warp import hold

MOST_COUNTED = (1 << 12) - 1  # threads: BAR has twelve bits for their count


@inline
def wake_warp(c, s, w, cycle):
    """Let the scheduler look at a warp again at ``cycle``."""
    look = c.looks[s, w]
    sub = c.subcores[s, w % c.spec[0].subcores]
    if look.place >= 0 and (sub.awaiting >> look.place) & 1:
        if sub.free > cycle:
            sub.awaiting ^= 1 << look.place
            look.wake = cycle
    elif look.wake > cycle:
        look.wake = cycle
    if sub.next > cycle:
        sub.next = cycle


@inline
def begin(warp):
    """A warp starts, at no barrier."""
    warp.barrier = -1
    warp.comes = -1
    warp.arrived = 0


@inline
def wait_at(warp, barrier):
    """A warp waits at a barrier, or at what takes the place of one."""
    warp.barrier = barrier


@inline
def leave(warp):
    """A warp waits at no barrier any more."""
    warp.barrier = -1


@inline
def is_counted(warp, barrier):
    """Whether a warp's arrival at a barrier counts, 1 or 0."""
    return warp.arrived >> barrier & 1


@inline
def counts(warp, barrier):
    """A warp's arrival at a barrier counts from now on."""
    warp.arrived |= 1 << barrier


@inline
def will_come(warp, barrier):
    """All lanes of a warp will wait at a barrier after the block that was executed; -1: at none."""
    warp.comes = barrier


@inline
def reset(c, s, cta, barrier):
    """Nobody has arrived."""
    state = c.barriers[s, cta, barrier]
    state.arrived = 0
    state.expected = 0


@inline
def let_go(c, s, cta, barrier, cycle):
    """Let every warp of the CTA that waits at the barrier go on at ``cycle``; no arrival counts."""
    for w in range(c.spec[0].warps):
        warp = c.warps[s, w]
        if warp.active and warp.cta == cta:
            warp.arrived &= ~(1 << barrier)
            if warp.barrier == barrier:
                leave(warp)
                hold(warp, cycle)
                wake_warp(c, s, w, warp.stall_until)


@inline
def release(c, s, cta, barrier, now):
    """Open a barrier of the CTA."""
    spec = c.spec[0]
    named = barrier != 0 or c.barriers[s, cta, barrier].expected > 0
    reset(c, s, cta, barrier)
    opens = max(now, c.sms[s].barrier_free) + spec.barrier_latency
    let_go(c, s, cta, barrier, opens + (spec.named_barrier_latency if named else 0))


@inline
def expected(c, s, cta, barrier):
    """How many arrivals open a barrier."""
    state = c.ctas[s, cta]
    stated = c.barriers[s, cta, barrier].expected
    return stated if stated > 0 else state.warps - state.finished


@inline
def release_if_full(c, s, cta, barrier, now):
    """Release a barrier at which all have arrived that it waits for."""
    arrived = c.barriers[s, cta, barrier].arrived
    if arrived > 0 and arrived >= expected(c, s, cta, barrier):
        release(c, s, cta, barrier, now)


@inline
def named_by(c, word):
    """Number of a barrier that registers name, and the arrivals that open it; 0 = of all warps."""
    threads = word >> THREADS_SHIFT & MOST_COUNTED
    return word & (NAMED_BARRIERS - 1), -(-threads // c.spec[0].warp_size)


@inline
def reach(c, s, w, barrier, arrivals, waits, now):
    """A warp executes a barrier's instruction, and waits there if ``waits``.

    Of a warp that is executed at issue, lanes may come one after the other: it goes on with the
    others, and arrives with the last. To a stated number, the arrivals of parts count.
    """
    warp = c.warps[s, w]
    comes = c.kernels[warp.kernel].source == 0 or warp.comes >= 0
    warp.comes = -1
    if comes or arrivals > 0 or not waits:
        arrive(c, s, w, barrier & (NAMED_BARRIERS - 1), arrivals, waits, now)


@inline
def come(c, s, w, now):
    """A warp of which the lanes that kept it from a barrier have ended arrives there."""
    warp = c.warps[s, w]
    barrier = warp.comes
    warp.comes = -1
    arrive(c, s, w, barrier, 0, True, now)


@inline
def takes_arrival(c, s, now):
    """Cycle from which the SM's barrier unit takes another arrival after this one."""
    sm = c.sms[s]
    sm.barrier_free = max(sm.barrier_free, now) + c.spec[0].barrier_interval
    return sm.barrier_free


@inline
def arrive(c, s, w, barrier, arrivals, waits, now):
    """A warp arrives at a barrier, and waits there if ``waits``.

    Where arrivals are counted to a stated number, each counts; otherwise each warp does.
    """
    warp = c.warps[s, w]
    state = c.barriers[s, warp.cta, barrier]
    if arrivals > 0:
        state.expected = arrivals
    if arrivals > 0 or not is_counted(warp, barrier):
        state.arrived += 1
        counts(warp, barrier)
    if waits:
        wait_at(warp, barrier)
    takes_arrival(c, s, now)
    release_if_full(c, s, warp.cta, barrier, now)


@inline
def warp_finished(c, s, w, now):
    """A warp left. Barriers that wait for all warps forget its arrival, as they do not expect it
    either, and open if they waited only for it; a stated number still needs its arrival."""
    warp = c.warps[s, w]
    for barrier in range(NAMED_BARRIERS):
        state = c.barriers[s, warp.cta, barrier]
        if state.expected == 0:
            state.arrived -= is_counted(warp, barrier)
        release_if_full(c, s, warp.cta, barrier, now)
