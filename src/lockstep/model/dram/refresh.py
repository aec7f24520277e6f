"""Refresh: every bank in turn, or all banks at once.

When a refresh is due, the banks it covers take no new work, are closed, then refreshed. An idle
channel is not woken for it: what fell due meanwhile is carried out, at the ticks at which it
would have been, when the next request comes.
"""

from lockstep._jit import inline, jit
from lockstep.model.clock import NEVER
from lockstep.model.dram import queue
from lockstep.model.dram.state import CLOSED
from lockstep.model.dram.timing import (
    PRE,
    REFAB,
    REFPB,
    apply,
    earliest,
    earliest_refresh_all,
)


@inline
def _covered(dram, channel):
    """First bank and number of banks that the next refresh covers."""
    spec = dram.spec[0]
    if spec.refresh_banks == 1:
        return 0, spec.banks
    return dram.channels[channel].refresh_bank, 1


@inline
def _block(dram, channel, blocked):
    first, count = _covered(dram, channel)
    for bank in range(first, first + count):
        dram.banks[channel * dram.spec[0].banks + bank].blocked = blocked


@inline
def begin(dram, channel):
    """Keep the banks that a due refresh covers from new work."""
    dram.channels[channel].refreshing = 1
    _block(dram, channel, 1)


@jit
def advance(dram, channel, tick):
    """Close one covered bank, or refresh; returns ``(issued, tick to look again)``."""
    first, count = _covered(dram, channel)
    again = NEVER
    is_open = False
    for bank in range(first, first + count):
        if dram.banks[channel * dram.spec[0].banks + bank].row == CLOSED:
            continue
        is_open = True
        at = earliest(dram, channel, bank, PRE)
        if at <= tick:
            apply(dram, channel, bank, PRE, tick)
            queue.row_closed(dram, channel, bank)
            dram.counters[channel].dram_precharges += 1
            return 1, tick + 1
        again = min(again, at)
    if is_open:
        return 0, again
    if dram.spec[0].refresh_banks == 1:
        at = earliest_refresh_all(dram, channel)
    else:
        at = earliest(dram, channel, first, REFPB)
    if at > tick:
        return 0, at
    _refresh(dram, channel, first, tick)
    return 1, tick + 1


@inline
def _refresh(dram, channel, bank, tick):
    """Give the refresh command and set when the next is due."""
    spec = dram.spec[0]
    state = dram.channels[channel]
    if spec.refresh_banks == 1:
        apply(dram, channel, -1, REFAB, tick)
    else:
        apply(dram, channel, bank, REFPB, tick)
    _block(dram, channel, 0)
    state.refreshing = 0
    state.refresh_bank = (state.refresh_bank + 1) % spec.banks
    state.refresh_due = max(state.refresh_due + spec.refresh_interval, tick + spec.refresh_gap)
    dram.counters[channel].dram_refreshes += 1


@jit
def catch_up(dram, channel, tick):
    """Carry out what fell due while the channel was idle, as far as it is over by now.

    Refreshes that later ones of the same banks hide are only counted.
    """
    spec = dram.spec[0]
    state = dram.channels[channel]
    step = max(spec.refresh_interval, spec.refresh_gap)
    over = (tick - spec.refresh_clocks - state.refresh_due) // step + 1
    hidden = max(0, over - spec.refresh_banks)
    state.refresh_due += hidden * step
    state.refresh_bank = (state.refresh_bank + hidden) % spec.banks
    dram.counters[channel].dram_refreshes += hidden
    while state.refresh_due <= tick - spec.refresh_clocks:
        now = state.refresh_due
        begin(dram, channel)
        while state.refreshing:
            now = max(now, advance(dram, channel, now)[1])
