"""Groups of lanes: those of a warp that wait at the same block, in the same state.

The group at the smallest block runs first, so that lanes meet again where paths join.
"""

from lockstep._jit import inline
from lockstep.frontend.exec.program import EXITED, MAY_LEAVE
from lockstep.frontend.exec.state import LANES

READY = 0
GOES_ON = 1  # at a warp-wide operation, without lanes that it names but that cannot come
AT_MEMBERS = 2  # a warp-wide operation waits for lanes that it names
AT_BARRIER = 3  # plus the barrier's number


@inline
def add_group(x, w, block, lanes, state):
    """Lanes wait at a block; they join those that wait there already."""
    n = x.warps[w].groups
    g = 0
    while g < n and x.group_block[w, g] < block:
        g += 1
    k = g
    while k < n and x.group_block[w, k] == block:
        if x.group_state[w, k] == state:
            x.group_lanes[w, k] |= lanes
            return
        k += 1
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
    """The group that runs next, or -1 if none can.

    If all lanes of the warp wait for members, the first of them go on without.
    """
    warp = x.warps[w]
    if warp.turns_left == 0:
        warp.turn = -1
    first, later, blocked = -1, -1, 0
    for g in range(warp.groups):
        if x.group_state[w, g] <= GOES_ON:
            if first < 0:
                first = g
            if later < 0 and x.group_block[w, g] > warp.turn:
                later = g
        blocked += x.group_state[w, g] >= AT_BARRIER
    if later >= 0:
        return later
    if first < 0 and blocked == 0 and warp.groups > 0:
        x.group_state[w, 0] = GOES_ON
        return 0
    return first


@inline
def leave_convergence(x, w):
    """Whether lanes waited where paths join for lanes that spin: they wait for them no longer."""
    found = False
    for g in range(x.warps[w].groups):
        joins = x.blocks[x.group_block[w, g]].converges == MAY_LEAVE
        if joins and x.group_state[w, g] == AT_MEMBERS:
            x.group_state[w, g] = GOES_ON
            found = True
    return found


@inline
def go_on_without_members(x, w):
    """Whether lanes of a warp waited for members, which now they do no longer."""
    found = False
    for g in range(x.warps[w].groups):
        if x.group_state[w, g] == AT_MEMBERS:
            x.group_state[w, g] = GOES_ON
            found = True
    return found


@inline
def ready_groups(x, w):
    """How many groups of a warp wait for nothing."""
    count = 0
    for g in range(x.warps[w].groups):
        count += x.group_state[w, g] <= GOES_ON
    return count


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
            x.group_state[w, g] = READY


@inline
def members(x, w, b, lane):
    """The member mask that the block's first instruction names in a lane."""
    if b.members_slot < 0:
        return b.members
    byte = w * x.running[0].register_bytes + b.members_slot + lane * 4
    return x.registers[byte // 8] >> (byte % 8 * 8) & 0xFFFFFFFF


@inline
def gather(x, w, at, b, lanes):
    """Lanes reach a warp-wide operation: those of them, and of who waits there, that may go on.

    Each lane waits until all living lanes that it names are here; the others of them stay.
    """
    for g in range(x.warps[w].groups):
        if x.group_block[w, g] == at and x.group_state[w, g] == AT_MEMBERS:
            lanes |= x.group_lanes[w, g]
            remove_group(x, w, g)
            break
    absent = x.warps[w].alive & ~lanes
    complete = 0
    for lane in range(LANES):
        if lanes >> lane & 1 and not members(x, w, b, lane) & absent:
            complete |= 1 << lane
    if complete != lanes:
        add_group(x, w, at, lanes & ~complete, AT_MEMBERS)
    return complete
