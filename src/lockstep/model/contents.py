"""What the L2 holds when a kernel starts: copies, a profiler's, what it is given, or nothing."""

from lockstep._jit import inline, jit, popcount
from lockstep.model import entries as lists
from lockstep.model.cache import l2_sides, replacement, tags
from lockstep.model.cache.l2_lines import locate
from lockstep.model.cache.prefetch import state as prefetching
from lockstep.model.memory import QUEUE, UNKNOWN
from lockstep.model.modules import pages
from lockstep.workload.warm import L2_LINE, L2_SECTOR

COPY_CAPACITIES = 8  # of a longer host copy only so much, times the L2, passes line by line


@jit
def flush(memory):
    """Empty the L2 in no time; what is dirty goes to memory uncounted.

    Lines on their way stay, without the sectors that they have.
    """
    keys, sets = memory.l2.tags.keys, memory.l2.tags.shape[0].sets
    for row in range(keys.shape[0]):
        counters = memory.counters[memory.l2.slices[row // sets].channel]
        for way in range(keys.shape[1]):
            if keys[row, way] < tags.LOCKED:
                counters.l2_prefetch_useless += prefetching.leave(memory.l2.prefetch, row, way)
                tags.invalidate(memory.l2.tags, row, way)
            else:
                record = tags.way_of(memory.l2.tags, row, way)
                record.valid = record.dirty = record.partial = 0
    forget_lookups(memory)


@jit
def copy_to_device(memory, address, size):
    """A host copy of some bytes passes through the L2, in no time.

    Its sectors stay, clean: a copy over PCIe is some fifty times slower than the DRAM, which has
    long written them when the kernel starts. What it displaces is gone to memory uncounted. The
    beginning of a long copy is displaced by its end: it is counted, and not looked at.
    """
    _pass(memory, address, size, True, False)


@jit
def pass_through(memory, address, size, written):
    """Memory that is read or ``written`` before a kernel, in no time and uncounted.

    Where the L2 has two sides, every second line that is read is on both: it was read before, and
    who reads it now is on the same side or on the other.
    """
    _pass(memory, address, size, False, written)


@jit
def hold(memory, first, lines, sectors, dirty):
    """Lines were used, the least recently used in front, and are here with what was here of them.

    As :data:`~lockstep.workload.warm.L2_RUN`, a column each. What was read of them came in whole
    bursts of this memory.
    """
    spec = memory.l2.spec[0]
    line_bytes = spec.line_bytes.value
    for run in range(len(first)):
        for n in range(lines[run]):
            address = (first[run] + n) * L2_LINE
            place, valid, changed = address // line_bytes * line_bytes, 0, 0
            for k in range(L2_LINE // L2_SECTOR):
                sector = address + k * L2_SECTOR
                if sector - place >= line_bytes:
                    _hold(memory, place, valid, changed)
                    place, valid, changed = sector // line_bytes * line_bytes, 0, 0
                bit = 1 << (sector - place) // spec.sector_bytes
                valid |= bit if sectors[run] >> k & 1 else 0
                changed |= bit if dirty[run] >> k & 1 else 0
            _hold(memory, place, valid, changed)
    forget_lookups(memory)


@inline
def _hold(memory, address, valid, dirty):
    """A line, of which some sectors are valid and some dirty: in part, if they are not valid."""
    if valid | dirty == 0:
        return
    part = dirty & ~valid
    spec = memory.l2.spec[0]
    for low in range(0, spec.line_sectors, spec.burst_sectors):
        burst = (1 << min(spec.line_sectors, low + spec.burst_sectors)) - (1 << low)
        valid |= burst if valid & ~dirty & burst else 0
    slice_ = pages.slice_of(memory.slices, address, memory.l2.policies.slice_hash)
    row, way, _ = bring(memory, slice_, address, 0)
    if way >= 0:
        record = tags.way_of(memory.l2.tags, row, way)
        record.valid |= valid
        record.dirty |= dirty
        record.partial = (record.partial | part) & ~record.valid
    if dirty != 0 and spec.wide_writes:
        for side in range(spec.sides):
            other = l2_sides.mirror(spec, slice_, side)
            if other != slice_:
                _place(memory, other, address, 0, 0)


@jit
def _pass(memory, address, size, copied, written):
    if size <= 0:
        return
    spec = memory.l2.spec[0]
    line_bytes = spec.line_bytes.value
    first = address // line_bytes * line_bytes
    keys = memory.l2.tags.keys
    tail = (address + size) // line_bytes - COPY_CAPACITIES * keys.shape[0] * keys.shape[1]
    if first < tail * line_bytes:
        first = tail * line_bytes
        if copied:
            _count_skipped(memory, first // spec.sector_bytes - address // spec.sector_bytes)
    for line_address in range(first, address + size, line_bytes):
        low = max(0, address - line_address) // spec.sector_bytes
        high = (min(line_bytes, address + size - line_address) - 1) // spec.sector_bytes
        slice_ = pages.slice_of(memory.slices, line_address, memory.l2.policies.slice_hash)
        sectors = (2 << high) - (1 << low)
        if copied:
            memory.counters[memory.l2.slices[slice_].channel].copy_sectors += popcount(sectors)
        _place(memory, slice_, line_address, sectors, sectors if written else 0)
        both = copied or (not written and line_address // line_bytes % 2 == 1)
        if (both and spec.near_reads) or (written and spec.wide_writes):
            for side in range(spec.sides):
                other = l2_sides.mirror(spec, slice_, side)
                if other != slice_:
                    _place(memory, other, line_address, sectors if both else 0, 0)
    forget_lookups(memory)


@inline
def forget_lookups(memory):
    """What waiting requests found in the tags may have moved."""
    for slice_ in range(memory.l2.slices.shape[0]):
        cache = memory.l2.slices[slice_]
        if cache.count[QUEUE] > 0:
            memory.l2.entries[cache.head[QUEUE]].way = UNKNOWN


@inline
def _count_skipped(memory, sectors):
    """Share the sectors of a copy that nobody looked at among the partitions."""
    partitions = memory.counters.shape[0]
    for p in range(partitions):
        memory.counters[p].copy_sectors += (sectors + p) // partitions


@inline
def _place(memory, slice_, address, mask, dirty):
    """Leave sectors of a line in the L2, some of them dirty."""
    row, way, _ = bring(memory, slice_, address, 0)
    if way < 0:
        return
    record = tags.way_of(memory.l2.tags, row, way)
    record.valid |= mask
    record.dirty = record.dirty & ~mask | dirty
    record.partial &= ~mask


@inline
def bring(memory, slice_, address, policy):
    """The row and the way of a line, which is used now; the way is -1 if there is no room.

    Third, the sectors that the line owes the memory which made room.
    """
    cache = memory.l2.slices[slice_]
    index = lists.take(cache, memory.l2.entries)
    request = memory.l2.entries[index]
    locate(memory, request, slice_, address)
    lists.release(memory.l2.entries, cache, index)
    row = request.row
    way = tags.find(memory.l2.tags, slice_, row, request.line)
    if way >= 0:
        replacement.touch(memory.l2.tags, slice_, row, way, policy)
        return row, way, 0
    owed = 0
    way = replacement.victim(memory.l2.tags, slice_, row, memory.l2.policies.victim)
    if way >= 0:
        owed = tags.way_of(memory.l2.tags, row, way).dirty
        counters = memory.counters[cache.channel]
        counters.l2_prefetch_useless += prefetching.leave(memory.l2.prefetch, row, way)
        replacement.insert(memory.l2.tags, slice_, row, way, request.line, policy)
    return row, way, owed
