"""Which block runs next: divergence within warps, turns between warps and CTAs.

The lanes of a warp form groups that wait at different blocks. The group at the smallest block
runs first, so that lanes meet again where paths join. Lanes that may be waiting for others (a
loop that polls memory, or one that runs very long) give the other groups, then the other warps,
then other CTAs a turn: a lock or a grid barrier ends whoever holds it.
"""

from enum import IntEnum

from lockstep._jit import call_native, inline, jit, popcount
from lockstep.frontend.exec.access import Fault
from lockstep.frontend.exec.barriers import arrive, open_barriers
from lockstep.frontend.exec.groups import (
    GOES_ON,
    READY,
    add_group,
    choose,
    depart,
    gather,
    go_on_without_members,
    leave_convergence,
    ready_groups,
    remove_group,
    retire,
)
from lockstep.frontend.exec.program import EXITED, TOO_DEEP, Ending
from lockstep.frontend.exec.state import FAULTED, LANES, SCRATCH_WORDS

POLLS = 16  # turns of a polling loop before others get a turn
PATIENCE = 1 << 16  # turns of any loop, while other lanes of the warp wait
TURN = 256  # blocks that the others then get
WARP_TURN = 1 << 15  # instructions of one warp before the next one runs


class Stop(IntEnum):
    """Why a run stopped."""

    DONE = 0  # nothing left to run
    TIME = 1  # the budget is used up
    SPACE = 2  # a stream buffer is full
    ENDED = 3  # streams are recorded, and those of several CTAs are complete
    HOST = 4  # a warp wants a service of Python
    FAULT = 5
    DEADLOCK = 6
    POLLING = 7  # all that is left waits for what others write; never leaves the scheduler


@jit
def run_warp(x, w, budget):
    """Run a warp until it ends, waits, polls in vain, or has executed ``budget`` instructions.

    Returns ``Stop.DONE`` when it cannot go on by itself, ``POLLING`` or ``TIME`` when it could,
    or what Python must see to.
    """
    warp = x.warps[w]
    cta = x.ctas[w // x.launch[0].warps]
    address = x.running[0].warps_address + w * x.warps.itemsize
    in_vain = 0
    while True:
        g = choose(x, w)
        if g < 0:
            return Stop.DONE
        at, lanes, state = x.group_block[w, g], x.group_lanes[w, g], x.group_state[w, g]
        remove_group(x, w, g)
        while True:
            b = x.blocks[at]
            if b.converges and warp.groups > 0 and state != GOES_ON:
                lanes = gather(x, w, at, b, lanes)
                if lanes == 0:
                    break
            if budget <= 0 or cta.stream + b.stream_words * 8 > cta.stream_end:
                add_group(x, w, at, lanes, state)
                return Stop.TIME if budget <= 0 else Stop.SPACE
            budget -= b.count
            count(x, at, b, lanes)
            result = call_native(x.functions[at], address, lanes)
            if result == FAULTED:
                return Stop.FAULT
            after = b.next
            if b.ending != Ending.JUMP:
                taken = result & lanes
                if b.ending == Ending.BRANCH and taken == lanes:
                    after = b.taken
                elif taken:
                    if taken != lanes:
                        depart(x, w, b.next, lanes & ~taken)
                    stop = finish(x, w, b, taken)
                    if stop != Stop.DONE:
                        return stop
                    break
            if after == EXITED:
                retire(x, w, lanes)
                break
            if after <= at and give_way(warp, b):
                add_group(x, w, after, lanes, READY)
                in_vain += 1
                if in_vain >= ready_groups(x, w):
                    if not b.spins or not leave_convergence(x, w):
                        return Stop.POLLING
                    in_vain = 0
                warp.turn, warp.turns_left = after, TURN
                break
            if warp.groups > 0:
                warp.turns_left -= warp.turns_left > 0
                add_group(x, w, after, lanes, READY)
                break
            at, state = after, READY


@inline
def count(x, at, b, lanes):
    """Count an execution of a block."""
    x.running[0].executed += b.count
    x.launch[0].clock += b.count
    x.times[at] += 1
    x.lanes[at] += popcount(lanes)


@inline
def finish(x, w, b, lanes):
    """Lanes do what the block's ending says."""
    if b.ending == Ending.BRANCH:
        depart(x, w, b.taken, lanes)
    elif b.ending == Ending.EXIT:
        retire(x, w, lanes)
    elif b.ending == Ending.INDIRECT:
        return scatter(x, w, b, lanes)
    elif b.ending == Ending.HOST:
        warp = x.warps[w]
        warp.host_call, warp.host_lanes = b.service, lanes
        warp.host_instruction = b.first + b.count - 1
        depart(x, w, b.taken, lanes)
        return Stop.HOST
    elif b.ending == Ending.TRAP:
        return fail(x, w, b, lanes, Fault.TRAP)
    else:
        arrive(x, w, b, lanes)
    return Stop.DONE


@inline
def scatter(x, w, b, lanes):
    """Each lane goes where its scratch word says."""
    for lane in range(LANES):
        if not lanes >> lane & 1:
            continue
        target = x.scratch[w, lane]
        if target < EXITED:
            kind = Fault.STACK_OVERFLOW if target == TOO_DEEP else Fault.BAD_TARGET
            return fail(x, w, b, 1 << lane, kind)
        same = 0
        for other in range(lane, LANES):
            if x.scratch[w, other] == target:
                same |= 1 << other
        depart(x, w, target, lanes & same)
        lanes &= ~same
    return Stop.DONE


@inline
def fail(x, w, b, lanes, kind):
    """Record a fault of the instruction that ends a block."""
    fault = x.fault[0]
    fault.kind, fault.warp, fault.instruction = kind, w, b.first + b.count - 1
    fault.lane = 0
    while not lanes >> fault.lane & 1:
        fault.lane += 1
    fault.cta = x.ctas[w // x.launch[0].warps].linear
    return Stop.FAULT


@inline
def give_way(warp, b):
    """At the end of a loop's turn: whether lanes that may hold it up should run."""
    warp.spins += 1
    warp.polls += b.spins
    if warp.polls >= POLLS or warp.spins >= PATIENCE:
        warp.polls = warp.spins = 0
        return b.spins == 1 or warp.groups > 0
    return False


@inline
def start_cta(x, place):
    """Put the next CTA of the grid into a place."""
    launch, running = x.launch[0], x.running[0]
    number = running.next_cta
    running.next_cta += 1
    cta = x.ctas[place]
    cta.linear = number
    cta.ctaid_x = number % launch.nctaid_x
    cta.ctaid_y = number // launch.nctaid_x % launch.nctaid_y
    cta.ctaid_z = number // (launch.nctaid_x * launch.nctaid_y)
    cta.alive, cta.barriers = launch.warps, 0
    cta.shared = running.shared_address + place * running.shared_stride
    cta.sm = place % launch.sms
    for k in range(launch.warps):
        start_warp(x, place, k)


@inline
def start_warp(x, place, index):
    """Put one warp of a CTA at the kernel's entry."""
    launch, running = x.launch[0], x.running[0]
    w = place * launch.warps + index
    warp = x.warps[w]
    warp.registers = running.registers_address + w * running.register_bytes
    warp.launch = running.launch_address
    warp.cta = running.ctas_address + place * x.ctas.itemsize
    warp.threads = running.threads_address + index * 12 * LANES
    warp.local = running.local_address + w * LANES * launch.local_bytes
    warp.index, warp.number = index, w
    warp.scratch = running.scratch_address + w * 8 * SCRATCH_WORDS
    threads = min(running.threads - index * LANES, LANES)
    warp.alive = (1 << threads) - 1
    warp.groups, warp.waiting, warp.clustered = 0, 0, 0
    warp.spins, warp.polls, warp.turns_left, warp.in_vain = 0, 0, 0, 0
    first = w * running.register_bytes // 8
    for word in range(first, first + running.cleared_bytes // 8):
        x.registers[word] = 0
    add_group(x, w, running.entry, warp.alive, READY)


@jit
def run_cta(x, place, budget):
    """Give every warp of a CTA a turn until the CTA ends or only polls.

    Returns ``Stop.DONE`` when it has ended, ``POLLING`` or ``TIME`` when others should run,
    ``DEADLOCK`` when no warp can move, or what Python must see to.
    """
    cta, running = x.ctas[place], x.running[0]
    first, n = place * x.launch[0].warps, x.launch[0].warps
    end = running.executed + budget
    while True:
        ran = polling = False
        cta.alive = 0
        for w in range(first, first + n):
            warp = x.warps[w]
            if warp.groups and not warp.waiting:
                running.warp = w
                ran = True
                stop = run_warp(x, w, WARP_TURN)
                if stop == Stop.POLLING:
                    polling = True
                elif stop == Stop.DONE:
                    warp.waiting = warp.groups > 0
                elif stop != Stop.TIME:
                    return stop
            cta.alive += warp.groups > 0
        if cta.alive == 0:
            return Stop.DONE
        opened = cta.barriers != 0 and open_barriers(x, place)
        if not opened and not ran and not resolve(x, place):
            return Stop.DEADLOCK
        if polling and not opened:
            return Stop.POLLING
        if running.executed >= end:
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


@jit
def run(x, budget):
    """Run CTAs in grid order for ``budget`` instructions, or until Python must see to something.

    One CTA runs at a time, unless it waits for others: then the next of the grid join it, as
    many as the GPU holds, and take turns.
    """
    running = x.running[0]
    end = running.executed + budget
    while True:
        place = running.place
        if x.ctas[place].linear < 0:
            if running.next_cta >= running.ctas:
                if not next_place(x):
                    return Stop.DONE
                continue
            start_cta(x, place)
        stop = run_cta(x, place, end - running.executed)
        if stop == Stop.DONE:
            if running.recording:
                note_end(x, place)
            x.ctas[place].linear = -1
            if running.ended == len(x.ended) or (running.ended and running.executed >= end):
                return Stop.ENDED
        elif stop == Stop.TIME or stop == Stop.POLLING:
            widen(x)
            next_place(x)
        else:
            return stop
        if running.executed >= end:
            return Stop.TIME


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
    """Let one more CTA run beside those that wait."""
    running = x.running[0]
    if running.places < running.most_places and running.next_cta < running.ctas:
        x.ctas[running.places].linear = -1
        running.places += 1


@inline
def next_place(x):
    """Turn to the next place that holds a CTA or may take one; false if there is none."""
    running = x.running[0]
    for _ in range(running.places):
        running.place = (running.place + 1) % running.places
        if x.ctas[running.place].linear >= 0 or running.next_cta < running.ctas:
            return True
    return False
