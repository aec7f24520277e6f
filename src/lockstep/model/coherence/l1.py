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
from lockstep.model.cache import replacement, tags
from lockstep.model.cache.l1 import FULL_ENTRY, FULL_FILE, FULL_QUEUE
from lockstep.model.coherence import lines, outgoing
from lockstep.model.coherence.l1_lines import (
    ALL,
    bytes_sent,
    end,
    entry_for,
    locate,
    make_room,
    number_of,
    store,
    way_of,
    writes,
)
from lockstep.model.coherence.numbers import (
    ACKNOWLEDGED,
    ANSWER,
    ATOMIC_OPERATION,
    CLEAN,
    DONE,
    DROP,
    FILL,
    LOAD_GLC,
    NOTHING,
    PERFORM,
    POSTED,
    RESPONSE,
    STALL,
    STORE,
    WAIT,
)
from lockstep.model.coherence.rules import COHERENT

HIT, COMING, SENT = 0, 1, 2
"""What becomes of an operation: it is done; it waits; a store is on its way, to be acknowledged."""


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
def found(c, s, e, line):
    """Row, way, state, valid, dirty of a line that a message is about; ``e``: its entry, or -1."""
    if e >= 0:
        record = c.coherent.lines[s, e]
        return record.row, record.way, record.state, record.valid, record.dirty
    row, way = locate(c, s, line)
    if way < 0:
        return row, way, 0, 0, 0
    held = way_of(c, row, way)
    return row, way, held.state, held.valid, held.dirty


@inline
def oldest(c, s, e):
    """Mask and kind of the operation that has waited longest for a line; 0 if none does."""
    if e < 0 or c.coherent.lines[s, e].first < 0:
        return 0, 0
    operation = c.coherent.operations[s, c.coherent.lines[s, e].first]
    return operation.mask, operation.kind


@inline
def ask_again(c, s, e, message, number, sent, at):
    """A request that was refused goes out again from a cycle on."""
    refusals = min(message.refusals + 1, 255)
    lanes = 0
    if e >= 0 and c.coherent.lines[s, e].first >= 0:
        lanes = c.coherent.operations[s, c.coherent.lines[s, e].first].lanes
    line = message.address // c.l1.spec[0].line_bytes
    outgoing.repeat(c, s, line, number, sent, message.tag, lanes, refusals, at)


@inline
def receive(c, s, counters, message, at, now):
    """Carry out what a message says; False if it must stay where it is.

    ``at``: the cycle from which a request goes out again, if it was refused.
    """
    rules = c.coherent.rules
    line = message.address // c.l1.spec[0].line_bytes
    trigger = message.kind - COHERENT
    e = lines.find(c, s, line)
    row, way, state, valid, dirty = found(c, s, e, line)
    mask, kind = oldest(c, s, e)
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
            ask_again(c, s, e, message, number, sent, at)
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
