"""Barriers of a CTA: sixteen of them, each counts warps until all unfinished ones are there."""

from lockstep._jit import inline
from lockstep.model.sm.state import NAMED_BARRIERS


@inline
def wake_warp(c, s, w, cycle):
    """Let the scheduler look at a warp again at ``cycle``."""
    warp = c.warps[s, w]
    if warp.wake > cycle:
        warp.wake = cycle
    sub = c.subcores[s, w % c.spec[0].subcores]
    if sub.next > cycle:
        sub.next = cycle


@inline
def release(c, s, cta, barrier, now):
    """Let every warp of the CTA go that waits at the barrier."""
    c.barriers[s, cta, barrier] = 0
    for w in range(c.spec[0].warps):
        warp = c.warps[s, w]
        if warp.active and warp.cta == cta:
            warp.arrived &= ~(1 << barrier)
            if warp.barrier == barrier:
                warp.barrier = -1
                warp.stall_until = max(warp.stall_until, now + c.spec[0].barrier_latency)
                wake_warp(c, s, w, warp.stall_until)


@inline
def release_if_full(c, s, cta, barrier, now):
    """Release a barrier at which all unfinished warps have arrived."""
    state = c.ctas[s, cta]
    arrived = c.barriers[s, cta, barrier]
    if arrived > 0 and arrived >= state.warps - state.finished:
        release(c, s, cta, barrier, now)


@inline
def arrive(c, s, w, number, waits, now):
    """A warp arrives at a barrier, and waits there if ``waits``."""
    warp = c.warps[s, w]
    barrier = number & (NAMED_BARRIERS - 1)
    if (warp.arrived >> barrier) & 1 == 0:
        c.barriers[s, warp.cta, barrier] += 1
        warp.arrived |= 1 << barrier
    if waits:
        warp.barrier = barrier
    release_if_full(c, s, warp.cta, barrier, now)


@inline
def warp_finished(c, s, w, now):
    """A warp left: its arrivals count no longer, and barriers that waited only for it open."""
    warp = c.warps[s, w]
    for barrier in range(NAMED_BARRIERS):
        c.barriers[s, warp.cta, barrier] -= (warp.arrived >> barrier) & 1
        release_if_full(c, s, warp.cta, barrier, now)
