"""Where lanes go at the end of a basic block: on, apart, to a barrier, to the host, or nowhere."""

from lockstep._jit import force_inline, inline, trailing_zeros
from lockstep.execution.programs.program import EXITED, TOO_DEEP, Ending
from lockstep.execution.scheduling.access import Fault
from lockstep.execution.scheduling.barriers import arrive
from lockstep.execution.scheduling.convergence import leave_region, meet
from lockstep.execution.scheduling.groups import READY, depart, retire
from lockstep.execution.scheduling.machine import Stop
from lockstep.execution.scheduling.masks import only

PARTED = -16  # in the place of a block: the lanes are in groups, where each goes on


@force_inline
def leave_block(x, w, at, lanes, taken):
    """Lanes go where their block's ending says; ``taken`` are those that it returned.

    Returns the block at which all of them go on, or ``PARTED``, and why the warp stops. Whether
    they sleep before is the caller's business. (As a call of its own it made kernels of short
    warps 12 % slower.)
    """
    b = x.blocks[at]
    if b.ending == Ending.BRANCH and taken == lanes:
        return b.taken, Stop.DONE
    if b.ending == Ending.MEET:
        met = meet(x, w, at, lanes, READY)
        if met == lanes:
            return b.next, Stop.DONE
        if met:
            depart(x, w, b.next, met)
        return PARTED, Stop.DONE
    if b.ending == Ending.BREAK:
        leave_region(x, w, b.breaks_slot, taken)
    elif b.ending != Ending.JUMP and b.ending != Ending.SLEEP and taken:
        if taken != lanes:
            depart(x, w, b.next, lanes & ~taken)
        return PARTED, finish(x, w, b, taken)
    return b.next, Stop.DONE


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
    for lane in range(x.launch[0].lanes):
        if not lanes >> lane & 1:
            continue
        target = x.scratch[w, lane]
        if target < EXITED:
            kind = Fault.STACK_OVERFLOW if target == TOO_DEEP else Fault.BAD_TARGET
            return fail(x, w, b, only(lane), kind)
        same = 0
        for other in range(lane, x.launch[0].lanes):
            if x.scratch[w, other] == target:
                same |= only(other)
        depart(x, w, target, lanes & same)
        lanes &= ~same
    return Stop.DONE


@inline
def fail(x, w, b, lanes, kind):
    """Record a fault of the instruction that ends a block."""
    fault = x.fault[0]
    fault.kind, fault.warp, fault.instruction = kind, w, b.first + b.count - 1
    fault.lane = trailing_zeros(lanes)
    fault.cta = x.ctas[w // x.launch[0].warps].linear
    return Stop.FAULT
