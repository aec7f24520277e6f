"""DRAM timing: the earliest tick of every command, kept up to date instead of searched for.

Each bank, bank group and channel has its own earliest ticks. Giving a command pushes three of
them forward by the constraints of the standard; asking when a command may come is the maximum of
three numbers.
"""

import numpy as np

from lockstep._jit import force_inline
from lockstep.model.dram.standard import Command, DramTiming, Scope
from lockstep.model.dram.state import COMMANDS, NONE, SCOPES, WIDTH

# NumPy integers: see state.py
ACT = np.int64(Command.ACT)
PRE = np.int64(Command.PRE)
RD = np.int64(Command.RD)
WR = np.int64(Command.WR)
REFAB = np.int64(Command.REFab)
REFPB = np.int64(Command.REFpb)
_BANK = int(Scope.BANK)
_GROUP = int(Scope.GROUP)
_CHANNEL = int(Scope.CHANNEL)
_WINDOW = 4


def delays(timing: DramTiming) -> np.ndarray:
    """The constraints without a window as an array: scope, earlier command, later command."""
    table = np.zeros((SCOPES, COMMANDS, WIDTH), np.int64)
    for c in timing.constraints:
        if c.window == 1:
            here = table[c.scope, c.earlier]
            here[c.later] = max(here[c.later], c.clocks)
    return table


def activate_window(timing: DramTiming) -> int:
    """Clocks in which at most four activates happen; 0 if there is no limit."""
    return max((c.clocks for c in timing.constraints if c.window == _WINDOW), default=0)


@force_inline
def earliest(units, bank, channel, command):
    """The earliest tick of a command to a bank; ``bank`` and ``channel`` are unit numbers."""
    unit = units[bank]
    tick = max(unit.ready[command], units[channel].ready[command])
    return max(tick, units[unit.group].ready[command])


@force_inline
def _push(ready, delay, tick):
    for command in range(WIDTH):
        ready[command] = max(ready[command], tick + delay[command])


@force_inline
def apply(dram, channel, bank, command, tick):
    """Note that a command is given to a bank of a channel."""
    spec = dram.spec[0]
    units = dram.units
    unit = channel * spec.units + bank
    _push(units[unit].ready, spec.delays[_BANK, command], tick)
    _push(units[units[unit].group].ready, spec.delays[_GROUP, command], tick)
    last = (channel + 1) * spec.units - 1
    _push(units[last].ready, spec.delays[_CHANNEL, command], tick)
    if spec.log > 0:
        record(dram, channel, bank, command, tick)


@force_inline
def apply_to_all(dram, channel, command, tick):
    """Note that a command is given to all banks of a channel."""
    spec = dram.spec[0]
    last = (channel + 1) * spec.units - 1
    _push(dram.units[last].ready, spec.delays[_CHANNEL, command], tick)
    if spec.log > 0:
        record(dram, channel, NONE, command, tick)


@force_inline
def limit_activates(dram, channel, tick):
    """Note an activate; the fourth from it on waits for the window to end."""
    spec = dram.spec[0]
    state = dram.channels[channel]
    if spec.activate_window > 0:
        state.activates[state.activated & 3] = tick
        state.activated += 1
        fourth = state.activates[state.activated & 3] + spec.activate_window
        last = dram.units[(channel + 1) * spec.units - 1]
        last.ready[ACT] = max(last.ready[ACT], fourth)


@force_inline
def record(dram, channel, bank, command, tick):
    """Append a command to the log, while that has room."""
    state = dram.channels[channel]
    spec = dram.spec[0]
    if state.logged < spec.log:
        entry = dram.log[channel, state.logged]
        entry.tick = tick
        entry.command = command
        entry.bank = bank
        entry.row = dram.units[channel * spec.units + max(bank, 0)].row
        state.logged += 1
