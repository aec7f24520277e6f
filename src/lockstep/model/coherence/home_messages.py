"""What a home sends: replies, forwards to L1s, and requests to the memory; and the room for it."""

import numpy as np

from lockstep._jit import force_inline
from lockstep.model import clock as clocks
from lockstep.model import entries as lists
from lockstep.model.cache import data_port, tags
from lockstep.model.cache.l2_room import place_of
from lockstep.model.cache.l2_stalls import RUNNING, STALL_READ_QUEUE, STALL_REPLY, STALL_WRITE_QUEUE
from lockstep.model.coherence.numbers import (
    FORWARD,
    SHOW,
    TO_MEMORY,
    TO_REQUESTER,
)
from lockstep.model.coherence.rules import COHERENT
from lockstep.model.dram import controller
from lockstep.model.dram.state import READ, WRITE
from lockstep.model.link import KIND_DATA, KIND_READ

# Pipes of a slice: all replies of one take equally long. There are no sides with a protocol.
DATA_PIPE, CONTROL_PIPE, FILL_PIPE = np.int64(0), np.int64(1), np.int64(2)


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
def pipe_of(m, entry, after_fill):
    """The pipe of what an entry replies."""
    forms = m.homes.rules.forms
    for number in range(forms.shape[0]):
        if entry.messages >> number & 1 and forms[number].to == TO_REQUESTER:
            if forms[number].carries == 0:
                return CONTROL_PIPE
    return FILL_PIPE if after_fill else DATA_PIPE


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
