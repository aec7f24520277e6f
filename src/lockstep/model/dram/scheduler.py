"""Which request of a channel is served next.

A scheduler names up to two requests whose next command may come at this tick: one for the column
bus (its row is open: a read or a write) and one for the row bus (an activate, or a precharge of
the wrong row). It also says when to look again if neither bus finds work.

* FR-FCFS: the oldest request whose row is open; rows are opened and closed for the oldest request
  of each bank that has no such request. A search over banks: each lane knows its two candidates.
* FCFS: each bank serves one request at a time, given to the banks in order of age; a request
  whose bank is taken holds up all younger ones.
* A user's: ``pick(queue, first, count, now) -> index or -1``. ``queue[first]`` to
  ``queue[first + count - 1]`` are the :data:`~lockstep.model.dram.state.REQUEST` records of the
  direction that has its turn, oldest first; ``now`` is the tick. It is asked once a tick and bus;
  what the named request needs next is done if its ``ready`` has come. The index counts from
  ``first``.
"""

from lockstep._jit import inline, jit, policy, record_array
from lockstep.model.clock import NEVER
from lockstep.model.dram import queue
from lockstep.model.dram.state import CLOSED, FCFS, FRFCFS, NONE, REQUEST
from lockstep.model.dram.timing import ACT, PRE, RD, earliest


def compile_scheduler(function):
    """A user's DRAM scheduler, ready to be passed to the model."""
    return policy(function, "int64", record_array(REQUEST), "int64", "int64", "int64")


def pick_none(queue, first, count, now):
    """The scheduler that stands in where the user gives none; never called then."""
    return -1


@inline
def command_for(dram, channel, slot):
    """The command that brings a request forward (RD also stands for WR's place: RD + write)."""
    open_row = dram.banks[channel * dram.spec[0].banks + slot.bank].row
    if open_row == CLOSED:
        return ACT
    return RD + slot.write if open_row == slot.row else PRE


@inline
def choose(dram, pick, channel, write, tick):
    """``(column slot, row slot, when to look again)`` for one direction; -1 = none."""
    kind = dram.spec[0].scheduler
    if kind == FRFCFS:
        return _first_ready(dram, channel, write, tick)
    if kind == FCFS:
        return _in_order(dram, channel, write, tick)
    return _ask(dram, pick, channel, write, tick)


@inline
def _first_ready(dram, channel, write, tick):
    column = row = NONE
    column_age = row_age = again = NEVER
    ready = 0
    first = channel * dram.spec[0].banks
    for bank in range(dram.spec[0].banks):
        lane = dram.lanes[queue.lane_of(dram, channel, write, bank)]
        state = dram.banks[first + bank]
        if lane.count == 0 or state.blocked:
            continue
        if state.row != CLOSED and lane.hit != NONE:
            at = earliest(dram, channel, bank, RD + write)
            ready += at <= tick
            if at <= tick and lane.hit_age < column_age:
                column, column_age = lane.hit, lane.hit_age
        else:
            at = earliest(dram, channel, bank, ACT if state.row == CLOSED else PRE)
            ready += at <= tick
            if at <= tick and lane.head_age < row_age:
                row, row_age = lane.head, lane.head_age
        if at > tick:
            again = min(again, at)
    if ready > (column != NONE) + (row != NONE):
        again = tick + 1
    return column, row, again


@inline
def _in_order(dram, channel, write, tick):
    column = row = NONE
    again = NEVER
    ready = 0
    index = dram.channels[channel].oldest[write]
    while index != NONE:
        slot = dram.slots[index]
        bank = dram.banks[channel * dram.spec[0].banks + slot.bank]
        if bank.mark == tick or bank.blocked:
            break
        bank.mark = tick
        command = command_for(dram, channel, slot)
        at = earliest(dram, channel, slot.bank, command)
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


@jit
def _ask(dram, pick, channel, write, tick):
    """Two questions to a user's scheduler, one for each bus."""
    column = row = NONE
    size = dram.shown.shape[0] // dram.channels.shape[0]
    first = channel * size
    count = show(dram, channel, write, first)
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


@inline
def show(dram, channel, write, first):
    """Copy the requests of one direction into the user's view, oldest first; returns how many."""
    count = 0
    index = dram.channels[channel].oldest[write]
    while index != NONE:
        slot = dram.slots[index]
        bank = dram.banks[channel * dram.spec[0].banks + slot.bank]
        request = dram.shown[first + count]
        request.bank = slot.bank
        request.row = slot.row
        request.open_row = bank.row
        request.age = slot.age
        request.write = write
        request.slot = index
        request.ready = earliest(dram, channel, slot.bank, command_for(dram, channel, slot))
        if bank.blocked:
            request.ready = NEVER
        count += 1
        index = slot.newer
    return count
