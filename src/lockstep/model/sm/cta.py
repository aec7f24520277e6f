"""CTA slots: the launch of a CTA, and its end."""

from lockstep._jit import inline
from lockstep.isa.instruction import NAMED_BARRIERS
from lockstep.model.clock import NEVER
from lockstep.model.sm import cluster
from lockstep.model.sm.accounting import NO_WARP, account_residency, settle, start_accounting
from lockstep.model.sm.barrier import reset, warp_finished
from lockstep.model.sm.objects import reset_objects
from lockstep.model.sm.state import DEPENDENCE_BARRIERS, GROUPS, THOUSAND
from lockstep.model.sm.stores import tell_ended
from lockstep.model.sm.stream import next_run, start


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
    kernel = c.kernels[cta.kernel]
    warp = c.warps[s, w]
    stream = c.warp_streams[message.warps + index]
    warp.active = 1
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
    warp.left = 0
    warp.cleared = 0
    warp.run = stream.first_run
    warp.run_end = stream.first_run + stream.runs
    warp.address = stream.first_address
    warp.line = -1
    warp.ahead = -1
    warp.stall_until = at
    warp.barrier = -1
    warp.comes = -1
    warp.arrived = 0
    warp.outstanding = 0
    warp.accessed = 0
    warp.fenced = -1
    warp.product = warp.products_before = 0
    warp.group = 0
    warp.issued = 0
    warp.last_issue = -1
    for b in range(DEPENDENCE_BARRIERS):
        warp.pending[b] = 0
        warp.clear[b] = 0
    for g in range(GROUPS):
        warp.groups[g] = 0
        warp.landed[g] = 0
    for r in range(kernel.register_rows):
        c.ready[s, w, r] = 0
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
    sm = c.sms[s]
    if sm.resident_ctas == 0:
        start_accounting(c, s, now)
    account_residency(c, s, now)
    sm.resident_ctas += 1
    if c.parameters[s, k] == 0:
        c.parameters[s, k] = now + c.spec[0].first_constants
    slot = free_cta_slot(c, s)
    cta = c.ctas[s, slot]
    cta.active = 1
    cta.kernel = k
    cta.cta = message.cta
    cta.warps = kernel.warps
    cta.finished = 0
    cta.outstanding = cta.written = 0
    cta.started = now
    cta.runs = message.runs
    cta.addresses = message.addresses
    cta.pool = message.pool
    for barrier in range(NAMED_BARRIERS):
        reset(c, s, slot, barrier)
    cluster.begin(cta, message)
    reset_objects(c, s, slot)
    if kernel.source != 0:
        start(c, s, slot, now)
    sm.resident_warps += kernel.warps
    index = 0
    w = 0
    while index < kernel.warps:
        if not c.warps[s, w].active:
            if index == 0:
                cta.thread_base = w * c.spec[0].warp_size
            start_warp(c, s, w, slot, index, message, now)
            next_run(c, s, w, now)  # of an empty stream the first issue makes the end
            index += 1
        w += 1
    return slot


@inline
def begin_window(c, s):
    """Nothing was told yet; take what the CTA scheduler says of this window."""
    control = c.control
    control.n_ended[s] = 0
    cluster.begin_window(c, s)
    for k in range(control.n_launches[s]):
        launch(c, s, control.launches[s, k])


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
    account_residency(c, s, now)
    c.sms[s].resident_warps -= 1
    c.ctas[s, warp.cta].finished += 1
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
    c.sms[s].resident_ctas -= 1
    cta.active = 0
    cluster.leave(c, s, slot, now)
    for w in range(c.spec[0].warps):
        warp = c.warps[s, w]
        if warp.active and warp.cta == slot:
            warp.active = 0
    tell_ended(c, s, cta.kernel, cta.cta, cta.started, now, sent)
    c.counters[s].ctas += 1
