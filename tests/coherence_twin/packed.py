"""A line as a row of 16-bit words: what the search keeps of a state.

A word for each L1, two for the home, one for how many messages are under way and how many the home
has deferred, then a word for each of these. Values are left out: all bytes are generation 0. Two
states that differ in nothing that can be seen have one row: messages are in an order of their own
where their network has none, and the numbers of L1s may be exchanged.
"""

import numpy as np
from numba import njit

from coherence_twin import numbers as n
from coherence_twin.ledger import fail

WIDTH = 36
"""Words of a row."""
SIZES = 2
"""Bytes of a line, at most: a mask has so many bits."""
L1S = 4
"""L1s at most."""


@njit(nogil=True)
def renamed(perm, l1):
    """The new number of an L1; what is less than 0 is none."""
    return perm[l1] if l1 >= 0 else l1


@njit(nogil=True)
def message(s, perm, slot):
    """A message as a word: kind, receiver, L1 and mask."""
    row = s.messages[slot]
    return (
        row[n.KIND] << 8
        | (renamed(perm, row[n.TO]) + 2) << 5
        | (renamed(perm, row[n.OF]) + 1) << 2
        | row[n.MMASK]
    )


@njit(nogil=True)
def rank(p, word):
    """By what messages are sorted: those of a network with an order by their way alone."""
    form = p.forms[word >> 8]
    if not form.ordered:
        return form.network << 16 | word
    if form.network == n.BESIDE:
        return form.network << 16 | (word & 0xE0)
    return form.network << 16 | (word & 0xFC)


@njit(nogil=True)
def encode(p, s, perm, row):
    """Fill in the row of a state whose L1s are renamed; whether it has room."""
    l1s = len(s.l1)
    count, deferred = s.one[n.MESSAGES], s.one[n.DEFERRED]
    if l1s + 3 + count + deferred > WIDTH:
        fail(s, n.ROOM)
        return False
    row[:] = 0
    for k in range(l1s):
        of = s.l1[k]
        access = of[n.ACCESS] + 1
        word = of[n.LSTATE] | of[n.LVALID] << 5 | of[n.LDIRTY] << 7 | access << 9
        row[perm[k]] = word | of[n.MASK] << 13 if access else word
    home = s.home
    sharers = 0
    for k in range(l1s):
        sharers |= (home[n.SHARERS] >> k & 1) << perm[k]
    row[l1s] = (
        home[n.HSTATE]
        | home[n.HVALID] << 5
        | home[n.HDIRTY] << 7
        | home[n.MIXED] << 9
        | home[n.AWAITED] << 10
    )
    saved = home[n.SAVED] if home[n.HSTATE] >= p.stable else -1  # else nobody looks at it again
    row[l1s + 1] = (
        sharers | (renamed(perm, home[n.OWNER]) + 1) << 4 | (renamed(perm, saved) + 1) << 8
    )
    row[l1s + 2] = count | deferred << 8
    first = l1s + 3
    for k in range(count):
        word = message(s, perm, s.queue[k])
        by, place = rank(p, word), first + k
        while place > first and rank(p, np.int64(row[place - 1])) > by:
            row[place] = row[place - 1]
            place -= 1
        row[place] = word
    for k in range(deferred):
        row[first + count + k] = message(s, perm, s.deferred[k])
    return True


@njit(nogil=True)
def decode(p, s, row):
    """A line in the state of a row."""
    l1s, size = len(s.l1), len(s.current)
    s.data[:], s.home_data[:], s.memory[:], s.current[:] = 0, 0, 0, 0
    s.floors[:], s.floor[:], s.pending[:], s.last[:] = 0, 0, 0, 0
    for k in range(l1s):
        word = np.int64(row[k])
        of = s.l1[k]
        of[n.LSTATE], of[n.LVALID], of[n.LDIRTY] = word & 31, word >> 5 & 3, word >> 7 & 3
        of[n.ACCESS], of[n.MASK] = (word >> 9 & 15) - 1, word >> 13
        of[n.GENERATION] = of[n.UNACKNOWLEDGED] = 0
    home, word, other = s.home, np.int64(row[l1s]), np.int64(row[l1s + 1])
    home[n.HSTATE], home[n.HVALID], home[n.HDIRTY] = word & 31, word >> 5 & 3, word >> 7 & 3
    home[n.MIXED], home[n.AWAITED] = word >> 9 & 1, word >> 10
    home[n.SHARERS], home[n.OWNER], home[n.SAVED] = (
        other & 15,
        (other >> 4 & 15) - 1,
        (other >> 8) - 1,
    )
    counts = np.int64(row[l1s + 2])
    s.one[:] = 0
    s.one[n.MESSAGES], s.one[n.DEFERRED] = counts & 255, counts >> 8
    under_way = s.one[n.MESSAGES] + s.one[n.DEFERRED]
    s.one[n.FREE] = len(s.free) - under_way
    for k in range(len(s.free) - 2 * WIDTH, len(s.free)):
        s.free[k] = k
    for k in range(under_way):
        slot = len(s.free) - 1 - k
        word = np.int64(row[l1s + 3 + k])
        of = s.messages[slot]
        of[n.KIND], of[n.TO], of[n.OF] = word >> 8, (word >> 5 & 7) - 2, (word >> 2 & 7) - 1
        of[n.MMASK] = word & 3
        for b in range(size):
            s.payload[slot, b] = 0
        if k < s.one[n.MESSAGES]:
            s.queue[k] = slot
        else:
            s.deferred[k - s.one[n.MESSAGES]] = slot
