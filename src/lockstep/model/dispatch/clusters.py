"""Clusters: their CTAs are on different SMs, which know nothing of each other.

An SM tells who has arrived at the barrier of a cluster (``control.ARRIVED``); between two windows
the barriers open at which all have. Warps are counted; those that have ended are not waited for.
"""

from lockstep._jit import inline
from lockstep.model.clock import NEVER

NONE = -1


@inline
def allocate(d, size):
    """Take a free row for a cluster of so many CTAs."""
    state = d.state[0]
    row = 0
    while row < state.clusters and d.clusters[row].ctas > 0:
        row += 1
    state.clusters = max(state.clusters, row + 1)
    d.clusters[row].ctas = size
    return row


@inline
def enter(d, row, rank, s, warps):
    """The CTA of a rank in a cluster is sent to an SM."""
    cluster = d.clusters[row]
    cluster.sm[rank], cluster.slot[rank], cluster.ended[rank] = s, NONE, NONE
    cluster.came[rank], cluster.awaited[rank], cluster.last[rank] = 0, warps, 0


@inline
def hear(d):
    """Take what the SMs tell of the CTAs of clusters."""
    control = d.control
    for s in range(d.spec[0].sms):
        for k in range(control.n_arrived[s]):
            note = control.arrived[s, k]
            cluster, rank = d.clusters[note.cluster], note.rank
            cluster.slot[rank], cluster.ended[rank] = note.slot, note.ended
            cluster.came[rank], cluster.awaited[rank] = note.came, note.awaited
            cluster.last[rank] = note.last


@inline
def open_barriers(d, end):
    """Open the barriers at which all CTAs are. The first cycle of anybody."""
    earliest = NEVER
    for row in range(d.state[0].clusters):
        if d.clusters[row].ctas > 0:
            earliest = min(earliest, open_if_complete(d, row, end))
    return earliest


@inline
def open_if_complete(d, row, end):
    """Open the barrier of one cluster if it is complete, not before ``end``; the cycle, or NEVER.

    The row is free when all CTAs have ended.
    """
    cluster = d.clusters[row]
    came = ended = last = 0
    for rank in range(cluster.ctas):
        if cluster.ended[rank] >= 0:
            ended += 1
            last = max(last, cluster.ended[rank])
            continue
        if cluster.came[rank] < cluster.awaited[rank]:
            return NEVER
        came += cluster.came[rank]
        last = max(last, cluster.last[rank])
    if ended == cluster.ctas:
        cluster.ctas = 0
    if came == 0:
        return NEVER
    cycle = max(last + d.spec[0].cluster_latency, end)
    for rank in range(cluster.ctas):
        if cluster.ended[rank] < 0:
            open_at(d, cluster.sm[rank], cluster.slot[rank], cycle)
            cluster.came[rank] = 0
    return cycle


@inline
def open_at(d, s, slot, cycle):
    """Tell an SM that the barrier of the cluster of a CTA there opens."""
    control = d.control
    opening = control.openings[s, control.n_openings[s]]
    control.n_openings[s] += 1
    opening.slot, opening.cycle = slot, cycle
