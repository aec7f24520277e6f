"""The home of lines under a coherence protocol: an L2 slice with its directory, by the table.

A line whose state is not stable is locked: its way stays, and the table says who is refused. What
the protocol defers hangs on the line's way, and comes before all others when the data is here. A
line in L1s that must make room is taken from them first; the request that wants its way hangs
there meanwhile.

``m`` is the state of the memory side (``model/memory.py``). Functions return RUNNING when something
is done with, or why it is not, and then nothing has changed.
"""

import numpy as np

from lockstep._jit import force_inline, inline, jit
from lockstep.model.cache import replacement, tags
from lockstep.model.cache.l2_stalls import RUNNING, STALL_LINE, STALL_MSHR
from lockstep.model.coherence.home_actions import HUNG, act
from lockstep.model.coherence.home_lines import ONE, fresh, hang, take_over, way_of
from lockstep.model.coherence.home_messages import CONTROL_PIPE, reply
from lockstep.model.coherence.l1_lines import ALL, event_of
from lockstep.model.coherence.numbers import (
    ALONE,
    DEFER,
    DIRTY,
    FROM_OWNER,
    HOME_STALL,
    LAST,
    NO_MSHR,
    OWNED,
    SHARER,
    TO_MEMORY,
    UNMIXED,
    UNSHARED,
    WHOLE,
)
from lockstep.model.coherence.rules import AS_ATOMIC, AS_READ, AS_WRITE, COHERENT
from lockstep.model.entries import NONE
from lockstep.model.link import KIND_READ

MOST_REFUSALS = 64  # of a request; then it holds its slice up until it can be served


@force_inline
def truth(m, slice_, record, sender, waits):
    """The conditions that hold for a line with a way; ``waits``: it is in transition."""
    true = 0
    others = record.sharers
    if sender >= 0:
        others &= ~(ONE << sender)
        if record.sharers >> sender & 1:
            true |= SHARER
    if record.valid == ALL:
        true |= WHOLE
    elif no_mshr(m, slice_, waits):
        true |= NO_MSHR
    if record.owner >= 0 and record.owner != sender:
        true |= OWNED
    if record.owner >= 0 and record.owner == sender:
        true |= FROM_OWNER
    if others == 0:
        true |= ALONE
    if record.mixed == 0:
        true |= UNMIXED
    if record.sharers == 0:
        true |= UNSHARED
    if record.awaited == 1:
        true |= LAST
    if record.dirty != 0:
        true |= DIRTY
    return true


@force_inline
def no_mshr(m, slice_, waits):
    """Whether a line cannot be fetched, or one on its way not be waited for."""
    state = m.l2.slices[slice_]
    if state.waiting >= m.l2.spec[0].waiters:
        return True
    return not waits and state.mshrs >= m.l2.spec[0].mshrs


@force_inline
def entry_for(m, slice_, state, trigger, true):
    """The table's entry for what happens to a line, which is possible; else it is noted."""
    rules = m.homes.rules
    event = event_of(rules.home_choices, trigger, true)
    entry = rules.home[state, event]
    if entry.next < 0 and m.homes.slices[slice_].fault == 0:
        m.homes.slices[slice_].fault = 1 + state * rules.home.shape[1] + event
    return entry


@force_inline
def count(m, slice_, counted, hit):
    """Count a request by what it met."""
    counters = m.counters[m.l2.slices[slice_].channel]
    counters.l2_requests += 1
    if counted == AS_READ:
        counters.l2_read_sectors += 1
        counters.l2_read_hits += hit
    elif counted == AS_WRITE:
        counters.l2_write_sectors += 1
        counters.l2_write_hits += hit
    elif counted == AS_ATOMIC:
        counters.l2_atomic_sectors += 1
        counters.l2_atomic_hits += hit


@jit
def serve(m, slice_, index, tick, now):
    """Carry out the oldest request in front of the tags: RUNNING, HUNG, or why it must wait."""
    request, rules = m.l2.entries[index], m.homes.rules
    known = rules.known[0]
    peeks = request.kind == KIND_READ
    trigger = known.peek if peeks else request.kind - COHERENT
    sender = NONE if peeks else np.int64(request.source)
    row = np.int64(request.row)
    way = tags.find(m.l2.tags, slice_, row, request.line)
    if way < 0:
        true = UNSHARED | ALONE | UNMIXED | (NO_MSHR if no_mshr(m, slice_, False) else 0)
        entry = entry_for(m, slice_, 0, trigger, true)
    else:
        record = way_of(m, row, way)
        take_over(m, record, row, way)
        waits = record.state >= known.home_stable
        true = truth(m, slice_, record, sender, waits)
        entry = entry_for(m, slice_, record.state, trigger, true)
    if entry.next < 0:
        return RUNNING
    counters = m.counters[m.l2.slices[slice_].channel]
    refusal = entry.messages == ONE << known.refusal
    full = true & NO_MSHR
    if entry.actions & HOME_STALL or (refusal and full and not m.l2.spec[0].refuse):
        return STALL_MSHR if full else STALL_LINE
    if refusal:
        if request.refusals >= MOST_REFUSALS:
            return STALL_MSHR if full else STALL_LINE
        reason = reply(m, slice_, request, known.refusal, CONTROL_PIPE, tick)
        if reason == RUNNING:
            counters.l2_nacks += 1
            counters.l2_lock_nacks += full == 0
            state = m.homes.slices[slice_]
            state.most_refusals = max(state.most_refusals, np.int64(request.refusals) + 1)
        return reason
    if way < 0 and entry.next != 0:
        way, reason = make_room(m, slice_, index, tick, now)
        if way < 0:
            return reason
    counted = AS_READ if peeks else rules.counted[trigger]
    mask, source, new = m.homes.masks[index], np.int64(request.source), request.left
    reason = act(m, slice_, row, way, entry, index, sender, source, mask, tick, now)
    if reason == RUNNING or reason == HUNG:
        if way >= 0:
            replacement.touch(m.l2.tags, slice_, row, way, 0)
        if new:
            fetches = entry.actions & DEFER or sends_to_memory(m, entry)
            count(m, slice_, counted, 0 if fetches else 1)
    return reason


@force_inline
def sends_to_memory(m, entry):
    """Whether an entry asks the memory for something, or writes to it."""
    for number in range(m.homes.rules.forms.shape[0]):
        if entry.messages >> number & 1 and m.homes.rules.forms[number].to == TO_MEMORY:
            return True
    return False


@force_inline
def make_room(m, slice_, index, tick, now):
    """A way for the line of a request: ``(way, RUNNING)`` or ``(-1, why not)``."""
    request = m.l2.entries[index]
    row = np.int64(request.row)
    way = replacement.victim(m.l2.tags, slice_, row, m.l2.policies.victim)
    if way < 0:
        return way, STALL_LINE
    record = way_of(m, row, way)
    counters = m.counters[m.l2.slices[slice_].channel]
    if tags.line_of(m.l2.tags, row, way) == tags.NO_LINE:
        record.state = 0
    else:
        take_over(m, record, row, way)
    if record.state:
        true = truth(m, slice_, record, NONE, False)
        entry = entry_for(m, slice_, record.state, m.homes.rules.known[0].evict, true)
        hangs = entry.next >= m.homes.rules.known[0].home_stable
        if hangs and m.l2.slices[slice_].waiting >= m.l2.spec[0].waiters:
            return NONE, STALL_MSHR
        reason = act(m, slice_, row, way, entry, NONE, NONE, NONE, ALL, tick, now)
        if reason != RUNNING:
            return NONE, reason
        counters.l2_evictions += 1
        if hangs:
            record.parked = 1
            hang(m, slice_, record, index)
            return NONE, HUNG
    replacement.insert(m.l2.tags, slice_, row, way, request.line, 0)
    fresh(record, request.line)
    return way, RUNNING


@inline
def fetched(m, slice_, index, tick, now):
    """Data of a DRAM slot is here; whether it could be taken."""
    data = m.l2.dram.slots[index]
    row, way = np.int64(data.tag_row), np.int64(data.way)
    record = way_of(m, row, way)
    known = m.homes.rules.known[0]
    true = truth(m, slice_, record, NONE, True)
    entry = entry_for(m, slice_, record.state, known.fetched, true)
    if entry.next < 0:
        return True
    source = record.source
    if act(m, slice_, row, way, entry, NONE, NONE, source, ALL, tick, now) != RUNNING:
        return False
    m.l2.slices[slice_].mshrs -= 1
    m.counters[m.l2.slices[slice_].channel].l2_fills += 1
    return True


@inline
def answered(m, slice_, row, message, tick, now):
    """An L1 answers a forward; whether that could be taken."""
    line = message.address // m.l2.spec[0].line_bytes.value
    way = tags.find(m.l2.tags, slice_, row, line)
    if way < 0:
        if m.homes.slices[slice_].fault == 0:
            m.homes.slices[slice_].fault = 1
        return True
    record = way_of(m, row, way)
    sender = np.int64(message.source)
    true = truth(m, slice_, record, sender, True)
    entry = entry_for(m, slice_, record.state, message.kind - COHERENT, true)
    if entry.next < 0:
        return True
    mask, source = np.int64(message.mask), record.source
    return act(m, slice_, row, way, entry, NONE, sender, source, mask, tick, now) == RUNNING
