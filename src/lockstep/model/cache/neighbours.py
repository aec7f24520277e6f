"""Neighbouring SMs that read the same: one request goes to the L2, its data to all of them.

Where the SMs of a TPC share their way to the crossbar, a read that finds another one of the same
line under way joins it: it asks nothing of the L2, and has its data when the first one has. What
one of them has asked for is remembered at the slice that will answer, until the answer would be
back at the SMs. A read of other sectors than the first one's goes its own way.
"""

import numpy as np

from lockstep._jit import force_inline
from lockstep.model import entries as lists
from lockstep.model import reply_pipes
from lockstep.model.clock import NEVER
from lockstep.model.divisor import quotient
from lockstep.model.entries import NONE
from lockstep.model.link import KIND_DATA, KIND_READ
from lockstep.model.memory import FIRSTS, JOINED, TOGETHER

READ = np.int64(KIND_READ)


@force_inline
def _place(l2, slice_, source, line):
    """Where a slice remembers the first read of a line by an SM and its neighbours."""
    mixed = line * 31 + source // l2.spec[0].neighbours * 7919
    return slice_ * FIRSTS + ((mixed ^ (mixed >> 9)) & (FIRSTS - 1))


@force_inline
def _is_known(l2, place, source, line, now):
    """Whether such a read is remembered at a place."""
    first = l2.firsts[place]
    group = source // l2.spec[0].neighbours
    return first.line == line and first.group == group and first.until > now


@force_inline
def lead(l2, slice_, request, now):
    """Remember a read that was not asked for yet, where no other one is remembered."""
    spec = l2.spec[0]
    if spec.neighbours == 1 or request.kind != KIND_READ:
        return
    first = l2.firsts[_place(l2, slice_, request.source, request.line)]
    if first.until <= now:
        first.line, first.group = request.line, request.source // spec.neighbours
        first.sectors = first.left = request.sectors
        first.head = first.tail = NONE
        first.until = NEVER


@force_inline
def join(l2, slice_, message, now):
    """Let a read join the one of a neighbour; False if it has to go its own way."""
    spec = l2.spec[0]
    if spec.neighbours == 1 or message.kind != KIND_READ:
        return False
    state = l2.slices[slice_]
    line = quotient(spec.line_bytes, message.address)
    place = _place(l2, slice_, message.source, line)
    first = l2.firsts[place]
    if not _is_known(l2, place, message.source, line, now) or message.sectors & ~first.sectors:
        return False
    if state.joined + spec.line_sectors > JOINED:
        return False
    here = message.sectors & ~first.left
    if here:
        _answer(l2, slice_, _enter(l2, slice_, message, line), here, now)
        state.next = min(state.next, now)
    if message.sectors & first.left:
        index = _enter(l2, slice_, message, line)
        waiter = l2.entries[index]
        waiter.sectors = message.sectors & first.left
        waiter.next = NONE
        if first.head == NONE:
            first.head = index
        else:
            l2.entries[first.tail].next = index
        first.tail = index
    l2.dram.counters[state.channel].l2_joined += 1
    return True


@force_inline
def _enter(l2, slice_, message, line):
    """An entry for a read that joins another one."""
    state = l2.slices[slice_]
    index = lists.take(state, l2.entries)
    entry = l2.entries[index]
    entry.kind = READ
    entry.source = message.source
    entry.home = message.slice
    entry.line = line
    entry.full = message.full
    entry.tag = message.tag
    entry.policy = message.policy
    entry.issued = message.issued
    state.joined += 1
    return index


@force_inline
def _answer(l2, slice_, index, sectors, now):
    """Send sectors to an SM along with those that its neighbour gets, or got."""
    data = np.int64(KIND_DATA)
    reply_pipes.put(l2, slice_, TOGETHER, index, now, data, sectors)


@force_inline
def answered(l2, slice_, source, line, sectors, now):
    """Sectors of a line leave for an SM, and for all whose reads have joined its own."""
    spec = l2.spec[0]
    state = l2.slices[slice_]
    place = _place(l2, slice_, source, line)
    first = l2.firsts[place]
    if not _is_known(l2, place, source, line, now) or first.left & sectors == 0:
        return
    first.left &= ~sectors
    previous = NONE
    index = first.head
    while index != NONE:
        waiter = l2.entries[index]
        after = waiter.next
        here = waiter.sectors & sectors
        if here == waiter.sectors:
            if previous == NONE:
                first.head = after
            else:
                l2.entries[previous].next = after
            if after == NONE:
                first.tail = previous
            _answer(l2, slice_, index, here, now)
        else:
            if here:
                waiter.sectors &= ~here
                state.joined += 1
                _answer(l2, slice_, lists.copy(l2.entries, state, index), here, now)
            previous = index
        index = after
    if first.left == 0:
        first.until = now + spec.round_trip
