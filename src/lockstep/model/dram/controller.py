"""A memory controller: takes requests of the L2, gives commands to one channel, hands back data.

A channel is looked at only in ticks in which something may happen: ``next`` of its record. Reads
go first; writes are posted, and take over when their queue is full enough or no read waits.
"""

import numpy as np

from lockstep._jit import inline, jit
from lockstep.gpus.spec import GPU
from lockstep.model import clock as clocks
from lockstep.model.clock import NEVER
from lockstep.model.dram import address_map, queue, refresh, standard, timing
from lockstep.model.dram.scheduler import choose, command_for
from lockstep.model.dram.state import (
    BANK,
    CHANNEL,
    CLOSED,
    COMMAND,
    CONFLICT,
    FCFS,
    HIT,
    LANE,
    MISS,
    NONE,
    PORT,
    READ,
    REQUEST,
    RETURN,
    SCHEDULERS,
    SLOT,
    SPEC,
    WRITE,
    Channels,
)
from lockstep.model.dram.timing import ACT, PRE, RD, apply, earliest

_LONG_AGO = -(1 << 40)


def burst_sectors(gpu: GPU) -> int:
    """Sectors that one request reads or writes: those of one burst, one at least."""
    burst = gpu.dram.bus_bytes * gpu.dram.burst_length
    lines = gpu.l2.line_bytes // gpu.l2.sector_bytes
    return min(lines, max(1, burst // gpu.l2.sector_bytes))


def idle_latency(gpu: GPU) -> int:
    """Core cycles from a read's arrival at an idle channel to its data, the bank being closed."""
    p = standard.resolve(gpu.dram).parameters
    core = clocks.ratio(gpu.clock_mhz, gpu.dram.clock_mhz)
    bursts = _bursts(gpu)
    between = max(p["nCCD"], p["nBL"], p["nCCDL"] if gpu.dram.bank_groups > 1 else 0)
    ticks = 1 + p["nRCD"] + p["nCL"] + p["nBL"] + (bursts - 1) * between
    return -(-ticks * core[0] // core[1])


def _bursts(gpu: GPU) -> int:
    burst = gpu.dram.bus_bytes * gpu.dram.burst_length
    return -(-burst_sectors(gpu) * gpu.l2.sector_bytes // burst)


def build(gpu: GPU, return_cycles: int, counters: np.ndarray, user: bool, log: int) -> Channels:
    """Idle channels. ``user``: a user's scheduler is asked; ``log``: commands logged a channel."""
    dram = gpu.dram
    times = standard.resolve(dram)
    channels, banks, units = dram.channels, dram.banks, dram.banks + dram.bank_groups + 1
    slots = dram.read_queue + dram.write_queue
    slices = gpu.l2.slices_per_channel
    spec = _spec(gpu, times, return_cycles, "user" if user else dram.scheduler, log)
    clock = np.zeros(1, clocks.CLOCK).view(np.recarray)
    clock[0] = clocks.ratio(dram.clock_mhz, gpu.clock_mhz)
    view = max(dram.read_queue, dram.write_queue) if user else 1
    return Channels(
        spec,
        clock,
        _channels(channels, slots, spec[0]),
        _banks(channels, banks, units, dram.bank_groups),
        _lanes(channels * 2 * banks),
        _slots(channels, slots),
        np.zeros((channels * units, timing.WIDTH), np.int64),
        timing.delays(times),
        np.zeros((channels * slices, gpu.l2.mshr_entries), RETURN).view(np.recarray),
        np.zeros(channels * slices, PORT).view(np.recarray),
        np.zeros(channels * view, REQUEST).view(np.recarray),
        np.zeros((channels, max(1, log)), COMMAND).view(np.recarray),
        counters,
    )


def _spec(gpu: GPU, times: standard.Timing, return_cycles: int, scheduler: str, log: int):
    dram, p = gpu.dram, times.parameters
    spec = np.zeros(1, SPEC).view(np.recarray)
    s = spec[0]
    s.banks, s.units = dram.banks, dram.banks + dram.bank_groups + 1
    s.slices, s.slots = gpu.l2.slices_per_channel, dram.read_queue + dram.write_queue
    s.capacity = (dram.read_queue, dram.write_queue)
    s.high = max(1, int(np.ceil(dram.drain_high * dram.write_queue)))
    s.low = min(int(dram.drain_low * dram.write_queue), s.high - 1)
    s.bursts, s.burst_clocks = _bursts(gpu), p["nBL"]
    s.burst_bytes = dram.bus_bytes * dram.burst_length
    s.data_clocks, s.return_cycles = p["nCL"] + p["nBL"], return_cycles
    s.scheduler = SCHEDULERS[scheduler]
    s.closed_page, s.dual_bus = dram.page == "closed", dram.dual_command_bus
    s.activate_window = timing.activate_window(times)
    s.returns, s.log = gpu.l2.mshr_entries, log
    s.group_digit, s.row_lines, s.bank_digit, s.bank_hash = address_map.digits(
        dram, gpu.l2.line_bytes
    )
    _set_refresh(s, dram, times)
    return spec


def _set_refresh(s, dram, times: standard.Timing) -> None:
    """Refresh intervals; the gap leaves time for work however often refreshes are due."""
    p = times.parameters
    s.refresh_banks = dram.banks if times.refresh_per_bank else 1
    work = 4 * (p["nRC"] + p["nRP"] + p["nRCD"] + p["nCL"] + p["nWR"] + p["nBL"])
    refresh_clocks = p["nRFCpb"] if times.refresh_per_bank else p["nRFC"]
    s.refresh_gap = -(-(refresh_clocks + work) // s.refresh_banks)
    s.refresh_clocks = refresh_clocks + work + dram.banks + max(c.clocks for c in times.constraints)
    if dram.refresh and p["nREFI"] > 0:
        s.refresh_interval = max(1, p["nREFI"] // s.refresh_banks)


def _channels(count: int, slots: int, spec) -> np.recarray:
    channels = np.zeros(count, CHANNEL).view(np.recarray)
    channels["next"] = NEVER
    channels["oldest"] = channels["newest"] = NONE
    channels["free"] = np.arange(count) * slots
    channels["direction"] = -1
    channels["activates"] = _LONG_AGO
    channels["refresh_due"] = spec.refresh_interval or NEVER
    return channels


def _banks(channels: int, banks: int, units: int, groups: int) -> np.recarray:
    records = np.zeros((channels, banks), BANK)
    records["row"] = CLOSED
    records["mark"] = -1
    group = banks + np.arange(banks) % groups
    records["group"] = np.arange(channels)[:, None] * units + group
    return records.reshape(-1).view(np.recarray)


def _lanes(count: int) -> np.recarray:
    lanes = np.zeros(count, LANE).view(np.recarray)
    lanes["head"] = lanes["tail"] = lanes["hit"] = NONE
    return lanes


def _slots(channels: int, slots: int) -> np.recarray:
    records = np.zeros((channels, slots), SLOT)
    records["next"] = np.arange(1, channels * slots + 1).reshape(channels, slots)
    records["next"][:, -1] = NONE
    return records.reshape(-1).view(np.recarray)


@inline
def has_room(dram, channel, write):
    """Whether a queue of a channel takes another request."""
    return dram.channels[channel].waiting[write] < dram.spec[0].capacity[write]


@jit
def enqueue(dram, channel, write, line, cycle):
    """Queue a request for a line of the channel; returns its slot, to be told where the data goes.

    It counts from the next core cycle on.
    """
    spec = dram.spec[0]
    state = dram.channels[channel]
    tick = clocks.ticks(dram.clock[0], cycle)
    queue.count_lengths(dram, channel, tick)
    if state.waiting[READ] + state.waiting[WRITE] == 0 and not state.refreshing:
        if state.refresh_due <= tick - spec.refresh_clocks:
            refresh.catch_up(dram, channel, tick)
        state.next = min(state.next, max(tick + 1, state.refresh_due))
    bank, row = address_map.locate(spec, line)
    index = queue.push(dram, channel, write, bank, row)
    dram.slots[index].bursts = spec.bursts
    at = _lane_earliest(dram, channel, write, bank)
    if spec.scheduler >= FCFS or _direction(spec, state) != state.draining:
        at = tick + 1
    state.next = min(state.next, max(tick + 1, at))
    return index


@inline
def _lane_earliest(dram, channel, write, bank):
    """When the candidate of a lane may go on; never if the lane is empty."""
    lane = dram.lanes[queue.lane_of(dram, channel, write, bank)]
    if lane.count == 0:
        return NEVER
    index = lane.hit if lane.hit != NONE else lane.head
    command = command_for(dram, channel, dram.slots[index])
    return earliest(dram, channel, bank, command)


@inline
def _direction(spec, state):
    """Whose turn it is now: READ or WRITE."""
    reads, writes = state.waiting[READ], state.waiting[WRITE]
    if writes >= spec.high or (reads == 0 and writes > 0):
        return WRITE
    if state.draining and writes > spec.low:
        return WRITE
    return READ


@inline
def run(dram, pick, channel, cycle):
    """Let a channel do what it can in the ticks up to a core cycle."""
    state = dram.channels[channel]
    last = clocks.ticks(dram.clock[0], cycle)
    while state.next <= last:
        _step(dram, pick, channel, state.next)


@jit
def _step(dram, pick, channel, tick):
    """One tick: at most one row command and one column command."""
    spec = dram.spec[0]
    state = dram.channels[channel]
    row_bus = True
    again = NEVER
    if spec.refresh_interval > 0 and (state.refreshing or tick >= state.refresh_due):
        if not state.refreshing:
            refresh.begin(dram, channel)
        issued, again = refresh.advance(dram, channel, tick)
        row_bus = issued == 0
    write = _direction(spec, state)
    state.draining = write
    column, row, look = choose(dram, pick, channel, write, tick)
    again = min(again, look)
    if column != NONE and (row_bus or spec.dual_bus):
        again = min(again, _column(dram, channel, column, tick))
        row_bus = row_bus and spec.dual_bus
    elif column != NONE:
        again = tick + 1
    if row != NONE:
        again = min(again, _row(dram, channel, row, tick) if row_bus else tick + 1)
    elif spec.closed_page:
        again = min(again, _close_idle(dram, channel, row_bus, tick))
    _set_next(dram, channel, write, again)


@inline
def _set_next(dram, channel, write, again):
    spec = dram.spec[0]
    state = dram.channels[channel]
    tick = state.next
    if _direction(spec, state) != write:
        again = tick + 1
    if state.waiting[READ] + state.waiting[WRITE] > 0 and not state.refreshing:
        again = min(again, max(state.refresh_due, tick + 1))
    state.next = max(again, tick + 1) if again < NEVER else NEVER


@inline
def _column(dram, channel, index, tick):
    """Read or write one burst; returns when the bank's lane may go on."""
    spec = dram.spec[0]
    state = dram.channels[channel]
    counters = dram.counters[channel]
    slot = dram.slots[index]
    bank, write = slot.bank, slot.write
    apply(dram, channel, bank, RD + write, tick)
    counters.dram_bus_busy += spec.burst_clocks
    counters.dram_row_hits += slot.found == HIT
    counters.dram_row_misses += slot.found == MISS
    counters.dram_row_conflicts += slot.found == CONFLICT
    counters.dram_turnarounds += state.direction == 1 - write
    state.direction = write
    if write:
        counters.dram_writes += 1
        counters.dram_write_bytes += spec.burst_bytes
    else:
        counters.dram_reads += 1
        counters.dram_read_bytes += spec.burst_bytes
    slot.found = HIT
    slot.bursts -= 1
    if slot.bursts == 0:
        if not write:
            _return(dram, slot, tick)
        queue.count_lengths(dram, channel, tick)
        queue.remove(dram, channel, index)
    return _lane_earliest(dram, channel, write, bank)


@inline
def _return(dram, slot, tick):
    """Send the data of a read on its way to the slice that asked."""
    spec = dram.spec[0]
    port = dram.ports[slot.slice]
    place = port.head + port.count
    if place >= spec.returns:
        place -= spec.returns
    data = dram.returns[slot.slice, place]
    port.count += 1
    data.ready = clocks.cycle_of(dram.clock[0], tick + spec.data_clocks) + spec.return_cycles
    data.tag_row = slot.tag_row
    data.way = slot.way
    data.sectors = slot.sectors


@inline
def _row(dram, channel, index, tick):
    """Open the row of a request, or close the row that is in its way."""
    slot = dram.slots[index]
    bank = slot.bank
    command = command_for(dram, channel, slot)
    if command >= RD or earliest(dram, channel, bank, command) > tick:
        return tick + 1  # the column command of this tick changed the bank
    apply(dram, channel, bank, command, tick)
    if command == ACT:
        slot.found = max(slot.found, MISS)
        queue.row_opened(dram, channel, bank, slot.row)
        dram.counters[channel].dram_activates += 1
    else:
        slot.found = CONFLICT
        queue.row_closed(dram, channel, bank)
        dram.counters[channel].dram_precharges += 1
    return _lane_earliest(dram, channel, slot.write, bank)


@jit
def _close_idle(dram, channel, row_bus, tick):
    """Closed page: close one row that no request waits for; returns when to look again."""
    again = NEVER
    first = channel * dram.spec[0].banks
    for bank in range(dram.spec[0].banks):
        read = dram.lanes[queue.lane_of(dram, channel, READ, bank)]
        write = dram.lanes[queue.lane_of(dram, channel, WRITE, bank)]
        if dram.banks[first + bank].row == CLOSED or read.hit != NONE or write.hit != NONE:
            continue
        at = earliest(dram, channel, bank, PRE)
        if at <= tick and row_bus:
            apply(dram, channel, bank, PRE, tick)
            queue.row_closed(dram, channel, bank)
            dram.counters[channel].dram_precharges += 1
            return tick + 1
        again = min(again, max(at, tick + 1))
    return again
