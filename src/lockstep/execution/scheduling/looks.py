"""What is made of lanes that turn in loops: whether they get on, or look in vain.

They may wait for lanes, warps or CTAs that run later. The loops that are known to look, and those
that turn very long, give way; where registers stay what they were, nothing is told of a turn.
"""

from lockstep._jit import inline, jit
from lockstep.execution.scheduling.machine import PATIENT

POLLS = 16  # turns of a polling loop before others get a turn
PATIENCE = 1 << 16  # turns of any loop, while other lanes of the warp wait
MOST_LOOKS = 1 << 16  # turns that change nothing, and of which nothing is told
HOPES = 8  # turns of a warp that waits for an mbarrier
HASH, FACTOR = (1 << 31) - 1, 16777619  # FNV-1a's factor, of 31 bits so that no product overflows


@inline
def give_way(warp, b):
    """At the end of a loop's turn: whether lanes that may hold it up should run."""
    warp.spins += 1
    warp.polls += b.spins > 0
    if warp.polls >= POLLS or warp.spins >= PATIENCE:
        warp.polls = warp.spins = 0
        return b.spins > 0 or warp.groups > 0
    return False


@jit
def look_again(x, w, start, end, lanes, turn):
    """Lanes begin another turn of a loop that only looks: where its entries begin.

    One that has changed nothing is not told: how often they looked in vain is told by the order in
    which warps are executed, and by nothing that takes time. After MOST_LOOKS it is told all the
    same, so that what waits without end is found.
    """
    warp, cta = x.warps[w], x.ctas[w // x.launch[0].warps]
    state = state_of(x, w, start)
    same = warp.look_at == start and warp.look_to == end and warp.look_lanes == lanes
    if not same or warp.look_state != state:
        warp.looks = 0
    elif turn >= 0 and warp.looks < MOST_LOOKS:
        warp.looks += 1
        cta.stream = turn
    warp.look_at, warp.look_to, warp.look_lanes, warp.look_state = start, end, lanes, state
    return cta.stream


@inline
def may_hope(x, w, after):
    """Whether lanes that wait for an mbarrier are believed to wait for other warps, a few turns.

    Other lanes of their own may come to a barrier meanwhile: who replays what was executed has the
    whole warp wait there, before what these do next, for which the barrier's others may wait.
    """
    warp = x.warps[w]
    if changed(x, w, after, True):
        warp.hopes = 0
    warp.hopes += 1
    if warp.hopes <= HOPES:
        return True
    warp.hopes = 0
    return False


@inline
def changed(x, w, at, counts):
    """Whether the registers of a warp differ from what they were when this was asked last.

    Lanes may count how often they have looked in vain: if ``counts``, the answer is no after
    PATIENT times.
    """
    warp, state = x.warps[w], state_of(x, w, at)
    same = state == warp.state
    warp.state = state
    warp.patience -= counts
    if same or warp.patience <= 0:
        warp.patience = PATIENT
        return False
    return True


@jit
def state_of(x, w, at):
    """A number for what the registers of a warp hold at a block."""
    state = at
    first, count = w * x.running[0].register_bytes // 8, x.running[0].register_bytes // 8
    for word in x.registers[first : first + count]:
        state = ((state ^ (word & HASH)) * FACTOR + (word >> 31 & HASH)) & HASH
    return state
