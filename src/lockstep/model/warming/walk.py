"""CTAs of a kernel in turns, as many at a time as the GPU holds.

They are placed by the CTA scheduler; each of their warps goes on to where it waits, in the order in
which they started, over and over. A place is free when the last warp of its CTA has ended.
"""

from lockstep._jit import inline, jit
from lockstep.model.cache import line_cache
from lockstep.model.clock import NEVER
from lockstep.model.core import fetch, stream
from lockstep.model.core import warp as warps
from lockstep.model.core.launch import free_cta_slot
from lockstep.model.dispatch import clusters
from lockstep.model.dispatch.dispatcher import dispatch_cluster, dispatch_cta, reserve
from lockstep.model.dispatch.state import THOUSAND
from lockstep.model.warming.stream import ENDED, go_on

TURN = 32  # cycles of the walk between two looks at all warps, at least


@jit
def run(c, memory, d, walk, slot, now):
    """Take CTAs of a kernel slot along until some are to be read, or all that were have ended.

    Those that have ended are listed as after a window.
    """
    state, grid, progress = walk.state[0], d.grids[slot], d.progress[slot]
    state.clock = max(state.clock, now)
    enter(c, d, walk, slot, now)
    while (state.warps > 0 or progress.taken < grid.queued) and not waits(d, slot):
        turn(c, memory, d, walk, now)
        enter(c, d, walk, slot, now)


@inline
def waits(d, slot):
    """Whether CTAs are to be read, or those listed to be taken."""
    grid = d.grids[slot]
    low = grid.more and grid.queued - d.progress[slot].taken < d.spec[0].low
    return low or d.state[0].retired > d.spec[0].most_retired


@inline
def enter(c, d, walk, slot, now):
    """Dispatch CTAs whose time has come while there is room."""
    grid, progress, spec = d.grids[slot], d.progress[slot], d.spec[0]
    state = walk.state[0]
    went = 1
    while went > 0 and progress.taken < grid.queued and state.dispatch <= state.clock * THOUSAND:
        state.dispatch = max(state.dispatch, (state.clock - TURN) * THOUSAND)
        if grid.cluster > 1:
            went = dispatch_cluster(d, slot, now)
            for s in range(spec.sms if went > 0 else 0):
                start_sent(c, d, walk, s, now)
        else:
            went = dispatch_cta(d, slot, now)
            if went > 0:
                last = (d.state[0].next_place + len(d.turns) - 1) % len(d.turns)
                start_sent(c, d, walk, d.turns[last], now)
        first = progress.taken < grid.filling
        state.dispatch += went * (spec.first_interval if first else spec.interval)


@inline
def start_sent(c, d, walk, s, now):
    """Start the CTAs that an SM was sent."""
    for k in range(d.control.n_launches[s]):
        start(c, walk, s, d.control.launches[s, k], now)
    d.control.n_launches[s] = 0


@inline
def start(c, walk, s, message, now):
    """Start one CTA: see ``launch.launch``, without what its time needs."""
    slot = free_cta_slot(c, s)
    cta, kernel = c.ctas[s, slot], c.kernels[message.kernel]
    warps.begin_cta(cta)
    cta.kernel, cta.cta, cta.warps = message.kernel, message.cta, kernel.warps
    cta.runs, cta.addresses, cta.pool = message.runs, message.addresses, message.pool
    cta.cluster, cta.rank, cta.started = message.cluster, message.rank, now
    index = 0
    w = 0
    while index < kernel.warps:
        warp = c.warps[s, w]
        if not warp.active:
            if index == 0:
                cta.thread_base = w * c.spec[0].warp_size
            warps.begin(warp, now)
            warp.kernel, warp.cta, warp.index = message.kernel, slot, index
            stream.begin(warp, c.warp_streams[message.warps + index])
            fetch.empty_buffer(warp)
            stream.next_run(c, s, w, now)
            place = walk.places[walk.state[0].warps]
            place.sm, place.warp, place.ready = s, w, walk.state[0].clock
            walk.state[0].warps += 1
            index += 1
        w += 1


@inline
def turn(c, memory, d, walk, now):
    """Each warp goes on that waits no longer; those whose streams have ended leave."""
    state = walk.state[0]
    left = 0
    soonest = NEVER
    for k in range(state.warps):
        place = walk.places[k]
        s, w, ready = place.sm, place.warp, place.ready
        if ready <= state.clock:
            ready = go_on(c, memory, walk, s, w)
        if ready == ENDED:
            warps.finish(c.ctas[s, c.warps[s, w].cta], now)
            end_if_done(c, d, s, c.warps[s, w].cta, now)
            soonest = state.clock  # there is room
            continue
        soonest = min(soonest, ready)
        kept = walk.places[left]
        kept.sm, kept.warp, kept.ready = s, w, ready
        left += 1
    state.warps = left
    soonest = min(soonest, state.dispatch // THOUSAND)
    state.clock = max(state.clock + TURN, soonest)


@inline
def end_if_done(c, d, s, slot, now):
    """End a CTA whose warps have ended: its place is free."""
    cta = c.ctas[s, slot]
    if cta.finished < cta.warps:
        return
    warps.leave(cta)
    for w in range(c.spec[0].warps):
        warp = c.warps[s, w]
        if warp.active and warp.cta == slot:
            warps.leave(warp)
    reserve(d.slots[s], d.grids[cta.kernel], -1)
    d.progress[cta.kernel].ended += 1
    kept = d.retired[d.state[0].retired]
    d.state[0].retired += 1
    kept.kernel, kept.cta, kept.sm = cta.kernel, cta.cta, s
    kept.start = kept.end = now
    kept.lasted = 0
    if cta.cluster >= 0:
        d.clusters[cta.cluster].ended[cta.rank] = now
        clusters.open_if_complete(d, cta.cluster, now)  # all have ended: its row is free


@jit
def settle(c, walk, now):
    """Nobody is on his way any more; nothing was used after cycle ``now``, in what order it may."""
    state = walk.state[0]
    state.warps = state.clock = state.dispatch = state.dram = 0
    walk.issue[:] = 0
    walk.ports[:] = 0
    line_cache.settle(c.l0i, now)
    line_cache.settle(c.l1i, now)
    line_cache.settle(c.constants, now)
    line_cache.settle(c.operand_constants, now)
    for s in range(c.spec[0].sms):
        for b in range(c.spec[0].subcores):
            c.subcores[s, b].filled = min(c.subcores[s, b].filled, now)
            for k in range(c.streams.shape[2]):
                c.streams[s, b, k] = min(c.streams[s, b, k], now)
