"""Issue of a compute unit: is a wavefront's next instruction eligible, and what it does."""

from lockstep._jit import force_inline, inline
from lockstep.isa.instruction import CachePolicy, OpClass
from lockstep.model.cache.l1_fill import invalidate
from lockstep.model.clock import NEVER
from lockstep.model.coherence import l1_invalidation
from lockstep.model.core import attribution
from lockstep.model.core.barrier import reach
from lockstep.model.core.cta import end_warp
from lockstep.model.core.done import note
from lockstep.model.core.fetch import empty_buffer
from lockstep.model.core.kinds import (
    BRANCH_UNIT,
    LGKM_COUNT,
    LOCAL_DATA_SHARE,
    NO_COUNT,
    SCALAR_UNIT,
    VECTOR_ALU,
    VECTOR_MEMORY,
)
from lockstep.model.core.state import CLEARED, DONE_WARP
from lockstep.model.core.stream import execute_block, move_on, next_address, next_run, resume
from lockstep.model.core.warp import hold, let_go_at
from lockstep.model.counters import Stall
from lockstep.model.cu import lds, scalar_cache, vector_memory, waits
from lockstep.model.cu.fetch import fetch, fetch_ahead

BARRIER = int(OpClass.BARRIER)
CACHE_CONTROL = int(OpClass.CACHE_CONTROL)
SCALAR_LOAD = int(OpClass.SCALAR_LOAD)
SLEEP = int(OpClass.SLEEP)
WAIT_COUNT = int(OpClass.WAIT_COUNT)
INVALIDATE = int(CachePolicy.INVALIDATE)
STALL_BARRIER = int(Stall.BARRIER)
STALL_FETCH = int(Stall.FETCH)
STALL_LONG = int(Stall.LONG_SCOREBOARD)
STALL_QUEUE = int(Stall.MEMORY_QUEUE)
STALL_SHORT = int(Stall.SHORT_SCOREBOARD)
STALL_SLEEP = int(Stall.SLEEP)
STALL_UNIT = int(Stall.UNIT_BUSY)
STALL_WAIT = int(Stall.WAIT)
LOOK_INTERVAL = 16  # cycles between looks whether the front end lets a wavefront go on


@inline
def begin(warp):
    """A wavefront starts, and has issued nothing."""
    warp.cleared = 0
    warp.issued = 0
    warp.last_issue = -1


@force_inline
def blocked(look, cycle, reason):
    """Note why a wavefront cannot issue, and return the cycle at which that may end."""
    look.reason = reason
    return cycle


@force_inline
def waits_for(c, s, w, look, instruction, now):
    """Cycle until which wait counters hold the wavefront; sets the reason."""
    state = c.waits[s, w]
    if instruction.op == WAIT_COUNT:
        at, last = waits.satisfied(state, instruction.immediate, c.spec[0].waitcnt_zero)
        if at > now:
            return blocked(look, at, STALL_SHORT if last == LGKM_COUNT else STALL_LONG)
    if instruction.write_barrier != NO_COUNT and c.warps[s, w].mask != 0:
        at = waits.room(state, instruction.write_barrier)
        if instruction.read_barrier != NO_COUNT:
            at = max(at, waits.room(state, instruction.read_barrier))
        if at > now:
            return blocked(look, at, STALL_QUEUE)
    return now


@force_inline
def resources(c, s, b, warp, look, instruction, now):
    """Cycle at which the instruction's unit takes it; sets the reason."""
    kind = instruction.kind
    if kind == VECTOR_ALU and instruction.unit >= 0:
        at = c.units[s, b, c.unit_table[instruction.unit, 0]]
        if at > now:
            return blocked(look, at, STALL_UNIT)
    elif kind == LOCAL_DATA_SHARE and lds.free_at(c, s) > now:
        return blocked(look, lds.free_at(c, s), STALL_UNIT)
    elif kind == VECTOR_MEMORY and warp.mask != 0 and not vector_memory.takes(c, s, b):
        c.subcores[s, b].room_wanted = 1
        return blocked(look, NEVER, STALL_QUEUE)
    elif instruction.op == SCALAR_LOAD and not scalar_cache.takes(c, s):
        c.cus[s].entry_wanted = 1
        return blocked(look, NEVER, STALL_QUEUE)
    return now


@force_inline
def examine(c, s, b, w, now):
    """Cycle at which the wavefront may issue as far as is known: ``now`` means it can."""
    warp, look = c.warps[s, w], c.looks[s, w]
    if warp.barrier >= 0:
        return blocked(look, NEVER, STALL_BARRIER)
    if warp.stall_until > now:
        return warp.stall_until
    if warp.left == 0:
        if not resume(c, s, w, now):  # an empty stream: let it end
            return now
        if warp.left == 0:
            return blocked(look, now + LOOK_INTERVAL, STALL_BARRIER)
    instruction = c.code[c.kernels[warp.kernel].code + warp.static]
    if warp.cleared == 0:
        warp.op = instruction.op
        if instruction.line != warp.line:
            at = fetch(c, s, b, warp, instruction, now)
            if at > now:
                if at < NEVER:
                    let_go_at(warp, at)
                return blocked(look, at, STALL_FETCH)
        warp.cleared = CLEARED
    at = waits_for(c, s, w, look, instruction, now)
    if at > now:
        return at
    return resources(c, s, b, warp, look, instruction, now)


@force_inline
def kind_of(c, s, w):
    """The unit that takes the wavefront's next instruction; the scalar unit lets it end."""
    warp = c.warps[s, w]
    if warp.left == 0:
        return SCALAR_UNIT
    return int(c.code[c.kernels[warp.kernel].code + warp.static].kind)


@force_inline
def on_scalars(c, s, w, warp, instruction, now):
    """Start an instruction of the scalar unit."""
    let_go_at(warp, now + instruction.latency)
    if instruction.op != SCALAR_LOAD or instruction.width == 0 or warp.mask == 0:
        return
    record = c.addresses[c.ctas[s, warp.cta].addresses + warp.address]
    next_address(warp)
    scalar_cache.load(c, s, c.waits[s, w], record.first, instruction.width, now)


@force_inline
def execute(c, s, b, w, warp, instruction, now):
    """Start the instruction on its unit."""
    kind = instruction.kind
    c.looks[s, w].reason = STALL_WAIT
    if kind == VECTOR_ALU:
        if instruction.unit >= 0:
            c.units[s, b, c.unit_table[instruction.unit, 0]] = now + instruction.interval
        let_go_at(warp, now + instruction.latency)
    elif kind == SCALAR_UNIT:
        on_scalars(c, s, w, warp, instruction, now)
    elif kind == BRANCH_UNIT:
        let_go_at(warp, now + c.spec[0].branch_latency)
    elif warp.mask == 0 or instruction.width == 0:
        return
    elif kind == LOCAL_DATA_SHARE:
        waits.rise(c.waits[s, w], LGKM_COUNT, lds.access(c, s, warp, instruction, now))
    else:
        vector_memory.issue(c, s, b, w, instruction, now)


@force_inline
def after(c, s, w, warp, instruction, now):
    """What an instruction does to its wavefront besides computing."""
    op = instruction.op
    if op == BARRIER:
        c.looks[s, w].reason = STALL_BARRIER
        reach(c, s, w, instruction.immediate, instruction.arrivals, True, now)
    elif op == SLEEP:
        hold(warp, now + instruction.immediate)
        c.looks[s, w].reason = STALL_SLEEP
    elif op == CACHE_CONTROL and instruction.cache & INVALIDATE:
        if c.coherent.spec[0].on:
            l1_invalidation.invalidate(c, s, c.counters[s], now)
        else:
            invalidate(c.l1, s, c.counters[s])


@force_inline
def advance(c, s, w, warp, instruction, now):
    """Move the wavefront to its next instruction; false if its stream has ended."""
    move_on(warp)
    if warp.left < 0:  # nothing was issued
        return False
    if warp.left == 0:
        if not next_run(c, s, w, now):
            return False
        if warp.left == 0:  # where it goes on is not known yet
            return True
    step = c.code[c.kernels[warp.kernel].code + warp.static].pc - instruction.pc
    if step <= 0 or step > instruction.span:  # a taken branch empties the instruction buffer
        empty_buffer(warp)
    return True


@force_inline
def count(c, s, w, warp, instruction, now):
    """Count an issued instruction: lanes of vector instructions, one of each other."""
    counters = c.counters[s]
    kind = instruction.kind
    counters.warp_instructions += 1
    vector = kind != SCALAR_UNIT and kind != BRANCH_UNIT
    counters.thread_instructions += warp.lanes
    counters.operations += warp.lanes if vector else 1
    counters.issued[instruction.op] += 1
    warp.issued += 1
    if c.spec[0].attributes:
        attribution.issue(c, s, w, warp, warp.lanes, now)


@force_inline
def issue(c, s, b, w, now):
    """Issue the wavefront's next instruction; false if that was its last."""
    warp = c.warps[s, w]
    if warp.left < 0:
        execute_block(c, s, w, now)
    instruction = c.code[c.kernels[warp.kernel].code + warp.static]
    warp.cleared = 0
    look = c.looks[s, w]
    if warp.left > 0:
        count(c, s, w, warp, instruction, now)
        warp.last_issue = now
        execute(c, s, b, w, warp, instruction, now)
        after(c, s, w, warp, instruction, now)
        if instruction.ahead >= 0 and instruction.ahead != warp.ahead:
            fetch_ahead(c, s, b, warp, instruction.ahead, now)
        look.wake = NEVER if warp.barrier >= 0 else now + 1
    if not advance(c, s, w, warp, instruction, now):
        end_warp(c, s, w, now)
        note(c, s, DONE_WARP, warp.cta, now + 1)
        return False
    if warp.barrier < 0 and warp.stall_until > now + 1:
        look.wake = warp.stall_until
    return True
