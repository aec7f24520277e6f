"""A memory controller: takes requests of the L2, gives commands to one channel, hands back data.

A channel is looked at only in ticks in which something may happen: ``next`` of its record. Reads
go first; writes are posted, and take over when their queue is full enough or, with
``idle_writes``, when no read waits. Data of a read travels in the request's slot, in a list of the
slice that asked.
"""

from lockstep._jit import force_inline, jit
from lockstep.model import clock as clocks
from lockstep.model.clock import NEVER
from lockstep.model.dram import address_map, queue, refresh
from lockstep.model.dram.scheduler import asked, command_for, first_ready
from lockstep.model.dram.state import (
    CLOSED,
    CONFLICT,
    FIXED,
    FRFCFS,
    HIT,
    MISS,
    NONE,
    READ,
    WRITE,
)
from lockstep.model.dram.timing import (
    ACT,
    PRE,
    RD,
    apply,
    earliest,
    limit_activates,
)


@force_inline
def has_room(dram, channel, write):
    """Whether a queue of a channel takes another request."""
    return dram.channels[channel].waiting[write] < dram.spec[0].capacity[write]


@jit
def enqueue(dram, channel, write, place, cycle):
    """Queue a request for a place in the channel; returns its slot, to be told where data goes.

    It counts from the next core cycle on.
    """
    spec = dram.spec[0]
    state = dram.channels[channel]
    tick = clocks.ticks(spec.clock, cycle)
    queue.count_lengths(state, dram.counters[channel], tick)
    if state.waiting[READ] + state.waiting[WRITE] == 0 and not state.refreshing:
        if state.refresh_due <= tick:
            refresh.catch_up(dram, channel, tick)
        state.next = min(state.next, max(tick + 1, state.refresh_due))
    bank = address_map.bank_of(place)
    index = queue.push(dram, channel, bank, write, address_map.row_of(place))
    dram.slots[index].bursts = spec.bursts
    at = max(tick + 1, dram.at[2 * channel + write, bank])
    if spec.scheduler != FRFCFS or _direction(spec, state) != state.draining:
        at = tick + 1
    state.next = min(state.next, at)
    return index


@force_inline
def _direction(spec, state):
    """Whose turn it is now: READ or WRITE."""
    reads, writes = state.waiting[READ], state.waiting[WRITE]
    if writes >= spec.high or (spec.idle_writes and reads == 0 and writes > 0):
        return WRITE
    if state.draining and writes > spec.low:
        return WRITE
    return READ


@force_inline
def run(dram, pick, channel, until):
    """Let a channel do what it can before a core cycle, or until it has a word for the L2.

    Returns the next core cycle at which the channel has something to do, or had: a column command
    ends the run, because it frees a queue entry and may bring data.
    """
    clock = dram.spec[0].clock
    state = dram.channels[channel]
    last = clocks.ticks(clock, until - 1)
    while state.next <= last:
        tick = state.next
        step(dram, pick, channel, tick)
        if state.freed[READ] or state.freed[WRITE]:
            return clocks.cycle_of(clock, tick)
    return clocks.cycle_of(clock, state.next)


@jit
def step(dram, pick, channel, tick):
    """One tick: at most one row command and one column command."""
    spec = dram.spec[0]
    state = dram.channels[channel]
    if spec.scheduler == FIXED:
        _serve_all(dram, channel, tick)
        return
    row_bus = True
    again = NEVER
    if state.refreshing or tick >= state.refresh_due:
        issued, again = refresh.advance(dram, channel, tick)
        row_bus = issued == 0
    write = _direction(spec, state)
    state.draining = write
    if spec.scheduler == FRFCFS:
        column, row, look = first_ready(dram, channel, write, tick)
    else:
        column, row, look = asked(dram, pick, channel, write, tick)
    again = min(again, look)
    if column != NONE:
        column_bus = row_bus or spec.dual_bus
        again = min(again, _column(dram, channel, column, tick) if column_bus else tick + 1)
        row_bus = row_bus and spec.dual_bus
    if row != NONE:
        again = min(again, _row(dram, channel, row, tick) if row_bus else tick + 1)
    elif spec.closed_page:
        again = min(again, _close_idle(dram, channel, row_bus, tick))
    _set_next(spec, state, write, tick, again)


@jit
def _serve_all(dram, channel, tick):
    """Serve all requests that wait, with nothing in their way."""
    state = dram.channels[channel]
    counters = dram.counters[channel]
    queue.count_lengths(state, counters, tick)
    for write in range(2):
        index = state.oldest[write]
        while index != NONE:
            slot = dram.slots[index]
            newer = slot.newer
            unit = dram.units[channel * dram.spec[0].units + slot.bank]
            queue.remove(dram.slots, state, unit, index)
            for _ in range(slot.bursts):
                _count_column(dram.spec[0], counters, HIT, write)
            if write:
                queue.release(dram.slots, state, index)
            else:
                _return(dram, slot, index, tick)
            index = newer
    state.next = NEVER


@force_inline
def _set_next(spec, state, write, tick, again):
    if _direction(spec, state) != write:
        again = tick + 1
    if state.waiting[READ] + state.waiting[WRITE] > 0 and not state.refreshing:
        again = min(again, state.refresh_due)
    state.next = max(again, tick + 1)


@force_inline
def _column(dram, channel, index, tick):
    """Read or write one burst; returns when the bank's lane may go on."""
    spec = dram.spec[0]
    state = dram.channels[channel]
    counters = dram.counters[channel]
    slot = dram.slots[index]
    bank, write = slot.bank, slot.write
    unit = dram.units[channel * spec.units + bank]
    apply(dram, channel, bank, RD + write, tick)
    unit.columns += 1
    state.turn = bank + 1 if bank + 1 < spec.banks else 0
    _count_column(spec, counters, slot.found, write)
    counters.dram_turnarounds += state.direction == 1 - write
    state.direction = write
    slot.found = HIT
    slot.bursts -= 1
    if slot.bursts == 0:
        queue.count_lengths(state, counters, tick)
        queue.remove(dram.slots, state, unit, index)
        if write:
            queue.release(dram.slots, state, index)
        else:
            _return(dram, slot, index, tick)
    queue.limit_row(dram, unit)
    queue.update(dram, channel, bank)
    return _goes_on(dram, channel, bank, write)


@force_inline
def _goes_on(dram, channel, bank, write):
    """When the lane of a bank may go on; never if it is empty."""
    first = channel * dram.spec[0].units
    unit = dram.units[first + bank]
    if dram.at[2 * channel + write, bank] == NEVER:
        return NEVER
    last = first + dram.spec[0].units - 1
    return earliest(dram.units, first + bank, last, queue.command_of(unit, write))


@force_inline
def _count_column(spec, counters, found, write):
    counters.dram_bus_busy += spec.burst_clocks
    counters.dram_row_hits += found == HIT
    counters.dram_row_misses += found == MISS
    counters.dram_row_conflicts += found == CONFLICT
    if write:
        counters.dram_writes += 1
        counters.dram_write_bytes += spec.burst_bytes
    else:
        counters.dram_reads += 1
        counters.dram_read_bytes += spec.burst_bytes


@force_inline
def _return(dram, slot, index, tick):
    """Send the data of a read on its way to the slice that asked."""
    spec = dram.spec[0]
    to = dram.slices[slot.slice]
    slot.ready = clocks.cycle_of(spec.clock, tick + spec.data_clocks) + spec.return_cycles
    if slot.far:
        slot.ready += spec.far_cycles
    queue.hand_over(dram.slots, to, index)


@force_inline
def _row(dram, channel, index, tick):
    """Open the row of a request, or close the row in its way; returns when the lane may go on."""
    spec = dram.spec[0]
    slot = dram.slots[index]
    bank, write = slot.bank, slot.write
    first = channel * spec.units
    unit = dram.units[first + bank]
    command = command_for(unit, slot)
    if command >= RD or earliest(dram.units, first + bank, first + spec.units - 1, command) > tick:
        return tick + 1  # the column command of this tick changed the bank
    apply(dram, channel, bank, command, tick)
    if command == ACT:
        limit_activates(dram, channel, tick)
        slot.found = max(slot.found, MISS)
        queue.set_row(dram, channel, bank, slot.row)
        dram.counters[channel].dram_activates += 1
    else:
        slot.found = CONFLICT
        queue.set_row(dram, channel, bank, CLOSED)
        dram.counters[channel].dram_precharges += 1
    return _goes_on(dram, channel, bank, write)


@jit
def _close_idle(dram, channel, row_bus, tick):
    """Closed page: close one row that no request waits for; returns when to look again."""
    spec = dram.spec[0]
    again = NEVER
    first = channel * spec.units
    for bank in range(spec.banks):
        unit = dram.units[first + bank]
        if unit.row == CLOSED or unit.hit[READ] != NONE or unit.hit[WRITE] != NONE:
            continue
        at = earliest(dram.units, first + bank, first + spec.units - 1, PRE)
        if at <= tick and row_bus:
            apply(dram, channel, bank, PRE, tick)
            queue.set_row(dram, channel, bank, CLOSED)
            dram.counters[channel].dram_precharges += 1
            return tick + 1
        again = min(again, max(at, tick + 1))
    return again
