"""Eligibility: may a warp issue its next instruction, and if not, until when and why not."""

from lockstep._jit import force_inline
from lockstep.isa.instruction import OpClass
from lockstep.model.clock import NEVER
from lockstep.model.core import attribution, constant, releases
from lockstep.model.core.fetch import move_to_line
from lockstep.model.core.memory_queue import has_room
from lockstep.model.core.release_state import AFTER_STORES, WAITS
from lockstep.model.core.state import (
    AT_ISSUE,
    CLEARED,
    GROUPS,
    LONG,
    SHORT,
    SLACK_PLACE,
    UNIT_BITS,
    UNREAD,
)
from lockstep.model.core.stream import resume
from lockstep.model.core.warp import groups_landed, let_go_at
from lockstep.model.counters import Stall
from lockstep.model.sm import operands
from lockstep.model.sm.dependence import barriers_clear, registers_ready

COMMIT_GROUP = int(OpClass.COMMIT_GROUP)
FENCE = int(OpClass.FENCE)
LOCAL_FENCE = int(OpClass.LOCAL_FENCE)
GMMA_WAIT = int(OpClass.GMMA_WAIT)
WAIT_GROUP = int(OpClass.WAIT_GROUP)
STALL_FETCH = int(Stall.FETCH)
STALL_SCOREBOARD = int(Stall.SCOREBOARD)
STALL_LONG = int(Stall.LONG_SCOREBOARD)
STALL_SHORT = int(Stall.SHORT_SCOREBOARD)
STALL_WAIT = int(Stall.WAIT)
STALL_UNIT = int(Stall.UNIT_BUSY)
STALL_OPERANDS = int(Stall.OPERANDS)
STALL_QUEUE = int(Stall.MEMORY_QUEUE)
STALL_BARRIER = int(Stall.BARRIER)
STALL_FENCE = int(Stall.FENCE)
STALL_GROUP = int(Stall.GROUP)
STALL_CONSTANT = int(Stall.IMC_MISS)
LOOK_INTERVAL = 16  # cycles between looks whether the front end lets a warp go on


@force_inline
def blocked(look, cycle, reason):
    """Note why a warp cannot issue, and return the cycle at which that may end."""
    look.reason = reason
    return cycle


@force_inline
def waits_for_operands(c, s, w, warp, instruction):
    """Cycle << 2 | producer until which registers or dependence barriers block the warp."""
    if c.kernels[warp.kernel].control:
        return barriers_clear(warp, instruction.wait_mask)
    return registers_ready(c, s, w, instruction)


@force_inline
def reason_of(producer, control):
    """The stall reason for an operand by its producer."""
    if producer == LONG:
        return STALL_LONG
    if producer == SHORT:
        return STALL_SHORT
    return STALL_WAIT if control else STALL_SCOREBOARD


@force_inline
def free_unit(c, s, b, unit, instances):
    """(row, index) of the unit's instance that is free first, and executes the least else."""
    first = c.unit_table[unit, 0]
    row = c.spec[0].subcores if c.unit_table[unit, 1] else b
    best = first
    for k in range(first + 1, first + instances):
        if c.units[s, row, k] <= c.units[s, row, best]:
            best = k
    return row, best


@force_inline
def resources(c, s, b, warp, look, instruction, now):
    """Cycle at which ports, unit and queue are free for the instruction; sets the reason."""
    at = operands.available(c, s, b)
    if at > now:
        return blocked(look, at, STALL_OPERANDS)
    if instruction.memory and warp.mask != 0:
        if not has_room(c, s, b):
            c.subcores[s, b].room_wanted = 1
            return blocked(look, NEVER, STALL_QUEUE)
    elif instruction.unit >= 0:
        row, k = free_unit(c, s, b, instruction.unit, instruction.instances)
        at = c.units[s, row, k] - instruction.slack
        if at > now:
            return blocked(look, at, STALL_UNIT)
    return now


@force_inline
def awaited(c, s, b, awaits, now):
    """(cycle, reason): when the ports and the unit are free that an instruction awaits.

    As ``resources`` says, of a warp for which nothing else is left to find out.
    """
    at = operands.available(c, s, b)
    if at > now:
        return at, STALL_OPERANDS
    unit = (awaits & ((1 << UNIT_BITS) - 1)) - 1
    instances = (awaits & ((1 << SLACK_PLACE) - 1)) >> UNIT_BITS
    row, k = free_unit(c, s, b, unit, instances)
    return c.units[s, row, k] - (awaits >> SLACK_PLACE), STALL_UNIT


@force_inline
def fence_begins(c, s, now):
    """Cycle at which a fence beyond the CTA begins: those of an SM follow each other."""
    sm = c.sms[s]
    begins = max(now, sm.fence_free)
    sm.fence_free = begins + c.spec[0].fence_interval
    return begins


@force_inline
def synchronises(c, s, w, warp, look, instruction, now):
    """Cycle until which a fence or a group wait holds the warp; sets the reason."""
    orders = releases.orders(instruction)
    if orders & AFTER_STORES:
        releases.begin(c, s, w)
    if instruction.op == FENCE or instruction.op == LOCAL_FENCE:
        if warp.fenced < 0:
            warp.fenced = fence_begins(c, s, now) if instruction.op == FENCE else now
        waits = instruction.op == FENCE or c.spec[0].local_fence_waits
        if waits and warp.outstanding > 0:
            return blocked(look, NEVER, STALL_FENCE)
        if waits and warp.accessed > now:  # it had another reason when the last one ended
            return blocked(look, warp.accessed, STALL_FENCE)
    if orders & WAITS:
        at = releases.waits_until(c, s, w, warp, orders, now)
        if at > now:
            return blocked(look, at, STALL_FENCE)
    if instruction.op == WAIT_GROUP:
        newest = min(max(instruction.immediate, 0), GROUPS - 1)
        at = groups_landed(warp, newest)
        if at > now:
            return blocked(look, at, STALL_GROUP)
    if instruction.op == GMMA_WAIT:
        at = warp.product if instruction.immediate == 0 else warp.products_before
        if at > now:
            return blocked(look, at, STALL_GROUP)
    if instruction.op == COMMIT_GROUP and warp.groups[(warp.group + 1) % GROUPS] > 0:
        return blocked(look, NEVER, STALL_GROUP)
    return now


@force_inline
def examine(c, s, b, w, now):
    """Cycle at which the warp may issue as far as is known: ``now`` means it can."""
    warp, look = c.warps[s, w], c.looks[s, w]
    kernel = c.kernels[warp.kernel]
    if warp.barrier >= 0:
        return blocked(look, NEVER, STALL_BARRIER)
    if warp.stall_until > now:
        return warp.stall_until
    if warp.left == 0:
        if not resume(c, s, w, now):  # an empty stream: let it end
            return now
        if warp.left == 0:
            return blocked(look, now + LOOK_INTERVAL, STALL_BARRIER)
    instruction = c.code[kernel.code + warp.static]
    if warp.cleared == 0:
        warp.op = instruction.op
        if instruction.line != warp.line:
            at = move_to_line(c, s, b, warp, instruction.line, now)
            if at > now:
                let_go_at(warp, at)
                return blocked(look, at, STALL_FETCH)
        operand = waits_for_operands(c, s, w, warp, instruction)
        if operand >> 2 > now:
            return blocked(look, operand >> 2, reason_of(operand & 3, kernel.control))
        reads = instruction.constant >= 0 or instruction.parameters == AT_ISSUE
        warp.cleared = UNREAD if reads else CLEARED
    at = resources(c, s, b, warp, look, instruction, now)
    if at > now:
        look.awaits = instruction.awaits
        return at
    return synchronises(c, s, w, warp, look, instruction, now)


@force_inline
def has_constant(c, s, b, w, now):
    """Whether the constant operand of the warp that is to issue is there, if it has one.

    If not, the warp waits for it, and for a while the sub-core with it. It is looked up once: two
    warps that throw out each other's lines could otherwise wait for ever.
    """
    warp = c.warps[s, w]
    if warp.cleared != UNREAD:
        return True
    warp.cleared = CLEARED
    kernel = c.kernels[warp.kernel]
    instruction = c.code[kernel.code + warp.static]
    at = now
    if instruction.constant >= 0:
        at = constant.operand(c, s, b, kernel, instruction.constant, now)
    if instruction.parameters == AT_ISSUE:
        at = max(at, c.parameters[s, warp.kernel])
    if at <= now:
        return True
    look = c.looks[s, w]
    let_go_at(warp, at)
    look.wake = at
    look.reason, look.awaits = STALL_CONSTANT, 0
    c.subcores[s, b].constant_until = min(at, now + c.spec[0].operand_hold)
    if c.spec[0].attributes:
        attribution.lacks_constant(c, s, b, w)
    return False
