"""Clusters: the barrier of their CTAs, and which accesses go to other CTAs' shared memory.

The CTAs of a cluster are on different SMs, which know nothing of each other: an SM tells the CTA
scheduler who has arrived, and learns at the beginning of a window that the barrier opens.
"""

from lockstep._jit import inline
from lockstep.isa.instruction import NAMED_BARRIERS
from lockstep.model.core.barrier import counts, is_counted, let_go, takes_arrival, wait_at
from lockstep.model.core.coalescer import APERTURE, GENERIC, lane_address
from lockstep.model.core.warp import hold

CLUSTER = NAMED_BARRIERS + 1  # what a warp waits at, beside numbered barriers and AT_OBJECT
NONE = -1
PACKET_BYTES = 32  # that go to another CTA's shared memory together
PACKETS_A_PASS = 4


@inline
def begin(cta, message):
    """Nobody of a CTA has arrived yet."""
    cta.cluster, cta.rank = message.cluster, message.rank
    cta.came, cta.last_came, cta.opens = 0, 0, 0
    cta.told = 0


@inline
def begin_window(c, s):
    """Nothing was told yet; the barriers open that the CTA scheduler names."""
    control = c.control
    for k in range(control.n_arrived[s]):
        c.ctas[s, control.arrived[s, k].slot].told = 0
    control.n_arrived[s] = 0
    for k in range(control.n_openings[s]):
        opening = control.openings[s, k]
        release(c, s, opening.slot, opening.cycle)


@inline
def tell(c, s, slot, ended):
    """Tell who of a CTA is at the barrier of its cluster (``control.ARRIVED``)."""
    cta, control = c.ctas[s, slot], c.control
    if cta.cluster < 0:
        return
    if cta.told == 0:
        control.n_arrived[s] += 1
        cta.told = control.n_arrived[s]
    note = control.arrived[s, cta.told - 1]
    note.cluster, note.rank, note.slot = cta.cluster, cta.rank, slot
    note.came, note.awaited, note.last = cta.came, cta.warps - cta.finished, cta.last_came
    note.ended = ended


@inline
def leave(c, s, slot, now):
    """A CTA has ended."""
    tell(c, s, slot, now)


@inline
def arrive(c, s, w, now):
    """A warp arrives at the barrier of its cluster, once before it opens."""
    warp = c.warps[s, w]
    cta = c.ctas[s, warp.cta]
    if not is_counted(warp, CLUSTER):
        counts(warp, CLUSTER)
        cta.came += 1
        cta.last_came = takes_arrival(c, s, now)
        open_alone(c, s, warp.cta, cta.last_came)
        tell(c, s, warp.cta, NONE)


@inline
def wait(c, s, w):
    """A warp waits for the opening of the barrier at which it has arrived."""
    warp = c.warps[s, w]
    if is_counted(warp, CLUSTER):
        wait_at(warp, CLUSTER)
    else:
        hold(warp, c.ctas[s, warp.cta].opens)


@inline
def warp_finished(c, s, w, now):
    """A warp left: the barrier does not wait for it, and counts its arrival no longer."""
    warp = c.warps[s, w]
    cta = c.ctas[s, warp.cta]
    cta.came -= is_counted(warp, CLUSTER)
    cta.last_came = now
    open_alone(c, s, warp.cta, now)
    tell(c, s, warp.cta, NONE)


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


@inline
def sending(c, packets):
    """Cycles in which so many packets leave for other SMs."""
    return -(-packets * c.spec[0].remote_interval // PACKETS_A_PASS)


@inline
def packets_to_others(c, s, access, instruction, cta, kernel):
    """Packets in which a generic access goes to other CTAs' shared memory, each to a part of it.

    Generic addresses have the rank of the CTA from bit 24 on.
    """
    if kernel.cluster == 1 or instruction.space != GENERIC:
        return 0
    record, scratch = c.addresses[cta.addresses + access.address], c.scratch[s]
    n = 0
    for k in range(access.lanes):
        offset = lane_address(c, record, cta.pool, k) - kernel.shared_base
        if offset // APERTURE == cta.rank:
            continue
        packet, known = offset // PACKET_BYTES, False
        for j in range(n):
            if scratch[j] == packet:
                known = True
        if not known:
            scratch[n] = packet
            n += 1
    return n
