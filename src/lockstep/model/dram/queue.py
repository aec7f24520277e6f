"""The read and the write queue of a channel: slots, listed by bank and by age.

Each request is in two lists of its direction: its bank's *lane*, oldest first, and the whole
queue, oldest first. A lane also knows its oldest request for the row that is open and when its
next command may come as far as the bank is concerned, so a scheduler compares banks, not
requests.
"""

from lockstep._jit import force_inline
from lockstep.model import free_list
from lockstep.model.clock import NEVER
from lockstep.model.dram.state import CLOSED, NONE
from lockstep.model.dram.timing import ACT, PRE, RD


@force_inline
def count_lengths(state, counters, tick):
    """Add the queue lengths since the last change to the counters."""
    elapsed = tick - state.counted
    counters.dram_read_queue += state.waiting[0] * elapsed
    counters.dram_write_queue += state.waiting[1] * elapsed
    state.counted = tick


@force_inline
def command_of(unit, write):
    """The next command for a lane that is not empty."""
    if unit.row == CLOSED:
        return ACT
    return RD + write if unit.hit[write] != NONE else PRE


@force_inline
def update(dram, channel, bank):
    """Find when the next commands of a bank's lanes may come, by the constraints of the bank."""
    unit = dram.units[channel * dram.spec[0].units + bank]
    for write in range(2):
        at = NEVER
        if unit.count[write] > 0 and not unit.blocked:
            at = unit.ready[command_of(unit, write)]
        dram.at[2 * channel + write, bank] = at


@force_inline
def push(dram, channel, bank, write, row):
    """Take a free slot as the newest request of a queue and a lane; returns its index."""
    slots = dram.slots
    state = dram.channels[channel]
    unit = dram.units[channel * dram.spec[0].units + bank]
    index = state.free
    slot = slots[index]
    state.free = free_list.after(slot.next, index)
    slot.age = state.age
    state.age += 1
    slot.bank = bank
    slot.row = row
    slot.write = write
    slot.found = 0
    _append_to_queue(slots, state, slot, index, write)
    _append_to_lane(slots, unit, slot, index, write)
    update(dram, channel, bank)
    return index


@force_inline
def _append_to_queue(slots, state, slot, index, write):
    slot.newer = NONE
    slot.older = state.newest[write]
    if slot.older == NONE:
        state.oldest[write] = index
    else:
        slots[slot.older].newer = index
    state.newest[write] = index
    state.waiting[write] += 1


@force_inline
def _append_to_lane(slots, unit, slot, index, write):
    slot.next = NONE
    slot.previous = unit.tail[write]
    if slot.previous == NONE:
        unit.head[write] = index
        unit.head_age[write] = slot.age
    else:
        slots[slot.previous].next = index
    unit.tail[write] = index
    unit.count[write] += 1
    if unit.hit[write] == NONE and unit.row == slot.row:
        find_hit(slots, unit, write, index)


@force_inline
def remove(slots, state, unit, index):
    """Take a request whose last burst went, its lane's oldest hit, out of both lists."""
    slot = slots[index]
    write = slot.write
    if slot.previous == NONE:
        unit.head[write] = slot.next
    else:
        slots[slot.previous].next = slot.next
    if slot.next == NONE:
        unit.tail[write] = slot.previous
    else:
        slots[slot.next].previous = slot.previous
    unit.count[write] -= 1
    if unit.head[write] != NONE:
        unit.head_age[write] = slots[unit.head[write]].age
    find_hit(slots, unit, write, slot.next)
    _unlink_from_queue(slots, state, slot, write)
    state.freed[write] = 1


@force_inline
def _unlink_from_queue(slots, state, slot, write):
    if slot.older == NONE:
        state.oldest[write] = slot.newer
    else:
        slots[slot.older].newer = slot.newer
    if slot.newer == NONE:
        state.newest[write] = slot.older
    else:
        slots[slot.newer].older = slot.older
    state.waiting[write] -= 1


@force_inline
def find_hit(slots, unit, write, index):
    """Search a lane from a slot on for its oldest request for the open row."""
    if unit.spent and index != unit.head[write]:
        index = NONE
    while index != NONE and slots[index].row != unit.row:
        index = NONE if unit.spent else slots[index].next
    unit.hit[write] = index
    if index != NONE:
        unit.hit_age[write] = slots[index].age


@force_inline
def limit_row(dram, unit):
    """After as many columns as a row may have, the oldest request of a lane goes first."""
    most = dram.spec[0].row_accesses
    if most > 0 and unit.columns >= most:
        unit.spent = 1
        for write in range(2):
            find_hit(dram.slots, unit, write, unit.head[write])


@force_inline
def release(slots, state, index):
    """Free a slot."""
    slots[index].next = free_list.link_to(state.free)
    state.free = index


@force_inline
def hand_over(slots, to, index):
    """Put a slot with data into the list of the slice ``to``, by when it is there."""
    slot = slots[index]
    slot.next = NONE
    if to.return_head == NONE:
        to.return_head = index
        to.return_tail = index
    elif slots[to.return_tail].ready <= slot.ready:
        slots[to.return_tail].next = index
        to.return_tail = index
    elif slots[to.return_head].ready > slot.ready and not to.filling:
        slot.next = to.return_head
        to.return_head = index
    else:
        before = to.return_head
        while slots[slots[before].next].ready <= slot.ready:
            before = slots[before].next
        slot.next = slots[before].next
        slots[before].next = index


@force_inline
def set_row(dram, channel, bank, row):
    """Open a row of a bank, or close it (CLOSED): both lanes look for hits."""
    unit = dram.units[channel * dram.spec[0].units + bank]
    unit.row = row
    unit.columns = 0
    unit.spent = 0
    for write in range(2):
        find_hit(dram.slots, unit, write, unit.head[write] if row != CLOSED else NONE)
    update(dram, channel, bank)
