"""The read and the write queue of a channel: slots, listed by bank and by age.

Each request is in two lists of its direction: its bank's *lane*, oldest first, and the whole
queue, oldest first. A lane also knows its oldest request for the row that is open, so a scheduler
compares banks, not requests.
"""

from lockstep._jit import inline
from lockstep.model.dram.state import CLOSED, NONE


@inline
def lane_of(dram, channel, write, bank):
    """Index of the lane of a bank and direction."""
    return (2 * channel + write) * dram.spec[0].banks + bank


@inline
def count_lengths(dram, channel, tick):
    """Add the queue lengths since the last change to the counters."""
    state = dram.channels[channel]
    counters = dram.counters[channel]
    elapsed = tick - state.counted
    counters.dram_read_queue += state.waiting[0] * elapsed
    counters.dram_write_queue += state.waiting[1] * elapsed
    state.counted = tick


@inline
def push(dram, channel, write, bank, row):
    """Take a free slot into the queue as the newest request; returns its index."""
    state = dram.channels[channel]
    index = state.free
    slot = dram.slots[index]
    state.free = slot.next
    slot.age = state.age
    state.age += 1
    slot.bank = bank
    slot.row = row
    slot.write = write
    slot.found = 0
    _append_to_queue(dram, state, slot, index)
    _append_to_lane(dram, channel, slot, index)
    return index


@inline
def _append_to_queue(dram, state, slot, index):
    slot.newer = NONE
    slot.older = state.newest[slot.write]
    if slot.older == NONE:
        state.oldest[slot.write] = index
    else:
        dram.slots[slot.older].newer = index
    state.newest[slot.write] = index
    state.waiting[slot.write] += 1


@inline
def _append_to_lane(dram, channel, slot, index):
    lane = dram.lanes[lane_of(dram, channel, slot.write, slot.bank)]
    slot.next = NONE
    slot.previous = lane.tail
    if lane.tail == NONE:
        lane.head = index
        lane.head_age = slot.age
    else:
        dram.slots[lane.tail].next = index
    lane.tail = index
    lane.count += 1
    if lane.hit == NONE and dram.banks[channel * dram.spec[0].banks + slot.bank].row == slot.row:
        lane.hit = index
        lane.hit_age = slot.age


@inline
def remove(dram, channel, index):
    """Free the slot of a request that is done; the lane's next hit is found."""
    slot = dram.slots[index]
    state = dram.channels[channel]
    lane = dram.lanes[lane_of(dram, channel, slot.write, slot.bank)]
    _unlink_from_queue(dram, state, slot)
    if slot.previous == NONE:
        lane.head = slot.next
    else:
        dram.slots[slot.previous].next = slot.next
    if slot.next == NONE:
        lane.tail = slot.previous
    else:
        dram.slots[slot.next].previous = slot.previous
    lane.count -= 1
    if lane.head != NONE:
        lane.head_age = dram.slots[lane.head].age
    if lane.hit == index:
        _find_hit(dram, lane, slot.next, slot.row)
    slot.next = state.free
    state.free = index
    state.freed = 1


@inline
def _unlink_from_queue(dram, state, slot):
    if slot.older == NONE:
        state.oldest[slot.write] = slot.newer
    else:
        dram.slots[slot.older].newer = slot.newer
    if slot.newer == NONE:
        state.newest[slot.write] = slot.older
    else:
        dram.slots[slot.newer].older = slot.older
    state.waiting[slot.write] -= 1


@inline
def _find_hit(dram, lane, index, row):
    """Search a lane from a slot on for the oldest request for a row."""
    while index != NONE and dram.slots[index].row != row:
        index = dram.slots[index].next
    lane.hit = index
    if index != NONE:
        lane.hit_age = dram.slots[index].age


@inline
def row_opened(dram, channel, bank, row):
    """Find the hits of both lanes of a bank whose row was opened."""
    dram.banks[channel * dram.spec[0].banks + bank].row = row
    for write in range(2):
        lane = dram.lanes[lane_of(dram, channel, write, bank)]
        _find_hit(dram, lane, lane.head, row)


@inline
def row_closed(dram, channel, bank):
    """Forget the hits of a bank whose row was closed."""
    dram.banks[channel * dram.spec[0].banks + bank].row = CLOSED
    for write in range(2):
        dram.lanes[lane_of(dram, channel, write, bank)].hit = NONE
