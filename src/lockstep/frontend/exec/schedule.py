"""Which block runs next: divergence within warps, turns between warps and CTAs.

The lanes of a warp form groups that wait at different blocks. The group at the smallest block
runs first, so that lanes meet again where paths join. Lanes that may be waiting for others (a
loop that polls memory, or one that runs very long) give the other groups, then the other warps,
then other CTAs a turn: a lock or a grid barrier ends whoever holds it.
"""

from enum import IntEnum

import numpy as np

from lockstep._jit import Context, call_native, inline, jit, popcount
from lockstep.frontend.exec.program import EXITED, Ending
from lockstep.frontend.exec.state import FAULTED, LANES

POLLS = 16  # turns of a polling loop before others get a turn
PATIENCE = 1 << 16  # turns of any loop, while other lanes of the warp wait
TURN = 256  # blocks that the others then get
WARP_TURN = 1 << 14  # blocks of one warp before the next one runs
BARRIERS = 16
READY, AT_BARRIER, AT_MEMBERS = 0, 1, 2


class Stop(IntEnum):
    """Why the scheduler came back."""

    DONE = 0  # nothing left to run
    TIME = 1  # the budget is used up
    SPACE = 2  # a stream buffer is full
    CTA_ENDED = 3  # streams are recorded, and a CTA's is complete
    HOST = 4  # a warp wants a service of Python
    FAULT = 5
    DEADLOCK = 6


BARRIER_STATE = np.dtype([("arrived", "i8"), ("expected", "i8"), ("count", "i8"), ("all", "i8")])

RUNNING = np.dtype(
    [
        ("place", "i8"),  # CTA place that runs now
        ("warp", "i8"),  # row of the warp that stopped
        ("places", "i8"),  # CTA places in use
        ("most_places", "i8"),
        ("next_cta", "i8"),
        ("ctas", "i8"),
        ("recording", "i8"),
        ("register_bytes", "i8"),  # of one warp
        ("cleared_bytes", "i8"),
        ("warps_address", "i8"),  # of row 0
        ("entry", "i8"),
        ("threads", "i8"),  # in a CTA
        ("idle", "i8"),  # places in a row that could only poll
        ("executed", "i8"),  # blocks, of the whole launch
    ]
)


class Machine(Context):
    """Everything the scheduler works on; rows of warps are place * warps + index."""

    launch: np.ndarray  # LAUNCH [1]
    running: np.ndarray  # RUNNING [1]
    ctas: np.ndarray  # CTA [places]
    warps: np.ndarray  # WARP [places * warps]
    group_block: np.ndarray  # int64 [places * warps, LANES], ascending
    group_lanes: np.ndarray  # int64, mask of each group
    group_state: np.ndarray  # int64: READY, AT_BARRIER, AT_MEMBERS
    barriers: np.ndarray  # BARRIER_STATE [places, BARRIERS]
    blocks: np.ndarray  # BLOCK
    functions: np.ndarray  # int64 address of each block
    times: np.ndarray  # int64, executions of each block
    lanes: np.ndarray  # int64, active lanes summed over them
    registers: np.ndarray  # int64 words of all register slots
    scratch: np.ndarray  # int64 [places * warps, SCRATCH_WORDS]
    fault: np.ndarray  # FAULT [1]
    sites: np.ndarray  # SITE
    allocations: np.ndarray  # ALLOCATION, ascending by address, then unused ones
    known: np.ndarray  # int64 [1]: how many of them are used


@inline
def add_group(x, w, block, lanes, state):
    """Lanes wait at a block; they join those that wait there already."""
    n = x.warps[w].groups
    g = 0
    while g < n and x.group_block[w, g] < block:
        g += 1
    if g < n and x.group_block[w, g] == block and x.group_state[w, g] == state:
        x.group_lanes[w, g] |= lanes
        return
    for k in range(n, g, -1):
        x.group_block[w, k] = x.group_block[w, k - 1]
        x.group_lanes[w, k] = x.group_lanes[w, k - 1]
        x.group_state[w, k] = x.group_state[w, k - 1]
    x.group_block[w, g], x.group_lanes[w, g], x.group_state[w, g] = block, lanes, state
    x.warps[w].groups = n + 1


@inline
def remove_group(x, w, g):
    """Take a group off the list."""
    n = x.warps[w].groups - 1
    for k in range(g, n):
        x.group_block[w, k] = x.group_block[w, k + 1]
        x.group_lanes[w, k] = x.group_lanes[w, k + 1]
        x.group_state[w, k] = x.group_state[w, k + 1]
    x.warps[w].groups = n


@inline
def choose(x, w):
    """The group that runs next, or -1 if all wait at a barrier."""
    warp = x.warps[w]
    if warp.turns_left == 0:
        warp.turn = -1
    first, later, waiting = -1, -1, -1
    for g in range(warp.groups):
        if x.group_state[w, g] == READY:
            if first < 0:
                first = g
            if later < 0 and x.group_block[w, g] > warp.turn:
                later = g
        elif x.group_state[w, g] == AT_MEMBERS and waiting < 0:
            waiting = g
    if later >= 0:
        return later
    return first if first >= 0 else waiting


@inline
def members(x, w, b, lanes):
    """The member mask that the block's first instruction names."""
    if b.members_slot < 0:
        return b.members
    lane = 0
    while not lanes >> lane & 1:
        lane += 1
    word = (w * x.running[0].register_bytes + b.members_slot + lane * 4) // 8
    return x.registers[word] >> (((b.members_slot + lane * 4) % 8) * 8) & 0xFFFFFFFF


@jit
def run_warp(x, w, budget):
    """Run a warp until it ends, waits, polls in vain, or has executed ``budget`` blocks.

    Returns ``Stop.DONE`` when it cannot go on by itself, ``Stop.TIME`` when it only gives way,
    or what Python must see to.
    """
    warp = x.warps[w]
    cta = x.ctas[w // x.launch[0].warps]
    address = x.running[0].warps_address + w * x.warps.itemsize
    while True:
        g = choose(x, w)
        if g < 0:
            return Stop.DONE
        at, lanes, state = x.group_block[w, g], x.group_lanes[w, g], x.group_state[w, g]
        remove_group(x, w, g)
        while True:
            b = x.blocks[at]
            if b.converges and state == READY and warp.groups > 0:
                missing = members(x, w, b, lanes) & warp.alive & ~lanes
                if missing:
                    add_group(x, w, at, lanes, AT_MEMBERS)
                    break
            if budget <= 0 or cta.stream + b.stream_words * 8 > cta.stream_end:
                add_group(x, w, at, lanes, state)
                return Stop.TIME if budget <= 0 else Stop.SPACE
            budget -= 1
            cta.progress += 1
            x.launch[0].clock += b.count
            x.times[at] += 1
            x.lanes[at] += popcount(lanes)
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
                    if finish(x, w, b, taken) == Stop.HOST:
                        return Stop.HOST
                    break
            if after == EXITED:
                warp.alive &= ~lanes
                break
            if after <= at and give_way(x, w, b):
                add_group(x, w, after, lanes, READY)
                if warp.groups == 1:
                    return Stop.TIME
                warp.turn, warp.turns_left = after, TURN
                break
            if warp.groups > 0:
                warp.turns_left -= warp.turns_left > 0
                add_group(x, w, after, lanes, READY)
                break
            at, state = after, READY


@inline
def finish(x, w, b, lanes):
    """Lanes do what the block's ending says."""
    if b.ending == Ending.BRANCH:
        depart(x, w, b.taken, lanes)
    elif b.ending == Ending.EXIT:
        depart(x, w, EXITED, lanes)
    elif b.ending == Ending.INDIRECT:
        scatter(x, w, lanes)
    elif b.ending == Ending.HOST:
        x.warps[w].host_lanes = lanes
        add_group(x, w, b.next, lanes, READY)
        return Stop.HOST
    else:
        add_group(x, w, b.next, lanes, AT_BARRIER)
        x.warps[w].waiting = 1 if b.ending == Ending.BARRIER else 2
    return Stop.DONE


@inline
def depart(x, w, target, lanes):
    """Lanes leave for another block, or end."""
    if target == EXITED:
        x.warps[w].alive &= ~lanes
    else:
        add_group(x, w, target, lanes, READY)


@inline
def scatter(x, w, lanes):
    """Each lane goes where its scratch word says."""
    for lane in range(LANES):
        if lanes >> lane & 1:
            depart(x, w, x.scratch[w, lane], 1 << lane)


@inline
def give_way(x, w, b):
    """At the end of a loop's turn: whether lanes that may hold it up should run."""
    warp = x.warps[w]
    warp.spins += 1
    if b.spins and warp.spins >= POLLS:
        warp.spins = 0
        return True
    if warp.spins >= PATIENCE and warp.groups > 0:
        warp.spins = 0
        return True
    if not b.spins and warp.groups == 0:
        warp.spins = 0
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
    cta.alive = launch.warps
    for k in range(BARRIERS):
        x.barriers[place, k].arrived = 0
    for k in range(launch.warps):
        w = place * launch.warps + k
        warp = x.warps[w]
        threads = min(running.threads - k * LANES, LANES)
        warp.alive = (1 << threads) - 1
        warp.groups, warp.waiting, warp.spins, warp.turns_left = 0, 0, 0, 0
        first = w * running.register_bytes // 8
        for word in range(first, first + running.cleared_bytes // 8):
            x.registers[word] = 0
        add_group(x, w, running.entry, warp.alive, READY)


@inline
def at_barrier(x, w):
    """Whether all lanes of a warp that have not ended wait at a barrier."""
    warp = x.warps[w]
    if warp.waiting == 0:
        return False
    for g in range(warp.groups):
        if x.group_state[w, g] != AT_BARRIER:
            return False
    return True


@inline
def arrive(x, place, w):
    """Count a warp at its barrier; one that only arrives goes on."""
    warp = x.warps[w]
    barrier = x.barriers[place, warp.barrier & (BARRIERS - 1)]
    if barrier.arrived == 0:
        barrier.count, barrier.all = 0, 1
    barrier.arrived += LANES
    barrier.expected = warp.barrier_threads
    barrier.count += popcount(warp.barrier_lanes & warp.alive)
    barrier.all &= (warp.barrier_lanes & warp.alive) == warp.alive
    if warp.waiting == 2:
        release(x, w, 0)
    else:
        warp.waiting = 3


@inline
def release(x, w, result):
    """A warp leaves its barrier."""
    warp = x.warps[w]
    warp.waiting, warp.barrier_result = 0, result
    for g in range(warp.groups):
        x.group_state[w, g] = READY


@inline
def open_barriers(x, place):
    """Let warps go whose barrier is complete; whether there were any."""
    first = place * x.launch[0].warps
    cta = x.ctas[place]
    opened = False
    for k in range(BARRIERS):
        barrier = x.barriers[place, k]
        needed = barrier.expected if barrier.expected > 0 else cta.alive * LANES
        if barrier.arrived == 0 or barrier.arrived < needed:
            continue
        result = barrier.count << 2 | (barrier.count > 0) << 1 | barrier.all
        barrier.arrived = 0
        for w in range(first, first + x.launch[0].warps):
            if x.warps[w].waiting == 3 and x.warps[w].barrier & (BARRIERS - 1) == k:
                release(x, w, result)
        opened = True
    return opened


@jit
def run_cta(x, place, budget):
    """Give every warp of a CTA a turn until the CTA ends or only polls.

    Returns ``Stop.DONE`` when it has ended, ``Stop.TIME`` when others should run,
    ``Stop.DEADLOCK`` when no warp can move, or what Python must see to.
    """
    cta = x.ctas[place]
    first, n = place * x.launch[0].warps, x.launch[0].warps
    while True:
        cta.progress = 0
        polling = False
        for w in range(first, first + n):
            warp = x.warps[w]
            if warp.waiting == 3 or warp.groups == 0:
                continue
            x.running[0].warp = w
            stop = run_warp(x, w, min(budget, WARP_TURN))
            if stop == Stop.TIME:
                polling = True
            elif stop != Stop.DONE:
                return stop
            if warp.groups == 0:
                cta.alive -= 1
            elif at_barrier(x, w):
                arrive(x, place, w)
        if cta.alive == 0:
            return Stop.DONE
        budget -= cta.progress
        x.running[0].executed += cta.progress
        opened = open_barriers(x, place)
        if not opened and cta.progress == 0:
            return Stop.DEADLOCK
        if budget <= 0 or (polling and not opened):
            return Stop.TIME


@jit
def run(x, budget):
    """Run CTAs in grid order until all have ended, or Python must see to something.

    One CTA runs at a time, unless it waits for others: then the next of the grid join it, as
    many as the GPU holds, and take turns.
    """
    running = x.running[0]
    while True:
        place = running.place
        if x.ctas[place].linear < 0:
            if running.next_cta >= running.ctas:
                if not next_place(x):
                    return Stop.DONE
                continue
            start_cta(x, place)
        before = running.executed
        stop = run_cta(x, place, budget)
        budget -= running.executed - before
        if stop == Stop.DONE:
            running.idle = 0
            if running.recording:
                return Stop.CTA_ENDED
            x.ctas[place].linear = -1
        elif stop == Stop.TIME:
            widen(x)
            next_place(x)
        else:
            return stop
        if budget <= 0:
            return Stop.TIME


@inline
def widen(x):
    """Let one more CTA run beside those that wait."""
    running = x.running[0]
    if running.places < running.most_places and running.next_cta < running.ctas:
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
