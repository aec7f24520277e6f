"""DRAM timing: the earliest tick of every command, kept up to date instead of searched for.

``ready`` has a row of earliest ticks, one a command, for each bank, each bank group and each
channel. Issuing a command pushes three rows forward by the constraints of the standard; asking
when a command may come is the maximum of three numbers.
"""

import numpy as np

from lockstep._jit import inline
from lockstep.model.dram.standard import Command, Scope, Timing

ACT = int(Command.ACT)
PRE = int(Command.PRE)
RD = int(Command.RD)
WR = int(Command.WR)
REFAB = int(Command.REFab)
REFPB = int(Command.REFpb)
WIDTH = 8  # commands, rounded up so that LLVM uses whole vectors
_WINDOW = 4


def delays(timing: Timing) -> np.ndarray:
    """The constraints without a window as an array: scope, earlier command, later command."""
    table = np.zeros((len(Scope), len(Command), WIDTH), np.int64)
    for c in timing.constraints:
        if c.window == 1:
            here = table[c.scope, c.earlier]
            here[c.later] = max(here[c.later], c.clocks)
    return table


def activate_window(timing: Timing) -> int:
    """Clocks in which at most four activates happen; 0 if there is no limit."""
    return max((c.clocks for c in timing.constraints if c.window == _WINDOW), default=0)


@inline
def earliest(dram, channel, bank, command):
    """The earliest tick at which a command may be given to a bank of a channel."""
    spec = dram.spec[0]
    first = channel * spec.units
    tick = max(dram.ready[first + bank, command], dram.ready[first + spec.units - 1, command])
    return max(tick, dram.ready[dram.banks[channel * spec.banks + bank].group, command])


@inline
def earliest_refresh_all(dram, channel):
    """The earliest tick for a refresh of all banks, once all are closed."""
    return dram.ready[(channel + 1) * dram.spec[0].units - 1, REFAB]


@inline
def _push(ready, delay, tick):
    for command in range(WIDTH):
        ready[command] = max(ready[command], tick + delay[command])


@inline
def apply(dram, channel, bank, command, tick):
    """Note that a command is given to a bank (-1: to all banks)."""
    spec = dram.spec[0]
    last = (channel + 1) * spec.units - 1
    if bank >= 0:
        _push(dram.ready[channel * spec.units + bank], dram.delays[0, command], tick)
        group = dram.banks[channel * spec.banks + bank].group
        _push(dram.ready[group], dram.delays[1, command], tick)
    _push(dram.ready[last], dram.delays[2, command], tick)
    if command == ACT and spec.activate_window > 0:
        state = dram.channels[channel]
        state.activates[state.activated & 3] = tick
        state.activated += 1
        fourth = state.activates[state.activated & 3] + spec.activate_window
        dram.ready[last, ACT] = max(dram.ready[last, ACT], fourth)
    if spec.log > 0:
        _record(dram, channel, bank, command, tick)


@inline
def _record(dram, channel, bank, command, tick):
    state = dram.channels[channel]
    if state.logged < dram.spec[0].log:
        entry = dram.log[channel, state.logged]
        entry.tick = tick
        entry.command = command
        entry.bank = bank
        entry.row = dram.banks[channel * dram.spec[0].banks + max(bank, 0)].row
        state.logged += 1
