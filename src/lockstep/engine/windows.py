"""Windows of time, many in a row: the loop that every thread runs over its shards.

Threads meet once a window, when all shards have sent what they send and each thread has told when
its shards move next. Who comes last draws the conclusions for all: it lets the CTA scheduler hear
the SMs and send what the next window begins with, and says when that is, or that all leave the
loop. Then messages are delivered and credits given back, each thread's to its own shards, while
others may have begun the next window.
"""

import numpy as np

from lockstep._jit import (
    Context,
    Records,
    atomic_add,
    call_native,
    call_phase,
    inline,
    jit,
    look,
    pause,
    sleep_while,
    wake_sleepers,
)
from lockstep.engine.groups import SCHEDULED
from lockstep.engine.nearby import Nearby, meet
from lockstep.model.clock import NEVER
from lockstep.model.dispatch.clusters import hear, open_barriers
from lockstep.model.dispatch.dispatcher import (
    await_pages,
    clear_sent,
    dispatch,
    needs_engine,
    next_dispatch,
    retire,
)
from lockstep.model.dispatch.state import Dispatcher
from lockstep.model.link import Link, any_sent, deliver, give_back, next_sent
from lockstep.model.modules import pages

LOOKS = 5000  # at a barrier before a thread sleeps: some hundred microseconds
ARRIVED, GENERATION, ASLEEP, BARRIER = 0, 16, 32, 48
"""Places in a team's barrier, cache lines apart, and its size."""


VERDICT = np.dtype(
    [("event", "i8"), ("ended", "i8"), ("stop", "i8"), ("start", "i8"), ("leave", "i8")]
)
"""What was concluded from a window: the next event of all, how many messages ENDED there were,
whether somebody wants to stop, when the next window begins, and whether the loop ends."""


class Team(Context):
    """What the threads of a run share, and what takes shards through a window."""

    phases: np.ndarray  # of each group, see ``_jit.call_phase``
    rows: np.ndarray  # threads x groups x most x 3: shards in a row, see ``groups.in_rows``
    owners: np.ndarray  # groups x most: the thread of each shard; -1 = another machine has it
    ends: np.ndarray  # links x 2: groups of sources and destinations
    barrier: np.ndarray  # threads that have arrived, how often all had, threads that sleep
    told: np.ndarray  # 2 x threads, for every other window: next event of each thread's shards
    verdict: Records  # VERDICT, one
    near: Nearby  # meets other machines of this host
    fabric: np.ndarray  # one: 1 = what shards send to other GPUs ends the loop
    asking: Link  # SMs to other GPUs
    answering: Link  # partitions to other GPUs
    hook: np.ndarray  # one: address of what meets others, which may be far; 0 = there are none


@inline
def comes_last(team: Team) -> bool:
    """Arrive where the threads meet; whether all others have."""
    members = team.rows.shape[0]
    return members == 1 or atomic_add(team.barrier, ARRIVED, 1) == members - 1


@inline
def let_go(team: Team) -> None:
    """Let the others go on that wait for the last one."""
    members = team.rows.shape[0]
    if members == 1:
        return
    atomic_add(team.barrier, ARRIVED, -members)
    atomic_add(team.barrier, GENERATION, 1)
    if look(team.barrier, ASLEEP) > 0:
        wake_sleepers(team.barrier, GENERATION)


@inline
def wait(team: Team, generation: int) -> None:
    """Wait until the last one lets those go on who have met since ``generation``."""
    for _ in range(LOOKS):
        if look(team.barrier, GENERATION) != generation:
            return
        pause()
    atomic_add(team.barrier, ASLEEP, 1)
    while look(team.barrier, GENERATION) == generation:
        sleep_while(team.barrier, GENERATION, generation)
    atomic_add(team.barrier, ASLEEP, -1)


@inline
def idle_until(links: tuple[Link, ...], event: int, end: int, window: int) -> int:
    """Where the next window begins if SMs wait for pages, which they try as windows begin.

    Windows that follow each other without a pause would begin there, too: those in which nothing
    moves are left out, but for the last ones, by whose end all credits have come back.
    """
    kept = 1
    for k in range(len(links)):
        kept = max(kept, links[k].spec[0].credit_windows - 1)
    return max(end, end + ((event - end) // window - kept) * window) if event < NEVER else end


@inline
def conclude(
    team: Team,
    links: tuple[Link, ...],
    d: Dispatcher,
    side: int,
    end: int,
    window: int,
    cut: int,
    stop: int,
) -> None:
    """Between two windows: what the CTA scheduler does, and how it goes on.

    What moved may have changed what others can do: then the next window begins at once. The engine
    has to go on where only it can, where other GPUs were sent something, and where the next window
    would begin at ``cut`` or ``stop``.
    """
    verdict = team.verdict[0]
    verdict.event, verdict.ended, verdict.stop = NEVER, 0, 0
    for k in range(team.told.shape[1]):
        verdict.event = min(verdict.event, team.told[side, k])
    for s in range(d.spec[0].sms):
        if team.owners[SCHEDULED, s] >= 0:
            verdict.ended += d.control.n_ended[s]
    if team.near.boxes.words.shape[0] > 0:
        meet(team.near, links, team.ends, d.control, verdict)
    elif team.hook[0] != 0:
        call_native(team.hook[0], end, 0)
    event, ended = verdict.event, verdict.ended
    moved = ended > 0 or d.state[0].dispatched > 0
    clear_sent(d)
    if ended > 0:
        retire(d)
    if d.pages.spec[0].on:
        pages.settle(d.pages, d.control.asks)
    if d.state[0].clusters > 0:
        hear(d)
        event = min(event, open_barriers(d, end))
    event = end if moved else min(event, next_dispatch(d, end))
    waits = await_pages(d)
    verdict.event = end if waits else event
    verdict.start = max(verdict.event, end)
    outside = verdict.start >= cut or verdict.start >= stop
    verdict.leave = outside or verdict.stop or needs_engine(d, ended > 0)
    if team.fabric[0]:
        verdict.leave = verdict.leave or any_sent(team.asking) or any_sent(team.answering)
    if not verdict.leave:
        if waits:
            verdict.start = idle_until(links, min(event, cut, stop), end, window)
        dispatch(d, verdict.start, min(verdict.start + window, cut))


@inline
def run_shards(team: Team, links: tuple[Link, ...], thread: int, now: int, end: int) -> int:
    """Take a thread's shards through a window; the next event of theirs."""
    event = NEVER
    for g in range(team.rows.shape[1]):
        for k in range(team.rows.shape[2]):
            first, last = team.rows[thread, g, k, 0], team.rows[thread, g, k, 1]
            if first == last:
                break
            step = team.rows[thread, g, k, 2]
            event = min(event, call_phase(team.phases, g, first, last, step, now, end))
    for k in range(len(links)):
        event = min(event, next_sent(links[k], team.owners[team.ends[k, 0]], thread))
    return event


@inline
def hand_over(team: Team, links: tuple[Link, ...], thread: int, number: int, now: int) -> None:
    """Give a thread's shards what was sent to them in a window, and credits for what was taken."""
    for k in range(len(links)):
        deliver(links[k], number, team.owners[team.ends[k, 1]], thread, now)
        give_back(links[k], number, team.owners[team.ends[k, 0]], thread)


@inline
def window_number(team: Team, links: tuple[Link, ...], thread: int) -> int:
    """The number of the window, as its shards count: each thread has some of the first group."""
    return links[0].begun[team.rows[thread, SCHEDULED, 0, 0]]


@jit
def run_windows(
    team: Team,
    links: tuple[Link, ...],
    d: Dispatcher,
    thread: int,
    start: int,
    window: int,
    cut: int,
    stop: int,
    most: int,
) -> int:
    """Run up to ``most`` windows from cycle ``start`` on; returns the end of the last one.

    A window ends at ``cut`` at the latest. The loop also ends when the engine is needed, when
    nothing can move by itself, or when the next event is at ``stop`` or later; the next event is
    left in ``team.verdict``. Shards of the first group are the sources of the first link.
    """
    now = start
    end = start
    for turn in range(most):
        end = min(now + window, cut)
        event = run_shards(team, links, thread, now, end)
        number = window_number(team, links, thread)
        side = number % 2
        team.told[side, thread] = event
        generation = look(team.barrier, GENERATION)
        if comes_last(team):
            conclude(team, links, d, side, end, window, cut, stop if turn + 1 < most else end)
            let_go(team)
        else:
            wait(team, generation)
        hand_over(team, links, thread, number, now)
        now = team.verdict[0].start
        if team.verdict[0].leave:
            break
    return end
