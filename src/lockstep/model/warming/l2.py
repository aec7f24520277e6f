"""A request changes an L2 as it would, at once: lines come and go, nothing waits or is counted.

What a line that goes owes the memory is dropped. Who asks is told how many bursts the DRAM would
have moved for it. Sectors that are on their way from before come by themselves.
"""

from lockstep._jit import inline, popcount
from lockstep.model.cache import l2_sides, replacement, tags
from lockstep.model.cache.protocols import at_l2
from lockstep.model.contents import bring
from lockstep.model.link import KIND_READ, KIND_WRITE
from lockstep.model.modules.pages import slice_of


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
    row, way, owed = bring(memory, slice_, address, miss.policy)
    line = address // spec.line_bytes.value
    writes = count_bursts(spec, owed)
    if miss.kind != KIND_READ:
        l2_sides.drop_copies(memory.l2, slice_, row, line, miss.sectors)
    if way < 0:
        return 0, writes
    if miss.kind == KIND_WRITE:
        writes += take_places(memory, slice_, row, line, address, miss.policy)
        return write(memory.l2, slice_, row, way, miss), writes
    return read(memory.l2, slice_, home, row, way, miss), writes


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
    return -(-popcount(bursts_of(spec, sectors)) // spec.burst_sectors) if sectors else 0


@inline
def fill(l2, slice_, row, way, found, wanted):
    """Sectors come to a line: those found on another side, and bursts of those still wanted.

    Returns how many bursts.
    """
    record = tags.way_of(l2.tags, row, way)
    sectors = found
    if wanted:
        sectors |= bursts_of(l2.spec[0], wanted) & ~record.valid & ~record.pending
    record.pending |= sectors
    at_l2.fill(l2.spec[0].protocol, record, sectors)
    if record.pending == 0:
        replacement.unlock(l2.tags, slice_, row, way, 0)
    return count_bursts(l2.spec[0], wanted)


@inline
def read(l2, slice_, home, row, way, miss):
    """A read, an atomic or a reduction; the bursts that are read for it."""
    protocol = l2.spec[0].protocol
    record = tags.way_of(l2.tags, row, way)
    missing = miss.sectors & ~at_l2.readable(protocol, record) & ~record.pending
    bursts = 0
    if missing:
        found = 0
        if l2.spec[0].near_reads and miss.kind == KIND_READ:
            found = on_another_side(l2, slice_, home, row, way, missing, miss.policy)
        bursts = fill(l2, slice_, row, way, found, missing & ~found)
    if miss.kind != KIND_READ:
        at_l2.atomic(protocol, record, miss.sectors)
    return bursts


@inline
def on_another_side(l2, slice_, home, row, way, missing, policy):
    """Those of the missing sectors that another side has; its line is used."""
    line = tags.line_of(l2.tags, row, way)
    other = l2_sides.holder(l2, slice_, home, row, line)
    there = row + (other - slice_) * l2.tags.shape[0].sets
    found = tags.find(l2.tags, other, there, line)
    if other == slice_ or found < 0:
        return 0
    here = missing & at_l2.readable(l2.spec[0].protocol, tags.way_of(l2.tags, there, found))
    if here:
        replacement.touch(l2.tags, other, there, found, policy)
    return here


@inline
def write(l2, slice_, row, way, miss):
    """A write; the bursts that are read for it."""
    protocol = l2.spec[0].protocol
    record = tags.way_of(l2.tags, row, way)
    wanted = at_l2.wanted(protocol, record, miss.sectors)
    at_l2.write(protocol, record, miss.sectors, miss.full)
    return fill(l2, slice_, row, way, 0, wanted) if wanted != 0 else 0


@inline
def take_places(memory, home, row, line, address, policy):
    """Take room for a written line on the other sides, too, where lines do; the bursts owed."""
    spec, bursts = memory.l2.spec[0], 0
    for side in range(spec.sides if spec.wide_writes else 0):
        other = l2_sides.mirror(spec, home, side)
        there = row + (other - home) * memory.l2.tags.shape[0].sets
        if other != home and tags.find(memory.l2.tags, other, there, line) < 0:
            bursts += count_bursts(spec, bring(memory, other, address, policy)[2])
    return bursts
