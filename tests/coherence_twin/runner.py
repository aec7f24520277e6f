"""The machine of ``machine.py`` by numbers: the arrays of a protocol, carried out by compiled code.

``run`` goes through an episode of random steps with one line of up to 64 bytes, then lets all come
to an end and empties the caches. What loads may return is checked as ``shadow.py`` says.
``tester.py`` takes the same steps by names.
"""

import numpy as np
from numba import njit

from coherence_twin import numbers as n
from coherence_twin.home_runner import at_home, to_home
from coherence_twin.l1_runner import at_l1, l1_event
from coherence_twin.ledger import exact, fail, post, release


@njit(nogil=True)
def at_memory(p, s, slot):
    """As ``Machine._at_memory``."""
    kind, l1, mask = s.messages[slot, n.KIND], s.messages[slot, n.OF], s.messages[slot, n.MMASK]
    for k in range(len(s.memory)):
        if mask >> k & 1:
            s.memory[k] = s.payload[slot, k]
    reply = p.replies[kind]
    if reply >= 0:
        sent = post(s, reply, n.HOME, l1, 0)
        if p.forms[reply].carries == n.LINE:
            size = len(s.memory)
            whole = np.int64(-1) if size == 64 else (np.int64(1) << size) - 1
            s.messages[sent, n.MMASK] = whole
            s.payload[sent, :] = s.memory
    release(s, slot)


@njit(nogil=True)
def behind(p, s, place):
    """Whether the message at a place of the queue is behind another of an ordered network."""
    slot = s.queue[place]
    form = p.forms[s.messages[slot, n.KIND]]
    if not form.ordered:
        return False
    for k in range(place):
        other = s.queue[k]
        if (
            p.forms[s.messages[other, n.KIND]].network == form.network
            and s.messages[other, n.TO] == s.messages[slot, n.TO]
            and (form.network == n.BESIDE or s.messages[other, n.OF] == s.messages[slot, n.OF])
        ):
            return True
    return False


@njit(nogil=True)
def deliver(p, s, place, no_mshr, far, found):
    """The message at a place of the queue arrives; False if it stalls, which takes it out, too."""
    slot = s.queue[place]
    to = s.messages[slot, n.TO]
    s.one[n.MESSAGES] -= 1
    for k in range(place, s.one[n.MESSAGES]):
        s.queue[k] = s.queue[k + 1]
    if to == n.MEMORY:
        at_memory(p, s, slot)
    elif to == n.HOME:
        to_home(p, s, slot, no_mshr, found)
    else:
        done = at_l1(p, s, to, s.messages[slot, n.KIND], slot, far)
        release(s, slot)
        return done
    return True


@njit(nogil=True)
def arrive(p, s, number, no_mshr, far, found):
    """Of the messages that could arrive, one does; False if none can, or it stalls."""
    able = 0
    for place in range(s.one[n.MESSAGES]):
        able += not behind(p, s, place)
    if able == 0:
        return False
    number %= able
    place = -1
    while number >= 0:
        place += 1
        number -= not behind(p, s, place)
    slot = s.queue[place]
    to = s.messages[slot, n.TO]
    if (
        to >= 0
        and p.l1[s.l1[to, n.LSTATE], l1_event(p, s, to, s.messages[slot, n.KIND], far)].actions
        & n.STALL
    ):
        return False
    deliver(p, s, place, no_mshr, far, found)
    return True


@njit(nogil=True)
def attempt(p, s, l1, kind, far):
    """Whether an operation of an n.L1 would do something now, which it then does."""
    event = l1_event(p, s, l1, len(p.forms) + kind, far)
    entry = p.l1[s.l1[l1, n.LSTATE], event]
    if entry.actions & n.WAIT and entry.messages == 0:
        s.l1_count[s.l1[l1, n.LSTATE], event] += 1
        return False
    if kind == n.INVALIDATE:
        for k in range(len(s.current)):
            s.floors[l1, k] = s.index[s.current[k]]
    at_l1(p, s, l1, len(p.forms) + kind, -1, far)
    return True


@njit(nogil=True)
def evict(p, s, found):
    """As ``Machine.evict``."""
    if s.home[n.HSTATE] >= p.stable or s.home[n.HVALID] == 0:
        return False
    at_home(p, s, p.evict, -1, False, found)
    return True


@njit(nogil=True)
def begin(p, s, l1, kind, mask, far):
    """As ``Machine.begin``."""
    row = s.l1[l1]
    row[n.ACCESS], row[n.MASK], row[n.GENERATION] = kind, mask, 0
    if kind > n.LOAD_SLC:
        s.one[n.GENERATIONS] += 1
        row[n.GENERATION] = s.one[n.GENERATIONS]
    s.floor[l1, :] = s.floors[l1]
    if kind in (n.LOAD_GLC, n.LOAD_SLC) and not p.exclusive.any():
        for k in range(len(s.current)):
            s.floor[l1, k] = s.index[s.current[k]]
    attempt(p, s, l1, kind, far)


@njit(nogil=True)
def draw(seed, number):
    """A random word: SplitMix64 of a counter (Steele et al., OOPSLA 2014)."""
    z = np.uint64(seed) + np.uint64(number + 1) * np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.int64((z ^ (z >> np.uint64(31))) >> np.uint64(1))


@njit(nogil=True)
def step(p, s, word, kinds, far, found):
    """One random step; see ``tester.step``."""
    what, l1 = word & 15, (word >> 4 & 255) % len(s.l1)
    if what < 5:
        if s.l1[l1, n.ACCESS] != n.NONE:
            attempt(p, s, l1, s.l1[l1, n.ACCESS], far)
        elif s.one[n.GENERATIONS] + 1 < len(s.index):
            size = len(s.current)
            start, length = (
                (word >> 12 & 63) % size,
                min(np.int64(1) << ((word >> 18 & 63) % 7), size),
            )
            mask = np.int64(0)
            for k in range(start - start % length, start - start % length + length):
                mask |= np.int64(1) << min(k, size - 1)
            begin(p, s, l1, kinds[(word >> 24 & 255) % len(kinds)], mask, far)
    elif what == 5:
        attempt(p, s, l1, n.EVICT if word >> 12 & 1 else n.INVALIDATE, far)
    elif what == 6 and word >> 12 & 1:
        evict(p, s, found)
    else:
        arrive(p, s, word >> 12 & 255, word >> 20 & 7 == 0, far, found)


@njit(nogil=True)
def digest(s, before):
    """A number that tells states apart."""
    value = before
    for l1 in range(len(s.l1)):
        row = s.l1[l1]
        for k in (n.LSTATE, n.LVALID, n.LDIRTY, n.UNACKNOWLEDGED):
            value = value * 31 + row[k]
        value = value * 31 + (row[n.ACCESS] != n.NONE)
        for k in range(len(s.current)):
            if row[n.LVALID] >> k & 1:
                value = value * 31 + s.data[l1, k]
    for k in (n.HSTATE, n.HVALID, n.HDIRTY, n.SHARERS, n.OWNER, n.AWAITED, n.MIXED):
        value = value * 31 + s.home[k]
    for k in range(len(s.current)):
        value = value * 31 + s.memory[k] + s.current[k] * 3
    return value * 31 + s.one[n.MESSAGES]


@njit(nogil=True)
def settled(s):
    """Whether no message is under way and no operation waits."""
    waiting = 0
    for l1 in range(len(s.l1)):
        waiting += s.l1[l1, n.ACCESS] != n.NONE
    return s.one[n.MESSAGES] == 0 and waiting == 0


@njit(nogil=True)
def end(p, s, seed, number, far, found):
    """What is under way comes to its end, then the caches are emptied."""
    for _ in range(200_000):
        if settled(s):
            break
        word = draw(seed, number)
        number += 1
        l1 = (word >> 4 & 255) % len(s.l1)
        if s.l1[l1, n.ACCESS] != n.NONE:
            attempt(p, s, l1, s.l1[l1, n.ACCESS], far)
        arrive(p, s, word >> 12 & 255, False, far, found)
    return number


@njit(nogil=True)
def run(p, s, seed, steps, kinds, far, digests):
    """An episode. ``digests``: as many as steps are filled in, or none; ends at a failure."""
    found = np.zeros(len(s.current), np.int64)
    value = np.int64(0)
    for number in range(steps):
        step(p, s, draw(seed, number), kinds, far, found)
        if number < len(digests):
            value = digest(s, value)
            digests[number] = value
        if s.one[n.FAILURE]:
            return
    number = end(p, s, seed, steps, far, found)
    for l1 in range(len(s.l1)):
        attempt(p, s, l1, n.EVICT, far)
    number = end(p, s, seed, number, far, found)
    evict(p, s, found)
    end(p, s, seed, number, far, found)
    if not settled(s) or s.home[n.HSTATE] != 0:
        fail(s, n.STUCK)
    exact(s, np.int64(-1), s.memory)
