"""Issue: what happens when a warp issues its next instruction, which was found eligible."""

from lockstep._jit import force_inline, inline
from lockstep.isa.instruction import LONGEST_SLEEP, CachePolicy, OpClass, Space
from lockstep.model.cache.l1_fill import invalidate
from lockstep.model.clock import NEVER
from lockstep.model.core import attribution, cluster, constant, releases
from lockstep.model.core.barrier import named_by, reach
from lockstep.model.core.bulk import is_tile
from lockstep.model.core.cta import end_warp
from lockstep.model.core.done import note, writes_only
from lockstep.model.core.fetch import empty_buffer, fetch_ahead
from lockstep.model.core.memory_queue import enqueue
from lockstep.model.core.objects import wait_for
from lockstep.model.core.release_state import FORGETS, HOLDS
from lockstep.model.core.state import DONE_WARP, FIXED, LATE, LONG, SHORT
from lockstep.model.core.stream import execute_block, move_on, next_address, next_run, taken_word
from lockstep.model.core.warp import close_group, hold, let_go_at
from lockstep.model.counters import Stall
from lockstep.model.sm import operands, write_ports
from lockstep.model.sm.dependence import raise_barriers, set_result
from lockstep.model.sm.eligibility import free_unit

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
OBJECT_WAIT = int(OpClass.OBJECT_WAIT)
INVALIDATE = int(CachePolicy.INVALIDATE)
SHARED = int(Space.SHARED)
SLEEP = int(OpClass.SLEEP)
STALL_FETCH = int(Stall.FETCH)
STALL_WAIT = int(Stall.WAIT)
STALL_BARRIER = int(Stall.BARRIER)
STALL_FENCE = int(Stall.FENCE)
STALL_SLEEP = int(Stall.SLEEP)
KILOHERTZ_NS = 1_000_000  # what kilohertz times nanoseconds are of a cycle


@inline
def begin(warp):
    """A warp starts, and has issued nothing."""
    warp.cleared = 0
    warp.fenced = -1
    warp.product = warp.products_before = 0
    warp.issued = 0
    warp.last_issue = -1


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
        operands.begin_product(c, s, b, instruction, begins)
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
