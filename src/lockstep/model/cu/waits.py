"""Wait counters of a wavefront: how much of its memory traffic is on its way.

An instruction raises its counter when it issues. Counters of vector memory and of stores that have
yet to read their data fall in the order of issue; that of the LDS and of scalar loads in any order.
So a counter is kept as the cycles in which the last instructions ended, in a ring: what it is, and
when it falls to a number, follows from them.
"""

from lockstep._jit import force_inline, inline
from lockstep.isa.instruction import WAIT_FIELDS
from lockstep.model.clock import NEVER
from lockstep.model.core.kinds import EXPORT_COUNT, LGKM_COUNT, VECTOR_COUNT
from lockstep.model.core.state import WAIT_COUNTERS, WAIT_LINES, WAIT_RING

VECTOR_BITS, EXPORT_BITS, LGKM_BITS = (bits for _, bits in WAIT_FIELDS)
VECTOR_PLACE, EXPORT_PLACE, LGKM_PLACE = (place for place, _ in WAIT_FIELDS)


@force_inline
def most(counter):
    """The largest number that a counter can be."""
    if counter == VECTOR_COUNT:
        return (1 << VECTOR_BITS) - 1
    return (1 << EXPORT_BITS) - 1 if counter == EXPORT_COUNT else (1 << LGKM_BITS) - 1


@force_inline
def wanted(immediate, counter):
    """What a wait says that a counter may be at most."""
    place = LGKM_PLACE
    if counter == VECTOR_COUNT:
        place = VECTOR_PLACE
    elif counter == EXPORT_COUNT:
        place = EXPORT_PLACE
    return immediate >> place & most(counter)


@inline
def begin(waits):
    """A wavefront starts, with nothing on its way."""
    for counter in range(WAIT_COUNTERS):
        waits.issued[counter] = 0
    for place in range(WAIT_RING):
        waits.awaits[place] = 0
    if waits.lines_awaited > 0:  # of the wavefront that was here before
        for place in range(WAIT_LINES * WAIT_RING):
            waits.lines[place] = 0
    waits.lines_awaited = 0
    waits.flying = 0
    waits.acknowledged = 0


@inline
def rise(waits, counter, end):
    """One more instruction that ends in a cycle, or NEVER: not known; returns its place."""
    place = waits.issued[counter] % WAIT_RING
    waits.ends[counter * WAIT_RING + place] = end
    waits.issued[counter] += 1
    return place


@inline
def falls_in_order(waits, counter, n):
    """Cycle from which all but the ``n`` youngest instructions have ended."""
    issued = waits.issued[counter]
    latest = 0
    for k in range(max(0, issued - WAIT_RING), issued - n):
        latest = max(latest, waits.ends[counter * WAIT_RING + k % WAIT_RING])
    return latest


@inline
def falls(waits, counter, n):
    """Cycle from which a counter is at most ``n``, or NEVER: it is not known."""
    if counter != LGKM_COUNT or n == 0:
        return falls_in_order(waits, counter, n)
    known = min(waits.issued[counter], WAIT_RING)
    if known <= n:
        return 0
    first = NEVER
    for k in range(known):
        end = waits.ends[counter * WAIT_RING + k]
        later = 0
        for j in range(known):
            if waits.ends[counter * WAIT_RING + j] > end:
                later += 1
        if later <= n:
            first = min(first, end)
    return first


@inline
def room(waits, counter):
    """Cycle from which a counter can rise: it is not at its largest, and its place is free."""
    at = falls(waits, counter, most(counter) - 1)
    if waits.issued[counter] >= WAIT_RING:
        place = waits.issued[counter] % WAIT_RING
        at = max(at, waits.ends[counter * WAIT_RING + place])
    return at


@inline
def satisfied(waits, immediate, zero):
    """Cycle from which a wait lets its wavefront go on; ``zero``: it is for all counters to be 0.

    Returns it with the counter that is the last.
    """
    latest, last = 0, VECTOR_COUNT
    for counter in range(WAIT_COUNTERS):
        n = 0 if zero else wanted(immediate, counter)
        if n < most(counter):
            at = falls(waits, counter, n)
            if at > latest:
                latest, last = at, counter
    return latest, last


@inline
def end(waits, place, cycle):
    """A vector memory instruction has ended."""
    waits.ends[VECTOR_COUNT * WAIT_RING + place] = cycle


@inline
def sent(waits, place, unacknowledged, cycle):
    """A store has been sent in parts, the last of so many that are yet to be acknowledged."""
    if unacknowledged == 0:
        end(waits, place, cycle)
    else:
        waits.awaits[place] = waits.acknowledged + unacknowledged


@inline
def acknowledge(waits, cycle):
    """A part of a store has reached the L2; they are taken to do so in the order of issue."""
    waits.acknowledged += 1
    for place in range(WAIT_RING):
        if 0 < waits.awaits[place] <= waits.acknowledged:
            waits.awaits[place] = 0
            end(waits, place, cycle)


@inline
def delay(waits, counter, place, cycle):
    """An instruction of a counter does not end before a cycle."""
    end = counter * WAIT_RING + place
    waits.ends[end] = max(waits.ends[end], cycle)


@inline
def await_line(waits, place, nth, line):
    """A scalar load does not end before its nth line has come."""
    delay(waits, LGKM_COUNT, place, NEVER)
    waits.lines[WAIT_LINES * place + nth] = line + 1
    waits.lines_awaited += 1


@inline
def line_comes(waits, line, cycle):
    """A line is here; whether a scalar load awaited it. With its last one its data is there."""
    awaited = False
    for place in range(WAIT_RING):
        others = 0
        came = False
        for nth in range(WAIT_LINES * place, WAIT_LINES * (place + 1)):
            if waits.lines[nth] == line + 1:
                waits.lines[nth] = 0
                waits.lines_awaited -= 1
                came = True
            others += waits.lines[nth] != 0
        if came and others == 0:
            waits.ends[LGKM_COUNT * WAIT_RING + place] = cycle
        awaited = awaited or came
    return awaited
