"""Stores on their way: whose they are, and what becomes of them when their CTA has ended.

A store has left the SM when it has gone through the L1. Its acknowledgement is awaited by fences of
its warp and by the end of the kernel, and by the end of its CTA where ``sm.exit_waits`` says so.
"""

from lockstep._jit import inline
from lockstep.model.control import STORED
from lockstep.model.core import releases
from lockstep.model.core.warp import store_arrives, store_begins

WARP_BITS, KERNEL_BITS = 8, 10  # as many warps and kernels as an SM and a GPU can have
GROUP_BITS = 1  # of the two groups of stores that releases tell apart


@inline
def writer_of(warp, w):
    """Whose a store is, as one number: the slots of warp and kernel, and the warp's age."""
    return ((warp.age << KERNEL_BITS | warp.kernel) << WARP_BITS | w) << GROUP_BITS


@inline
def tag_of(c, s, w):
    """What a store of a warp takes along: its writer, and the group that it joins."""
    return writer_of(c.warps[s, w], w) | c.releases.sms[s].turn


@inline
def warp_of(tag):
    """The warp slot of a store's writer."""
    return tag >> GROUP_BITS & ((1 << WARP_BITS) - 1)


@inline
def tell_ended(c, s, kernel, cta, start, end, left, lasted):
    """Tell the CTA scheduler of a CTA that has ended, or that stores have (``control.ENDED``)."""
    control = c.control
    note = control.ended[s, control.n_ended[s]]
    control.n_ended[s] += 1
    note.kernel, note.cta, note.start, note.end = kernel, cta, start, end
    note.left, note.lasted = left, lasted


@inline
def send(c, s, w):
    """One more store of the warp that is to be acknowledged; the tag that it takes along."""
    warp = c.warps[s, w]
    store_begins(c.ctas[s, warp.cta], warp)
    releases.sent(c, s)
    return tag_of(c, s, w)


@inline
def arrives(c, s, tag, now):
    """A store is acknowledged; whether its warp is still there to learn it."""
    releases.arrived(c, s, tag & 1, now)
    warp = c.warps[s, warp_of(tag)]
    if warp.active and warp.age == tag >> (KERNEL_BITS + WARP_BITS + GROUP_BITS):
        store_arrives(c.ctas[s, warp.cta], warp)
        return True
    kernel = tag >> (WARP_BITS + GROUP_BITS) & ((1 << KERNEL_BITS) - 1)
    c.left[s, kernel] -= 1
    if c.left[s, kernel] == 0:
        end = now - c.spec[0].drain
        tell_ended(c, s, kernel, STORED, end, end, 0, 0)
    return False
