"""CTA dispatch: one CTA at a time, GPC after GPC, to the SMs that have room.

The CTAs of a cluster start in the same cycle, on SMs of one GPC, the least busy ones; clusters go
round robin over the GPCs.

It runs between windows, on what the SMs told at the end of the last one. Kernels that run
together are served in launch order: a later one gets what an earlier one leaves.
"""

from lockstep._jit import inline, jit
from lockstep.model.clock import NEVER
from lockstep.model.control import STORED
from lockstep.model.dispatch import clusters
from lockstep.model.dispatch.state import THOUSAND


@inline
def fits(d, s, grid):
    """Whether SM ``s`` has room for one more CTA of a grid."""
    spec, used = d.spec[0], d.slots[s]
    return (
        used.ctas + used.leaving < spec.ctas
        and used.warps + grid.warps <= spec.warps
        and used.registers + grid.registers <= spec.registers
        and used.shared + grid.shared <= spec.shared
    )


@inline
def room(d, s, grid):
    """How many more CTAs of a grid SM ``s`` has room for."""
    spec, used = d.spec[0], d.slots[s]
    ctas = min(
        spec.ctas - used.ctas - used.leaving,
        (spec.warps - used.warps) // grid.warps,
        (spec.registers - used.registers) // grid.registers,
    )
    if grid.shared > 0:
        ctas = min(ctas, (spec.shared - used.shared) // grid.shared)
    return ctas


@inline
def reserve(used, grid, sign):
    """Take (1) or give back (-1) what a CTA of a grid occupies."""
    used.ctas += sign
    used.warps += sign * grid.warps
    used.registers += sign * grid.registers
    used.shared += sign * grid.shared


@inline
def leave(d, s, grid, now):
    """A CTA has ended: what it occupied is free after ``launch.refill`` cycles."""
    spec, used = d.spec[0], d.slots[s]
    if spec.refill == 0:
        reserve(used, grid, -1)
        return
    used.ctas -= 1
    place = d.leaving[s, (used.first + used.leaving) % spec.ctas]
    place.at = now + spec.refill
    place.warps, place.registers, place.shared = grid.warps, grid.registers, grid.shared
    used.leaving += 1
    used.at = min(used.at, place.at)
    d.state[0].leaving_at = min(d.state[0].leaving_at, place.at)


@inline
def free_places(d, cycle):
    """Give back what is free at ``cycle`` of what ended CTAs occupied."""
    if d.state[0].leaving_at > cycle:
        return
    spec = d.spec[0]
    soonest = NEVER
    for s in range(spec.sms):
        used = d.slots[s]
        while used.at <= cycle:
            place = d.leaving[s, used.first]
            used.warps -= place.warps
            used.registers -= place.registers
            used.shared -= place.shared
            used.first = (used.first + 1) % spec.ctas
            used.leaving -= 1
            used.at = d.leaving[s, used.first].at if used.leaving > 0 else NEVER
        soonest = min(soonest, used.at)
    d.state[0].leaving_at = soonest


@inline
def takes(d, s, slot, most):
    """Whether an SM takes a CTA of a kernel slot: there is room, and it had fewer than ``most``."""
    return d.given[s, slot] < most and fits(d, s, d.grids[slot])


@inline
def find_room(d, slot, most):
    """The place of the next SM in turn that takes a CTA of a kernel slot, or -1."""
    n = len(d.turns)
    for turn in range(n):
        place = (d.state[0].next_place + turn) % n
        if takes(d, d.turns[place], slot, most):
            return place
    return -1


@inline
def next_in_turn(d, slot):
    """The place of the SM that gets the next CTA of a kernel slot, or -1.

    Where some SMs have more turns than others, each gets its share of a grid that all of them
    hold at once, and no more while others have room.
    """
    grid = d.grids[slot]
    place = -1
    if len(d.turns) > d.spec[0].sms and d.progress[slot].taken < grid.filling:
        place = find_room(d, slot, grid.share)
    if place < 0:
        place = find_room(d, slot, NEVER)
    return place


@inline
def find_in_module(d, slot, module):
    """The place of the next SM of a module in turn that has room for a CTA of a slot, or -1."""
    n = len(d.turns)
    for turn in range(n):
        place = (d.module_places[module] + turn) % n
        s = d.turns[place]
        if s // d.spec[0].module_sms == module and fits(d, s, d.grids[slot]):
            return place
    return -1


@inline
def bring_forward(d, slot, n):
    """The ``n``-th of the CTAs that wait in a kernel slot becomes the first one."""
    ring, first = d.pending[slot], d.progress[slot].taken
    size = ring.shape[0]
    chosen = ring[(first + n) % size]
    cta, warps, runs = chosen.cta, chosen.warps, chosen.runs
    addresses, pool = chosen.addresses, chosen.pool
    warp_instructions, thread_instructions = chosen.warp_instructions, chosen.thread_instructions
    for k in range(n, 0, -1):
        ring[(first + k) % size] = ring[(first + k - 1) % size]
    place = ring[first % size]
    place.cta, place.warps, place.runs = cta, warps, runs
    place.addresses, place.pool = addresses, pool
    place.warp_instructions, place.thread_instructions = warp_instructions, thread_instructions


@inline
def find_part(d, slot):
    """The place of an SM for the first CTA that waits and whose module has room, or -1.

    The CTA comes to the head of the queue.
    """
    grid, taken = d.grids[slot], d.progress[slot].taken
    full = 0  # bit a module
    for n in range(grid.queued - taken):
        cta = d.pending[slot, (taken + n) % d.pending.shape[1]].cta
        module = cta * d.spec[0].modules // grid.total
        if full >> module & 1:
            continue
        place = find_in_module(d, slot, module)
        if place >= 0:
            d.module_places[module] = (place + 1) % len(d.turns)
            bring_forward(d, slot, n)
            return place
        full |= 1 << module
    return -1


@inline
def find_gpc(d, grid):
    """The next GPC in turn that has room for a cluster of the grid, or -1."""
    n = len(d.first_sms) - 1
    for turn in range(n):
        gpc = (d.state[0].next_gpc + turn) % n
        fitting = 0
        for s in range(d.first_sms[gpc], d.first_sms[gpc + 1]):
            fitting += room(d, s, grid)
        if fitting >= grid.cluster:
            return gpc
    return -1


@inline
def least_busy(d, gpc, grid):
    """The SM of a GPC that has room for a CTA and the fewest warps."""
    best = -1
    for s in range(d.first_sms[gpc], d.first_sms[gpc + 1]):
        if fits(d, s, grid) and (best < 0 or d.slots[s].warps < d.slots[best].warps):
            best = s
    return best


@inline
def send(d, s, slot, cycle, row, rank):
    """Send the CTA of a kernel slot that has waited longest to an SM."""
    control, progress = d.control, d.progress[slot]
    if progress.started < 0:
        progress.started = cycle
    pending = d.pending[slot, progress.taken % d.pending.shape[1]]
    progress.taken += 1
    progress.warp_instructions += pending.warp_instructions
    progress.thread_instructions += pending.thread_instructions
    reserve(d.slots[s], d.grids[slot], 1)
    launch = control.launches[s, control.n_launches[s]]
    control.n_launches[s] += 1
    launch.kernel, launch.cta, launch.cycle = slot, pending.cta, cycle
    launch.warps, launch.runs = pending.warps, pending.runs
    launch.addresses, launch.pool = pending.addresses, pending.pool
    launch.cluster, launch.rank = row, rank


@inline
def dispatch_cta(d, slot, cycle):
    """Dispatch one CTA of a kernel slot; 0 if no SM has room."""
    state = d.state[0]
    if d.progress[slot].taken == 0:
        state.next_place = d.begins[state.next_place]
    place = find_part(d, slot) if d.spec[0].contiguous else next_in_turn(d, slot)
    if place < 0:
        return 0
    s = d.turns[place]
    d.given[s, slot] += 1
    send(d, s, slot, cycle, clusters.NONE, 0)
    state.next_place = (place + 1) % len(d.turns)
    return 1


@inline
def dispatch_cluster(d, slot, cycle):
    """Dispatch one cluster of a kernel slot; how many CTAs: 0 if no GPC has room."""
    grid = d.grids[slot]
    gpc = find_gpc(d, grid)
    if gpc < 0:
        return 0
    row = clusters.allocate(d, grid.cluster)
    for rank in range(grid.cluster):
        s = least_busy(d, gpc, grid)
        clusters.enter(d, row, rank, s, grid.warps)
        send(d, s, slot, cycle, row, rank)
    d.state[0].next_gpc = (gpc + 1) % (len(d.first_sms) - 1)
    return grid.cluster


@inline
def has_waiting(d):
    """Whether a CTA of any kernel waits."""
    waiting = 0
    for slot in range(len(d.grids)):
        waiting += d.grids[slot].queued - d.progress[slot].taken
    return waiting > 0


@jit
def next_dispatch(d, end):
    """The next cycle at which a CTA that waits may be dispatched, as far as is known, or NEVER.

    The dispatcher may pause beyond ``end``, or a place becomes free.
    """
    if not has_waiting(d):
        return NEVER
    cycle = d.state[0].time // THOUSAND
    return min(cycle if cycle >= end else NEVER, d.state[0].leaving_at)


@jit
def dispatch(d, start, end):
    """Dispatch CTAs at cycles start <= t < end, from the kernel slots that are served.

    Returns how many; 0 if no CTA is waiting or none fits.
    """
    state, spec = d.state[0], d.spec[0]
    state.time = max(state.time, start * THOUSAND)
    state.dispatched = 0
    for i in range(state.kernels):
        slot = d.order[i]
        grid, progress = d.grids[slot], d.progress[slot]
        while state.time < end * THOUSAND and progress.taken < grid.queued:
            cycle = state.time // THOUSAND
            free_places(d, cycle)
            if grid.cluster > 1:
                ctas = dispatch_cluster(d, slot, cycle)
            else:
                ctas = dispatch_cta(d, slot, cycle)
            if ctas == 0:
                cycle = state.leaving_at
                if cycle >= end or i < state.kernels - 1:  # others may have room meanwhile
                    break
                state.time = cycle * THOUSAND
                continue
            first = progress.taken < grid.filling
            state.time += ctas * (spec.first_interval if first else spec.interval)
            state.dispatched += ctas
    return state.dispatched


@inline
def clear_sent(d):
    """Nothing of what was sent for the window that has ended holds any more."""
    control = d.control
    for s in range(d.spec[0].sms):
        control.n_launches[s] = 0
        control.n_openings[s] = 0


@inline
def retire(d):
    """Take what the SMs tell of CTAs that have ended, and keep it for the engine."""
    control, state = d.control, d.state[0]
    for s in range(d.spec[0].sms):
        for k in range(control.n_ended[s]):
            note = control.ended[s, k]
            kept = d.retired[state.retired]
            state.retired += 1
            kept.kernel, kept.cta, kept.sm = note.kernel, note.cta, s
            kept.start, kept.end, kept.lasted = note.start, note.end, note.lasted
            progress = d.progress[note.kernel]
            stores = 0
            if note.cta != STORED:
                progress.ended += 1
                leave(d, s, d.grids[note.kernel], note.end)
                stores = 1 if note.left > 0 else d.storing[s, note.kernel]
            progress.storing += stores - d.storing[s, note.kernel]
            d.storing[s, note.kernel] = stores


@inline
def await_pages(d):
    """Whether SMs wait for pages that the host has."""
    if d.spec[0].pages_move:
        for s in range(d.spec[0].sms):
            if d.control.asks[s].page != 0:
                return True
    return False


@inline
def needs_engine(d, retired):
    """Whether only the engine can go on: a kernel is over, CTAs or pages are asked for.

    ``retired``: whether a CTA has ended in the window.
    """
    state, spec = d.state[0], d.spec[0]
    if state.retired > spec.most_retired:
        return True
    if spec.pages_move:
        for s in range(spec.sms):
            if d.control.asks[s].page != 0 and d.control.asks[s].told == 0:
                return True
    for i in range(state.kernels):
        grid, progress = d.grids[d.order[i]], d.progress[d.order[i]]
        if grid.more and grid.queued - progress.taken < spec.low:
            return True
        over = progress.ended >= grid.ctas and progress.storing == 0
        if retired and (over or grid.executed):
            return True
    return False
