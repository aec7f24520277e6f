"""Clusters: the barrier of their CTAs, and which accesses go to other CTAs' shared memory.

The CTAs of a cluster are on different SMs, which know nothing of each other within a window: an SM
notes who has arrived, and between two windows the barriers open at which all have. Warps are
counted; those that have ended are not waited for.
"""

from lockstep._jit import inline, jit
from lockstep.isa.instruction import NAMED_BARRIERS
from lockstep.model.sm.barrier import let_go, takes_arrival
from lockstep.model.sm.coalescer import APERTURE, GENERIC, lane_address
from lockstep.model.sm.state import NEVER

CLUSTER = NAMED_BARRIERS + 1  # what a warp waits at, beside numbered barriers and AT_OBJECT
NONE = -1


@inline
def allocate(c, size):
    """Take a free row for a cluster of so many CTAs."""
    state = c.dispatcher[0]
    row = 0
    while row < state.clusters and c.clusters[row].ctas > 0:
        row += 1
    state.clusters = max(state.clusters, row + 1)
    c.clusters[row].ctas = size
    return row


@inline
def enter(c, s, slot, row, rank):
    """The CTA in a slot is the one of this rank in a cluster."""
    cta, cluster = c.ctas[s, slot], c.clusters[row]
    cta.cluster, cta.rank = row, rank
    cluster.sm[rank], cluster.slot[rank], cluster.ended[rank] = s, slot, NONE


@inline
def begin(cta):
    """Nobody of a CTA has arrived yet; it is alone as far as is known."""
    cta.cluster, cta.rank = NONE, 0
    cta.came, cta.last_came, cta.opens = 0, 0, 0


@inline
def leave(c, cta, now):
    """A CTA has ended."""
    if cta.cluster >= 0:
        c.clusters[cta.cluster].ended[cta.rank] = now


@inline
def arrive(c, s, w, now):
    """A warp arrives at the barrier of its cluster, once before it opens."""
    warp = c.warps[s, w]
    cta = c.ctas[s, warp.cta]
    if warp.arrived >> CLUSTER & 1 == 0:
        warp.arrived |= 1 << CLUSTER
        cta.came += 1
        cta.last_came = takes_arrival(c, s, now)
        open_alone(c, s, warp.cta, cta.last_came)


@inline
def wait(c, s, w):
    """A warp waits for the opening of the barrier at which it has arrived."""
    warp = c.warps[s, w]
    if warp.arrived >> CLUSTER & 1:
        warp.barrier = CLUSTER
    else:
        warp.stall_until = max(warp.stall_until, c.ctas[s, warp.cta].opens)


@inline
def warp_finished(c, s, w, now):
    """A warp left: the barrier does not wait for it, and counts its arrival no longer."""
    warp = c.warps[s, w]
    cta = c.ctas[s, warp.cta]
    cta.came -= warp.arrived >> CLUSTER & 1
    cta.last_came = now
    open_alone(c, s, warp.cta, now)


@inline
def is_there(cta):
    """Whether all warps of a CTA that have not ended have arrived."""
    return cta.came >= cta.warps - cta.finished


@inline
def open_alone(c, s, slot, now):
    """Open the barrier of a cluster of one CTA."""
    cta = c.ctas[s, slot]
    if cta.cluster < 0 and cta.came > 0 and is_there(cta):
        release(c, s, slot, now + c.spec[0].lone_cluster_latency)


@inline
def release(c, s, slot, cycle):
    """Let the warps of a CTA go on at ``cycle``."""
    cta = c.ctas[s, slot]
    cta.came, cta.opens = 0, cycle
    let_go(c, s, slot, CLUSTER, cycle)


@jit
def open_barriers(c, end):
    """Between windows: open the barriers at which all CTAs are. The first cycle of anybody."""
    earliest = NEVER
    for row in range(c.dispatcher[0].clusters):
        if c.clusters[row].ctas > 0:
            earliest = min(earliest, open_if_complete(c, row, end))
    return earliest


@inline
def open_if_complete(c, row, end):
    """Open the barrier of one cluster if it is complete, not before ``end``; the cycle, or NEVER.

    The row is free when all CTAs have ended.
    """
    cluster = c.clusters[row]
    came = ended = last = 0
    for rank in range(cluster.ctas):
        if cluster.ended[rank] >= 0:
            ended += 1
            last = max(last, cluster.ended[rank])
            continue
        cta = c.ctas[cluster.sm[rank], cluster.slot[rank]]
        if not is_there(cta):
            return NEVER
        came += cta.came
        last = max(last, cta.last_came)
    if ended == cluster.ctas:
        cluster.ctas = 0
    if came == 0:
        return NEVER
    cycle = max(last + c.spec[0].cluster_barrier_latency, end)
    for rank in range(cluster.ctas):
        if cluster.ended[rank] < 0:
            release(c, cluster.sm[rank], cluster.slot[rank], cycle)
    return cycle


@inline
def is_remote(c, access, instruction, cta, kernel):
    """Whether a generic access to shared memory has a lane that means another CTA's.

    Generic addresses have the rank of the CTA from bit 24 on.
    """
    if kernel.cluster == 1 or instruction.space != GENERIC:
        return False
    record = c.addresses[cta.addresses + access.address]
    for k in range(access.lanes):
        offset = lane_address(c, record, cta.pool, k) - kernel.shared_base
        if offset // APERTURE != cta.rank:
            return True
    return False
