"""Between two kernels: L1s under a coherence protocol are emptied, in no time and uncounted.

What they had written is in the L2 then, and nobody is owner. What is in transition stays as it is,
and goes its way: a line on its way out of an L1, a line of which the home asks its L1s.
"""

from lockstep._jit import inline, jit
from lockstep.model import entries as lists
from lockstep.model.cache import tags
from lockstep.model.cache.l2_lines import locate
from lockstep.model.coherence import home_lines, l1_lines
from lockstep.model.modules import pages


@inline
def _row_of(m, slice_, address):
    """The row of the L2's tags that a line belongs to."""
    state = m.l2.slices[slice_]
    index = lists.take(state, m.l2.entries)
    locate(m, m.l2.entries[index], slice_, address)
    row = m.l2.entries[index].row
    lists.release(m.l2.entries, state, index)
    return row


@inline
def _leave(c, m, s, row, way, line):
    """An L1 gives a line up, unless its home asks about it; what is dirty of it is there then."""
    record = l1_lines.way_of(c, row, way)
    address = line * c.l1.spec[0].line_bytes
    slice_ = pages.slice_of(m.slices, address, m.l2.policies.slice_hash)
    home_row = _row_of(m, slice_, address)
    home_way = tags.find(m.l2.tags, slice_, home_row, line)
    if home_way >= 0:
        known = home_lines.way_of(m, home_row, home_way)
        home_lines.take_over(m, known, home_row, home_way)
        if known.state >= m.homes.rules.known[0].home_stable:
            return
        known.sharers &= ~(home_lines.ONE << s)
        if known.owner == s:
            known.owner = -1
        if record.dirty:
            known.dirty |= record.dirty
            known.state = m.homes.rules.known[0].changed
    record.state = record.valid = record.dirty = 0
    tags.invalidate(c.l1.tags, row, way)


@jit
def empty_l1s(c, m):
    """L1s give up all lines that are not in transition."""
    for s in range(c.spec[0].sms):
        first = tags.row_of(c.l1.tags, s, 0)
        for row in range(first, first + c.l1.tags.shape[0].sets):
            for way in range(c.l1.tags.caches[s].ways):
                line = tags.line_of(c.l1.tags, row, way)
                if line != tags.NO_LINE and c.l1.tags.keys[row, way] < tags.LOCKED:
                    _leave(c, m, s, row, way, line)
