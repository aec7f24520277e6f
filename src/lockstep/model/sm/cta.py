"""CTA slots: whether a CTA fits, its launch, and its end."""

from lockstep._jit import inline
from lockstep.isa.instruction import NAMED_BARRIERS
from lockstep.model.sm import cluster
from lockstep.model.sm.accounting import NO_WARP, account_residency, settle, start_accounting
from lockstep.model.sm.barrier import reset, warp_finished
from lockstep.model.sm.objects import reset_objects
from lockstep.model.sm.state import (
    DEPENDENCE_BARRIERS,
    GROUPS,
    NEVER,
    THOUSAND,
)
from lockstep.model.sm.stream import next_run, start


@inline
def fits(c, s, kernel):
    """Whether SM ``s`` has room for one more CTA of the kernel."""
    spec = c.spec[0]
    sm = c.sms[s]
    return (
        sm.resident_ctas + sm.leaving < spec.ctas
        and sm.warps_used + kernel.warps <= spec.warps
        and sm.registers_used + kernel.registers <= spec.registers
        and sm.shared_used + kernel.shared <= spec.shared_limit
    )


@inline
def room(c, s, kernel):
    """How many more CTAs of the kernel SM ``s`` has room for."""
    spec = c.spec[0]
    sm = c.sms[s]
    ctas = min(
        spec.ctas - sm.resident_ctas - sm.leaving,
        (spec.warps - sm.warps_used) // kernel.warps,
        (spec.registers - sm.registers_used) // kernel.registers,
    )
    if kernel.shared > 0:
        ctas = min(ctas, (spec.shared_limit - sm.shared_used) // kernel.shared)
    return ctas


@inline
def reserve(sm, kernel, sign):
    """Take (1) or give back (-1) what a CTA of the kernel occupies."""
    sm.resident_ctas += sign
    sm.warps_used += sign * kernel.warps
    sm.registers_used += sign * kernel.registers
    sm.shared_used += sign * kernel.shared


@inline
def leave(c, s, kernel, now):
    """A CTA has ended: what it occupied is free after ``launch.refill`` cycles."""
    spec, sm = c.spec[0], c.sms[s]
    if spec.refill == 0:
        reserve(sm, kernel, -1)
        return
    sm.resident_ctas -= 1
    place = c.leaving[s, (sm.leaving_first + sm.leaving) % spec.ctas]
    place.at = now + spec.refill
    place.warps, place.registers, place.shared = kernel.warps, kernel.registers, kernel.shared
    sm.leaving += 1
    sm.leaving_at = min(sm.leaving_at, place.at)


@inline
def free_places(c, s, cycle):
    """Give back what is free at ``cycle`` of what ended CTAs occupied."""
    spec, sm = c.spec[0], c.sms[s]
    while sm.leaving_at <= cycle:
        place = c.leaving[s, sm.leaving_first]
        sm.warps_used -= place.warps
        sm.registers_used -= place.registers
        sm.shared_used -= place.shared
        sm.leaving_first = (sm.leaving_first + 1) % spec.ctas
        sm.leaving -= 1
        sm.leaving_at = c.leaving[s, sm.leaving_first].at if sm.leaving > 0 else NEVER


@inline
def free_cta_slot(c, s):
    """Index of an empty CTA slot."""
    k = 0
    while c.ctas[s, k].active:
        k += 1
    return k


@inline
def start_warp(c, s, w, slot, index, pending, now):
    """Put one warp of a CTA into warp slot ``w``."""
    cta = c.ctas[s, slot]
    kernel = c.kernels[cta.kernel]
    warp = c.warps[s, w]
    stream = c.warp_streams[pending.warps + index]
    kernel.warp_instructions += stream.warp_instructions
    kernel.thread_instructions += stream.thread_instructions
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
def launch(c, s, k, pending, now):
    """Start a CTA of kernel slot ``k`` on SM ``s``, in the slot returned; room was checked."""
    kernel = c.kernels[k]
    sm = c.sms[s]
    if sm.resident_ctas == 0:
        start_accounting(c, s, now)
    account_residency(c, s, now)
    reserve(sm, kernel, 1)
    if c.parameters[s, k] == 0:
        c.parameters[s, k] = now + c.spec[0].first_constants
    slot = free_cta_slot(c, s)
    cta = c.ctas[s, slot]
    cta.active = 1
    cta.kernel = k
    cta.cta = pending.cta
    cta.warps = kernel.warps
    cta.finished = 0
    cta.outstanding = cta.written = 0
    cta.started = now
    cta.runs = pending.runs
    cta.addresses = pending.addresses
    cta.pool = pending.pool
    for barrier in range(NAMED_BARRIERS):
        reset(c, s, slot, barrier)
    cluster.begin(cta)
    reset_objects(c, s, slot)
    if kernel.source != 0:
        start(c, s, slot, now)
    sm.resident_warps += kernel.warps
    index = 0
    w = 0
    while index < kernel.warps:
        if not c.warps[s, w].active:
            if index == 0:
                cta.thread_base = w * 32
            start_warp(c, s, w, slot, index, pending, now)
            next_run(c, s, w, now)  # of an empty stream the first issue makes the end
            index += 1
        w += 1
    return slot


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
    kernel = c.kernels[cta.kernel]
    leave(c, s, kernel, now)
    cta.active = 0
    cluster.leave(c, cta, now)
    for w in range(c.spec[0].warps):
        warp = c.warps[s, w]
        if warp.active and warp.cta == slot:
            warp.active = 0
    done = c.finished[s, c.n_finished[s]]
    c.n_finished[s] += 1
    done.kernel = cta.kernel
    done.cta = cta.cta
    done.start = cta.started
    done.end = now
    c.counters[s].ctas += 1
