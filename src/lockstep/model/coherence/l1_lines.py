"""Lines of an L1 under a protocol: what is here, what the table says of it, how a line leaves."""

from lockstep._jit import inline
from lockstep.model.cache import replacement, slice_hash, tags
from lockstep.model.cache.l1 import FULL_QUEUE, FULL_SET
from lockstep.model.coherence import lines, outgoing
from lockstep.model.coherence.numbers import (
    ATOMIC_OPERATION,
    DIRTY_BYTES,
    EVICT,
    FULL,
    OPERAND,
    STORE,
    VALID,
)

ALL = -1  # a mask of all bytes


@inline
def event_of(choices, trigger, true):
    """The event of a trigger under the conditions that are true; every trigger has one."""
    k = 0
    while choices[trigger, k].conditions & ~true:
        k += 1
    return choices[trigger, k].event


@inline
def truth(mask, valid):
    """The conditions that hold for an operation on some bytes."""
    true = VALID if mask & ~valid == 0 else 0
    return true | FULL if mask == ALL else true


@inline
def way_of(c, row, way):
    """The record of a way."""
    return c.coherent.ways[row * c.l1.tags.shape[0].ways + way]


@inline
def store(c, s, row, way, state, valid, dirty):
    """Write down what a way holds; one without a state holds nothing."""
    record = way_of(c, row, way)
    record.state, record.valid, record.dirty = state, valid, dirty
    if state == 0:
        tags.invalidate(c.l1.tags, row, way)


@inline
def locate(c, s, line):
    """Row and way of a line; way -1: it is not here."""
    row = tags.row_of(c.l1.tags, s, slice_hash.index_of(c.l1.hash, line))
    return row, tags.find(c.l1.tags, s, row, line)


@inline
def entry_for(c, s, state, trigger, mask, valid):
    """The table's entry for what happens to a line, which is possible; else it is noted."""
    rules = c.coherent.rules
    event = event_of(rules.l1_choices, trigger, truth(mask, valid))
    entry = rules.l1[state, event]
    if entry.next < 0 and c.coherent.caches[s].fault == 0:
        c.coherent.caches[s].fault = 1 + state * rules.l1.shape[1] + event
    return entry


@inline
def number_of(messages):
    """The number of the only message that an entry sends."""
    number = 0
    while messages >> number & 1 == 0:
        number += 1
    return number


@inline
def writes(kind):
    """Whether an operation changes the bytes that it names."""
    return STORE <= kind <= ATOMIC_OPERATION


@inline
def bytes_sent(c, number, dirty, mask):
    """The mask that a message carries."""
    carries = c.coherent.rules.forms[number].carries
    if carries == OPERAND:
        return mask
    return dirty if carries == DIRTY_BYTES else ALL


@inline
def end(c, s, tag, lanes):
    """An operation has ended."""
    note = c.coherent.ended[s, c.coherent.caches[s].ended]
    c.coherent.caches[s].ended += 1
    note.tag, note.lanes = tag, lanes


@inline
def make_room(c, s, counters, row, line, room, now):
    """A way for a line: ``(0, way)``, or why there is none.

    ``room``: requests that may be sent for the line that goes.
    """
    way = replacement.victim(c.l1.tags, s, row, c.l1.victim)
    if way < 0:
        counters.l1_fail_line += 1
        return FULL_SET, way
    old = tags.line_of(c.l1.tags, row, way)
    if old != tags.NO_LINE:
        record = way_of(c, row, way)
        trigger = c.coherent.rules.known[0].messages + EVICT
        entry = entry_for(c, s, record.state, trigger, 0, record.valid)
        if entry.messages:
            if room < 1:
                counters.l1_fail_queue += 1
                return FULL_QUEUE, way
            if not lines.may_evict(c, s):
                counters.l1_fail_line += 1
                return FULL_SET, way
            let_go(c, s, counters, entry, old, record, now)
        counters.l1_evictions += 1
    replacement.insert(c.l1.tags, s, row, way, line, 0)
    c.l1.caches[s].filled = 1
    record = way_of(c, row, way)
    record.state = record.valid = record.dirty = 0
    return 0, way


@inline
def let_go(c, s, counters, entry, line, record, now):
    """A line leaves its way, and says so to its home; it lives on in an entry."""
    e = lines.allocate(c, s, line, lines.GOING)
    going = c.coherent.lines[s, e]
    going.state, going.valid, going.dirty = entry.next, record.valid, record.dirty
    number = number_of(entry.messages)
    if c.coherent.rules.forms[number].carries:
        counters.l1_writebacks += 1
    mask = bytes_sent(c, number, record.dirty, 0)
    outgoing.push(c, s, line, number, mask, 0, 0, now)
