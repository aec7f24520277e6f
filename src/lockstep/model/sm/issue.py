"""Issue: is a warp's next instruction eligible, and what happens when it issues."""

from lockstep._jit import force_inline, inline
from lockstep.isa.instruction import LONGEST_SLEEP, CachePolicy, OpClass, Space
from lockstep.model.cache.l1_fill import invalidate
from lockstep.model.clock import NEVER
from lockstep.model.core import attribution, cluster, constant, releases
from lockstep.model.core.barrier import named_by, reach
from lockstep.model.core.bulk import is_tile
from lockstep.model.core.cta import end_warp
from lockstep.model.core.done import note, writes_only
from lockstep.model.core.fetch import empty_buffer, fetch_ahead, move_to_line
from lockstep.model.core.memory_pipeline import enqueue, has_room
from lockstep.model.core.objects import wait_for
from lockstep.model.core.release_state import AFTER_STORES, FORGETS, HOLDS, WAITS
from lockstep.model.core.state import (
    AT_ISSUE,
    CLEARED,
    DONE_WARP,
    FIXED,
    GROUPS,
    LATE,
    LONG,
    SHORT,
    SLACK_PLACE,
    UNIT_BITS,
    UNREAD,
)
from lockstep.model.core.stream import (
    execute_block,
    move_on,
    next_address,
    next_run,
    resume,
    taken_word,
)
from lockstep.model.core.warp import close_group, groups_landed, hold, let_go_at
from lockstep.model.counters import Stall
from lockstep.model.sm import operands, write_ports
from lockstep.model.sm.dependence import (
    barriers_clear,
    raise_barriers,
    registers_ready,
    set_result,
)

ARRIVE = int(OpClass.ARRIVE)
CLUSTER_ARRIVE = int(OpClass.CLUSTER_ARRIVE)
CLUSTER_WAIT = int(OpClass.CLUSTER_WAIT)
BARRIER = int(OpClass.BARRIER)
SYNCHRONISING = (BARRIER, ARRIVE, CLUSTER_ARRIVE, CLUSTER_WAIT)
CACHE_CONTROL = int(OpClass.CACHE_CONTROL)
COMMIT_GROUP = int(OpClass.COMMIT_GROUP)
CONSTANT = int(Space.CONSTANT)
FENCE = int(OpClass.FENCE)
LOCAL_FENCE = int(OpClass.LOCAL_FENCE)
GMMA = int(OpClass.GMMA)
GMMA_ARRIVE = int(OpClass.GMMA_ARRIVE)
GMMA_WAIT = int(OpClass.GMMA_WAIT)
OBJECT_WAIT = int(OpClass.OBJECT_WAIT)
INVALIDATE = int(CachePolicy.INVALIDATE)
SHARED = int(Space.SHARED)
SLEEP = int(OpClass.SLEEP)
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
STALL_SLEEP = int(Stall.SLEEP)
STALL_CONSTANT = int(Stall.IMC_MISS)
KILOHERTZ_NS = 1_000_000  # what kilohertz times nanoseconds are of a cycle
LOOK_INTERVAL = 16  # cycles between looks whether the front end lets a warp go on


@inline
def begin(warp):
    """A warp starts, and has issued nothing."""
    warp.cleared = 0
    warp.fenced = -1
    warp.product = warp.products_before = 0
    warp.issued = 0
    warp.last_issue = -1


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


@force_inline
def begin_access(c, s, w, warp, instruction, ready_at):
    """A memory instruction is on its way, and reads its operands at ``ready_at``."""
    set_result(c, s, w, instruction, NEVER, SHORT if instruction.space == SHARED else LONG)
    written = ready_at if writes_only(instruction.op) else NEVER
    raise_barriers(warp, instruction, written, ready_at)


@force_inline
def execute(c, s, b, w, warp, instruction, now):
    """Start the instruction on its unit and set when its result is there."""
    delay = operands.read(c, s, b, w, instruction, now)
    if instruction.memory and warp.mask != 0:
        access = enqueue(c, s, b, w, instruction, now + delay)
        begin_access(c, s, w, warp, instruction, access.ready_at)
        return
    begins = now
    if instruction.unit >= 0:
        row, k = free_unit(c, s, b, instruction.unit, instruction.instances)
        begins = max(now, c.units[s, row, k])
        c.units[s, row, k] = begins + instruction.interval
    done = begins + instruction.latency + delay
    if instruction.memory == 0 and instruction.width > 0 and warp.mask != 0:
        cta = c.ctas[s, warp.cta]
        record = c.addresses[cta.addresses + warp.address]
        if c.kernels[warp.kernel].ring == 0:  # in a ring its place is free again
            next_address(warp)
        if instruction.space == CONSTANT:  # a load with a known address
            done = constant.load(c, s, record.first, now)
        elif instruction.op == OBJECT_WAIT:
            wait_for(c, s, warp, record.first)
    if instruction.parameters == LATE:
        done = max(done, c.parameters[s, warp.kernel] + instruction.latency)
    if instruction.op == GMMA:
        warp.product = done
    result = instruction.result if warp.mask != 0 else FIXED
    if result != FIXED:
        done += instruction.more_writes
    set_result(c, s, w, instruction, done, result)
    raise_barriers(warp, instruction, done, now + 1)
    if instruction.writes != 0 and warp.mask != 0:
        if result == FIXED:
            write_ports.write(c, s, b, instruction.writes, done, now)
        else:
            owner = write_ports.owner_of(c, s, w, warp.static, result)
            write_ports.expect(c, s, b, owner, instruction, done)


@force_inline
def sleep(c, s, warp, instruction):
    """Cycles that a warp sleeps; of a time in a register, which has been taken as an address."""
    if instruction.width == 0:
        return instruction.immediate
    nanoseconds = min(taken_word(c, s, warp), LONGEST_SLEEP)
    return -(-nanoseconds * instruction.immediate // KILOHERTZ_NS)


@inline
def order(c, s, w, warp, instruction):
    """An instruction that orders others is issued: an acquire holds its warp, or the L1 forgets."""
    orders = releases.orders(instruction)
    releases.end(c, s, w)
    if warp.mask != 0 and orders & HOLDS:
        hold(warp, NEVER)
    elif warp.mask != 0 and orders & FORGETS:
        invalidate(c.l1, s, c.counters[s])


@force_inline
def after(c, s, w, warp, instruction, now):
    """What an instruction does to its warp besides computing; may set when it goes on."""
    if instruction.stall > 0:
        let_go_at(warp, now + instruction.stall)
    look = c.looks[s, w]
    look.reason = STALL_WAIT
    op = instruction.op
    if releases.orders(instruction):
        order(c, s, w, warp, instruction)
    if warp.mask == 0 and op in SYNCHRONISING:
        return  # its predicate keeps all lanes from it
    if op == BARRIER or op == ARRIVE:
        look.reason = STALL_BARRIER if op == BARRIER else STALL_WAIT
        barrier, arrivals = instruction.immediate, instruction.arrivals
        if instruction.width > 0:  # registers hold them, which have been taken as an address
            barrier, arrivals = named_by(c, taken_word(c, s, warp))
        reach(c, s, w, barrier, arrivals, op == BARRIER, now)
    elif op == CLUSTER_ARRIVE:
        cluster.arrive(c, s, w, now)
    elif op == CLUSTER_WAIT:
        look.reason = STALL_BARRIER
        cluster.wait(c, s, w)
    elif op == FENCE or op == LOCAL_FENCE:
        spec = c.spec[0]
        let_go_at(warp, now + spec.fence_latency)
        if op == FENCE:
            hold(warp, warp.fenced + instruction.immediate)
        warp.fenced = -1
        look.reason = STALL_FENCE
    elif op == COMMIT_GROUP:
        close_group(warp)
    elif op == GMMA_ARRIVE:
        warp.products_before = warp.product
    elif op == OBJECT_WAIT and warp.barrier >= 0:
        look.reason = STALL_BARRIER
    elif op == SLEEP and warp.mask != 0:
        spec = c.spec[0]
        cycles = sleep(c, s, warp, instruction) + spec.sleep_overhead
        hold(warp, now + max(cycles, spec.shortest_sleep))
        look.reason = STALL_SLEEP
    elif op == CACHE_CONTROL and instruction.cache & INVALIDATE and warp.mask != 0:
        invalidate(c.l1, s, c.counters[s])


@force_inline
def advance(c, s, w, warp, instruction, now):
    """Move the warp to its next instruction; false if its stream has ended."""
    move_on(warp)
    lanes = warp.mask
    if warp.left < 0:  # nothing was issued
        return False
    if warp.left == 0:
        if not next_run(c, s, w, now):
            return False
        if warp.left == 0:  # where it goes on is not known yet
            return True
    # By pc: a trace may number instructions in the order in which it met them, and join what a
    # branch connects to one run.
    step = c.code[c.kernels[warp.kernel].code + warp.static].pc - instruction.pc
    if step <= 0 or step > instruction.span:  # a taken branch empties the instruction buffer
        empty_buffer(warp)
        if instruction.branch:
            hold(warp, now + 1 + instruction.redirect)
            c.looks[s, w].reason = STALL_FETCH
    if warp.mask != lanes and instruction.branch:  # paths part or meet
        hold(warp, now + 1 + c.spec[0].divergence)
        c.looks[s, w].reason = STALL_FETCH
    return True


@force_inline
def count(c, s, w, warp, instruction, now):
    """Count an instruction that is issued."""
    counters = c.counters[s]
    lanes = 1 if is_tile(instruction.op) else warp.lanes
    counters.warp_instructions += 1
    counters.thread_instructions += lanes
    if c.spec[0].attributes:
        attribution.issue(c, s, w, warp, lanes, now)
    counters.issued[instruction.op] += 1
    warp.issued += 1


@force_inline
def issue(c, s, b, w, now):
    """Issue the warp's next instruction at ``now``; it was examined and found eligible."""
    warp = c.warps[s, w]
    if warp.left < 0:
        execute_block(c, s, w, now)
    instruction = c.code[c.kernels[warp.kernel].code + warp.static]
    warp.cleared = 0
    c.looks[s, w].awaits = 0
    if warp.left > 0:
        count(c, s, w, warp, instruction, now)
        c.subcores[s, b].last = -1 if instruction.yields else w
        c.subcores[s, b].turn = w
        warp.last_issue = now
        execute(c, s, b, w, warp, instruction, now)
        after(c, s, w, warp, instruction, now)
        if instruction.ahead >= 0 and instruction.ahead != warp.ahead:
            fetch_ahead(c, s, b, warp, instruction.ahead, now + 1)
        c.looks[s, w].wake = NEVER if warp.barrier >= 0 else now + 1
    if not advance(c, s, w, warp, instruction, now):
        end_warp(c, s, w, now)
        note(c, s, DONE_WARP, warp.cta, now + 1)
    elif warp.barrier < 0 and warp.stall_until > now + 1:
        c.looks[s, w].wake = warp.stall_until
