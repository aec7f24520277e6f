"""Refresh: every bank in turn, or all banks at once.

When a refresh is due, the banks it covers take no new work, are closed, then refreshed. An idle
channel is not woken for it: what fell due meanwhile is carried out, at the ticks at which it
would have been, when the next request comes.
"""

import numpy as np

from lockstep._jit import inline, jit
from lockstep.model.clock import NEVER
from lockstep.model.dram import queue
from lockstep.model.dram.state import CLOSED
from lockstep.model.dram.timing import (
    PRE,
    REFAB,
    REFPB,
    apply,
    apply_to_all,
    earliest,
)

BLOCKED = np.int64(1)  # NumPy integers: see state.py
FREE = np.int64(0)


@inline
def _block(dram, channel, blocked):
    """Keep the banks that the next refresh covers from new work, or let them go on."""
    spec = dram.spec[0]
    dram.channels[channel].refreshing = blocked
    first, count = _covered(dram, channel)
    for bank in range(first, first + count):
        dram.units[channel * spec.units + bank].blocked = blocked
        queue.update(dram, channel, bank)


@inline
def _covered(dram, channel):
    """First bank and number of banks that the next refresh covers."""
    spec = dram.spec[0]
    if spec.refresh_banks == 1:
        return 0, spec.banks
    return dram.channels[channel].refresh_bank, 1


@jit
def advance(dram, channel, tick):
    """Work on the refresh that is due: close a bank, or refresh.

    Returns ``(1 if a command was given, tick to look again)``.
    """
    state = dram.channels[channel]
    if not state.refreshing:
        _block(dram, channel, BLOCKED)
    spec = dram.spec[0]
    first_unit = channel * spec.units
    last = first_unit + spec.units - 1
    first, count = _covered(dram, channel)
    again = NEVER
    for bank in range(first, first + count):
        if dram.units[first_unit + bank].row == CLOSED:
            continue
        at = earliest(dram.units, first_unit + bank, last, PRE)
        if at <= tick:
            apply(dram, channel, bank, PRE, tick)
            queue.set_row(dram, channel, bank, CLOSED)
            dram.counters[channel].dram_precharges += 1
            return 1, tick + 1
        again = min(again, at)
    if again < NEVER:
        return 0, again
    if spec.refresh_banks == 1:
        at = dram.units[last].ready[REFAB]
    else:
        at = earliest(dram.units, first_unit + first, last, REFPB)
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
        apply_to_all(dram, channel, REFAB, tick)
    else:
        apply(dram, channel, bank, REFPB, tick)
    _block(dram, channel, FREE)
    state.refresh_bank = (state.refresh_bank + 1) % spec.banks
    state.refresh_due = max(state.refresh_due + spec.refresh_interval, tick + spec.refresh_gap)
    dram.counters[channel].dram_refreshes += 1


@jit
def catch_up(dram, channel, tick):
    """Carry out what fell due while the channel was idle, at the ticks at which it would have been.

    One that is not over by ``tick`` is left under way. Refreshes that later ones of the same banks
    hide are only counted.
    """
    spec = dram.spec[0]
    state = dram.channels[channel]
    step = max(spec.refresh_interval, spec.refresh_gap)
    over = (tick - spec.refresh_clocks - state.refresh_due) // step + 1
    hidden = max(0, over - spec.refresh_banks)
    state.refresh_due += hidden * step
    state.refresh_bank = (state.refresh_bank + hidden) % spec.banks
    dram.counters[channel].dram_refreshes += hidden
    now = state.refresh_due
    while now <= tick:
        _, again = advance(dram, channel, now)
        now = again if state.refreshing else max(again, state.refresh_due)
