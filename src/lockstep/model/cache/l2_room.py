"""Room in a slice of the L2 for the line of a request: a victim, and what it owes to the DRAM."""

from lockstep._jit import force_inline, jit, popcount
from lockstep.model.cache import l2_sides, replacement, tags
from lockstep.model.cache.l2_stalls import RUNNING, STALL_LINE, STALL_WRITE_QUEUE
from lockstep.model.cache.prefetch import state as prefetching
from lockstep.model.cache.protocols import at_l2
from lockstep.model.divisor import quotient, remainder
from lockstep.model.dram import address_map, controller
from lockstep.model.dram.state import WRITE
from lockstep.model.memory import QUEUE, UNKNOWN


@force_inline
def burst_mask(spec, sector):
    """The sectors of the burst that begins with a sector."""
    count = min(spec.burst_sectors, spec.line_sectors - sector)
    return ((1 << count) - 1) << sector


@force_inline
def place_of(l2, state, line):
    """Where a line of a slice lies in the slice's DRAM channel."""
    spec = l2.spec[0]
    unit = quotient(spec.unit_lines, line)
    block = quotient(spec.all_slices, unit) * spec.slices + state.number
    line = block * spec.unit_lines.value + remainder(spec.unit_lines, line)
    return address_map.locate(l2.dram.spec[0].map, line)


@jit
def _write_back(l2, state, record, line, now):
    """Queue DRAM writes for the dirty sectors of a way; whether all found room."""
    spec, dram, channel = l2.spec[0], l2.dram, state.channel
    counters = dram.counters[channel]
    place = place_of(l2, state, line)
    for sector in range(0, spec.line_sectors, spec.burst_sectors):
        dirty = at_l2.owed(spec.protocol, record) & burst_mask(spec, sector)
        if dirty:
            if not controller.has_room(dram, channel, WRITE):
                return False
            controller.enqueue(dram, channel, WRITE, place, now)
            at_l2.paid(spec.protocol, record, dirty)
            counters.l2_writebacks += popcount(dirty)
    return True


@jit
def allocate(l2, slice_, request, now):
    """Make room for the line of a request that misses: ``(way, RUNNING)`` or ``(-1, reason)``.

    What a victim owes is written back first, as far as the write queue has room.
    """
    way, reason = replace(l2, slice_, request.row, request, now)
    if way >= 0:
        request.way = way
    return way, reason


@force_inline
def replace(l2, slice_, row, request, now):
    """Give a way of a row to the line of a request; as ``allocate``."""
    way = replacement.victim(l2.tags, slice_, row, l2.policies.victim)
    if way < 0:
        return way, STALL_LINE
    record = tags.way_of(l2.tags, row, way)
    state = l2.slices[slice_]
    line = tags.line_of(l2.tags, row, way)
    owed = at_l2.owed(l2.spec[0].protocol, record)
    if owed and not _write_back(l2, state, record, line, now):
        return -1, STALL_WRITE_QUEUE
    counters = l2.dram.counters[state.channel]
    counters.l2_evictions += line != tags.NO_LINE
    counters.l2_prefetch_useless += prefetching.leave(l2.prefetch, row, way)
    replacement.insert(l2.tags, slice_, row, way, request.line, request.policy)
    return way, RUNNING


@jit
def take_places(l2, home, request, now):
    """Take room for a written line on the other sides, too, where it can be had at once."""
    spec = l2.spec[0]
    for side in range(spec.sides):
        other = l2_sides.mirror(spec, home, side)
        row = request.row + (other - home) * l2.tags.shape[0].sets
        if other == home or tags.find(l2.tags, other, row, request.line) >= 0:
            continue
        way, _ = replace(l2, other, row, request, now)
        state = l2.slices[other]
        if way >= 0 and state.count[QUEUE] > 0:  # what it found may be gone
            l2.entries[state.head[QUEUE]].way = UNKNOWN
