"""Which block runs next: divergence within warps, turns between warps and CTAs.

The lanes of a warp form groups, and the one at the smallest block runs first. Lanes that may be
waiting for others (a loop that polls memory, or one that runs very long) give the other groups,
then the other warps, then other CTAs a turn: a lock or a grid barrier ends whoever holds it.
"""

from lockstep._jit import inline, jit, popcount
from lockstep.execution.programs.program import ARRIVALS, EXITED, Ending
from lockstep.execution.scheduling.barriers import first_of_cluster, open_barriers
from lockstep.execution.scheduling.blocks import call_block, is_fault
from lockstep.execution.scheduling.convergence import (
    choose,
    come_to,
    go_on_without_members,
    leave_convergence,
)
from lockstep.execution.scheduling.endings import PARTED, leave_block
from lockstep.execution.scheduling.groups import (
    AT_BARRIER,
    READY,
    TOGETHER,
    add_group,
    ready_groups,
    remove_group,
    retire,
)
from lockstep.execution.scheduling.looks import give_way, look_again, may_hope
from lockstep.execution.scheduling.machine import CLUSTER, Stop
from lockstep.execution.scheduling.start import start_cluster

TURN = 256  # blocks that the others then get
WARP_TURN = 1 << 15  # instructions of one warp before the next one runs
FOR_EVER = 1 << 62  # a clock
CTA_TURN = 1 << 16  # of one CTA before the next one of its cluster runs: it may wait for that


@jit
def run_warp(x, w, budget):
    """Run a warp until it ends, waits, polls in vain, or has executed ``budget`` instructions.

    Returns ``Stop.DONE`` when it cannot go on by itself, ``POLLING``, ``TIME``, ``COURTESY`` or
    ``SLEEP`` when it could, or what Python must see to.
    """
    warp = x.warps[w]
    cta = x.ctas[w // x.launch[0].warps]
    address = x.running[0].warps_address + w * x.warps.itemsize
    gave_way = True  # it did so at the end of its last turn
    turn = -1  # where the entries begin of this turn of a loop that only looks; -1 = others follow
    while True:
        g = choose(x, w)
        if g < 0:
            return Stop.DONE
        at, lanes, state = x.group_block[w, g], x.group_lanes[w, g], x.group_state[w, g]
        remove_group(x, w, g)
        if lanes != warp.look_lanes:
            turn = -1
        elif at == warp.look_at and turn < 0:
            turn = cta.stream
        while True:
            b = x.blocks[at]
            if turn >= 0 and (at < warp.look_at or at > warp.look_to):
                turn = -1
            if b.overtakes and warp.courtesies > 0 and not gave_way:
                warp.courtesies -= 1
                add_group(x, w, at, lanes, state)
                return Stop.COURTESY
            gave_way = False
            if b.meeting:
                lanes = come_to(x, w, at, lanes, state)
                if lanes == 0:
                    break
            if budget <= 0 or cta.stream + b.stream_words * 8 > cta.stream_end:
                add_group(x, w, at, lanes, state)
                return Stop.TIME if budget <= 0 else Stop.SPACE
            budget -= b.count
            count(x, at, b, lanes)
            result = call_block(x, at, address, lanes)
            if is_fault(x, result):
                return Stop.FAULT
            after = b.next
            if b.ending != Ending.JUMP:
                taken = result & lanes
                if b.ending == Ending.SLEEP and taken and warp.sleep:
                    return fall_asleep(x, w, after, lanes)
                after, stop = leave_block(x, w, at, lanes, taken)
                if stop != Stop.DONE:
                    return stop
                if after == PARTED:
                    break
            if after == EXITED:
                retire(x, w, lanes)
                break
            if after <= at and b.looks and x.running[0].recording:
                turn = look_again(x, w, after, at, lanes, turn)
            if after <= at and give_way(warp, b):
                if ends_in_vain(x, w, b, after, lanes):
                    return Stop.POLLING
                break
            if warp.groups > 0:
                warp.turns_left -= warp.turns_left > 0
                add_group(x, w, after, lanes, TOGETHER if b.together else READY)
                break
            at, state = after, READY


@inline
def ends_in_vain(x, w, b, after, lanes):
    """Lanes looped long: other groups run. Whether all of the warp did, so that none gets on."""
    warp = x.warps[w]
    add_group(x, w, after, lanes, READY)
    if b.spins == ARRIVALS and may_hope(x, w, after):
        return True
    warp.in_vain += 1
    if warp.in_vain >= ready_groups(x, w):
        warp.in_vain = 0
        if not leave_convergence(x, w, b, after):
            return True
    warp.turn, warp.turns_left = after, TURN
    return False


@inline
def fall_asleep(x, w, after, lanes):
    """A warp sleeps as long as its lanes say; other groups of it run first then."""
    warp = x.warps[w]
    add_group(x, w, after, lanes, READY)
    warp.wakes = x.launch[0].clock + warp.sleep
    warp.turn, warp.turns_left = after, TURN
    return Stop.SLEEP


@inline
def count(x, at, b, lanes):
    """Count an execution of a block."""
    x.running[0].executed += b.count
    x.launch[0].clock += b.count
    x.times[at] += 1
    x.lanes[at] += popcount(lanes)


@jit
def run_cta(x, place, budget):
    """Give every warp of a CTA a turn until the CTA ends or only polls.

    Returns ``Stop.DONE`` when it has ended, ``POLLING``, ``TIME`` or ``CLUSTER`` when others should
    run, ``DEADLOCK`` when no warp can ever move, or what Python must see to.
    """
    cta, running = x.ctas[place], x.running[0]
    first, n = place * x.launch[0].warps, x.launch[0].warps
    end = running.executed + budget
    while True:
        ran = polling = courteous = False
        wakes = FOR_EVER
        cta.alive = 0
        for w in range(first, first + n):
            warp = x.warps[w]
            if warp.groups and warp.wakes > x.launch[0].clock:
                wakes = min(wakes, warp.wakes)
            elif warp.groups and not warp.waiting:
                running.warp = w
                ran = True
                stop = run_warp(x, w, WARP_TURN)
                if stop == Stop.POLLING:
                    polling = True
                elif stop == Stop.DONE:
                    warp.waiting = warp.groups > 0
                elif stop == Stop.COURTESY:
                    courteous = True
                elif stop == Stop.SLEEP:
                    wakes = min(wakes, warp.wakes)
                elif stop != Stop.TIME:
                    return stop
            cta.alive += warp.groups > 0
        if cta.alive == 0:
            return Stop.DONE
        opened = cta.barriers != 0 and open_barriers(x, place)
        if not opened and not ran and wakes < FOR_EVER:
            x.launch[0].clock = max(x.launch[0].clock, wakes)
            return Stop.POLLING
        if not opened and not ran:
            if waits_for_cluster(x, place):
                return Stop.CLUSTER
            if not resolve(x, place):
                return Stop.DEADLOCK
        if polling and not opened:
            return Stop.POLLING
        if running.executed >= end or (courteous and x.launch[0].cluster_ctas > 1):
            return Stop.TIME


@inline
def resolve(x, place):
    """Nobody in a CTA can go on: those who wait for members do so. Whether there are any."""
    found = False
    first = place * x.launch[0].warps
    for w in range(first, first + x.launch[0].warps):
        if go_on_without_members(x, w):
            x.warps[w].waiting = 0
            found = True
    return found


@inline
def waits_for_cluster(x, place):
    """Whether lanes of a CTA wait at the barrier of a cluster that has other CTAs."""
    if x.launch[0].cluster_ctas == 1 or not x.ctas[place].barriers >> CLUSTER & 1:
        return False
    first = place * x.launch[0].warps
    for w in range(first, first + x.launch[0].warps):
        for g in range(x.warps[w].groups):
            if x.group_state[w, g] == AT_BARRIER + CLUSTER:
                return True
    return False


@inline
def is_stuck(x, place):
    """Whether no warp of a CTA's whole cluster can go on."""
    first = first_of_cluster(x, place) * x.launch[0].warps
    for w in range(first, first + x.launch[0].cluster_ctas * x.launch[0].warps):
        if x.warps[w].groups and not x.warps[w].waiting:
            return False
    return True


@inline
def resolve_cluster(x, place):
    """As :func:`resolve`, for the CTAs of a cluster in which nobody can go on."""
    found = False
    first = first_of_cluster(x, place)
    for member in range(first, first + x.launch[0].cluster_ctas):
        found |= x.ctas[member].linear >= 0 and resolve(x, member)
    return found


@jit
def run(x, budget):
    """Run clusters in grid order for ``budget`` instructions, or until Python must see to it.

    The CTAs of a cluster take turns, each until it waits for others. One cluster (of one CTA,
    mostly) runs at a time, unless it waits for others: then the next of the grid join it, as many
    as the GPU holds, and take turns.
    """
    running = x.running[0]
    end = running.executed + budget
    while True:
        place = running.place
        if x.ctas[place].linear < 0:
            first = place - place % x.launch[0].cluster_ctas
            if running.next_cta < running.ctas and is_free(x, first):
                start_cluster(x, first)
            elif not next_place(x):
                return Stop.DONE
            continue
        turn = end - running.executed
        if x.launch[0].cluster_ctas > 1:
            turn = min(turn, CTA_TURN)
        stop = run_cta(x, place, turn)
        if stop == Stop.DONE:
            if running.recording:
                note_end(x, place)
            x.ctas[place].linear = -1
            if running.ended == len(x.ended) or (running.ended and running.executed >= end):
                return Stop.ENDED
        elif stop == Stop.TIME or stop == Stop.POLLING or stop == Stop.CLUSTER:
            if stop == Stop.CLUSTER and is_stuck(x, place) and not resolve_cluster(x, place):
                return Stop.DEADLOCK
            if stop != Stop.TIME or running.executed >= end:
                widen(x)
            next_place(x)
        else:
            return stop
        if running.executed >= end:
            return Stop.TIME


@inline
def is_free(x, first):
    """Whether all CTAs have ended that were in the places of a cluster."""
    for place in range(first, first + x.launch[0].cluster_ctas):
        if x.ctas[place].linear >= 0:
            return False
    return True


@inline
def note_end(x, place):
    """A CTA's stream is complete: the next one of this place follows it."""
    running, cta = x.running[0], x.ctas[place]
    ended = x.ended[running.ended]
    running.ended += 1
    ended.place, ended.linear, ended.stream = place, cta.linear, cta.stream
    ended.ctaid_x, ended.ctaid_y, ended.ctaid_z = cta.ctaid_x, cta.ctaid_y, cta.ctaid_z


@inline
def widen(x):
    """Let one more cluster run beside those that wait, once all of this one had a turn."""
    running, ctas = x.running[0], x.launch[0].cluster_ctas
    for place in range(running.place + 1, running.place - running.place % ctas + ctas):
        if x.ctas[place].linear >= 0:
            return
    if running.places < running.most_places and running.next_cta < running.ctas:
        for place in range(running.places, running.places + ctas):
            x.ctas[place].linear = -1
        running.places += ctas


@inline
def next_place(x):
    """Turn to the next place that holds a CTA or may take one; false if there is none."""
    running = x.running[0]
    for _ in range(running.places):
        running.place = (running.place + 1) % running.places
        if x.ctas[running.place].linear >= 0 or running.next_cta < running.ctas:
            return True
    return False
