"""CTAs that are left out of a launch: what they access passes through the L2, in no time.

The launch goes on meanwhile as if nothing had happened, with an L2 that holds what it would hold if
they had run: its lines, the order in which they were used, what is dirty. CTAs pass one after the
other, warp after warp, and nothing is counted. Bulk copies and local memory are left out, L1s hear
of nothing, and what a line that goes owes the memory is dropped.
"""

from lockstep._jit import inline, jit, popcount
from lockstep.isa.instruction import OpClass, Space
from lockstep.model.cache import l2_sides, slice_hash, tags
from lockstep.model.contents import bring, forget_lookups
from lockstep.model.sm.bulk import is_bulk
from lockstep.model.sm.coalescer import lane_address, resolve
from lockstep.workload import NOWHERE

SHARED = int(Space.SHARED)
LOCAL = int(Space.LOCAL)
STORE = int(OpClass.STORE)
ATOMIC = int(OpClass.ATOMIC)
REDUCTION = int(OpClass.REDUCTION)


@jit
def pass_ctas(c, memory, d, slot, count):
    """Let the first ``count`` CTAs in the queue of a kernel slot pass through the L2.

    Returns how many sectors they would have moved between the L2 and the memory.
    """
    moved = 0
    taken, room = d.progress[slot].taken, d.pending.shape[1]
    for n in range(taken, taken + count):
        cta = d.pending[slot, n % room]
        for w in range(c.kernels[slot].warps):
            moved += _pass_warp(c, memory, c.kernels[slot], cta, c.warp_streams[cta.warps + w])
    forget_lookups(memory)
    return moved


@inline
def _pass_warp(c, memory, kernel, cta, stream):
    """A warp's instructions, run after run; each that has addresses takes the next record."""
    moved = 0
    address = cta.addresses + stream.first_address
    for r in range(stream.runs):
        run = c.runs[cta.runs + stream.first_run + r]
        for k in range(run.count if run.mask != 0 else 0):
            instruction = c.code[kernel.code + run.static + k]
            if instruction.width > 0:
                record = c.addresses[address]
                address += 1
                if instruction.memory != 0 and not is_bulk(instruction.op):
                    space = resolve(instruction.space, record.first, kernel)
                    if space != SHARED and space != LOCAL and record.first != NOWHERE:
                        lanes = popcount(run.mask)
                        moved += _access(c, memory, cta, record, instruction, lanes)
    return moved


@inline
def _access(c, memory, cta, record, instruction, lanes):
    """The lines of one instruction; neighbouring lanes in one line go together."""
    spec = memory.l2.spec[0]
    line_bytes, sector_bytes = spec.line_bytes.value, spec.sector_bytes
    line, sectors, moved = -1, 0, 0
    for k in range(lanes):
        low = lane_address(c, record, cta.pool, k)
        high = low + instruction.width - 1
        for each in range(low // line_bytes, high // line_bytes + 1):
            if each != line:
                moved += _leave(memory, line, sectors, instruction)
                line, sectors = each, 0
            start = line * line_bytes
            first = (max(low, start) - start) // sector_bytes
            last = (min(high, start + line_bytes - 1) - start) // sector_bytes
            sectors |= (2 << last) - (1 << first)
    return moved + _leave(memory, line, sectors, instruction)


@inline
def _leave(memory, line, sectors, instruction):
    """Sectors of a line, -1 = none, stay in the L2."""
    if line < 0:
        return 0
    spec = memory.l2.spec[0]
    op, address = instruction.op, line * spec.line_bytes.value
    writes = op == STORE or op == ATOMIC or op == REDUCTION
    slice_ = slice_hash.slice_of(memory.slices, address, memory.l2.policies.slice_hash)
    row, way, owed = bring(memory, slice_, address, instruction.cache)
    moved = popcount(owed)
    if way >= 0:
        record = tags.way_of(memory.l2.tags, row, way)
        here = sectors & ~record.pending  # what is on its way comes by itself
        if op != STORE:
            moved += popcount(here & ~record.valid)
        record.valid |= here
        record.partial &= ~here
        if writes:
            record.dirty |= here
    if writes and spec.wide_writes:
        for side in range(spec.sides):
            other = l2_sides.mirror(spec, slice_, side)
            if other != slice_:
                bring(memory, other, address, instruction.cache)
    return moved
