"""What a home knows of its lines: their states, who hangs on them, and what comes of them."""

import numpy as np

from lockstep._jit import force_inline
from lockstep.model.cache import replacement, tags
from lockstep.model.coherence.l1 import ALL
from lockstep.model.entries import NONE
from lockstep.model.memory import QUEUE

ONE = np.int64(1)


@force_inline
def way_of(m, row, way):
    """The directory's record of a way."""
    return m.homes.ways[row * m.l2.tags.shape[0].ways + way]


@force_inline
def take_over(m, record, row, way):
    """What became of a line without the protocol: a host's copy displaced it, or left it here."""
    line = tags.line_of(m.l2.tags, row, way)
    if record.line != line:
        fresh(record, line)
    held = tags.way_of(m.l2.tags, row, way)
    if held.valid | held.dirty:
        if record.state < m.homes.rules.known[0].home_stable:
            known = m.homes.rules.known[0]
            record.state = known.changed if held.dirty else known.clean
            record.valid, record.dirty = ALL, ALL if held.dirty else 0
        held.valid = held.dirty = held.partial = 0


@force_inline
def fresh(record, line):
    """A line that nobody has, and of which nothing is here."""
    record.line = line
    record.state = record.valid = record.dirty = record.sharers = 0
    record.mixed = record.awaited = record.parked = 0
    record.owner = record.first = record.last = NONE


@force_inline
def hang(m, slice_, record, index):
    """Let a request hang on a way, behind those that do."""
    entries = m.l2.entries
    entries[index].next = NONE
    if record.first < 0:
        record.first = index
    else:
        entries[record.last].next = index
    record.last = index
    m.l2.slices[slice_].waiting += 1


@force_inline
def replay(m, slice_, record, tick):
    """What hangs on a way goes in front of all requests of the slice, in its order."""
    entries, state = m.l2.entries, m.l2.slices[slice_]
    if record.first < 0:
        return
    if state.count[QUEUE] == 0:
        state.tail[QUEUE] = record.last
    else:
        entries[record.last].next = state.head[QUEUE]
    state.head[QUEUE] = record.first
    index = record.first
    while True:
        entries[index].ready = tick
        state.count[QUEUE] += 1
        state.waiting -= 1
        if index == record.last:
            break
        index = np.int64(entries[index].next)
    record.first = record.last = NONE
    record.parked = 0
    state.retry = 1


@force_inline
def change(m, slice_, row, way, record, after):
    """A line's state changes: while it is not stable its way stays; without a state it is free."""
    stable = m.homes.rules.known[0].home_stable
    state = m.l2.slices[slice_]
    before, record.state = record.state, after
    if after >= stable:
        if before < stable:
            replacement.lock(m.l2.tags, row, way)
        return
    if before >= stable:
        replacement.unlock(m.l2.tags, slice_, row, way, 0)
        state.retry = 1
    if after == 0:
        if record.parked:
            replay(m, slice_, record, 0)
        tags.invalidate(m.l2.tags, row, way)
