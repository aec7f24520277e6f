"""An L1 by numbers: ``Machine._at_l1``."""

import numpy as np
from numba import njit

from coherence_twin import numbers as n
from coherence_twin.ledger import choose, exact, fail, order, post, read
from lockstep.model.coherence import arrays


@njit(nogil=True)
def finish(s, l1):
    """The operation of an n.L1 is done."""
    s.l1[l1, n.ACCESS] = n.NONE
    s.one[n.OPERATIONS_DONE] += 1


@njit(nogil=True)
def perform(p, s, l1, exclusive):
    """As ``Machine._perform``."""
    row, data = s.l1[l1], s.data[l1]
    kind, mask = row[n.ACCESS], row[n.MASK]
    if exclusive:
        order(s, l1, row[n.LDIRTY], data)
    if kind <= n.LOAD_SLC or kind == n.ATOMIC_OP:
        if mask & ~row[n.LVALID]:
            fail(s, n.INVALID)
        if exclusive:
            exact(s, mask, data)
    if kind <= n.LOAD_SLC:
        read(s, l1, mask, data)
    else:
        for k in range(len(data)):
            if mask >> k & 1:
                s.pending[l1, k] = row[n.GENERATION]
                data[k] = row[n.GENERATION]
        row[n.LVALID] |= mask
        row[n.LDIRTY] |= mask
        if exclusive:
            order(s, l1, mask, data)
    finish(s, l1)


@njit(nogil=True)
def l1_event(p, s, l1, trigger, far):
    """The event of a trigger at an n.L1."""
    row = s.l1[l1]
    mask = row[n.MASK] if row[n.ACCESS] != n.NONE else 0
    true = far
    if mask & ~row[n.LVALID] == 0:
        true |= n.VALID
    whole = np.int64(-1) if s.data.shape[1] == 64 else (np.int64(1) << s.data.shape[1]) - 1
    if mask == whole:
        true |= n.FULL
    return choose(p.l1_choices, trigger, true)


@njit(nogil=True)
def at_l1(p, s, l1, trigger, slot, far):
    """As ``Machine._at_l1``; ``slot`` is the message's, or -1."""
    row, data = s.l1[l1], s.data[l1]
    event = l1_event(p, s, l1, trigger, far)
    entry = p.l1[row[n.LSTATE], event]
    s.l1_count[row[n.LSTATE], event] += 1
    if entry.next == arrays.IMPOSSIBLE:
        fail(s, n.L1_IMPOSSIBLE)
        return True
    actions = entry.actions
    if actions & n.STALL:
        return False
    kind, mask, generation = row[n.ACCESS], row[n.MASK], row[n.GENERATION]
    if actions & n.FILL:
        for k in range(len(data)):
            if s.messages[slot, n.MMASK] >> k & 1 and not row[n.LDIRTY] >> k & 1:
                data[k] = s.payload[slot, k]
        row[n.LVALID] |= s.messages[slot, n.MMASK] & ~row[n.LDIRTY]
    if actions & n.PERFORM:
        perform(p, s, l1, p.exclusive[entry.next])
    if actions & n.ANSWER:
        if kind <= n.LOAD_SLC:
            read(s, l1, mask, s.payload[slot])
        finish(s, l1)
    if actions & n.DONE:
        for k in range(len(data)):
            if mask >> k & 1:
                s.pending[l1, k] = generation
        finish(s, l1)
    if actions & n.POSTED:
        row[n.UNACKNOWLEDGED] += 1
    if actions & n.ACKNOWLEDGED:
        row[n.UNACKNOWLEDGED] -= 1
    if entry.messages:
        for number in range(len(p.forms)):
            if entry.messages >> number & 1:
                carries = p.forms[number].carries
                if carries == n.DIRTY_BYTES:
                    sent = post(s, number, n.HOME, l1, row[n.LDIRTY])
                    s.payload[sent, :] = data
                elif carries == n.OPERAND:
                    sent = post(s, number, n.HOME, l1, mask)
                    s.payload[sent, :] = generation
                else:
                    post(s, number, n.HOME, l1, 0)
        if actions & n.WAIT:
            for k in range(len(data)):
                s.floor[l1, k] = s.index[s.current[k]]
    if actions & n.CLEAN:
        row[n.LDIRTY] = 0
    if actions & n.DROP:
        if row[n.LDIRTY]:
            fail(s, n.LOST)
        row[n.LVALID] = 0
    row[n.LSTATE] = entry.next
    return True
