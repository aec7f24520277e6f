"""The search of ``search.py`` by numbers: the arrays of a protocol, carried out by compiled code.

States are rows of ``packed.py``, known by a hash of 128 bits; two that differ in the numbers of
their L1s alone are one with ``symmetric``. Only rows of the newest generation of states are kept,
of the others where they came from and which states follow without anything new. ``search.py``
takes the same steps by names, and follows values.
"""

from itertools import permutations
from typing import NamedTuple

import numpy as np
from numba import njit

from coherence_twin import numbers as n
from coherence_twin.home_runner import at_home
from coherence_twin.l1_runner import at_l1, l1_event
from coherence_twin.packed import L1S, SIZES, WIDTH, decode, encode
from coherence_twin.runner import behind, deliver
from coherence_twin.search import OPERATIONS, Outcome, Wrong
from coherence_twin.state_table import (
    EDGES,
    FROM,
    LABEL,
    NEXT,
    STATES,
    STEPS,
    WRONG,
    WRONG_CODE,
    WRONG_FROM,
    WRONG_LABEL,
    Table,
    empty,
    find,
    hashed,
    reach,
    with_room,
)
from lockstep.model.coherence.table import Protocol
from lockstep.model.coherence.vocabulary import OPERATIONS as KINDS

A_TIME = 1024
"""States between looks at whether tables have room."""
MOST = 160
"""Steps from a state, at most."""
BEGIN, AGAIN, INTERNAL, HOME_EVICTS, ARRIVE, NO_MSHR = range(6)
TWO_WRITERS, UNKNOWN, NOT_INCLUDED, DOES_NOT_WAIT = range(len(n.FAILURES), len(n.FAILURES) + 4)
FAILURES = (
    *n.FAILURES,
    "two L1s have the line, one of them alone",
    "the directory does not know of an L1",
    "an L1 has what the L2 has not",
    "an operation does not wait for a line in transition",
)


class Rules(NamedTuple):
    """What is tried: operations of L1s with their masks, and what all states must keep."""

    kinds: np.ndarray  # [k, (operation, mask)]
    others: np.ndarray  # operations that must wait for a line in transition
    perms: np.ndarray  # [k, L1] = its new number
    in_flight: int
    far: int
    exclusive: bool  # whether a state of an L1 says that no other has the line
    l1_stable: int
    size: int  # bytes of the line


@njit(nogil=True)
def settle(p, s, r):
    """As ``search.settle``: what must be true in every state; a failure, or 0."""
    if not r.exclusive:
        return 0
    held, alone = 0, 0
    for l1 in range(len(s.l1)):
        if s.l1[l1, n.LVALID] and s.l1[l1, n.LSTATE] < r.l1_stable:
            held += 1
            alone += p.exclusive[s.l1[l1, n.LSTATE]]
            if not s.home[n.SHARERS] >> l1 & 1:
                return UNKNOWN
    if alone and held > 1:
        return TWO_WRITERS
    if held and s.home[n.HVALID] != (np.int64(1) << len(s.home_data)) - 1:
        return NOT_INCLUDED
    return 0


@njit(nogil=True)
def smallest(p, s, r, row, other):
    """Fill in the row of a state, the smallest of all names of L1s; the names' number."""
    best = 0
    encode(p, s, r.perms[0], row)
    for k in range(1, len(r.perms)):
        encode(p, s, r.perms[k], other)
        for w in range(len(row)):
            if other[w] != row[w]:
                if other[w] < row[w]:
                    row[:], best = other, k
                break
    return best


@njit(nogil=True)
def waits(p, s, l1, kind, far):
    """As ``Machine.waits``."""
    event = l1_event(p, s, l1, len(p.forms) + kind, far)
    entry = p.l1[s.l1[l1, n.LSTATE], event]
    s.l1_count[s.l1[l1, n.LSTATE], event] += 1
    return entry.next >= 0 and entry.actions == n.WAIT and entry.messages == 0


@njit(nogil=True)
def internal(p, s, l1, kind, far):
    """As ``Machine.internal``."""
    event = l1_event(p, s, l1, len(p.forms) + kind, far)
    if p.l1[s.l1[l1, n.LSTATE], event].actions & n.WAIT:
        s.l1_count[s.l1[l1, n.LSTATE], event] += 1
        return False
    at_l1(p, s, l1, len(p.forms) + kind, -1, far)
    return True


@njit(nogil=True)
def labels(p, s, r, found):
    """Fill in what may happen: ``what | L1 or place << 4 | operation << 12``; how many."""
    count = 0
    room = s.one[n.MESSAGES] < r.in_flight
    for l1 in range(len(s.l1)):
        access = s.l1[l1, n.ACCESS]
        if access == n.NONE:
            if room:
                for k in range(len(r.kinds)):
                    found[count] = BEGIN | l1 << 4 | k << 12
                    count += 1
        else:
            if not waits(p, s, l1, access, r.far):
                found[count] = AGAIN | l1 << 4
                count += 1
            if s.l1[l1, n.LSTATE] >= r.l1_stable:
                for k in range(len(r.others)):  # of other wavefronts
                    if not waits(p, s, l1, r.others[k], r.far):
                        return -1
        if room:
            found[count] = INTERNAL | l1 << 4 | n.EVICT << 12
            found[count + 1] = INTERNAL | l1 << 4 | n.INVALIDATE << 12
            count += 2
    if room:
        found[count] = HOME_EVICTS
        count += 1
    for place in range(s.one[n.MESSAGES]):
        if not behind(p, s, place):
            found[count] = ARRIVE | place << 4
            count += 1
            if s.messages[s.queue[place], n.TO] == n.HOME:
                found[count] = NO_MSHR | place << 4
                count += 1
    return count


@njit(nogil=True)
def take(p, s, r, label, found):
    """Take a step; False if it is none."""
    what, where, kind = label & 15, label >> 4 & 255, label >> 12
    if what == BEGIN:
        s.l1[where, n.ACCESS], s.l1[where, n.MASK] = r.kinds[kind, 0], r.kinds[kind, 1]
        at_l1(p, s, where, len(p.forms) + r.kinds[kind, 0], -1, r.far)
    elif what == AGAIN:
        at_l1(p, s, where, len(p.forms) + s.l1[where, n.ACCESS], -1, r.far)
    elif what == INTERNAL:
        return internal(p, s, where, kind, r.far)
    elif what == HOME_EVICTS:
        if s.home[n.HSTATE] >= p.stable or s.home[n.HVALID] == 0:
            return False
        at_home(p, s, p.evict, -1, False, found)
    else:
        return deliver(p, s, where, what == NO_MSHR, r.far, found)
    return True


@njit(nogil=True)
def enter(p, s, r, t, label, number, row, other):
    """The state's number: a new one if nobody has come there."""
    perm = smallest(p, s, r, row, other)
    used = len(s.l1) + 3 + s.one[n.MESSAGES] + s.one[n.DEFERRED]
    one, check = hashed(row, used)
    slot = find(t.hashes, one, check)
    if t.hashes[slot, 1] == 0:
        mine = t.count[STATES]
        t.hashes[slot, 0], t.hashes[slot, 1], t.number[slot] = one, check, mine
        t.came[mine, FROM], t.came[mine, LABEL] = number, label | perm << 20
        waiting = 0
        for l1 in range(len(s.l1)):
            waiting += s.l1[l1, n.ACCESS] != n.NONE
        t.quiet[mine] = s.one[n.MESSAGES] == 0 and waiting == 0
        t.rows[t.count[NEXT], :] = row
        t.count[STATES] += 1
        t.count[NEXT] += 1
        return mine
    return np.int64(t.number[slot])


@njit(nogil=True)
def expand(p, s, r, t, rows, number):
    """Take all steps from the states of these rows; ``number`` is that of the first."""
    found = np.zeros(len(s.current), np.int64)
    ways = np.zeros(MOST, np.int64)
    row, other = np.zeros(WIDTH, np.uint16), np.zeros(WIDTH, np.uint16)
    for k in range(len(rows)):
        t.first[number + k] = t.count[EDGES]
        decode(p, s, rows[k])
        count = labels(p, s, r, ways)
        if count < 0:
            count, s.one[n.FAILURE] = 0, DOES_NOT_WAIT
            t.count[WRONG], t.count[WRONG_FROM], t.count[WRONG_LABEL] = 1, number + k, -1
            t.count[WRONG_CODE] = DOES_NOT_WAIT
            return
        for w in range(count):
            if w:
                decode(p, s, rows[k])
            t.count[STEPS] += 1
            done = take(p, s, r, ways[w], found)
            code = s.one[n.FAILURE]
            if code == 0 and done:
                code = settle(p, s, r)
                if code == 0:
                    after = enter(p, s, r, t, ways[w], number + k, row, other)
                    code = s.one[n.FAILURE]
            if code:
                t.count[WRONG], t.count[WRONG_FROM], t.count[WRONG_LABEL] = 1, number + k, ways[w]
                t.count[WRONG_CODE] = code
                return
            if done and ways[w] & 15 in (AGAIN, ARRIVE):
                t.edges[t.count[EDGES]] = after
                t.count[EDGES] += 1
    t.first[number + len(rows)] = t.count[EDGES]


def rules(
    protocol: Protocol, l1s: int, size: int, in_flight: int, operations, far: bool, symmetric: bool
) -> Rules:
    """What :func:`search` tries, as arrays."""
    names, whole = list(KINDS), (1 << size) - 1
    kinds, others = [], []
    for name in OPERATIONS[protocol.name] if operations is None else operations:
        if name == "atomic" and far:
            continue  # nobody models it
        masks = (1, whole) if name.startswith("store") and size > 1 else (whole,)
        kinds += [(names.index(name), mask) for mask in masks]
        others.append(names.index(name))
    perms = list(permutations(range(l1s))) if symmetric else [tuple(range(l1s))]
    return Rules(
        np.array(kinds, np.int64).reshape(-1, 2), np.array(others, np.int64), np.array(perms),
        in_flight, n.FAR if far else 0, bool(n.program(protocol).exclusive.any()),
        len(protocol.l1.stable),
        size,
    )  # fmt: skip


def search(
    protocol: Protocol,
    l1s: int = 2,
    size: int = 1,
    in_flight: int = 6,
    operations: tuple[str, ...] | None = None,
    far: bool = False,
    symmetric: bool = True,
    tell=lambda states, rest: None,
) -> Outcome:
    """As ``search.search`` without values, but what goes wrong is told with less.

    ``tell`` hears after each round how many states are known, and how many wait for their turn.
    """
    assert size <= SIZES and l1s <= L1S
    r = rules(protocol, l1s, size, in_flight, operations, far, symmetric)
    p, s = n.program(protocol), n.state(protocol, l1s, size, 1)
    t = empty()
    scratch = np.zeros((2, WIDTH), np.uint16)
    t = with_room(t, 1)
    enter(p, s, r, t, 0, 0, *scratch)
    done = 0
    while t.count[NEXT]:
        frontier, t = t.rows[: t.count[NEXT]].copy(), t._replace(rows=t.rows[:1])
        t.count[NEXT] = 0
        for begin in range(0, len(frontier), A_TIME):
            some = frontier[begin : begin + A_TIME]
            t = with_room(t, len(some) * MOST)
            expand(p, s, r, t, some, done)
            if t.count[WRONG]:
                raise Wrong(_told(protocol, r, t))
            done += len(some)
        tell(done, int(t.count[NEXT]))
    good = t.quiet[:done].copy()
    stuck = reach(t.first, t.edges, good, done)
    if stuck >= 0:
        t.count[WRONG_FROM], t.count[WRONG_LABEL] = stuck, -1
        raise Wrong(_told(protocol, r, t, "nothing can move any more"))
    return Outcome(done, int(t.count[STEPS]), _visited(protocol, s))


def _visited(protocol: Protocol, s: n.State) -> set[tuple[str, str, str]]:
    found = set()
    for side, counts in (("l1", s.l1_count), ("home", s.home_count)):
        table = getattr(protocol, side)
        states, events = list(table.states), list(table.events)
        for state, event in np.argwhere(counts):
            found.add((side, states[state], events[event]))
    return found


def _told(protocol: Protocol, r: Rules, t: Table, what: str = "") -> str:
    """What is wrong, and the steps that lead to it, taken once more."""
    way, number = [], int(t.count[WRONG_FROM])
    while number:
        way.append(int(t.came[number, LABEL]))
        number = int(t.came[number, FROM])
    p, s = n.program(protocol), n.state(protocol, len(r.perms[0]), r.size, 1)
    row = np.zeros(WIDTH, np.uint16)
    found = np.zeros(len(s.current), np.int64)
    real = np.arange(len(s.l1))  # the number that an L1 had at the beginning
    lines = [what or FAILURES[t.count[WRONG_CODE]]]
    encode(p, s, r.perms[0], row)
    for label in way[::-1] + ([int(t.count[WRONG_LABEL])] if t.count[WRONG_LABEL] >= 0 else []):
        decode(p, s, row)
        perm = r.perms[label >> 20]
        label &= (1 << 20) - 1
        lines.append(_name(protocol, r, s, label, real))
        take(p, s, r, label, found)
        encode(p, s, perm, row)
        real = real[np.argsort(perm)]
    return "\n".join(lines)


def _name(protocol: Protocol, r: Rules, s: n.State, label: int, real: np.ndarray) -> str:
    what, where, kind = label & 15, label >> 4 & 255, label >> 12
    if what == BEGIN:
        operation, mask = r.kinds[kind]
        return f"L1 {real[where]} {list(KINDS)[operation]} {mask:b}"
    if what == AGAIN:
        return f"L1 {real[where]} looks again"
    if what == INTERNAL:
        return f"L1 {real[where]} {list(KINDS)[kind]}"
    if what == HOME_EVICTS:
        return "home evict"
    message = s.messages[s.queue[where]]
    to, l1 = (real[k] if k >= 0 else k for k in (message[n.TO], message[n.OF]))
    text = f"{list(protocol.messages)[message[n.KIND]]} to {to} of {l1}"
    return f"{text} and no MSHR" if what == NO_MSHR else text
