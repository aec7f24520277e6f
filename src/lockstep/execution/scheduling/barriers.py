"""Barriers: the sixteen numbered ones of a CTA, and those of clusters and warpgroups.

Threads are counted. A warp of which all living lanes have come counts in full, since the
thread counts of programs are multiples of the warp size.
"""

from lockstep._jit import inline, popcount
from lockstep.execution.checks.clocks import (
    looks_for_races,
    pass_on,
    settle,
    settle_cluster,
    take_over,
)
from lockstep.execution.programs.program import Ending
from lockstep.execution.scheduling.groups import AT_BARRIER, READY, add_group, depart
from lockstep.execution.scheduling.machine import (
    ALL_BARRIERS,
    BARRIERS,
    CLUSTER,
    COURTESIES,
    WARPGROUP,
    WARPGROUP_WARPS,
)
from lockstep.execution.scheduling.masks import only
from lockstep.execution.state import result_word

word_of_result = inline(result_word)


@inline
def arrive(x, w, b, lanes):
    """Lanes arrive at the barrier that a block ends with; they wait unless they only arrive."""
    fixed, expected = b.barrier, b.threads
    if fixed == WARPGROUP:
        fixed += w % x.launch[0].warps // WARPGROUP_WARPS
        expected = WARPGROUP_WARPS * x.launch[0].lanes
    if fixed >= 0:
        join(x, w, b, lanes, fixed, expected)
        return
    width = x.launch[0].lanes
    for lane in range(width):
        if not lanes >> lane & 1:
            continue
        number, threads = x.scratch[w, lane], x.scratch[w, width + lane]
        same = 0
        for other in range(lane, width):
            if x.scratch[w, other] == number and x.scratch[w, width + other] == threads:
                same |= only(other)
        join(x, w, b, lanes & same, number & (BARRIERS - 1), threads)
        lanes &= ~same


@inline
def join(x, w, b, lanes, number, threads):
    """Lanes arrive at one barrier."""
    warp = x.warps[w]
    cta = x.ctas[w // x.launch[0].warps]
    if number == CLUSTER:
        join_cluster(x, w, b, lanes)
        return
    barrier = x.barriers[w // x.launch[0].warps, number]
    if looks_for_races(x):
        pass_on(x, w, x.checked.arrivals, w // x.launch[0].warps, number)
    if not cta.barriers >> number & 1:
        barrier.arrived, barrier.expected, barrier.reduces = 0, 0, 0
        barrier.count, barrier.all = 0, 1
    cta.barriers |= 1 << number
    barrier.expected = threads
    if b.reduces:
        barrier.reduces = 1
        barrier.count += popcount(warp.barrier_lanes & lanes)
        barrier.all &= (warp.barrier_lanes & lanes) == lanes
    if b.ending == Ending.ARRIVE:
        barrier.arrived += weight(x, w, lanes)
        depart(x, w, b.taken, lanes)
    else:
        add_group(x, w, b.taken, lanes, AT_BARRIER + number)


@inline
def join_cluster(x, w, b, lanes):
    """Lanes arrive at the cluster's barrier, or wait for the arrivals of all."""
    warp = x.warps[w]
    if b.ending == Ending.ARRIVE:
        first = first_of_cluster(x, w // x.launch[0].warps)
        for place in range(first, first + x.launch[0].cluster_ctas):
            x.ctas[place].barriers |= 1 << CLUSTER
        warp.clustered |= lanes
        depart(x, w, b.taken, lanes)
        return
    if lanes & ~warp.clustered:
        depart(x, w, b.taken, lanes & ~warp.clustered)
    if lanes & warp.clustered:
        add_group(x, w, b.taken, lanes & warp.clustered, AT_BARRIER + CLUSTER)


@inline
def first_of_cluster(x, place):
    """The place of the CTA of rank 0 in the cluster of a CTA."""
    return place - x.ctas[place].rank


@inline
def weight(x, w, lanes):
    """How many threads some lanes of a warp count for."""
    return x.launch[0].lanes if not x.warps[w].alive & ~lanes else popcount(lanes)


@inline
def waiting_at(x, w, number):
    """The lanes of a warp that wait at a barrier."""
    for g in range(x.warps[w].groups):
        if x.group_state[w, g] == AT_BARRIER + number:
            lanes = x.group_lanes[w, g]
            for k in range(g + 1, x.warps[w].groups):
                if x.group_state[w, k] == AT_BARRIER + number:
                    lanes |= x.group_lanes[w, k]
            return lanes
    return 0


@inline
def is_complete(x, place, number):
    """Whether all whom a barrier waits for are there."""
    if number == CLUSTER:
        return is_cluster_complete(x, place)
    first = place * x.launch[0].warps
    expected, arrived = x.barriers[place, number].expected, x.barriers[place, number].arrived
    everyone = True
    for w in range(first, first + x.launch[0].warps):
        warp = x.warps[w]
        lanes = waiting_at(x, w, number)
        if lanes:
            arrived += weight(x, w, lanes)
        everyone &= not warp.alive & ~lanes
    return everyone if expected == 0 else arrived >= expected


@inline
def is_cluster_complete(x, place):
    """Whether all threads of a cluster that have not ended have arrived at its barrier."""
    first = first_of_cluster(x, place) * x.launch[0].warps
    for w in range(first, first + x.launch[0].cluster_ctas * x.launch[0].warps):
        if x.warps[w].alive & ~x.warps[w].clustered:
            return False
    return True


@inline
def release(x, place, number):
    """Let the lanes go that wait at a barrier of a CTA, or of its cluster."""
    if number != CLUSTER:
        if looks_for_races(x):
            order(x, place, number)
        release_cta(x, place, number)
        return
    first = first_of_cluster(x, place)
    if looks_for_races(x):
        settle_cluster(x, first)
    for member in range(first, first + x.launch[0].cluster_ctas):
        release_cta(x, member, number)


@inline
def order(x, place, number):
    """What came before a barrier is ordered before what those do who wait at it."""
    rows, expected = x.checked.arrivals, x.barriers[place, number].expected
    everyone = expected == 0 or expected >= x.running[0].threads
    first = place * x.launch[0].warps
    for w in range(first, first + x.launch[0].warps):
        lanes = waiting_at(x, w, number)
        everyone &= not x.warps[w].alive & ~lanes
        if lanes:
            take_over(x, w, rows, place, number)
    if everyone:
        settle(x, place)
    for other in range(rows.shape[2]):
        rows[place, number, other] = 0


@inline
def release_cta(x, place, number):
    """Let the lanes of a CTA go that wait at a barrier."""
    result = 0
    reduces = False
    if number != CLUSTER and x.barriers[place, number].reduces:
        barrier = x.barriers[place, number]
        reduces = True
        result = barrier.count << 2 | (barrier.count > 0) << 1 | barrier.all
    x.ctas[place].barriers &= ~(1 << number)
    first = place * x.launch[0].warps
    for w in range(first, first + x.launch[0].warps):
        warp = x.warps[w]
        if number == CLUSTER:
            warp.clustered = 0
        for g in range(warp.groups):
            if x.group_state[w, g] == AT_BARRIER + number:
                x.group_state[w, g] = READY
                warp.waiting = 0
                warp.courtesies = COURTESIES
                if reduces:
                    deliver(x, w, x.group_lanes[w, g], result)


@inline
def deliver(x, w, lanes, result):
    """Give lanes the result of what they waited for."""
    first = word_of_result(x.launch[0].lanes)
    for lane in range(x.launch[0].lanes):
        if lanes >> lane & 1:
            x.scratch[w, first + lane] = result


@inline
def open_barriers(x, place):
    """Release every barrier that is complete; whether there were any."""
    opened = False
    for number in range(ALL_BARRIERS):
        if x.ctas[place].barriers >> number & 1 and is_complete(x, place, number):
            release(x, place, number)
            opened = True
    return opened
