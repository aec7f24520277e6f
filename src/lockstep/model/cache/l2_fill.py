"""Data that comes back from the DRAM to an L2 slice, and the answers to those who waited for it."""

from lockstep._jit import force_inline, popcount
from lockstep.model import clock as clocks
from lockstep.model import entries as lists
from lockstep.model import reply_pipes
from lockstep.model.cache import data_port, l2_sides, mshr_ways, replacement, tags
from lockstep.model.cache.l2 import DATA, NOTHING
from lockstep.model.cache.prefetch import state as prefetching
from lockstep.model.cache.protocols import at_l2
from lockstep.model.clock import NEVER
from lockstep.model.dram import controller
from lockstep.model.entries import NONE
from lockstep.model.link import KIND_ATOMIC


@force_inline
def next_fill(l2, slice_):
    """Core cycle at which the next data from the DRAM is here; never if none is on its way.

    Data that waits for room in a reply pipe is not next: a reply that leaves starts it again.
    """
    state = l2.slices[slice_]
    if state.return_head == NONE or state.filling:
        return NEVER
    return l2.dram.slots[state.return_head].ready


@force_inline
def fill(l2, slice_, now):
    """Take the oldest data that came from the DRAM; False if a reply pipe is full.

    Called again for the same data until all that wait for it are answered.
    """
    spec = l2.spec[0]
    state = l2.slices[slice_]
    index = state.return_head
    data = l2.dram.slots[index]
    record = tags.way_of(l2.tags, data.tag_row, data.way)
    channel = l2.slices[slice_].channel
    if not state.filling:
        counters = l2.dram.counters[channel]
        line = tags.line_of(l2.tags, data.tag_row, data.way)
        _fill_sectors(spec, state, counters, record, line, data.sectors, now)
        counters.l2_fills += popcount(data.sectors) if data.far != l2_sides.COPIED else 0
        state.filling = 1
    if not _answer(l2, slice_, record, data.sectors, now):
        return False
    if record.pending == 0:
        replacement.unlock(l2.tags, slice_, data.tag_row, data.way, NOTHING)
    state.filling = 0
    state.ahead -= data.ahead
    state.mshrs -= 1 - data.ahead
    if record.pending == 0 and l2.prefetch.spec[0].on:
        _mark(l2.prefetch, data)
    state.return_head = data.next
    controller.queue.release(l2.dram.slots, l2.dram.channels[channel], index)
    return True


@force_inline
def _mark(prefetch, data):
    """All that was on its way to a line is here: whether anybody has used it."""
    mark = prefetch.marks[data.tag_row, data.way]
    if mark >= prefetching.COMING:
        unused = mark == prefetching.COMING
        prefetch.marks[data.tag_row, data.way] = prefetching.HERE if unused else prefetching.NONE


@force_inline
def _fill_sectors(spec, state, counters, record, line, arrived, now):
    """Merge data from below with what was written meanwhile."""
    n = popcount(arrived)
    counters.l2_partial_fills += popcount(at_l2.fill(spec.protocol, record, arrived))
    data_port.move(spec, state, counters, line, n, clocks.ticks(spec.l2, now))


@force_inline
def _answer(l2, slice_, record, arrived, now):
    """Answer the requests that wait for sectors that arrived; False if a reply pipe is full."""
    spec, entries, state = l2.spec[0], l2.entries, l2.slices[slice_]
    previous = NONE
    index = record.waiters
    while index != NONE:
        waiter = entries[index]
        here = waiter.sectors & arrived
        after = waiter.next
        if here == 0:
            previous = index
        elif waiter.source < 0:  # a slice of another side
            l2_sides.forward(l2, -1 - waiter.source, waiter.row, waiter.way, here, now)
            waiter.sectors &= ~here
            if waiter.sectors == 0:
                mshr_ways.unlink(entries, state, record, previous, index)
                lists.release(entries, state, index)
            else:
                l2.slices[-1 - waiter.source].mshrs += 1  # it comes in two
                previous = index
        else:
            pipe = reply_pipes.pipe_for(spec, state, waiter.source, reply_pipes.FILL)
            if state.count[pipe] >= spec.replies:
                return False
            ready = now
            if waiter.kind == KIND_ATOMIC:
                at_l2.atomic(spec.protocol, record, here)
                ready = _operate(l2, slice_, waiter, popcount(here), now)
            waiter.sectors &= ~here
            reply = index
            if waiter.sectors == 0:
                mshr_ways.unlink(entries, state, record, previous, index)
            else:
                reply = lists.copy(entries, state, index)
                previous = index
            reply_pipes.put(l2, slice_, pipe, reply, ready, DATA, here)
        index = after
    return True


@force_inline
def _operate(l2, slice_, waiter, sectors, now):
    """An atomic operation on sectors that have come; the core cycle at which its result leaves."""
    spec, state = l2.spec[0], l2.slices[slice_]
    counters, tick = l2.dram.counters[state.channel], clocks.ticks(spec.l2, now)
    done = data_port.update(spec, state, counters, waiter.line, sectors, waiter.full, tick)
    back = l2_sides.answered(l2, slice_, waiter, sectors, tick)
    return max(now, done) + spec.atomic_cycles + back
