"""The start of a CTA: the CTA scheduler names it, its warps get slots, each shared unit begins."""

from lockstep._jit import inline
from lockstep.isa.instruction import NAMED_BARRIERS
from lockstep.model.core import attribution, barrier, cluster, fetch, stream
from lockstep.model.core import warp as warps
from lockstep.model.core.accounting import NO_WARP, account_start
from lockstep.model.core.objects import reset_objects
from lockstep.model.core.state import THOUSAND


@inline
def free_cta_slot(c, s):
    """Index of an empty CTA slot."""
    k = 0
    while c.ctas[s, k].active:
        k += 1
    return k


@inline
def start_warp(c, s, w, slot, index, message, now):
    """Put one warp of a CTA into warp slot ``w``."""
    cta = c.ctas[s, slot]
    warp = c.warps[s, w]
    warp.kernel = cta.kernel
    warp.cta = slot
    warp.index = index
    warp.age = c.sms[s].age
    c.sms[s].age += 1
    sm = c.sms[s]
    sm.start_free = max(sm.start_free, now * THOUSAND)
    at = sm.start_free // THOUSAND
    sm.start_free += c.spec[0].warp_interval
    look = c.looks[s, w]
    look.wake, look.reason, look.awaits = at, NO_WARP, 0
    if c.spec[0].attributes:
        attribution.start(c, s, w, now)
    warps.begin(warp, at)
    stream.begin(warp, c.warp_streams[message.warps + index])
    fetch.empty_buffer(warp)
    barrier.begin(warp)
    b = w % c.spec[0].subcores
    sub = c.subcores[s, b]
    c.order[s, b, sub.count] = w
    look.place = sub.count
    sub.count += 1
    sub.next = min(sub.next, at)


@inline
def launch(c, s, message):
    """Start the CTA of a message LAUNCH, in the slot returned; there is room for it."""
    k, now = message.kernel, message.cycle
    kernel = c.kernels[k]
    account_start(c, s, kernel.warps, now)
    if c.parameters[s, k] == 0:
        c.parameters[s, k] = now + c.spec[0].first_constants
    slot = free_cta_slot(c, s)
    cta = c.ctas[s, slot]
    cta.kernel = k
    cta.cta = message.cta
    cta.warps = kernel.warps
    warps.begin_cta(cta)
    cta.started = now
    cta.runs = message.runs
    cta.addresses = message.addresses
    cta.pool = message.pool
    for number in range(NAMED_BARRIERS):
        barrier.reset(c, s, slot, number)
    cluster.begin(cta, message)
    reset_objects(c, s, slot)
    if kernel.source != 0:
        stream.start(c, s, slot, now)
    index = 0
    w = 0
    while index < kernel.warps:
        if not c.warps[s, w].active:
            if index == 0:
                cta.thread_base = w * c.spec[0].warp_size
            start_warp(c, s, w, slot, index, message, now)
            stream.next_run(c, s, w, now)  # of an empty stream the first issue makes the end
            index += 1
        w += 1
    return slot


@inline
def begin_window(c, s):
    """Nothing was told yet to the CTA scheduler in this window; take what it says of barriers."""
    c.control.n_ended[s] = 0
    cluster.begin_window(c, s)
