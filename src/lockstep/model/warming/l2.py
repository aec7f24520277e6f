"""A request changes an L2 as it would, at once: lines come and go, nothing waits or is counted.

What a line that goes owes the memory is dropped. Who asks is told how many bursts the DRAM would
have moved for it.
"""

from lockstep._jit import inline, popcount
from lockstep.model import entries as lists
from lockstep.model.cache import l2_sides, replacement, tags
from lockstep.model.cache.protocols import at_l2
from lockstep.model.cache.slice_hash import slice_of
from lockstep.model.link import KIND_READ, KIND_WRITE
from lockstep.model.memory import QUEUE, UNKNOWN
from lockstep.model.partition import locate


@inline
def access(memory, source, miss, address):
    """What leaves the L1 of SM ``source`` for the line at ``address`` reaches the L2.

    Returns the bursts that the DRAM reads and writes for it.
    """
    spec = memory.l2.spec[0]
    home = slice_of(memory.slices, address, memory.l2.policies.slice_hash)
    slice_ = home
    if spec.near_reads and miss.kind == KIND_READ:
        slice_ = l2_sides.mirror(spec, home, source * spec.sides // spec.sources)
    cache = memory.l2.slices[slice_]
    index = lists.take(cache, memory.l2.entries)
    request = memory.l2.entries[index]
    request.kind, request.home = miss.kind, home
    request.sectors = request.left = miss.sectors
    request.full, request.policy = miss.full, miss.policy
    locate(memory, request, slice_, address)
    if request.kind == KIND_WRITE:
        reads, writes = write(memory.l2, slice_, request)
    else:
        reads, writes = read(memory.l2, slice_, request)
    lists.release(memory.l2.entries, cache, index)
    if cache.count[QUEUE] > 0:  # what a waiting request found may be gone
        memory.l2.entries[cache.head[QUEUE]].way = UNKNOWN
    return reads, writes


@inline
def find(l2, slice_, request):
    """The way of a request's line, which is used; it makes room for the line if it is not here.

    Returns the bursts that the line owes that made room, too.
    """
    way = tags.find(l2.tags, slice_, request.row, request.line)
    if way >= 0:
        replacement.touch(l2.tags, slice_, request.row, way, request.policy)
        return way, 0
    return place(l2, slice_, request.row, request)


@inline
def place(l2, slice_, row, request):
    """Put the line of a request, without data, into the way that replacement chooses, or -1.

    Returns the bursts that the line there owed, too.
    """
    owed = 0
    way = replacement.victim(l2.tags, slice_, row, l2.policies.victim)
    if way >= 0:
        if l2.tags.lines[row, way] != tags.NO_LINE:
            sectors = at_l2.owed(l2.spec[0].protocol, tags.way_of(l2.tags, row, way))
            owed = count_bursts(l2.spec[0], sectors)
        replacement.insert(l2.tags, slice_, row, way, request.line, request.policy)
    return way, owed


@inline
def fill(l2, slice_, row, way, record, sectors):
    """Sectors come from below."""
    record.pending |= sectors
    at_l2.fill(l2.spec[0].protocol, record, sectors)
    replacement.unlock(l2.tags, slice_, row, way, 0)


@inline
def bursts_of(spec, sectors):
    """The sectors of all bursts that bring some of these."""
    mask = 0
    for first in range(0, spec.line_sectors, spec.burst_sectors):
        count = min(spec.burst_sectors, spec.line_sectors - first)
        burst = ((1 << count) - 1) << first
        mask |= burst if sectors & burst else 0
    return mask


@inline
def count_bursts(spec, sectors):
    """How many bursts some sectors take."""
    return popcount(bursts_of(spec, sectors)) // spec.burst_sectors if sectors else 0


@inline
def read(l2, slice_, request):
    """A read, an atomic or a reduction; the bursts that are read and written for it."""
    protocol = l2.spec[0].protocol
    reads = 0
    way, writes = find(l2, slice_, request)
    if request.kind != KIND_READ:
        l2_sides.drop_copies(l2, slice_, request.row, request.line, request.sectors)
    if way < 0:
        return reads, writes
    record = tags.way_of(l2.tags, request.row, way)
    missing = request.sectors & ~at_l2.readable(protocol, record)
    if missing:
        found = 0
        if l2.spec[0].near_reads and request.kind == KIND_READ:
            found = from_another(l2, slice_, request, missing)
        below = missing & ~found
        brought = bursts_of(l2.spec[0], below) & ~record.valid if below else 0
        reads = count_bursts(l2.spec[0], below)
        fill(l2, slice_, request.row, way, record, found | brought)
    if request.kind != KIND_READ:
        at_l2.atomic(protocol, record, request.sectors)
    return reads, writes


@inline
def from_another(l2, slice_, request, missing):
    """Those of the missing sectors that another side has; its line is used."""
    other = l2_sides.holder(l2, slice_, request)
    row = request.row + (other - slice_) * l2.tags.shape[0].sets
    way = tags.find(l2.tags, other, row, request.line)
    if other == slice_ or way < 0:
        return 0
    here = missing & at_l2.readable(l2.spec[0].protocol, tags.way_of(l2.tags, row, way))
    if here:
        replacement.touch(l2.tags, other, row, way, request.policy)
    return here


@inline
def write(l2, slice_, request):
    """A write; the bursts that are read and written for it."""
    spec = l2.spec[0]
    way, writes = find(l2, slice_, request)
    if way < 0:
        return 0, writes
    if spec.wide_writes:
        for side in range(spec.sides):
            other = l2_sides.mirror(spec, slice_, side)
            row = request.row + (other - slice_) * l2.tags.shape[0].sets
            if other != slice_ and tags.find(l2.tags, other, row, request.line) < 0:
                writes += place(l2, other, row, request)[1]
    record = tags.way_of(l2.tags, request.row, way)
    wanted = at_l2.wanted(spec.protocol, record, request.sectors)
    l2_sides.drop_copies(l2, slice_, request.row, request.line, request.sectors)
    at_l2.write(spec.protocol, record, request.sectors, request.full)
    if wanted != 0:
        brought = bursts_of(spec, wanted) & ~record.valid
        fill(l2, slice_, request.row, way, record, brought)
    return count_bursts(spec, wanted), writes
