"""Scopes: what an instruction waits for, and what its SM forgets (``coherence.protocol = vi``).

A release of a scope beyond the CTA waits until all that its SM has stored is in the L2: its warp
may have seen what others of the SM stored. Stores that leave later must not hold it up, so that
they are of two groups. A release closes the group that stores join; the next stores join the other
one, and the release waits until the closed group is there. One that comes while a group is closed
waits for that one, and for the next.

An acquire of such a scope invalidates the L1: an access when its data is here, until when it holds
its warp, a fence when it is passed.
"""

from lockstep._jit import inline
from lockstep.model.clock import NEVER
from lockstep.model.core.barrier import wake_warp
from lockstep.model.core.release_state import (
    AFTER_STORES,
    NOTHING,
    PLACE,
)


@inline
def orders(instruction):
    """What an instruction waits for and does, of the bits above; 0 without scopes."""
    return instruction.cache >> PLACE


@inline
def sent(c, s):
    """A store leaves; it joins a group."""
    groups = c.releases.sms[s]
    groups.flying[groups.turn] += 1


@inline
def arrived(c, s, group, now):
    """A store of a group is in the L2."""
    groups = c.releases.sms[s]
    groups.flying[group] -= 1
    if group != groups.turn and groups.flying[group] == 0:
        _opens(c, s, groups, now)


@inline
def _opens(c, s, groups, now):
    """The closed group has arrived: releases look again, and the next group closes if one waits."""
    groups.closed += 1
    while groups.wanted > groups.closed:
        groups.turn ^= 1
        if groups.flying[groups.turn ^ 1] > 0:
            break
        groups.closed += 1
    for w in range(c.releases.targets.shape[1]):
        if c.releases.targets[s, w] >= 0:
            wake_warp(c, s, w, now)


@inline
def begin(c, s, w):
    """A warp is at a release: what is on its way now must arrive first."""
    if c.releases.targets[s, w] >= 0:
        return
    groups = c.releases.sms[s]
    target = groups.closed
    if groups.flying[groups.turn ^ 1] > 0:
        target += 1 + (groups.flying[groups.turn] > 0)
    elif groups.flying[groups.turn] > 0:
        groups.turn ^= 1
        target += 1
    groups.wanted = max(groups.wanted, target)
    c.releases.targets[s, w] = target


@inline
def end(c, s, w):
    """A warp has passed its release."""
    c.releases.targets[s, w] = NOTHING


@inline
def waits_until(c, s, w, warp, orders, now):
    """Cycle until which earlier accesses hold a release, as far as is known; ``now``: it may go."""
    if orders & AFTER_STORES:
        if warp.outstanding > 0 or c.releases.sms[s].closed < c.releases.targets[s, w]:
            return NEVER
    if warp.outstanding > warp.stores:
        return NEVER
    return max(warp.accessed, now)
