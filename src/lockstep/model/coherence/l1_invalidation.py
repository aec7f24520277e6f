"""An L1 under a protocol gives up all lines, as far as the protocol does that."""

from lockstep._jit import inline
from lockstep.model.cache import tags
from lockstep.model.coherence import lines, outgoing
from lockstep.model.coherence.l1_lines import entry_for, let_go, way_of
from lockstep.model.coherence.numbers import (
    INVALIDATE,
    WAIT,
)


@inline
def invalidate(c, s, counters, now):
    """All lines are invalidated, as far as the protocol does that; the rest goes by and by."""
    c.coherent.caches[s].sweeping = c.l1.tags.shape[0].sets
    trigger = c.coherent.rules.known[0].messages + INVALIDATE
    for e in range(c.coherent.lines.shape[1]):  # those whose data is on its way
        record = c.coherent.lines[s, e]
        if lines.find(c, s, record.line) == e:
            entry = entry_for(c, s, record.state, trigger, 0, record.valid)
            if entry.next >= 0 and entry.actions & WAIT == 0 and entry.messages == 0:
                record.state = entry.next
    sweep(c, s, counters, now)


@inline
def sweep(c, s, counters, now):
    """Empty rows of an L1, as long as there is room for messages."""
    cache = c.coherent.caches[s]
    trigger = c.coherent.rules.known[0].messages + INVALIDATE
    while cache.sweeping > 0:
        row = tags.row_of(c.l1.tags, s, cache.sweeping - 1)
        for way in range(c.l1.tags.caches[s].ways):
            line = tags.line_of(c.l1.tags, row, way)
            if line == tags.NO_LINE or c.l1.tags.keys[row, way] >= tags.LOCKED:
                continue
            record = way_of(c, row, way)
            entry = entry_for(c, s, record.state, trigger, 0, record.valid)
            if entry.messages:
                if outgoing.room(c, s) < 1 or not lines.may_evict(c, s):
                    return
                let_go(c, s, counters, entry, line, record, now)
            tags.invalidate(c.l1.tags, row, way)
        cache.sweeping -= 1
