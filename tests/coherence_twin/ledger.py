"""Messages under way, and what loads may return, by numbers: see ``shadow.py``."""

import numpy as np
from numba import njit

from coherence_twin import numbers as n


@njit(nogil=True)
def fail(s, code):
    """Keep the first failure."""
    if s.one[n.FAILURE] == 0:
        s.one[n.FAILURE] = code


@njit(nogil=True)
def choose(choices, trigger, true):
    """The event of a trigger."""
    k = 0
    while choices[trigger, k].conditions & ~true:
        k += 1
    return choices[trigger, k].event


@njit(nogil=True)
def order(s, l1, mask, data):
    """As ``Shadow.order``."""
    fresh = 0
    for k in range(len(data)):
        if mask >> k & 1 and s.index[data[k]] < 0:
            fresh |= np.int64(1) << k
    if fresh == 0:
        return
    s.one[n.CLOCK] += 1
    for k in range(len(data)):
        if fresh >> k & 1:
            generation = data[k]
            s.index[generation] = s.one[n.CLOCK]
            if generation < s.last[l1, k]:
                fail(s, n.ORDER)
            s.last[l1, k] = generation
            s.current[k] = generation
            s.floors[l1, k] = s.one[n.CLOCK]
            if s.pending[l1, k] == generation:
                s.pending[l1, k] = 0


@njit(nogil=True)
def exact(s, mask, data):
    """As ``Shadow.exact``."""
    for k in range(len(data)):
        if mask >> k & 1 and data[k] != s.current[k]:
            fail(s, n.STALE)


@njit(nogil=True)
def read(s, l1, mask, data):
    """As ``Shadow.read``."""
    for k in range(len(data)):
        if mask >> k & 1:
            if s.pending[l1, k] != 0:
                if data[k] != s.pending[l1, k]:
                    fail(s, n.OWN_LOST)
                continue
            index = s.index[data[k]]
            if index < s.floor[l1, k]:
                fail(s, n.OLD)
            s.floors[l1, k] = max(s.floors[l1, k], index)


@njit(nogil=True)
def post(s, kind, to, l1, mask):
    """A new message; its slot."""
    if s.one[n.FREE] == 1:
        fail(s, n.ROOM)
        return 0
    s.one[n.FREE] -= 1
    slot = s.free[s.one[n.FREE]]
    s.queue[s.one[n.MESSAGES]] = slot
    s.one[n.MESSAGES] += 1
    s.messages[slot, n.KIND], s.messages[slot, n.TO] = kind, to
    s.messages[slot, n.OF], s.messages[slot, n.MMASK] = l1, mask
    return slot


@njit(nogil=True)
def release(s, slot):
    """Nobody uses a slot any more."""
    s.free[s.one[n.FREE]] = slot
    s.one[n.FREE] += 1
