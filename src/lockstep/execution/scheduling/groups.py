"""Groups of lanes: those of a warp that go on together.

The group at the smallest block runs first. In PTX, which says nowhere where paths join, lanes meet
where they come to the same block. Machine code says so: what is at the same block goes on apart
until an instruction lets it meet, as on hardware, which executes each instruction for each group.
"""

from lockstep._jit import inline
from lockstep.execution.programs.program import EXITED

READY = 0
TOGETHER = 1  # has been found converged: runs next, before others can join it
AGAIN = 2  # has waited for members, and looks again who is there
GOES_ON = 3  # at a warp-wide operation, for whose members it has waited
AT_MEMBERS = 4  # a warp-wide operation waits for lanes that it names
AT_BARRIER = 5  # plus the barrier's number


@inline
def add_group(x, w, block, lanes, state):
    """Lanes wait at a block, behind those that wait there already, or with them."""
    n = x.warps[w].groups
    g = 0
    while g < n and x.group_block[w, g] < block:
        g += 1
    joins = state >= AT_MEMBERS or x.blocks[block].collects
    while g < n and x.group_block[w, g] == block:
        if joins and x.group_state[w, g] == state:
            x.group_lanes[w, g] |= lanes
            return
        g += 1
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
def ready_groups(x, w):
    """How many groups of a warp wait for nothing."""
    count = 0
    for g in range(x.warps[w].groups):
        count += x.group_state[w, g] <= GOES_ON
    return count


@inline
def take_from_group(x, w, block, state, lanes):
    """Take lanes out of the group that waits at a block in a state."""
    for g in range(x.warps[w].groups):
        if x.group_block[w, g] == block and x.group_state[w, g] == state:
            x.group_lanes[w, g] &= ~lanes
            if x.group_lanes[w, g] == 0:
                remove_group(x, w, g)
            return


@inline
def depart(x, w, target, lanes):
    """Lanes leave for another block, or end."""
    if target == EXITED:
        retire(x, w, lanes)
    else:
        add_group(x, w, target, lanes, READY)


@inline
def retire(x, w, lanes):
    """Lanes end; who waits for members looks again."""
    warp = x.warps[w]
    warp.alive &= ~lanes
    for g in range(warp.groups):
        if x.group_state[w, g] == AT_MEMBERS:
            x.group_state[w, g] = AGAIN
