"""The access queue of a compute unit: requests of lanes become accesses, and those get a port.

An instruction's requests, one a lane and line, enter in ``vmu.phases``, a subwavefront a cycle.
*Coalescing* joins those of one instruction to one line before they enter, when all its addresses
are there. *Merging* joins a request to an access that is there (``request_join.py``).

``vmu.ports`` accesses go through the L1 in a cycle, the oldest first. ``vmu.order = line`` holds
none back. By ``multi2sim`` loads and stores wait for all older stores, and loads for older accesses
of their line, until those have left the L1: as long after their port as a hit takes, or when what
they wait for has come. With a directory (NMOESI) only coherent stores hold all others back, and
wait for all others; other stores wait for older accesses of their line, as loads do.
"""

from lockstep._jit import inline, popcount
from lockstep.model import free_list
from lockstep.model.cache import mshr_file
from lockstep.model.clock import NEVER
from lockstep.model.coherence import lines
from lockstep.model.core import attribution, coalescer, memory_pipeline
from lockstep.model.core.coalescer import MOST_WORDS
from lockstep.model.core.done import instruction_of
from lockstep.model.core.memory_pipeline import TEXTURE, request_of
from lockstep.model.cu.coherent_l1 import BYPASS, present
from lockstep.model.cu.request_join import mate
from lockstep.model.link import KIND_ATOMIC, KIND_READ, KIND_REDUCTION, KIND_WRITE
from lockstep.workload.streams import NOWHERE


@inline
def find_older(c, s, place):
    """Note the newest access of the same line that is older than a load, if there is one."""
    n = place.previous
    while n >= 0 and c.vmu.places[s, n].line != place.line:
        n = c.vmu.places[s, n].previous
    place.after = n
    place.after_serial = c.vmu.places[s, n].serial if n >= 0 else 0


@inline
def is_barrier(c, place):
    """Whether all that is behind an access waits for it: a store, or a coherent one."""
    spec = c.vmu.spec[0]
    if spec.waits == 0 or place.kind == KIND_READ:
        return False
    return spec.directory == 0 or place.kind != KIND_WRITE or place.policy & BYPASS != 0


@inline
def follows_line(c, place):
    """Whether an access waits for older ones of its line."""
    spec = c.vmu.spec[0]
    if spec.waits == 0:
        return False
    return place.kind == KIND_READ or (spec.directory == 1 and not is_barrier(c, place))


@inline
def append(c, s, request, transaction):
    """A request becomes an access of its own."""
    state = c.vmu.state[s]
    n = state.free_access
    place = c.vmu.places[s, n]
    state.free_access = free_list.after(place.next, n)
    state.accesses += 1
    state.queued += 1
    state.serial += 1
    place.serial = state.serial
    place.line, place.sectors, place.full = transaction.line, transaction.sectors, transaction.full
    for k in range(8):
        place.cover[k] = transaction.cover[k]
    place.kind, place.policy, place.local = request.kind, request.policy, request.local
    place.has_port = 0
    place.began, place.joined = state.number, -1
    place.waiter = -1
    place.next, place.previous = -1, state.last
    if state.last >= 0:
        c.vmu.places[s, state.last].next = n
    else:
        state.first = n
    state.last = n
    place.after_serial = 0
    if follows_line(c, place):
        find_older(c, s, place)
    return n


@inline
def remove(c, s, n):
    """An access has left."""
    state = c.vmu.state[s]
    place = c.vmu.places[s, n]
    if place.previous >= 0:
        c.vmu.places[s, place.previous].next = place.next
    else:
        state.first = place.next
    if place.next >= 0:
        c.vmu.places[s, place.next].previous = place.previous
    else:
        state.last = place.previous
    place.serial = 0
    place.next = free_list.link_to(state.free_access)
    state.free_access = n
    state.accesses -= 1


@inline
def wait_for_port(c, s, n, a):
    """An instruction waits for an access to get a port."""
    state = c.vmu.state[s]
    place = c.vmu.places[s, n]
    place.joined = state.number
    k = state.free_waiter
    waiter = c.vmu.waiters[s, k]
    state.free_waiter = free_list.after(waiter.next, k)
    state.waiters += 1
    waiter.access, waiter.next = a, place.waiter
    place.waiter = k
    memory_pipeline.comes(c, s, c.accesses[s, a], 1, 0, 0)


@inline
def drop_waiter(c, s, n):
    """The first instruction that waited for an access does so no more."""
    state = c.vmu.state[s]
    place = c.vmu.places[s, n]
    k = place.waiter
    place.waiter = c.vmu.waiters[s, k].next
    c.vmu.waiters[s, k].next = free_list.link_to(state.free_waiter)
    state.free_waiter = k
    state.waiters -= 1


@inline
def part_ends(c, s, a):
    """A part of an instruction waits no more: its entering, or an access for its port."""
    texture = instruction_of(c, s, c.accesses[s, a]).op == TEXTURE
    memory_pipeline.part_ends(c, s, a, 0, c.spec[0].texture_cycles if texture else 0)


@inline
def join(c, s, n, request, transaction, now):
    """Try to let a request of the entering instruction join an access; whether it did."""
    state = c.vmu.state[s]
    place = c.vmu.places[s, n]
    if place.joined != state.number:
        a = c.sms[s].current
        if not place.has_port:
            wait_for_port(c, s, n, a)
        elif present(c, s, c.accesses[s, a], request, transaction, now) < 0:
            return False  # its line's MSHR entry is full
        place.joined = state.number
    if not place.has_port:
        place.sectors |= transaction.sectors
        place.full = max(place.full, transaction.full)
        for k in range(8):
            place.cover[k] |= transaction.cover[k]
    return True


@inline
def count(counters, kind, alone, across):
    """Count a request by what became of it."""
    if kind == KIND_READ:
        counters.vmu_load_requests += 1
        counters.vmu_load_accesses += alone
        counters.vmu_load_merged += across
    else:
        counters.vmu_store_requests += 1
        counters.vmu_store_accesses += alone
        counters.vmu_store_merged += across
    counters.transactions += alone


@inline
def put(c, s, request, transaction, now):
    """A request of the entering instruction joins an access, or becomes one."""
    state = c.vmu.state[s]
    n = mate(c, s, request, transaction.line)
    if n >= 0 and join(c, s, n, request, transaction, now):
        across = c.vmu.places[s, n].began != state.number
        count(c.counters[s], request.kind, 0, across)
        return
    n = append(c, s, request, transaction)
    wait_for_port(c, s, n, c.sms[s].current)
    count(c.counters[s], request.kind, 1, 0)
    if c.spec[0].attributes:
        attribution.transaction(c, s, c.accesses[s, c.sms[s].current])


@inline
def put_lanes(c, s, first, last, now):
    """The requests of lanes first..last-1 of the entering instruction."""
    a = c.sms[s].current
    access = c.accesses[s, a]
    instruction = instruction_of(c, s, access)
    request = request_of(c, s, a, access, instruction)
    cta = c.ctas[s, c.warps[s, access.warp].cta]
    record = c.addresses[cta.addresses + access.address]
    atomic = request.kind == KIND_ATOMIC or request.kind == KIND_REDUCTION
    k = popcount(access.mask & ((1 << first) - 1))
    for lane in range(first, last):
        if not (access.mask >> lane) & 1:
            continue
        address = coalescer.lane_address(c, record, cta.pool, k)
        k += 1
        if address == NOWHERE:
            continue
        lines = coalescer.add_range(c, s, 0, address, address + max(1, instruction.width))
        if request.kind == KIND_READ and c.spec[0].whole_lines:
            coalescer.whole_lines(c, s, lines)
        for j in range(lines):
            transaction = c.transactions[s, j]
            if atomic:
                together = c.vmu.spec[0].coalesces
                word = coalescer.same_word(c, record, cta.pool, k - 1) if together else 1
                transaction.full = word
            put(c, s, request, transaction, now)


@inline
def enter(c, s, now):
    """The next phase of the instruction that enters, if there is room for all its requests."""
    spec, state, sm = c.vmu.spec[0], c.vmu.state[s], c.sms[s]
    lanes = c.spec[0].warp_size // spec.phases
    first, last = sm.position * lanes, (sm.position + 1) * lanes
    if spec.coalesces:
        first = 0
    if not spec.coalesces or last == c.spec[0].warp_size:
        most = MOST_WORDS * (last - first)
        if max(state.accesses, state.waiters) + most > spec.room:
            return
        put_lanes(c, s, first, last, now)
    state.moved = 1
    memory_pipeline.advance(c, s)
    if sm.position == spec.phases:
        access = c.accesses[s, sm.current]
        if access.remaining == 1 and access.latest == 0:  # of no lane
            memory_pipeline.has_nothing(access, now)
        part_ends(c, s, memory_pipeline.leave_stage(c, s))


@inline
def may_go(c, s, place):
    """Whether no older access holds an access back."""
    if c.vmu.spec[0].directory and is_barrier(c, place):
        return place.previous < 0
    while place.after_serial != 0:
        if c.vmu.places[s, place.after].serial == place.after_serial:
            return False
        find_older(c, s, place)
    return True


@inline
def look_up(c, s, n, now):
    """Bring an access to the L1; negative if it must come again, as ``memory_pipeline.present``."""
    place = c.vmu.places[s, n]
    transaction = c.transactions[s, 0]
    transaction.line, transaction.sectors, transaction.full = place.line, place.sectors, place.full
    for k in range(8):
        transaction.cover[k] = place.cover[k]
    if place.kind == KIND_WRITE:
        transaction.full = 0
        coalescer.finish(c, s, 1)
    gone = False
    while place.waiter >= 0:
        a = c.vmu.waiters[s, place.waiter].access
        if not gone or place.kind == KIND_READ:  # what is written leaves once for all
            access = c.accesses[s, a]
            request = request_of(c, s, a, access, instruction_of(c, s, access))
            came = present(c, s, access, request, transaction, now)
            if came < 0:
                return came
            gone = True
        drop_waiter(c, s, n)
        part_ends(c, s, a)
    return 0


@inline
def get_port(c, s, n, now):
    """An access has gone through a port."""
    place = c.vmu.places[s, n]
    c.vmu.state[s].queued -= 1
    if c.vmu.spec[0].follows:
        place.has_port = 1
        place.until = now + c.l1.spec[0].hit_cycles
    else:
        remove(c, s, n)


@inline
def serve(c, s, now):
    """Give the ports to the oldest accesses that may go."""
    spec, state = c.vmu.spec[0], c.vmu.state[s]
    free = spec.ports
    n = state.first
    while n >= 0 and free > 0 and state.queued > 0:
        place = c.vmu.places[s, n]
        behind, holds = place.next, is_barrier(c, place)
        if not place.has_port and may_go(c, s, place):
            came = look_up(c, s, n, now)
            if came < 0:
                memory_pipeline.blocked(c, s, came, now)
                return
            memory_pipeline.unblocked(c, s, now)
            get_port(c, s, n, now)
            state.moved = 1
            free -= 1
        if holds:
            return
        n = behind


@inline
def none_behind(c, place):
    """Whether no access behind one can have a port."""
    if c.vmu.spec[0].waits:
        return is_barrier(c, place)
    return not place.has_port


@inline
def has_left(c, s, place, now):
    """Whether an access that had its port is in the L1 no more."""
    if not place.has_port or place.until > now:
        return False
    if c.coherent.spec[0].on:
        return lines.find(c, s, place.line) < 0
    return place.kind != KIND_READ or mshr_file.find(c.l1, s, place.line) < 0


@inline
def retire(c, s, now):
    """Forget the accesses that have left the L1."""
    n = c.vmu.state[s].first
    while n >= 0:
        place = c.vmu.places[s, n]
        behind = -1 if none_behind(c, place) else place.next
        if has_left(c, s, place, now):
            remove(c, s, n)
            c.vmu.state[s].moved = 1
        n = behind


@inline
def begin(c, s, a):
    """The requests of an instruction enter from now on."""
    memory_pipeline.enter_stage(c, s, a)
    c.vmu.state[s].number += 1
    memory_pipeline.count_request(c, s, c.accesses[s, a], 0)


@inline
def tick(c, s, now):
    """One cycle of the queue and the arbiter, back to front."""
    state, sm = c.vmu.state[s], c.sms[s]
    state.moved = 0
    if c.vmu.spec[0].follows:
        retire(c, s, now)
    serve(c, s, now)
    if sm.current < 0 and sm.accept_free <= now:
        a = memory_pipeline.take(c, s, now)
        if a >= 0:
            begin(c, s, a)
    if sm.current >= 0:
        enter(c, s, now)


@inline
def next_leaving(c, s, now):
    """Cycle after ``now`` at which an access leaves the L1 by itself, or NEVER."""
    at = NEVER
    n = c.vmu.state[s].first
    while n >= 0:
        place = c.vmu.places[s, n]
        if place.has_port and place.until > now:
            at = min(at, place.until)
        n = -1 if none_behind(c, place) else place.next
    return at


@inline
def next_event(c, s, now):
    """Cycle after ``now`` at which the queue or the arbiter can move by itself.

    What waits for data or for room in the L1 looks again when the ports of the CU have moved.
    """
    state, sm = c.vmu.state[s], c.sms[s]
    at = NEVER
    if state.queued > 0 or sm.current >= 0:
        at = now + 1 if state.moved else next_leaving(c, s, now)
    if sm.current < 0:
        at = min(at, memory_pipeline.next_accept(c, s, now))
    return at
