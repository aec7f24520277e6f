"""Execution block by block, as the timing model asks.

See :class:`lockstep.workload.at_issue.Source`.

Between the model's question where a warp goes on and its order to execute that block, the block's
lanes are in no group: they are the warp's *next* ones.
"""

import numpy as np

from lockstep._jit import Context, call_native, inline, jit, popcount
from lockstep.execution.programs.program import EXITED, Ending
from lockstep.execution.scheduling.barriers import first_of_cluster, open_barriers, waiting_at
from lockstep.execution.scheduling.blocks import call_block, is_fault
from lockstep.execution.scheduling.convergence import choose, come_to, leave_convergence
from lockstep.execution.scheduling.endings import PARTED, leave_block
from lockstep.execution.scheduling.groups import (
    TOGETHER,
    add_group,
    depart,
    ready_groups,
    remove_group,
)
from lockstep.execution.scheduling.machine import BARRIERS, Machine, Stop
from lockstep.execution.scheduling.schedule import TURN, give_way, is_free, resolve_cluster
from lockstep.execution.scheduling.start import start_cta
from lockstep.execution.streams.journal import ENDED, Journal, is_full, keeps, note_block, note_run
from lockstep.execution.streams.stream import StreamExpansion, expand_entry
from lockstep.workload.at_issue import Answer, Ask

NONE = -1
SERVICE, COLLECT = 0, 1  # what Python is called for: a warp's wish, or a full journal

PROGRESS = np.dtype(
    [
        ("stop", "i8"),  # Stop: DONE while all is well; otherwise nothing runs any more
        ("free", "i8"),  # how many clusters may start
        ("cluster", "i8"),  # the first place of the cluster that starts
        ("kilohertz", "i8"),  # of the core clock
        ("most", "i8"),  # warp instructions that may be executed
        ("python", "i8"),  # address of what to call for Python's help
        ("buffer", "i8"),  # address of the stream, which holds one block's entry
        ("function", "i8"),  # addresses of the function that answers, and of its context
        ("context", "i8"),
    ]
)
"""A launch that is executed step by step."""


class Steps(Context):
    """What answers work on."""

    machine: Machine
    expansion: StreamExpansion  # of one block: its runs, addresses and pool are the exchange's
    step: np.ndarray  # workload.STEP [1]
    progress: np.ndarray  # PROGRESS [1]
    places: np.ndarray  # int64: first places for clusters that are free, a stack
    next_block: np.ndarray  # int64, one a row of warps; NONE = not known
    next_lanes: np.ndarray  # int64
    journal: Journal


class Door(Context):
    """What the model calls with: the context of the answers may move, this one stays."""

    progress: np.ndarray  # PROGRESS [1]


@jit
def enter(x, unused):
    """Answer the question in the exchange."""
    return call_native(x.progress[0].function, x.progress[0].context, 0)


@jit
def answer(x, unused):
    """Answer the question in the exchange: a ``workload.Answer``."""
    step = x.step[0]
    if x.progress[0].stop != Stop.DONE:
        return Answer.ENDED
    if step.ask == Ask.START:
        return start(x)
    w = step.place * x.machine.launch[0].warps + step.warp
    return look(x, w) if step.ask == Ask.LOOK else execute(x, w)


@inline
def start(x):
    """Put a CTA of the grid into a free place; those of a cluster come together, by rank."""
    step, progress = x.step[0], x.progress[0]
    rank = rank_of(x.machine, step.cta)
    if rank == 0:
        progress.free -= 1
        progress.cluster = x.places[progress.free]
    step.place = progress.cluster + rank
    start_cta(x.machine, step.place, step.cta)
    x.expansion.copies[step.place] = 0
    x.machine.ctas[step.place].sm = step.sm
    return Answer.READY


@inline
def rank_of(m, number):
    """The rank in its cluster of a CTA of the grid."""
    launch = m.launch[0]
    x = number % launch.nctaid_x % launch.cluster_x
    y = number // launch.nctaid_x % launch.nctaid_y % launch.cluster_y
    z = number // (launch.nctaid_x * launch.nctaid_y) % launch.cluster_z
    return (z * launch.cluster_y + y) * launch.cluster_x + x


@inline
def look(x, w):
    """Find out where a warp goes on."""
    m = x.machine
    warp = m.warps[w]
    while True:
        g = choose(m, w)
        if g < 0 and warp.groups == 0:
            return end(x, w)
        if g < 0:
            answer = wait(x, w)
            if answer != Answer.READY:
                return answer
            continue
        at, lanes, state = m.group_block[w, g], m.group_lanes[w, g], m.group_state[w, g]
        remove_group(m, w, g)
        b = m.blocks[at]
        if b.meeting:
            lanes = come_to(m, w, at, lanes, state)
            if lanes == 0:
                continue
        if b.count > 0:
            x.next_block[w], x.next_lanes[w] = at, lanes
            x.step[0].static, x.step[0].mask = b.first, guarded(m, w, b, lanes)
            return Answer.READY
        # It takes what the warp waited for, or is where machine code calls the host.
        stop = serve(x, run_block(x, w, at, lanes))
        if stop != Stop.DONE:
            x.progress[0].stop = stop
            return Answer.ENDED


@inline
def guarded(m, w, b, lanes):
    """The lanes that will execute a block's first instruction."""
    if b.guard_slot < 0:
        return lanes
    byte = w * m.running[0].register_bytes + b.guard_slot
    holds = m.registers[byte // 8] >> (byte % 8 * 8)
    return lanes & ~holds if b.guard_negated else lanes & holds


@inline
def end(x, w):
    """The model learns that a warp has ended; when it knows of all, their place is free."""
    m, progress = x.machine, x.progress[0]
    place = w // m.launch[0].warps
    cta = m.ctas[place]
    cta.alive -= 1
    if cta.alive == 0:
        if has_journal(x):
            note_run(x.journal, row_of(x, w), ENDED, 0, 0)
        cta.linear = NONE
        first = first_of_cluster(m, place)
        if is_free(m, first):
            x.places[progress.free] = first
            progress.free += 1
    return Answer.ENDED


@inline
def wait(x, w):
    """All lanes of a warp wait at barriers; READY: for nobody who can come, so look again."""
    place = w // x.machine.launch[0].warps
    x.machine.warps[w].waiting = 1
    if not nobody_runs(x, first_of_cluster(x.machine, place)):
        return Answer.WAITS
    if resolve_cluster(x.machine, place):
        return Answer.READY
    x.machine.running[0].place = place
    x.progress[0].stop = Stop.DEADLOCK
    return Answer.ENDED


@inline
def nobody_runs(x, place):
    """Whether all warps of a cluster that have not ended wait at barriers."""
    m = x.machine
    first = place * m.launch[0].warps
    for w in range(first, first + m.launch[0].cluster_ctas * m.launch[0].warps):
        if x.next_block[w] != NONE or (m.warps[w].groups > 0 and not m.warps[w].waiting):
            return False
    return True


@inline
def execute(x, w):
    """Execute the block that the model was told, and hand over what it did."""
    progress, step = x.progress[0], x.step[0]
    at = x.next_block[w]
    x.next_block[w] = NONE
    step.comes = NONE
    stop = run_block(x, w, at, x.next_lanes[w])
    if stop == Stop.DONE or stop == Stop.HOST:
        hand_over(x, step.warp)
    stop = serve(x, stop)
    if stop == Stop.DONE and has_journal(x):
        note_block(x.journal, row_of(x, w), x.expansion, step)
    if stop == Stop.DONE:
        stop = progress.stop  # the journal may have failed
    if stop == Stop.DONE and x.machine.running[0].executed > progress.most:
        stop = Stop.TIME
    progress.stop = stop
    return Answer.READY if stop == Stop.DONE else Answer.ENDED


@inline
def serve(x, stop):
    """Let Python do what a warp stopped for, if it did; returns why the warp stops nevertheless."""
    if stop == Stop.HOST and call_native(x.progress[0].python, 0, SERVICE) == 0:
        return Stop.DONE
    return stop


@inline
def run_block(x, w, at, lanes):
    """Execute a block for some lanes, which then wait where they go on."""
    m, progress = x.machine, x.progress[0]
    b, launch, running, cycle = m.blocks[at], m.launch[0], m.running[0], x.step[0].cycle
    running.warp, running.place = w, w // launch.warps
    # Clock readings come first in their blocks; they subtract the block's instructions.
    launch.clock = cycle + b.count
    launch.nanoseconds = cycle * 1_000_000 // progress.kilohertz - cycle
    m.ctas[running.place].stream = progress.buffer
    running.executed += b.count
    m.times[at] += 1
    m.lanes[at] += popcount(lanes)
    alive = m.warps[w].alive
    address = running.warps_address + w * m.warps.itemsize
    result = call_block(m, at, address, lanes)
    if is_fault(m, result):
        return Stop.FAULT
    stop = leave(m, w, at, lanes, result & lanes)
    arrives = b.ending == Ending.BARRIER or b.ending == Ending.ARRIVE
    if m.ctas[running.place].barriers and (arrives or m.warps[w].alive != alive):
        x.step[0].comes = comes_to(m, w, arrives)
        open_barriers(m, running.place)
    return stop


@inline
def comes_to(m, w, arrives):
    """The barrier to which the last lanes of a warp have come, or from which they have kept away.

    These ended, unless lanes ``arrive``: then those count who came before to a stated number.
    """
    for number in range(BARRIERS):
        if m.ctas[w // m.launch[0].warps].barriers >> number & 1:
            counted = arrives or m.barriers[w // m.launch[0].warps, number].expected == 0
            lanes = waiting_at(m, w, number)
            if counted and lanes and lanes == m.warps[w].alive:
                return number
    return NONE


@inline
def leave(m, w, at, lanes, taken):
    """Lanes go where their block's ending says; ``taken`` are those that it returned."""
    b, warp = m.blocks[at], m.warps[w]
    after, stop = leave_block(m, w, at, lanes, taken)
    if after == PARTED:
        return stop
    in_vain = EXITED < after <= at and give_way(warp, b)
    if not in_vain and after != EXITED and warp.groups > 0:
        warp.turns_left -= warp.turns_left > 0
    if b.together:
        add_group(m, w, after, lanes, TOGETHER)
    else:
        depart(m, w, after, lanes)
    if in_vain:
        let_others_run(m, w, b, after)
    return Stop.DONE


@inline
def let_others_run(m, w, b, at):
    """Lanes looped in vain. When all groups did, those go on who wait for them where paths join."""
    warp = m.warps[w]
    warp.in_vain += 1
    if warp.in_vain >= ready_groups(m, w):
        warp.in_vain = 0
        if b.spins:
            leave_convergence(m, w, b, at)
    if ready_groups(m, w) > 1:
        warp.turn, warp.turns_left = at, TURN


@inline
def row_of(x, w):
    """A warp's number in the grid."""
    warps = x.machine.launch[0].warps
    return x.machine.ctas[w // warps].linear * warps + w % warps


@inline
def has_journal(x):
    """Whether there is a journal, which then has room; Python empties it when it is full."""
    if not keeps(x.journal):
        return False
    if is_full(x.journal) and call_native(x.progress[0].python, 0, COLLECT) != 0:
        x.progress[0].stop = Stop.HOST
        return False
    return True


@inline
def hand_over(x, warp):
    """Write a block's runs and addresses into the exchange."""
    e, step = x.expansion, x.step[0]
    e.cursors[warp, 0] = e.cursors[warp, 1] = 0
    expand_entry(e, step.place, 0, 0, e.steps[e.stream[0] & 0xFFFFFFFF], 0)
    step.runs, step.addresses = e.cursors[warp, 0], e.cursors[warp, 1]
