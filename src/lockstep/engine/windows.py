"""Windows of time, many in a row: the loop that every thread runs over its block of shards.

Threads meet once a window, when all shards have sent what they send and each thread has told when
its shards move next. Then messages are delivered and credits given back, each thread's to its own
shards, while others may have begun the next window. All threads draw the same conclusions from
what was told, so they leave the loop together. Where CTAs form clusters, the threads meet once
more, for one of them looks at all SMs.
"""

import numpy as np

from lockstep._jit import (
    Context,
    atomic_add,
    inline,
    jit,
    look,
    pause,
    sleep_while,
    wake_sleepers,
)
from lockstep.model.link import deliver, give_back, next_arrival, next_sent
from lockstep.model.sm.cluster import open_barriers
from lockstep.model.sm.state import NEVER

LOOKS = 5000  # at a barrier before a thread sleeps: some hundred microseconds
ARRIVED, GENERATION, ASLEEP, BARRIER = 0, 16, 32, 48
"""Places in a team's barrier, cache lines apart, and its size."""


class Team(Context):
    """What the threads of a run share, and the two phases of a window."""

    blocks: np.ndarray  # threads x 4: first and last SM, first and last memory partition
    barrier: np.ndarray  # threads that have arrived, how often all had, threads that sleep
    told: np.ndarray  # 2 x threads, for every other window: next event of each block
    finished: np.ndarray  # 2 x threads: CTAs that finished in each block
    opened: np.ndarray  # one: when somebody of a cluster goes on
    next: np.ndarray  # one: the next event of all
    sm_phase: object
    memory_phase: object


@inline
def meet(team):
    """Wait for all threads of the team."""
    members = team.blocks.shape[0]
    if members == 1:
        return
    generation = look(team.barrier, GENERATION)
    if atomic_add(team.barrier, ARRIVED, 1) == members - 1:
        atomic_add(team.barrier, ARRIVED, -members)
        atomic_add(team.barrier, GENERATION, 1)
        if look(team.barrier, ASLEEP) > 0:
            wake_sleepers(team.barrier, GENERATION)
        return
    for _ in range(LOOKS):
        if look(team.barrier, GENERATION) != generation:
            return
        pause()
    atomic_add(team.barrier, ASLEEP, 1)
    while look(team.barrier, GENERATION) == generation:
        sleep_while(team.barrier, GENERATION, generation)
    atomic_add(team.barrier, ASLEEP, -1)


@jit
def run_windows(team, c, memory, links, thread, start, window, cut, stop, most):
    """Run up to ``most`` windows from cycle ``start`` on; returns the end of the last one.

    A window ends at ``cut`` at the latest. The loop also ends when a CTA has finished, when
    nothing can move by itself, or when the next event is at ``stop`` or later; the next event is
    left in ``team.next``.
    """
    first_sm, last_sm = team.blocks[thread, 0], team.blocks[thread, 1]
    first_memory, last_memory = team.blocks[thread, 2], team.blocks[thread, 3]
    requests, replies = links.requests, links.replies
    now = start
    end = start
    for _ in range(most):
        end = min(now + window, cut)
        event = team.sm_phase(c, requests, replies, first_sm, last_sm, now, end)
        moves = team.memory_phase(memory, requests, replies, first_memory, last_memory, now, end)
        event = min(event, moves, next_arrival(replies, first_sm, last_sm))
        event = min(event, next_sent(requests, first_sm, last_sm))
        event = min(event, next_sent(replies, first_memory, last_memory))
        number = requests.begun[first_sm]
        side = number % 2
        team.told[side, thread] = event
        team.finished[side, thread] = 0
        for s in range(first_sm, last_sm):
            team.finished[side, thread] += c.n_finished[s]
        meet(team)
        event = NEVER
        finished = 0
        for k in range(team.told.shape[1]):
            event = min(event, team.told[side, k])
            finished += team.finished[side, k]
        deliver(requests, number, first_memory, last_memory, now)
        deliver(replies, number, first_sm, last_sm, now)
        give_back(requests, number, first_sm, last_sm)
        give_back(replies, number, first_memory, last_memory)
        if c.dispatcher[0].clusters > 0:
            if thread == 0:
                team.opened[0] = open_barriers(c, end)
            meet(team)
            event = min(event, team.opened[0])
        team.next[0] = event
        now = max(event, end)
        if finished > 0 or now >= cut or now >= stop:
            break
    return end
