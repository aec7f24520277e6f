"""CTAs that are left out of a launch: what they access passes through the L2, in no time.

The launch goes on meanwhile as if nothing had happened, with an L2 that holds what it would hold if
they had run: its lines, the order in which they were used, what is dirty. So no SM is used for it,
and a line on its way stays as it is. Nothing is counted. Bulk copies and local memory are left out,
L1s hear of nothing, sectors written in part count as whole, and what a line that goes owes the
memory is dropped.
"""

import numpy as np

from lockstep._jit import inline, jit, popcount
from lockstep.isa.instruction import OpClass, Space
from lockstep.model.cache import l2_sides, tags
from lockstep.model.contents import bring, forget_lookups
from lockstep.model.core.bulk import is_bulk
from lockstep.model.core.coalescer import lane_address, resolve
from lockstep.model.core.release_state import POLICIES
from lockstep.model.modules import pages
from lockstep.model.records import words
from lockstep.workload.streams import NOWHERE

SHARED = int(Space.SHARED)
LOCAL = int(Space.LOCAL)
STORE = int(OpClass.STORE)
ATOMIC = int(OpClass.ATOMIC)
REDUCTION = int(OpClass.REDUCTION)


CURSOR = np.dtype(words("run", "place", "address"))
"""Where a warp is: in which of its runs, at which instruction of it, at which address record."""


@jit
def pass_ctas(c, memory, d, slot, count, cursors):
    """Let the first ``count`` CTAs in the queue of a kernel slot pass through the L2.

    Their warps take turns, an access each. ``cursors``: CURSOR, zero, one a warp of all of them.
    Returns how many sectors they would have moved between the L2 and the memory.
    """
    kernel = c.kernels[slot]
    taken, room = d.progress[slot].taken, d.pending.shape[1]
    moved = 0
    moving = True
    while moving:
        moving = False
        for n in range(count):
            cta = d.pending[slot, (taken + n) % room]
            for w in range(kernel.warps):
                cursor = cursors[n * kernel.warps + w]
                stream = c.warp_streams[cta.warps + w]
                static, mask = _next_access(c, kernel, cta, stream, cursor)
                if static >= 0:
                    moving = True
                    record = c.addresses[cta.addresses + stream.first_address + cursor.address]
                    cursor.address += 1
                    instruction = c.code[kernel.code + static]
                    moved += _pass(c, memory, kernel, cta, record, instruction, popcount(mask))
    forget_lookups(memory)
    return moved


@inline
def _next_access(c, kernel, cta, stream, cursor):
    """The next instruction of a warp that has an address record, and its mask; or -1."""
    while cursor.run < stream.runs:
        run = c.runs[cta.runs + stream.first_run + cursor.run]
        while run.mask != 0 and cursor.place < run.count:
            static = run.static + cursor.place
            cursor.place += 1
            if c.code[kernel.code + static].width > 0:
                return static, run.mask
        cursor.run += 1
        cursor.place = 0
    return -1, 0


@inline
def _pass(c, memory, kernel, cta, record, instruction, lanes):
    """One instruction of a warp; returns the sectors that move."""
    if instruction.memory == 0 or is_bulk(instruction.op) or record.first == NOWHERE:
        return 0
    space = resolve(instruction.space, record.first, kernel)
    if space == SHARED or space == LOCAL:
        return 0
    return _access(c, memory, cta, record, instruction, lanes)


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
    slice_ = pages.slice_of(memory.slices, address, memory.l2.policies.slice_hash)
    row, way, owed = bring(memory, slice_, address, instruction.cache & POLICIES)
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
                bring(memory, other, address, instruction.cache & POLICIES)
    return moved
