"""Races: accesses of different threads to the same bytes that nothing orders.

Shared memory is divided into granules, as small as the narrowest access of the kernel. Each has
three records: its last write, its last read, and the last read of another warp than that. A write
that nothing orders after both reads comes after a read of another warp that nothing orders either,
if there is any such: barriers for all warps settle either all reads or none of a phase.
"""

import functools
from enum import IntEnum

from lockstep._jit import inline, jit, phase
from lockstep.execution.checks.clocks import (
    LANE_SHIFT,
    SITE_MASK,
    STRONG,
    WARP_SHIFT,
    clock_of,
    lane_of,
    pass_on,
    take_over,
    warp_of,
)
from lockstep.execution.checks.kinds import Hazard
from lockstep.execution.checks.record import note
from lockstep.execution.checks.state import FENCES, MEETINGS

WRITE, READ, READ_BEFORE = 0, 1, 2  # planes
OBJECT = (1 << 62) - 1  # in place of the last write: a barrier object is here; never settled
OBJECT_BYTES = 8
KIND_SHIFT = 32  # of what ``watch`` is told, above the bytes of a lane


class Kind(IntEnum):
    """What an access does, for ``watch``."""

    READ = 0
    WRITE = 1
    ATOMIC = 2  # reads and writes, and does not race with its like
    STRONG_READ = 3  # likewise
    STRONG_WRITE = 4
    POLL = 5  # a read that races with nothing


class Passing(IntEnum):
    """What a warp does, for ``order``."""

    ARRIVE = 0  # at barrier objects: who reads them takes over what was before
    FENCE = 1  # passes on what others take over who poll, or have a fence, too
    POLL = 2


@inline
def is_ordered(x, w, record):
    """Whether the access of a record is ordered before what a warp does now."""
    warp = x.warps[w]
    other = warp_of(record)
    if other == warp_of(warp.stamp):
        together = clock_of(record) != clock_of(warp.stamp) or warp.mask >> lane_of(record) & 1
        return together != 0
    return clock_of(record) <= x.checked.clocks[w, other]


@inline
def conflicts(x, w, record, mine):
    """Whether the access of a record may be at the same time as that of a warp's lane."""
    if record == 0 or record == OBJECT or record & mine & STRONG:
        return False
    return not is_ordered(x, w, record)


@inline
def tell(x, kind, w, lane, mine, record, address, size):
    """Note a race with the access of a record; ``address``: that of shared memory."""
    n = note(x, kind, mine & SITE_MASK, record & SITE_MASK, w, lane)
    if n < 0:
        return
    row, warps = x.checked.findings[n], x.launch[0].warps
    place = w // warps
    holder = (address - x.running[0].shared_address) // x.running[0].shared_stride
    row.address = address - x.ctas[holder].shared
    row.bytes = size
    other = place - x.ctas[place].rank + warp_of(record) // warps
    row.other_cta = x.ctas[other].linear
    row.other_warp, row.other_lane = warp_of(record) % warps, lane_of(record)


@inline
def read(x, w, lane, k, mine, address, size):
    """A lane reads a granule."""
    races = x.checked.races
    if meet(x, w, k, address):
        return
    if is_known(races[READ, k], mine):
        return  # who wrote since has found that
    if conflicts(x, w, races[WRITE, k], mine):
        tell(x, Hazard.READ_AFTER_WRITE, w, lane, mine, races[WRITE, k], address, size)
    keep_read(x, k, mine)


@inline
def meet(x, w, k, address):
    """Whether a granule is a barrier object's, of which a warp reads what came before it."""
    if x.checked.races[WRITE, k] != OBJECT:
        return False
    first, row = meeting(x, w, address)
    take_over(x, w, x.checked.meetings, first, row)
    return True


@inline
def is_known(last, mine):
    """Whether a warp's read is as its last one, at the same time, or less strict."""
    return (last ^ mine) >> WARP_SHIFT == 0 and not last & ~mine & STRONG


@inline
def keep_read(x, k, mine):
    """Record that a granule was read."""
    races = x.checked.races
    if is_known(races[READ, k], mine):
        return
    if warp_of(races[READ, k]) != warp_of(mine):
        races[READ_BEFORE, k] = races[READ, k]
    races[READ, k] = mine


@inline
def write(x, w, lane, k, mine, address, size, same):
    """A lane writes a granule; ``same``: what is there already."""
    races = x.checked.races
    if not same and conflicts(x, w, races[WRITE, k], mine):
        tell(x, Hazard.WRITE_AFTER_WRITE, w, lane, mine, races[WRITE, k], address, size)
    for plane in range(READ, READ_BEFORE + 1):
        if conflicts(x, w, races[plane, k], mine) and not same:
            tell(x, Hazard.WRITE_AFTER_READ, w, lane, mine, races[plane, k], address, size)
            break
    races[WRITE, k] = mine


@jit
def watch(x, w, site, what, mask, same):
    """Compare accesses with those before; host addresses are in the warp's scratch words.

    ``what``: bytes of a lane, and ``Kind``. ``mask``: the lanes; ``same``: those that change
    nothing.
    """
    size, kind = what & (1 << KIND_SHIFT) - 1, what >> KIND_SHIFT
    granule, first = x.running[0].granule, x.running[0].shared_address
    count = x.checked.races.shape[1] << granule
    stamp = x.warps[w].stamp | site
    if kind >= Kind.ATOMIC:
        stamp |= STRONG
    for lane in range(x.launch[0].lanes):
        offset = x.scratch[w, lane] - first
        if not mask >> lane & 1 or offset < 0 or offset >= count:
            continue
        mine = stamp | lane << LANE_SHIFT
        for k in range(offset >> granule, (offset + size - 1 >> granule) + 1):
            if kind == Kind.POLL:
                meet(x, w, k, first + offset)
            elif kind == Kind.READ or kind == Kind.STRONG_READ:
                read(x, w, lane, k, mine, first + offset, size)
            else:
                write(x, w, lane, k, mine, first + offset, size, same >> lane & 1)
                if kind == Kind.ATOMIC:
                    keep_read(x, k, mine)
    return 0


@jit
def collide(x, w, site, size, mask):
    """Lanes wrote different values to the same bytes: those in ``mask`` lost what they wrote."""
    granule, first = x.running[0].granule, x.running[0].shared_address
    count = x.checked.races.shape[1] << granule
    for lane in range(x.launch[0].lanes):
        offset = x.scratch[w, lane] - first
        if not mask >> lane & 1 or offset < 0 or offset >= count:
            continue
        for k in range(offset >> granule, (offset + size - 1 >> granule) + 1):
            record = x.checked.races[WRITE, k]
            if lane_of(record) != lane:
                mine = x.warps[w].stamp | site
                tell(x, Hazard.WRITE_AFTER_WRITE, w, lane, mine, record, first + offset, size)
                break
    return 0


@inline
def meeting(x, w, address):
    """Place and row in ``meetings`` of those who use a barrier object in shared memory."""
    running, cta = x.running[0], x.ctas[w // x.launch[0].warps]
    first = w // x.launch[0].warps - cta.rank
    return first, (address - running.shared_address >> 3) % MEETINGS


@jit
def order(x, w, what, unused, mask):
    """A warp passes on what it did, or takes over; barrier objects are in its scratch words."""
    if what != Passing.ARRIVE:
        place, rows = w // x.launch[0].warps, x.checked.meetings
        first = place - x.ctas[place].rank
        if what == Passing.FENCE:
            x.launch[0].fenced = 1
            pass_on(x, w, rows, first, FENCES)
        take_over(x, w, rows, first, FENCES)
        return 0
    granule, start = x.running[0].granule, x.running[0].shared_address
    for lane in range(x.launch[0].lanes):
        if mask >> lane & 1:
            address = x.scratch[w, lane]
            first, k = meeting(x, w, address)
            pass_on(x, w, x.checked.meetings, first, k)
            offset = address - start
            if 0 <= offset < x.checked.races.shape[1] << granule:
                for number in range(offset >> granule, offset + OBJECT_BYTES >> granule):
                    x.checked.races[WRITE, number] = OBJECT
    return 0


FUNCTIONS = ((watch, 5), (collide, 4), (order, 4))  # of the runtime, and their integers


@functools.cache
def entry_points(kind):
    """The runtime functions as pointers for generated code; ``kind`` is that of the machine."""
    return tuple(phase(function, (kind,), integers) for function, integers in FUNCTIONS)
