"""Which request of a channel is served next.

A scheduler names up to two requests whose next command may come at this tick: one for the column
bus (its row is open: a read or a write) and one for the row bus (an activate, or a precharge of
the wrong row). It also says when to look again.

* FR-FCFS: the oldest request whose row is open; rows are opened and closed for the oldest request
  of each bank that has no such request. A search over banks: each lane knows its candidates.
* Banks in turn: as FR-FCFS, but the bank after that of the last column command is asked first.
* FCFS: each bank serves one request at a time, given to the banks in order of age; a request
  whose bank is taken holds up all younger ones.
* A user's: ``pick(queue, first, count, now) -> index or -1``. ``queue[first]`` to
  ``queue[first + count - 1]`` are the :data:`~lockstep.model.dram.state.REQUEST` records of the
  direction that has its turn, oldest first; ``now`` is the tick. It is asked once a tick and bus;
  what the named request needs next is done if its ``ready`` has come. The index counts from
  ``first``.
"""

from lockstep._jit import force_inline, jit, record_array
from lockstep.model.clock import NEVER
from lockstep.model.dram.queue import command_of
from lockstep.model.dram.state import BANK_ROUND_ROBIN, CLOSED, NONE, REQUEST, USER
from lockstep.model.dram.timing import ACT, PRE, RD, earliest
from lockstep.model.policy import compile_policy


def compile_scheduler(function):
    """A user's DRAM scheduler, ready to be passed to the model."""
    usage, kinds = "pick(queue, first, count, now)", (record_array(REQUEST), *["int64"] * 3)
    return compile_policy(function, usage, *kinds)


def pick_none(queue, first, count, now):
    """The scheduler that stands in where the user gives none; never called then."""
    return -1


@force_inline
def command_for(unit, slot):
    """The command that brings one request of a bank forward."""
    if unit.row == CLOSED:
        return ACT
    return RD + slot.write if unit.row == slot.row else PRE


@force_inline
def first_ready(dram, channel, write, tick):
    """FR-FCFS: ``(column slot, row slot, when to look again)``; -1 = none."""
    waits = dram.at[2 * channel + write]
    again = NEVER
    for bank in range(dram.spec[0].banks):  # no branches: most ticks end here
        again = min(again, waits[bank])
    if again > tick:
        return NONE, NONE, again
    column = row = NONE
    column_age = row_age = again = NEVER
    ready = 0
    units = dram.units
    first = channel * dram.spec[0].units
    last = units[first + dram.spec[0].units - 1]
    for bank in range(dram.spec[0].banks):
        at = waits[bank]
        if at <= tick:
            unit = units[first + bank]
            command = command_of(unit, write)
            at = max(units[unit.group].ready[command], last.ready[command])
            if at <= tick:
                ready += 1
                if command >= RD and unit.hit_age[write] < column_age:
                    column, column_age = unit.hit[write], unit.hit_age[write]
                if command < RD and unit.head_age[write] < row_age:
                    row, row_age = unit.head[write], unit.head_age[write]
        if at > tick:
            again = min(again, at)
    if ready > (column != NONE) + (row != NONE):
        again = tick + 1
    return column, row, again


@jit
def asked(dram, pick, channel, write, tick):
    """The other schedulers; result as of ``first_ready``."""
    if dram.spec[0].scheduler == USER:
        return _ask(dram, pick, channel, write, tick)
    if dram.spec[0].scheduler == BANK_ROUND_ROBIN:
        return _in_turn(dram, channel, write, tick)
    return _in_order(dram, channel, write, tick)


@force_inline
def _in_turn(dram, channel, write, tick):
    column = row = NONE
    again = NEVER
    ready = 0
    banks = dram.spec[0].banks
    first = channel * dram.spec[0].units
    bank = dram.channels[channel].turn
    for _ in range(banks):
        if dram.at[2 * channel + write, bank] < NEVER:
            unit = dram.units[first + bank]
            command = command_of(unit, write)
            at = earliest(dram.units, first + bank, first + dram.spec[0].units - 1, command)
            if at > tick:
                again = min(again, at)
            else:
                ready += 1
                if command >= RD and column == NONE:
                    column = unit.hit[write]
                if command < RD and row == NONE:
                    row = unit.head[write]
        bank = bank + 1 if bank + 1 < banks else 0
    if ready > (column != NONE) + (row != NONE):
        again = tick + 1
    return column, row, again


@force_inline
def _in_order(dram, channel, write, tick):
    column = row = NONE
    again = NEVER
    ready = 0
    first = channel * dram.spec[0].units
    index = dram.channels[channel].oldest[write]
    while index != NONE:
        slot = dram.slots[index]
        unit = dram.units[first + slot.bank]
        if unit.mark == tick or unit.blocked:
            break
        unit.mark = tick
        command = command_for(unit, slot)
        at = earliest(dram.units, first + slot.bank, first + dram.spec[0].units - 1, command)
        if at > tick:
            again = min(again, at)
        elif command >= RD:
            ready += 1
            column = index if column == NONE else column
        else:
            ready += 1
            row = index if row == NONE else row
        index = slot.newer
    if ready > (column != NONE) + (row != NONE):
        again = tick + 1
    return column, row, again


@force_inline
def _ask(dram, pick, channel, write, tick):
    """Two questions to a user's scheduler, one for each bus."""
    column = row = NONE
    first = channel * dram.spec[0].shown
    count = _show(dram, channel, write, first)
    for _ in range(2):
        chosen = pick(dram.shown, first, count, tick)
        if chosen < 0 or chosen >= count or dram.shown[first + chosen].ready > tick:
            break
        request = dram.shown[first + chosen]
        if request.open_row == request.row and column == NONE:
            column = request.slot
        elif request.open_row != request.row and row == NONE:
            row = request.slot
        request.ready = NEVER  # the second question is for another request
    return column, row, tick + 1


@force_inline
def _show(dram, channel, write, first):
    """Copy the requests of one direction to where a policy sees them; returns how many."""
    count = 0
    first_unit = channel * dram.spec[0].units
    last = first_unit + dram.spec[0].units - 1
    index = dram.channels[channel].oldest[write]
    while index != NONE:
        slot = dram.slots[index]
        unit = dram.units[first_unit + slot.bank]
        request = dram.shown[first + count]
        request.bank = slot.bank
        request.row = slot.row
        request.open_row = unit.row
        request.age = slot.age
        request.write = write
        request.slot = index
        at = earliest(dram.units, first_unit + slot.bank, last, command_for(unit, slot))
        request.ready = NEVER if unit.blocked else at
        count += 1
        index = slot.newer
    return count
