"""What an entry of a protocol's table does to a line of a home, and to its directory."""

import numpy as np

from lockstep._jit import force_inline, jit
from lockstep.model import entries as lists
from lockstep.model.cache import data_port, tags
from lockstep.model.cache.l2_stalls import RUNNING
from lockstep.model.coherence.home_lines import ONE, change, hang, replay, way_of
from lockstep.model.coherence.home_messages import forward, lacks, pipe_of, reply, send, to_memory
from lockstep.model.coherence.l1 import ALL
from lockstep.model.coherence.numbers import (
    ANSWERED,
    ATOMIC,
    DEFER,
    DISOWN,
    FORGET,
    HOME_CLEAN,
    HOME_DROP,
    HOME_FILL,
    MERGE,
    MIX,
    OWN,
    REMOVE,
    REPLAY,
    SAVE,
    SHARE,
    SHOW,
    TO_MEMORY,
    TO_OWNER,
    TO_REQUESTER,
)
from lockstep.model.coherence.rules import COHERENT
from lockstep.model.entries import NONE

HUNG = -1
"""A request now hangs on a way: it is not in front of the tags any more."""


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
