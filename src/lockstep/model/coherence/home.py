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
from lockstep.model import clock as clocks
from lockstep.model import entries as lists
from lockstep.model.cache import data_port, replacement, tags
from lockstep.model.cache.l2 import (
    RUNNING,
    STALL_LINE,
    STALL_MSHR,
    STALL_READ_QUEUE,
    STALL_REPLY,
    STALL_WRITE_QUEUE,
    place_of,
)
from lockstep.model.coherence.l1 import ALL, event_of
from lockstep.model.coherence.numbers import (
    ALONE,
    ANSWERED,
    ATOMIC,
    DEFER,
    DIRTY,
    DISOWN,
    FORGET,
    FORWARD,
    FROM_OWNER,
    HOME_CLEAN,
    HOME_DROP,
    HOME_FILL,
    HOME_STALL,
    LAST,
    MERGE,
    MIX,
    NO_MSHR,
    OWN,
    OWNED,
    REMOVE,
    REPLAY,
    SAVE,
    SHARE,
    SHARER,
    SHOW,
    TO_MEMORY,
    TO_OWNER,
    TO_REQUESTER,
    UNMIXED,
    UNSHARED,
    WHOLE,
)
from lockstep.model.coherence.rules import AS_ATOMIC, AS_READ, AS_WRITE, COHERENT
from lockstep.model.dram import controller
from lockstep.model.dram.state import READ, WRITE
from lockstep.model.entries import NONE
from lockstep.model.link import KIND_DATA, KIND_READ
from lockstep.model.memory import QUEUE

# Pipes of a slice: all replies of one take equally long. There are no sides with a protocol.
DATA_PIPE, CONTROL_PIPE, FILL_PIPE = np.int64(0), np.int64(1), np.int64(2)
HUNG = -1
"""A request now hangs on a way: it is not in front of the tags any more."""
MOST_REFUSALS = 64  # of a request; then it holds its slice up until it can be served
ONE = np.int64(1)


@force_inline
def way_of(m, row, way):
    """The directory's record of a way."""
    return m.homes.ways[row * m.l2.tags.shape[0].ways + way]


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
def reply(m, slice_, origin, number, pipe, tick):
    """Answer the requester of an entry: RUNNING, or that its pipe is full."""
    spec, entries, state = m.l2.spec[0], m.l2.entries, m.l2.slices[slice_]
    if state.count[pipe] >= spec.replies:
        return STALL_REPLY
    peeks = origin.kind == KIND_READ
    new = lists.take(state, entries)
    target = entries[new]
    target.kind, target.source, target.home = origin.kind, origin.source, origin.home
    target.line, target.full, target.tag = origin.line, origin.full, origin.tag
    target.policy, target.refusals, target.issued = origin.policy, origin.refusals, origin.issued
    send(m, slice_, new, KIND_DATA if peeks else COHERENT + number, number, pipe, tick, peeks)
    return RUNNING


@force_inline
def send(m, slice_, new, answer, number, pipe, tick, peeks):
    """Put a reply into a pipe, which has room."""
    spec, entries, state = m.l2.spec[0], m.l2.entries, m.l2.slices[slice_]
    target = entries[new]
    data = peeks or m.homes.rules.forms[number].carries
    target.answer, target.sectors = answer, 1
    target.flits = m.homes.spec[0].data_flits if data else 1
    now = clocks.cycle_of(spec.l2, tick)
    target.ready = now
    if pipe == CONTROL_PIPE:
        target.ready = now + m.homes.spec[0].directory_cycles
    elif pipe == DATA_PIPE:
        counters = m.counters[state.channel]
        done = data_port.move(spec, state, counters, target.line, 1, tick)
        target.ready = done + spec.hit_cycles
    lists.append(entries, state, pipe, new)


@force_inline
def lacks(m, slice_, record, entry, pipe):
    """What carrying out an entry lacks: room of the pipe, of memory's queues, or for forwards."""
    state, forms, spec = m.l2.slices[slice_], m.homes.rules.forms, m.l2.spec[0]
    forwards = m.homes.slices[slice_].forward_count
    for number in range(forms.shape[0]):
        if entry.messages >> number & 1 == 0:
            continue
        form = forms[number]
        if form.to == TO_MEMORY:
            if form.carries:
                if not controller.has_room(m.l2.dram, state.channel, WRITE):
                    return STALL_WRITE_QUEUE
            elif not controller.has_room(m.l2.dram, state.channel, READ):
                return STALL_READ_QUEUE
        elif form.network == FORWARD:
            if forwards + m.homes.spec[0].sources > m.homes.forwards.shape[1]:
                return STALL_REPLY
        elif state.count[pipe] >= spec.replies:
            return STALL_REPLY
    if entry.actions & SHOW and state.count[pipe] >= spec.replies:
        return STALL_REPLY
    return RUNNING


@force_inline
def pipe_of(m, entry, after_fill):
    """The pipe of what an entry replies."""
    forms = m.homes.rules.forms
    for number in range(forms.shape[0]):
        if entry.messages >> number & 1 and forms[number].to == TO_REQUESTER:
            if forms[number].carries == 0:
                return CONTROL_PIPE
    return FILL_PIPE if after_fill else DATA_PIPE


@jit
def act(m, slice_, row, way, entry, index, sender, requester, mask, tick, now):
    """Carry out an entry of the table for a line: RUNNING, HUNG, or what it lacks.

    ``index``: the request that it is for, or -1; ``sender``: the L1 whose request or answer it is
    for, or -1, with ``mask``, the bytes that it brings; ``requester``: who is served, or -1. Way
    -1: the line has none, and gets none.
    """
    state, spec, rules = m.l2.slices[slice_], m.l2.spec[0], m.homes.rules
    counters = m.counters[state.channel]
    record = way_of(m, row, max(way, 0))
    actions = entry.actions
    waited = index >= 0 and m.l2.entries[index].left == 0  # until the data was here
    pipe = pipe_of(m, entry, waited or actions & HOME_FILL)
    reason = lacks(m, slice_, record, entry, pipe)
    if reason != RUNNING:
        return reason
    if actions & SAVE:
        request = m.l2.entries[index]
        record.source, record.tag, record.issued = request.source, request.tag, request.issued
        record.kind = request.kind
    if actions & MERGE:
        record.valid |= mask
        record.dirty |= mask
        data_port.move(spec, state, counters, tags.line_of(m.l2.tags, row, way), 1, tick)
    if actions & HOME_FILL:
        record.valid = ALL
        data_port.move(spec, state, counters, tags.line_of(m.l2.tags, row, way), 1, tick)
    if actions & ATOMIC:
        record.dirty |= mask
        lanes = np.int64(m.l2.entries[index].full)
        line = tags.line_of(m.l2.tags, row, way)
        data_port.update(spec, state, counters, line, 1, lanes, tick)
    if way >= 0:
        direct(record, actions, sender, requester)
    for number in range(rules.forms.shape[0]):
        if entry.messages >> number & 1:
            dispatch(m, slice_, row, way, record, number, index, requester, pipe, tick, now)
    if actions & SHOW:
        reply(m, slice_, m.l2.entries[index], 0, pipe, tick)
    hung = RUNNING
    if way >= 0:
        if actions & HOME_CLEAN:
            record.dirty = 0
        if actions & HOME_DROP:
            record.valid = 0
        if actions & DEFER:
            m.l2.entries[index].left = 0
            hang(m, slice_, record, index)
            hung = HUNG
        change(m, slice_, row, way, record, entry.next)
        if actions & REPLAY:
            replay(m, slice_, record, tick)
    return hung


@force_inline
def direct(record, actions, sender, requester):
    """What an entry does to the directory."""
    if actions & ANSWERED:
        record.awaited -= 1
    if actions & MIX:
        record.mixed = 1
    if actions & REMOVE:
        record.sharers &= ~(ONE << sender)
        if record.owner == sender:
            record.owner = NONE
        if record.sharers == 0:
            record.mixed = 0
    if actions & DISOWN:
        record.owner = NONE
    if actions & FORGET:
        record.sharers, record.owner, record.mixed = 0, NONE, 0
    if actions & SHARE:
        record.sharers |= ONE << requester
    if actions & OWN:
        record.owner = requester


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


@force_inline
def dispatch(m, slice_, row, way, record, number, index, requester, pipe, tick, now):
    """Send a message of an entry; there is room."""
    form = m.homes.rules.forms[number]
    state = m.l2.slices[slice_]
    if form.to == TO_MEMORY:
        line = tags.line_of(m.l2.tags, row, way)
        to_memory(m, slice_, row, way, line, form.carries != 0, now)
    elif form.to == TO_REQUESTER:
        if index >= 0:
            reply(m, slice_, m.l2.entries[index], number, pipe, tick)
            return
        new = lists.take(state, m.l2.entries)
        target = m.l2.entries[new]
        target.kind, target.source, target.home = record.kind, record.source, slice_
        target.line, target.full = tags.line_of(m.l2.tags, row, way), 0
        target.tag, target.issued = record.tag, record.issued
        target.policy = target.refusals = 0
        send(m, slice_, new, COHERENT + number, number, pipe, tick, False)
    elif form.to == TO_OWNER:
        if record.owner >= 0 and record.owner != requester:
            forward(m, slice_, row, way, number, record.owner, now)
            record.awaited += 1
    else:
        for l1 in range(m.homes.spec[0].sources):
            there = record.sharers >> l1 & 1
            if there and l1 != requester and l1 != record.owner:
                forward(m, slice_, row, way, number, l1, now)
                record.awaited += 1


@force_inline
def to_memory(m, slice_, row, way, line, writes, now):
    """Read a line from the memory into its way, or write it there."""
    state, dram = m.l2.slices[slice_], m.l2.dram
    counters = m.counters[state.channel]
    place = place_of(m.l2, state, line)
    if writes:
        controller.enqueue(dram, state.channel, WRITE, place, now)
        counters.l2_writebacks += 1
        return
    slot = dram.slots[controller.enqueue(dram, state.channel, READ, place, now)]
    slot.slice, slot.tag_row, slot.way = slice_, row, way
    slot.sectors, slot.far, slot.ahead = 1, 0, 0
    state.mshrs += 1


@force_inline
def forward(m, slice_, row, way, number, destination, now):
    """Tell an L1 something about a line; there is room."""
    state = m.homes.slices[slice_]
    capacity = m.homes.forwards.shape[1]
    note = m.homes.forwards[slice_, (state.forward_head + state.forward_count) % capacity]
    state.forward_count += 1
    note.ready_at = now + m.homes.spec[0].directory_cycles
    note.destination, note.number = destination, number
    note.line, note.slice = tags.line_of(m.l2.tags, row, way), slice_
    m.counters[m.l2.slices[slice_].channel].l2_forwards += 1


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
