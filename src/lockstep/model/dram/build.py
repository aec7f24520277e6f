"""From a GPU specification to idle DRAM channels."""

import math

import numpy as np

from lockstep._jit import Records
from lockstep.gpus.spec import GPU
from lockstep.model import clock as clocks
from lockstep.model.dram import address_map, standard, timing
from lockstep.model.dram.state import (
    CHANNEL,
    CLOSED,
    COMMAND,
    NONE,
    REQUEST,
    SCHEDULERS,
    SLOT,
    SPEC,
    UNIT,
    Channels,
)
from lockstep.model.records import full, records

_LONG_AGO = -(1 << 40)


def burst_sectors(gpu: GPU) -> int:
    """Sectors that one request reads or writes: those of one burst, one at least."""
    burst = gpu.dram.bus_bytes * gpu.dram.burst_length
    lines = gpu.l2.line_bytes // gpu.l2.sector_bytes
    return min(lines, max(1, burst // gpu.l2.sector_bytes))


def bursts(gpu: GPU) -> int:
    """Bursts that one request takes."""
    burst = gpu.dram.bus_bytes * gpu.dram.burst_length
    return -(-burst_sectors(gpu) * gpu.l2.sector_bytes // burst)


def idle_latency(gpu: GPU) -> int:
    """Core cycles from a read's arrival at an idle channel to its data, the bank being closed."""
    if gpu.dram.scheduler == "fixed":
        return 1
    p = standard.resolve(gpu.dram).parameters
    between = max(p["nCCD"], p["nBL"], p["nCCDL"] if gpu.dram.bank_groups > 1 else 0)
    ticks = 1 + p["nRCD"] + p["nCL"] + p["nBL"] + (bursts(gpu) - 1) * between
    core, dram = clocks.ratio(gpu.clock_mhz, gpu.dram.clock_mhz)
    return -(-ticks * core // dram)


def build(
    gpu: GPU,
    slices: Records,
    counters: Records,
    return_cycles: int,
    user: bool,
    log: int,
    ahead: bool = False,
) -> Channels:
    """Idle channels with closed rows.

    ``slices``: the L2's SLICE records; ``return_cycles``: core cycles that data takes from the
    bus to a slice; ``user``: a user's scheduler is asked; ``log``: commands logged a channel;
    ``ahead``: slices prefetch.
    """
    dram = gpu.dram
    times = standard.resolve(dram)
    spec = records(1, SPEC)
    spec["clock"] = clocks.ratio(dram.clock_mhz, gpu.clock_mhz)
    spec["map"] = address_map.digits(dram, gpu.l2.line_bytes)
    _set_queues(spec[0], gpu, return_cycles)
    _set_timing(spec[0], dram, times)
    spec[0].scheduler = SCHEDULERS["user" if user else dram.scheduler]
    spec[0].shown = max(dram.read_queue, dram.write_queue) if user else 1
    spec[0].log = log
    # a slot is taken from a request's entry into the queue until its data is
    slots = dram.read_queue + dram.write_queue
    slots += gpu.l2.slices_per_channel * gpu.l2.mshr_entries * (2 if ahead else 1)
    return Channels(
        spec,
        _channels(dram.channels, slots, spec[0]),
        _units(dram.channels, dram.banks, dram.bank_groups),
        full((dram.channels * 2, dram.banks), clocks.NEVER),
        records(dram.channels * slots, SLOT),
        slices,
        records(dram.channels * spec[0].shown, REQUEST),
        records((dram.channels, max(1, log)), COMMAND),
        counters,
    )


def _set_queues(s, gpu: GPU, return_cycles: int) -> None:
    dram = gpu.dram
    s.banks, s.units = dram.banks, dram.banks + dram.bank_groups + 1
    s.capacity = (dram.read_queue, dram.write_queue)
    s.high = max(1, math.ceil(dram.drain_high * dram.write_queue))
    s.low = min(int(dram.drain_low * dram.write_queue), s.high - 1)
    s.idle_writes = dram.idle_writes
    s.bursts, s.burst_bytes = bursts(gpu), dram.bus_bytes * dram.burst_length
    s.return_cycles = return_cycles
    s.far_cycles = gpu.l2.far_fill_latency or gpu.l2.far_latency
    s.closed_page, s.dual_bus = dram.page == "closed", dram.dual_command_bus
    s.row_accesses = dram.row_accesses if dram.scheduler in ("frfcfs", "bank_round_robin") else 0


def _set_timing(s, dram, times: standard.DramTiming) -> None:
    """Delays and refresh; the gap leaves time for work however often refreshes are due."""
    p = times.parameters
    s.delays = timing.delays(times)
    s.burst_clocks, s.data_clocks = p["nBL"], p["nCL"] + p["nBL"]
    if dram.scheduler == "fixed":
        s.data_clocks = 0
    s.activate_window = timing.activate_window(times)
    s.refresh_banks = dram.banks if times.refresh_per_bank else 1
    work = 4 * (p["nRC"] + p["nRP"] + p["nRCD"] + p["nCL"] + p["nWR"] + p["nBL"])
    refresh = p["nRFCpb"] if times.refresh_per_bank else p["nRFC"]
    s.refresh_gap = -(-(refresh + work) // s.refresh_banks)
    s.refresh_clocks = refresh + work + dram.banks + max(c.clocks for c in times.constraints)
    if dram.refresh and p["nREFI"] > 0 and dram.scheduler != "fixed":
        s.refresh_interval = max(1, p["nREFI"] // s.refresh_banks)


def _channels(count: int, slots: int, spec) -> Records:
    channels = records(count, CHANNEL)
    channels["next"] = clocks.NEVER
    channels["oldest"] = channels["newest"] = NONE
    channels["free"] = np.arange(count) * slots
    channels["direction"] = -1
    channels["activates"] = _LONG_AGO
    channels["refresh_due"] = spec.refresh_interval or clocks.NEVER
    return channels


def _units(channels: int, banks: int, groups: int) -> Records:
    count = banks + groups + 1
    units = records((channels, count), UNIT)
    units["row"] = CLOSED
    units["mark"] = -1
    for field in ("head", "tail", "hit"):
        units[field] = NONE
    group = banks + np.arange(banks) % groups
    units["group"][:, :banks] = np.arange(channels)[:, None] * count + group
    return units.reshape(-1)
