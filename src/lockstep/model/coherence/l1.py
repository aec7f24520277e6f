"""An L1 under a coherence protocol: it carries out the protocol's table.

A line whose state is stable lies in a way; one in transition has an entry (``lines.py``), and a way
besides, locked, if data will come to it. Operations on a line with an entry wait there; when its
state is stable again they look at it in the order in which they came. A line that must leave with a
message gives its way to the next at once, and lives on in an entry until the home has answered.

``c`` is any context with ``l1`` (``tags``, ``hash``, ``victim``, as in ``model/cache/l1.py``) and
``coherent``; ``s`` is the number of the L1. What ends is noted in ``ended``: the owner looks there
after each call.
"""

from lockstep._jit import inline
from lockstep.model.cache import replacement, slice_hash, tags
from lockstep.model.cache.l1 import FULL_ENTRY, FULL_FILE, FULL_QUEUE, FULL_SET
from lockstep.model.coherence import lines, outgoing
from lockstep.model.coherence.numbers import (
    ACKNOWLEDGED,
    ANSWER,
    ATOMIC_OPERATION,
    CLEAN,
    DIRTY_BYTES,
    DONE,
    DROP,
    EVICT,
    FILL,
    FULL,
    INVALIDATE,
    LOAD_GLC,
    NOTHING,
    OPERAND,
    PERFORM,
    POSTED,
    RESPONSE,
    STALL,
    STORE,
    VALID,
    WAIT,
)
from lockstep.model.coherence.rules import COHERENT

HIT, COMING, SENT = 0, 1, 2
"""What becomes of an operation: it is done; it waits; a store is on its way, to be acknowledged."""
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
def end(c, s, tag, lanes):
    """An operation has ended."""
    note = c.coherent.ended[s, c.coherent.caches[s].ended]
    c.coherent.caches[s].ended += 1
    note.tag, note.lanes = tag, lanes


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
def locate(c, s, line):
    """Row and way of a line; way -1: it is not here."""
    row = tags.row_of(c.l1.tags, s, slice_hash.index_of(c.l1.hash, line))
    return row, tags.find(c.l1.tags, s, row, line)


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


@inline
def prepare(c, s, counters, e, row, way, line, entry, now):
    """What an operation needs that is not done at once: ``(0, way)``, or why it must come again."""
    room = outgoing.room(c, s)
    if entry.messages and room < 1:
        counters.l1_fail_queue += 1
        return FULL_QUEUE, way
    if entry.actions & WAIT:
        new = e < 0 or c.coherent.lines[s, e].victim
        if (new and not lines.has_entry(c, s)) or (e < 0 and not lines.has_place(c, s)):
            counters.l1_fail_mshr += 1
            return FULL_FILE, way
    if way < 0 and c.coherent.rules.keeps[entry.next]:
        return make_room(c, s, counters, row, line, room - (entry.messages != 0), now)
    return 0, way


@inline
def begin(c, s, e, row, way, line, entry, kind, mask, lanes, tag, now):
    """An operation that waits for its home: the line is in transition. Returns its entry."""
    valid, dirty = 0, 0
    if e < 0:
        if way >= 0:
            valid, dirty = way_of(c, row, way).valid, way_of(c, row, way).dirty
        e = lines.allocate(c, s, line, 0)
        lines.wait(c, s, e, kind, mask, lanes, tag)
    else:
        valid, dirty = c.coherent.lines[s, e].valid, c.coherent.lines[s, e].dirty
        if c.coherent.lines[s, e].victim:
            lines.take_entry(c, s, e)
    going = c.coherent.lines[s, e]
    if entry.messages:
        number = number_of(entry.messages)
        sent = bytes_sent(c, number, dirty, mask)
        outgoing.push(c, s, line, number, sent, tag, lanes, now)
    if entry.actions & CLEAN:
        dirty = 0
    if entry.actions & DROP:
        valid = 0
    going.state, going.valid, going.dirty = entry.next, valid, dirty
    going.row, going.way = row, way
    if way >= 0:
        if c.coherent.rules.keeps[entry.next]:
            replacement.lock(c.l1.tags, row, way)
        else:
            tags.invalidate(c.l1.tags, row, way)
            going.way = lines.NONE
    return e


@inline
def carry_out(c, s, entry, state, valid, dirty, kind, mask, line, lanes, tag, now):
    """An operation that is done, as far as its L1 is concerned: the line's state, valid, dirty."""
    if entry.actions & PERFORM and writes(kind):
        valid |= mask
        dirty |= mask
    if entry.messages:
        number = number_of(entry.messages)
        outgoing.push(c, s, line, number, bytes_sent(c, number, dirty, mask), tag, lanes, now)
    if entry.actions & CLEAN:
        dirty = 0
    if entry.actions & DROP:
        valid = 0
    return entry.next, valid, dirty


@inline
def count(counters, kind, hit, merged):
    """Count a line's access by what it met."""
    if kind < STORE:
        counters.l1_global_read_sectors += 1
        counters.l1_global_read_hits += hit
        counters.l1_global_read_pending += merged
        counters.l1_bypass_sectors += kind >= LOAD_GLC
    elif kind < ATOMIC_OPERATION:
        counters.l1_global_write_sectors += 1
        counters.l1_global_write_hits += hit
    else:
        counters.l1_atomic_sectors += 1


@inline
def access(c, s, counters, kind, line, mask, lanes, tag, policy, now):
    """An operation on some bytes of a line: HIT, COMING or SENT, or why it must come again.

    ``tag`` is noted when what is COMING has ended, or what is SENT is acknowledged.
    """
    e = lines.find(c, s, line)
    if e >= 0:
        if c.coherent.lines[s, e].waiting >= c.coherent.spec[0].merges:
            counters.l1_fail_merge += 1
            return FULL_ENTRY
        if not lines.has_place(c, s):
            counters.l1_fail_mshr += 1
            return FULL_FILE
        lines.wait(c, s, e, kind, mask, lanes, tag)
        count(counters, kind, 0, 1)
        return COMING
    row, way = locate(c, s, line)
    state, valid, dirty = 0, 0, 0
    if way >= 0:
        record = way_of(c, row, way)
        state, valid, dirty = record.state, record.valid, record.dirty
    trigger = c.coherent.rules.known[0].messages + kind
    entry = entry_for(c, s, state, trigger, mask, valid)
    if entry.messages or entry.actions & WAIT:
        reason, found = prepare(c, s, counters, e, row, way, line, entry, now)
        if reason:
            return reason
        count(counters, kind, way >= 0 and writes(kind), 0)
        way = found
        if entry.actions & WAIT:
            begin(c, s, e, row, way, line, entry, kind, mask, lanes, tag, now)
            return COMING
    else:
        count(counters, kind, 1, 0)
    state, valid, dirty = carry_out(
        c, s, entry, state, valid, dirty, kind, mask, line, lanes, tag, now
    )
    if way >= 0:
        store(c, s, row, way, state, valid, dirty)
        if state:
            replacement.touch(c.l1.tags, s, row, way, policy)
    return SENT if entry.actions & POSTED else HIT


@inline
def store(c, s, row, way, state, valid, dirty):
    """Write down what a way holds; one without a state holds nothing."""
    record = way_of(c, row, way)
    record.state, record.valid, record.dirty = state, valid, dirty
    if state == 0:
        tags.invalidate(c.l1.tags, row, way)


@inline
def settle(c, s, counters, e, now):
    """A line's state may be stable: operations go on, as far as there is room; then its entry goes.

    What lacks room is parked.
    """
    stable = c.coherent.rules.known[0].l1_stable
    record = c.coherent.lines[s, e]
    if record.state < stable and record.victim == lines.GOING:
        lines.is_gone(c, s, e)
    while record.first >= 0 and record.state < stable:
        operation = c.coherent.operations[s, record.first]
        kind, mask = operation.kind, operation.mask
        lanes, tag = operation.lanes, operation.tag
        trigger = c.coherent.rules.known[0].messages + kind
        entry = entry_for(c, s, record.state, trigger, mask, record.valid)
        if entry.next < 0:
            return
        if entry.messages or entry.actions & WAIT:
            row, way = record.row, record.way
            if row < 0:
                row, _ = locate(c, s, record.line)
            reason, way = prepare(c, s, counters, e, row, way, record.line, entry, now)
            if reason:
                lines.park(c, s, e)
                return
            record.row, record.way = row, way
            if way >= 0:
                replacement.lock(c.l1.tags, row, way)
            if entry.actions & WAIT:
                begin(c, s, e, row, way, record.line, entry, kind, mask, lanes, tag, now)
                return
        lines.pop(c, s, e)
        record.state, record.valid, record.dirty = carry_out(
            c, s, entry, record.state, record.valid, record.dirty,
            kind, mask, record.line, lanes, tag, now,
        )  # fmt: skip
        if entry.actions & POSTED == 0:
            end(c, s, tag, lanes)
    if record.first < 0 and record.state < stable:
        if record.way >= 0:
            replacement.unlock(c.l1.tags, s, record.row, record.way, 0)
            store(c, s, record.row, record.way, record.state, record.valid, record.dirty)
        lines.release(c, s, e)


@inline
def go_on(c, s, counters, now):
    """What was parked looks again, the first of all."""
    settle(c, s, counters, lines.unpark(c, s), now)


@inline
def receive(c, s, counters, message, at, now):
    """Carry out what a message says; False if it must stay where it is.

    ``at``: the cycle from which a request goes out again, if it was refused.
    """
    rules = c.coherent.rules
    line = message.address // c.l1.spec[0].line_bytes
    trigger = message.kind - COHERENT
    e = lines.find(c, s, line)
    row, way = lines.NONE, lines.NONE
    state, valid, dirty, mask, kind = 0, 0, 0, 0, 0
    if e >= 0:
        record = c.coherent.lines[s, e]
        state, valid, dirty = record.state, record.valid, record.dirty
        row, way = record.row, record.way
        if record.first >= 0:
            mask = c.coherent.operations[s, record.first].mask
            kind = c.coherent.operations[s, record.first].kind
    else:
        row, way = locate(c, s, line)
        if way >= 0:
            held = way_of(c, row, way)
            state, valid, dirty = held.state, held.valid, held.dirty
    entry = entry_for(c, s, state, trigger, mask, valid)
    if entry.next < 0:
        return True
    if entry.actions & STALL:
        return False
    number = number_of(entry.messages) if entry.messages else -1
    if number >= 0 and rules.forms[number].network == RESPONSE and not outgoing.may_answer(c, s):
        return False
    if entry.actions & FILL:
        valid = ALL
    if entry.actions & ACKNOWLEDGED:
        end(c, s, message.tag, 0)
    if entry.actions & (PERFORM | ANSWER | DONE):
        operation = c.coherent.operations[s, c.coherent.lines[s, e].first]
        if entry.actions & PERFORM and writes(kind):
            valid |= mask
            dirty |= mask
        end(c, s, operation.tag, operation.lanes)
        lines.pop(c, s, e)
    if number >= 0:
        sent = bytes_sent(c, number, dirty, mask)
        if rules.forms[number].network == RESPONSE:
            counters.l1_invalidations += entry.actions & DROP != 0
            counters.l1_writebacks += rules.forms[number].carries != NOTHING
            outgoing.answer(c, s, line, number, sent, now)
        else:
            refusals = min(message.refusals + 1, 255)
            lanes = 0
            if e >= 0 and c.coherent.lines[s, e].first >= 0:
                lanes = c.coherent.operations[s, c.coherent.lines[s, e].first].lanes
            outgoing.repeat(c, s, line, number, sent, message.tag, lanes, refusals, at)
    if entry.actions & CLEAN:
        dirty = 0
    if entry.actions & DROP:
        valid = 0
    if e >= 0:
        record = c.coherent.lines[s, e]
        record.state, record.valid, record.dirty = entry.next, valid, dirty
        if record.parked == 0:
            settle(c, s, counters, e, now)
    elif way >= 0:
        store(c, s, row, way, entry.next, valid, dirty)
    return True


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
