"""Where the lanes of a warp meet: warp-wide operations, and where paths join.

In PTX they wait before the operation. Machine code has instructions of their own for it, which each
group of lanes executes that arrives; they wait behind it.

Lanes that wait at a warp-wide operation wait for the lanes that they name, and these must name the
same ones. So lanes of two depths of a recursion that wait at one block do not take each other for
those they wait for: the barrier registers of machine code hold who began a region together, and
regions that overlap are nested in all their lanes.

A lane may leave a region otherwise: BREAK takes it out of the barrier register. Copies of that
register that calls have put elsewhere keep it; what it left is noted until the region ends.
"""

from lockstep._jit import inline, jit, popcount, trailing_zeros
from lockstep.execution.programs.program import SURELY, Ending, Meeting
from lockstep.execution.scheduling.groups import (
    AGAIN,
    AT_BARRIER,
    AT_MEMBERS,
    GOES_ON,
    TOGETHER,
    add_group,
    depart,
    remove_group,
    take_from_group,
)
from lockstep.execution.scheduling.looks import changed
from lockstep.execution.scheduling.machine import MOST_LEFT
from lockstep.execution.scheduling.masks import only

NOBODY = 1 << 40  # more lanes than there are


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
        state = x.group_state[w, g]
        if state == TOGETHER:
            return g
        if state <= GOES_ON:
            if first < 0:
                first = g
            if later < 0 and x.group_block[w, g] > warp.turn:
                later = g
        blocked += state >= AT_BARRIER
    if later >= 0:
        return later
    if first >= 0 or warp.groups == blocked:
        return first
    if wake(x, w) or (blocked == 0 and go_on_without_members(x, w)):
        return first_ready(x, w)
    return -1


@inline
def first_ready(x, w):
    """The first group of a warp that waits for nothing."""
    for g in range(x.warps[w].groups):
        if x.group_state[w, g] <= GOES_ON:
            return g
    return -1


# Who is named


@inline
def word_of(x, w, slot, lane):
    """A lane's copy of a 32-bit register."""
    byte = w * x.running[0].register_bytes + slot + lane * 4
    return x.registers[byte // 8] >> (byte % 8 * 8) & 0xFFFFFFFF


@inline
def set_word(x, w, slot, lane, value):
    """Write a lane's copy of a 32-bit register."""
    byte = w * x.running[0].register_bytes + slot + lane * 4
    word = x.registers[byte // 8]
    if byte % 8:
        signed = value - (value >> 31 << 32)
        x.registers[byte // 8] = signed << 32 | (word & 0xFFFFFFFF)
    else:
        x.registers[byte // 8] = word >> 32 << 32 | value


@inline
def named_by(x, w, b, lane):
    """The living lanes that a lane waits for at a block."""
    if b.members_slot < 0:
        return b.members & x.warps[w].alive
    named = word_of(x, w, b.members_slot, lane)
    if b.meeting == Meeting.PATHS:
        named = without_left(x, w, named)
    return named & x.warps[w].alive


@inline
def naming(x, w, b, lanes, named):
    """Those of some lanes at a block that name these living lanes."""
    same = lanes
    while lanes:
        lane = trailing_zeros(lanes)
        lanes &= ~only(lane)
        if named_by(x, w, b, lane) != named:
            same &= ~only(lane)
    return same


# Who goes on


@inline
def waits(warp, b):
    """Whether lanes that come where lanes meet may have to wait for others.

    All living lanes of a warp need not: unless they go on apart, or some of them are in another
    call of the same function, from which they will come here again.
    """
    return warp.groups > 0 or b.parts


@inline
def come_to(x, w, at, lanes, state):
    """Lanes come to a block where lanes meet: those that execute it, if not all of them wait.

    Those that have executed it and waited behind it may go on from there.
    """
    b = x.blocks[at]
    if b.ending != Ending.MEET:
        return meet(x, w, at, lanes, state)
    if state < AGAIN:
        return lanes
    lanes = meet(x, w, at, lanes, state)
    if lanes:
        depart(x, w, b.next, lanes)
    return 0


@inline
def meet(x, w, at, lanes, state):
    """Lanes come to where lanes meet, or have waited there: those that go on from there."""
    b = x.blocks[at]
    if state == GOES_ON or not waits(x.warps[w], b):
        return lanes
    return gather(x, w, at, b, lanes)


@inline
def gather(x, w, at, b, lanes):
    """Lanes reach where lanes meet: those of them, and of who waits there, that may go on.

    The others of them stay. Mostly some that are named have yet to come: then nobody looks whom
    those name who wait.
    """
    for g in range(x.warps[w].groups):
        if x.group_block[w, g] == at and x.group_state[w, g] == AT_MEMBERS:
            named = named_by(x, w, b, trailing_zeros(lanes))
            if named & ~lanes & ~x.group_lanes[w, g] and naming(x, w, b, lanes, named) == lanes:
                x.group_lanes[w, g] |= lanes
                return 0
            lanes |= x.group_lanes[w, g]
            remove_group(x, w, g)
            break
    complete = complete_lanes(x, w, b, lanes)
    if complete != lanes:
        add_group(x, w, at, lanes & ~complete, AT_MEMBERS)
    if b.meeting == Meeting.PATHS and x.warps[w].left:
        end_regions(x, w, b, complete)
    return complete


@jit
def complete_lanes(x, w, b, lanes):
    """Those of the lanes at a block whose members are all there, naming the same."""
    left, complete = lanes, 0
    while left:
        named = named_by(x, w, b, trailing_zeros(left))
        same = naming(x, w, b, left, named)
        left &= ~same
        if not named & ~same:
            complete |= same
            if b.meeting == Meeting.ALONE:
                break
    return complete


@jit
def wake(x, w):
    """Whether lanes of a warp in which none is ready may go on after all.

    Those who named others are let go at a block one after the other. Lanes that wait for a plain
    synchronisation may do so in different places.
    """
    for g in range(x.warps[w].groups):
        if x.group_state[w, g] == AT_MEMBERS:
            b = x.blocks[x.group_block[w, g]]
            if complete_lanes(x, w, b, x.group_lanes[w, g]):
                x.group_state[w, g] = AGAIN
                return True
    for g in range(x.warps[w].groups):
        b = x.blocks[x.group_block[w, g]]
        if x.group_state[w, g] == AT_MEMBERS and b.meeting == Meeting.ANYWHERE:
            left = x.group_lanes[w, g]
            while left:
                named = named_by(x, w, b, trailing_zeros(left))
                left &= ~naming(x, w, b, left, named)
                if not named & ~synchronising(x, w, named):
                    let_go(x, w, named)
                    return True
    return False


@inline
def synchronising(x, w, named):
    """The lanes that wait for a plain synchronisation, wherever, with these lanes."""
    lanes = 0
    for g in range(x.warps[w].groups):
        b = x.blocks[x.group_block[w, g]]
        if x.group_state[w, g] == AT_MEMBERS and b.meeting == Meeting.ANYWHERE:
            lanes |= naming(x, w, b, x.group_lanes[w, g], named)
    return lanes


@inline
def let_go(x, w, lanes):
    """Lanes that have met in several places go on, each where it waits."""
    while lanes:
        lane = trailing_zeros(lanes)
        for g in range(x.warps[w].groups):
            if x.group_lanes[w, g] >> lane & 1:
                at, here = x.group_block[w, g], x.group_lanes[w, g] & lanes
                take_from_group(x, w, at, AT_MEMBERS, here)
                add_group(x, w, at, here, GOES_ON)
                lanes &= ~here
                break


@jit
def go_on_without_members(x, w):
    """Whether lanes of a warp waited for others that cannot come; some of them do so no longer.

    Those where paths join, the innermost of them, before those at an operation: a program says who
    takes part in that, and where paths join is the compiler's affair. Compilers let lanes leave a
    region for an operation or a barrier without a BREAK: that the others go on is not counted.
    """
    group, lane, fewest, called = -1, 0, NOBODY + 1, False
    for g in range(x.warps[w].groups):
        called |= x.group_state[w, g] >= AT_BARRIER
        if x.group_state[w, g] == AT_MEMBERS:
            b = x.blocks[x.group_block[w, g]]
            joins = b.meeting == Meeting.PATHS
            called |= not joins
            for k in range(x.launch[0].lanes):
                if x.group_lanes[w, g] >> k & 1:
                    size = popcount(named_by(x, w, b, k)) if joins else NOBODY
                    if size < fewest:
                        group, lane, fewest = g, k, size
    if group < 0:
        return False
    at, lanes = x.group_block[w, group], x.group_lanes[w, group]
    b = x.blocks[at]
    if b.meeting == Meeting.PATHS:
        lanes = naming(x, w, b, lanes, named_by(x, w, b, lane))
        leave_region(x, w, b.members_slot, lanes)
    take_from_group(x, w, at, AT_MEMBERS, lanes)
    add_group(x, w, at, lanes, GOES_ON)
    if b.meeting != Meeting.PATHS or not called:
        running = x.running[0]
        if running.forced == 0:
            running.forced_at = b.first + (b.count - 1 if b.ending == Ending.MEET else 0)
        running.forced += 1
    return True


# Who leaves


@inline
def leave_convergence(x, w, b, at):
    """Whether lanes waited where paths join for lanes that spin: they wait for them no longer.

    Lanes that looped back to a block do not spin if something has changed since the last time,
    unless it is time that changes. In a loop of which nobody knows that it polls, nothing changes.
    """
    if b.spins != SURELY and changed(x, w, at, b.spins > 0):
        return False
    found = False
    for g in range(x.warps[w].groups):
        b = x.blocks[x.group_block[w, g]]
        if b.meeting == Meeting.PATHS and x.group_state[w, g] == AT_MEMBERS:
            leave_region(x, w, b.members_slot, x.group_lanes[w, g])
            x.group_state[w, g] = GOES_ON
            found = True
    return found


@jit
def leave_region(x, w, slot, leaving):
    """Lanes leave the regions that their copies of a barrier register hold."""
    while leaving:
        named = without_left(x, w, word_of(x, w, slot, trailing_zeros(leaving)))
        same = holding(x, w, slot, leaving, named)
        leaving &= ~same
        others = named & ~same & x.warps[w].alive
        held = holding(x, w, slot, others, named)
        for lane in range(x.launch[0].lanes):
            if (held | same) >> lane & 1:
                set_word(x, w, slot, lane, named & ~same)
        if others == 0:
            forget(x, w, named)
        elif held != others:
            note_left(x, w, named, same)


@inline
def holding(x, w, slot, lanes, named):
    """Those of some lanes whose copy of a barrier register holds a region."""
    found = 0
    for lane in range(x.launch[0].lanes):
        if lanes >> lane & 1 and without_left(x, w, word_of(x, w, slot, lane)) == named:
            found |= only(lane)
    return found


@inline
def note_left(x, w, named, lanes):
    """Note that lanes have left a region, for the copies of its barrier register elsewhere."""
    warp = x.warps[w]
    if warp.left == MOST_LEFT:  # those are waited for until nobody else can go on
        warp.left = 0
    x.left_of[w, warp.left], x.left_by[w, warp.left] = named, lanes
    warp.left += 1


@inline
def without_left(x, w, named):
    """The lanes of a region that have not left it."""
    k = 0
    while k < x.warps[w].left:
        if x.left_of[w, k] == named and named & x.left_by[w, k]:
            named &= ~x.left_by[w, k]
            k = 0
        else:
            k += 1
    return named


@jit
def end_regions(x, w, b, lanes):
    """Lanes go on where paths join: nobody can ask for their regions any more."""
    while lanes:
        named = named_by(x, w, b, trailing_zeros(lanes))
        lanes &= ~naming(x, w, b, lanes, named)
        forget(x, w, named)


@inline
def forget(x, w, named):
    """Drop what was noted of a region."""
    warp, k = x.warps[w], 0
    named &= warp.alive
    while k < warp.left:
        began = x.left_of[w, k] & warp.alive
        if named == began or named == began & ~x.left_by[w, k]:
            named = began
            warp.left -= 1
            x.left_of[w, k], x.left_by[w, k] = x.left_of[w, warp.left], x.left_by[w, warp.left]
            k = 0
        else:
            k += 1
