"""Windows of time, many in a row: the loop that every thread runs over its block of shards.

Threads meet three times a window: after the SMs, whose requests are then delivered; after the
memory partitions, whose replies are then delivered; and when each has told when its shards move
next. All of them draw the same conclusion from that, so they leave the loop together.
"""

import numpy as np

from lockstep._jit import Context, atomic_add, give_way, inline, jit
from lockstep.model.link import deliver, next_arrival
from lockstep.model.sm.cluster import open_barriers
from lockstep.model.sm.state import NEVER

SPINS = 4096  # looks at a barrier before the processor is offered to others


class Team(Context):
    """What the threads of a run share, and the two phases of a window."""

    blocks: np.ndarray  # threads x 4: first and last SM, first and last memory partition
    barrier: np.ndarray  # arrived threads, generation
    events: np.ndarray  # threads: next event of each block
    finished: np.ndarray  # threads: CTAs that finished in each block
    sm_phase: object
    memory_phase: object


@inline
def meet(team):
    """Wait for all threads of the team."""
    members = team.events.shape[0]
    if members == 1:
        return
    generation = atomic_add(team.barrier, 1, 0)
    if atomic_add(team.barrier, 0, 1) == members - 1:
        atomic_add(team.barrier, 0, -members)
        atomic_add(team.barrier, 1, 1)
        return
    spins = 0
    while atomic_add(team.barrier, 1, 0) == generation:
        spins += 1
        if spins > SPINS:
            give_way()


@jit
def run_windows(team, c, memory, links, thread, start, window, cut, stop, most):
    """Run up to ``most`` windows from cycle ``start`` on; returns the end of the last one.

    A window ends at ``cut`` at the latest. The loop also ends when a CTA has finished, when
    nothing can move by itself, or when the next event is at ``stop`` or later; the next events
    are left in ``team.events``.
    """
    first_sm, last_sm = team.blocks[thread, 0], team.blocks[thread, 1]
    first_memory, last_memory = team.blocks[thread, 2], team.blocks[thread, 3]
    now = start
    end = start
    for _ in range(most):
        end = min(now + window, cut)
        event = team.sm_phase(c, links.requests, links.replies, first_sm, last_sm, now, end)
        meet(team)
        deliver(links.requests, first_memory, last_memory, now)
        event = min(
            event,
            team.memory_phase(
                memory, links.requests, links.replies, first_memory, last_memory, now, end
            ),
        )
        meet(team)
        deliver(links.replies, first_sm, last_sm, now)
        if thread == 0 and c.dispatcher[0].clusters > 0:
            event = min(event, open_barriers(c, end))
        team.events[thread] = min(event, next_arrival(links.replies, first_sm, last_sm))
        team.finished[thread] = 0
        for s in range(first_sm, last_sm):
            team.finished[thread] += c.n_finished[s]
        meet(team)
        event = NEVER
        finished = 0
        for k in range(team.events.shape[0]):
            event = min(event, team.events[k])
            finished += team.finished[k]
        now = max(event, end)
        if finished > 0 or now >= cut or now >= stop:
            break
    return end
