"""An L2 in several parts of the chip, each with a copy of what is read there.

Every line has a home: the slice before its DRAM channel, on one side. Reads go to the slice of the
same number on the reader's side, which keeps what it fetches from the other side; writes and
atomics go to the home and make the copies invalid. What the home lacks comes from the DRAM to the
reader's side alone, so that a line read from one side takes the room of one line. What a side has
is not read from the DRAM again: the home takes it from there when it is asked for it. A copy saves
traffic, no time: lines of an H100 that all SMs have read often are near to half of them, and take
``l2.far_latency`` longer for the others (``lat.l2_lines_alone``).
"""

import numpy as np

from lockstep._jit import force_inline, popcount
from lockstep.model import clock as clocks
from lockstep.model import entries as lists
from lockstep.model import free_list
from lockstep.model.cache import data_port, mshr_ways, replacement, tags
from lockstep.model.cache.protocols import at_l2
from lockstep.model.dram.queue import hand_over
from lockstep.model.link import KIND_READ, KIND_WRITE

READ = np.int64(KIND_READ)
COPIED = 2  # ``far`` of a slot with data that no DRAM read brought


@force_inline
def side_of(spec, source, home):
    """The side of who asks; requests of other GPUs come to the side that has the line's home."""
    if source >= spec.sources:
        return home
    return source * spec.sides // spec.sources


@force_inline
def mirror(spec, home, side):
    """The slice on a side that keeps copies of what belongs to a slice."""
    number = home % spec.slices
    share = spec.slices // spec.sides
    return home - number + side * share + number % share


@force_inline
def passed(l2, slice_, request, tick):
    """Ticks that a write or an atomic is held up on its way through the requester's side."""
    spec = l2.spec[0]
    side = side_of(spec, request.source, l2.slices[slice_].side)
    if not spec.near_reads or side == l2.slices[slice_].side:
        return 0
    length = popcount(request.sectors) * spec.pass_step
    if request.kind != KIND_WRITE:  # an atomic: the lanes on one word, too
        length = max(popcount(request.sectors), request.full) * spec.atomic_pass_step
    other = l2.slices[mirror(spec, slice_, side)]
    return data_port.pass_on(spec, other, request.line, length, tick)


@force_inline
def answered(l2, slice_, request, sectors, tick):
    """Core cycles that results of atomics are held up on their way to the requester's side."""
    spec = l2.spec[0]
    side = side_of(spec, request.source, l2.slices[slice_].side)
    if not spec.near_reads or side == l2.slices[slice_].side:
        return 0
    length = max(sectors, request.full) * spec.result_step
    other = l2.slices[mirror(spec, slice_, side)]
    ticks = data_port.pass_on(spec, other, request.line, length, tick)
    return clocks.cycle_of(spec.l2, tick + ticks) - clocks.cycle_of(spec.l2, tick)


@force_inline
def drop_copies(l2, home, row, line, sectors):
    """Make the copies of sectors of a line invalid: they are written at their home."""
    spec = l2.spec[0]
    if not spec.near_reads:
        return
    for side in range(spec.sides):
        other = mirror(spec, home, side)
        if other != home:
            there = row + (other - home) * l2.tags.shape[0].sets
            way = tags.find(l2.tags, other, there, line)
            if way >= 0:
                at_l2.probe(spec.protocol, tags.way_of(l2.tags, there, way), sectors)


@force_inline
def holder(l2, slice_, home, row, line):
    """The slice to ask for a line that a slice lacks: its home, or for the home one with a copy."""
    if slice_ != home:
        return home
    spec = l2.spec[0]
    found = slice_
    for side in range(spec.sides):
        other = mirror(spec, slice_, side)
        there = row + (other - slice_) * l2.tags.shape[0].sets
        if other != slice_ and tags.find(l2.tags, other, there, line) >= 0:
            found = other
    return found


@force_inline
def from_another(l2, slice_, request, way, now):
    """Ask another side for what it has of a line, or has on its way; the sectors that will come."""
    spec = l2.spec[0]
    other = holder(l2, slice_, request.home, request.row, request.line)
    row = request.row + (other - slice_) * l2.tags.shape[0].sets
    found = tags.find(l2.tags, other, row, request.line)
    if other == slice_ or found < 0 or l2.slices[slice_].mshrs >= spec.mshrs:
        return 0
    kept = tags.way_of(l2.tags, row, found)
    here = request.left & at_l2.readable(spec.protocol, kept)
    coming = request.left & kept.pending & ~here
    record = tags.way_of(l2.tags, request.row, way)
    if here:
        replacement.touch(l2.tags, other, row, found, request.policy)
        forward(l2, slice_, request.row, way, here, now + spec.hit_cycles)
        l2.slices[slice_].mshrs += 1
        record.pending |= here
    if coming and l2.slices[slice_].mshrs < spec.mshrs:
        _wait(l2, slice_, other, request, way, kept, coming)
        l2.slices[slice_].mshrs += 1
        record.pending |= coming
    else:
        coming = 0
    if here | coming:
        replacement.lock(l2.tags, request.row, way)
    return here | coming


@force_inline
def _wait(l2, slice_, other, request, way, kept, sectors):
    """Let a slice wait for sectors that are on their way to another one."""
    state = l2.slices[other]
    index = lists.take(state, l2.entries)
    waiter = l2.entries[index]
    waiter.source = -1 - slice_
    waiter.row = request.row
    waiter.way = way
    waiter.sectors = sectors
    waiter.kind = READ
    mshr_ways.hang(l2.entries, state, kept, index)


@force_inline
def forward(l2, slice_, row, way, sectors, ready):
    """Send sectors across to a way of a slice; they leave the other side at cycle ``ready``."""
    spec = l2.spec[0]
    state = l2.slices[slice_]
    channel = l2.dram.channels[state.channel]
    index = channel.free
    slot = l2.dram.slots[index]
    channel.free = free_list.after(slot.next, index)
    slot.slice = slice_
    slot.tag_row = row
    slot.way = way
    slot.sectors = sectors
    slot.far = COPIED
    slot.ahead = 0
    n = popcount(sectors)
    slot.ready = ready + spec.far_cycles
    l2.dram.counters[state.channel].l2_crossings += n
    hand_over(l2.dram.slots, state, index)
